#!/bin/sh
# Chrome traces of torch.profiler, of every era.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/training.pt.trace.json.gz .
run analyze training.pt.trace.json.gz
exits 0
no_err
golden profile.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
run analyze --format json training.pt.trace.json.gz
exits 0
out_has '"format":"profiler-trace"'
out_has '"has_addresses":true,"has_reserved":true,"has_python_stacks":true'
out_has '"active":{"baseline_bytes":7341056,"peak_bytes":76021760,'
out_has '"allocated":{"baseline_bytes":7341056,"peak_bytes":76021760,'
out_has '"reserved":{"start_bytes":8388608,"peak_bytes":94371840,'

# event NAME PHASE TIME THREAD ARGUMENTS [DURATION]
event() {
    printf '{"ph": "%s", "cat": "%s", "name": "%s", "pid": 1, "tid": %s, "ts": %s%s, "args": {%s}},\n' \
        "$2" "$7" "$1" "$4" "$3" "${6:+, \"dur\": $6}" "$5"
}
memory() {
    event '[memory]' i "$1" "$2" "$3" '' cpu_instant_event
}
operator() {
    event "$1" X "$2" "$3" "$5" "$4" cpu_op
}
cuda='"Device Type": 1, "Device Id": 0'

# 2021: no address, no total, time in whole microseconds, a thread's number once as a string. The
# events are not in order of time. The free of 300 bytes is of memory from before the profile.
{
    echo '{"schemaVersion": 1, "traceEvents": ['
    operator aten::mul 100 '"7"' 10 '"Call stack": "a.py(3): inner;a.py(9): <module>"'
    memory 130 7 "$cuda, \"Bytes\": -1000"
    memory 105 7 "$cuda, \"Bytes\": 1000"
    memory 120 7 "$cuda, \"Bytes\": 500"
    memory 140 7 "$cuda, \"Bytes\": -300"
    memory 141 7 '"Device Type": 0, "Device Id": -1, "Bytes": 8'
    echo '{"ph": "M", "name": "x"}]}'
} >2021.json
run analyze --units bytes 2021.json
exits 0
out_has 'Device 0: peak 1,800 B'
out_has 'baseline    300 B'
out_has 'end         500 B'
out_has 'a.py:3 inner'
out_has 'the file has no addresses'
out_has 'Host memory: peak 8 B'
run analyze --format json 2021.json
out_has '"op":"aten::mul"'

# 2022 on: addresses and totals, a time base, fractions of microseconds, a rank.
{
    echo '{"baseTimeNanoseconds": 1000000000, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},'
    echo '"traceEvents": ['
    event 'ProfilerStep#7' X 99.5 7 '' 400.25 user_annotation
    event 'train.py(12): main' X 99.75 7 '' 300 python_function
    event 'nn.Module: Linear_0' X 100 7 '' 50 python_function
    operator aten::linear 101 7 20.5 '"Sequence number": 5'
    memory 110.125 7 "$cuda, \"Addr\": 4096, \"Bytes\": 1024, \"Total Allocated\": 3072, \"Total Reserved\": 8192"
    operator 'autograd::engine::evaluate_function: AddmmBackward0' 200 8 20 '"Sequence number": 5'
    operator AddmmBackward0 201 8 18 '"Sequence number": 5'
    memory 205.5 8 "$cuda, \"Addr\": 8192, \"Bytes\": 512, \"Total Allocated\": 3584, \"Total Reserved\": 9216"
    memory 206 8 "$cuda, \"Addr\": 4096, \"Bytes\": -1024, \"Total Allocated\": 2560, \"Total Reserved\": 9216"
    event '[OutOfMemory]' i 210 8 "$cuda, \"Bytes\": 99999" '' cpu_instant_event
    echo ']}'
} >2024.json # with a comma too many
run analyze --units bytes 2024.json
exits 0
out_has 'Profile of torch.profiler: rank 3 of 8, with Python stacks'
out_has 'Device 0: peak 3,584 B, 38.9% of the 9,216 B reserved then'
out_has 'baseline  2,048 B'
out_has 'during ProfilerStep#7'
out_has '1 allocation failed for lack of memory'
out_has 'train.py:12 main'
run analyze --units bytes --stacks 2024.json
out_has 'nn.Module: Linear_0'
run export --table events 2024.json
out_has ',1000205,'
# There are no segments to compare allocations with.
for table in segments blocks; do
    run export --table $table 2024.json
    exits 3
    err 'memsnap: 2024.json: the file has no segments: only allocator snapshots have them'
done
run export -o 2024.sqlite 2024.json
if [ "$status" != 2 ]; then # built without SQLite
    exits 0
    no_err
fi

# Cut off: what came before is used.
head -c 1500 2024.json >cut.json
run analyze --units bytes cut.json
exits 0
out_has 'the file is cut off after byte'
head -c 60000 training.pt.trace.json.gz >cut.json.gz
run analyze cut.json.gz
exits 0
out_has 'the file is cut off after byte'
gzip -n <2024.json >whole.json.gz
for lost in 1 8 12; do # of the sizes at the end of the file, and of the data
    head -c $(($(wc -c <whole.json.gz) - lost)) whole.json.gz >cut.json.gz
    run analyze --units bytes cut.json.gz
    exits 0
    out_has 'the file is cut off after byte'
    out_has 'Device 0: peak 3,584 B'
done

# bad TEXT MESSAGE
bad() {
    printf '%s' "$1" >bad.json
    run analyze bad.json
    exits 3
    err_has "$2"
}
bad '{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}]}' \
    'the profile has no [memory] events: record it with torch.profiler.profile(profile_memory=True)'
bad '{"traceEvents": [{"ph": "i", "name": "[memory]", "ts": 1}]}' \
    "byte 17: expected a [memory] event with 'ts' and 'Bytes'"
bad '{"traceEvents": [{"ph": "i", "name": "[memory]", "ts": "x"}]                                 }' \
    'byte 55: expected a time in microseconds, found a string'
bad '{"traceEvents": [{"ph": "i", "name": "[memory]", "ts": 1, "args": {"Bytes": 1.5}}]                }' \
    'byte 76: expected a whole number, found a number that is not whole'
bad '{"traceEvents": [], "traceEvents": []}' "byte 20: a second 'traceEvents'"

# The modules of the last step with a backward pass, as a layer trace. Parameters are as large as
# their gradients: together, as large as what is there before the profile.
run convert training.pt.trace.json.gz
exits 0
tr '{' '\n' <.run/out >rows
check 'has 10 modules forward' test "$(grep -c '"is_forward":true' rows)" = 10
check 'has 10 modules backward' test "$(grep -c '"is_forward":false' rows)" = 10
out_has '"module_name":"Block_0.Linear_0","module_params":1052672,"allocated":27274240'
out_has '"depth":2,"saved_activations":4194304,"event":{"memory_diff":4194304,"memory_activations":2097152}'
out_has '"forward_us":144.033,"backward_us":72.844'
mv .run/out layers.json
run analyze layers.json
exits 0
run convert 2021.json
exits 3
err_has 'the profile has no calls of modules'

{
    echo '['
    event 'nn.Module: Net_0' X 105 7 '' 0 python_function
    memory 105 7 "$cuda, \"Bytes\": 1000"
    echo ']'
} >no-time.json
run convert no-time.json
exits 3
err 'memsnap: no-time.json: the calls of modules in the profile take no time'

# Other commands.
run check --max-peak 3000B 2024.json
exits 1
run diff 2024.json 2024.json
exits 0
out_has 'The peak: 3.50 KiB in both'
run flame 2024.json
exits 0
out_has 'train.py:12 main;'
run suggest training.pt.trace.json.gz
exits 0
out_has 'Memory against recomputed activations'
run plot --kind segments -o a.svg training.pt.trace.json.gz
exits 2
err_has '--kind segments does not support a profiler trace'
# Kernels belong to the module, or the autograd node, whose time has the call that launched them.
# launch TIME THREAD CORRELATION, kernel CORRELATION DURATION; the spellings of now and of 2021
launch() {
    event cudaLaunchKernel X "$1" "$2" "\"cbid\": 211, \"correlation\": $3" 1 "${4:-cuda_runtime}"
}
kernel() {
    event "a kernel" X 900 '"stream 7"' "\"device\": 0, \"correlation\": $1" "$2" "${3:-kernel}"
}
# layers WITH: a forward and a backward pass of two modules, and launches
layers() {
    echo '{"traceEvents": ['
    event 'nn.Module: Net_0' X 100 7 '' 100 python_function
    event 'nn.Module: Linear_0' X 101 7 '' 40 python_function
    operator aten::linear 102 7 20 '"Sequence number": 5'
    memory 110 7 "$cuda, \"Addr\": 4096, \"Bytes\": 1024, \"Total Allocated\": 1024"
    event 'nn.Module: ReLU_0' X 150 7 '' 20 python_function
    operator aten::relu 151 7 15 '"Sequence number": 6'
    memory 155 7 "$cuda, \"Addr\": 8192, \"Bytes\": 512, \"Total Allocated\": 1536"
    operator 'autograd::engine::evaluate_function: ReluBackward0' 300 8 20 '"Sequence number": 6'
    operator 'autograd::engine::evaluate_function: AddmmBackward0' 330 8 30 '"Sequence number": 5'
    memory 340 8 "$cuda, \"Addr\": 4096, \"Bytes\": -1024, \"Total Allocated\": 512"
    "$1"
    echo '{"ph": "M", "name": "x"}]}'
}
of_now() {
    launch 103 7 1
    launch 104 7 2
    launch 152 7 3
    launch 335 8 4
    launch 500 8 5
    kernel 4 70
    kernel 1 10.5
    kernel 2 4
    kernel 2 6 gpu_memset
    kernel 3 30
    kernel 5 1000
    kernel 6 2000
}
in_2021() {
    launch 152 7 3 Runtime
    kernel 3 30 Kernel
    kernel 99 7 Memcpy
}
layers of_now >kernels.json
layers in_2021 >kernels-2021.json
layers true >no-kernels.json
for input in kernels kernels-2021 no-kernels; do
    run convert "$input.json"
    exits 0
    cp .run/out "$input.out"
done
# module_times FILE: module, forward and backward time of each row
module_times() {
    tr -d ' \n' <"$1" | tr '{' '\n' |
        sed -n 's/.*"module_name":"\([^"]*\)".*"forward_us":\([0-9.]*\).*"backward_us":\([0-9.]*\).*/\1 \2 \3/p'
}
module_times kernels.out >got
printf 'Linear_0 20.5 70\nReLU_0 30 0\n' >wanted
check 'sums kernels by module' cmp -s wanted got
module_times kernels-2021.out >got
printf 'Linear_0 0 0\nReLU_0 30 0\n' >wanted
check 'also those of 2021' cmp -s wanted got
module_times no-kernels.out >got
printf 'Linear_0 50 30\nReLU_0 50 20\n' >wanted
check 'takes the time of the host without kernels' cmp -s wanted got
check 'says which' grep -q '"time": *"kernels"' kernels.out
check 'says which' grep -q '"time": *"host"' no-kernels.out
# Of several GPUs, the one on which the pass allocates most.
of_second() {
    memory 112 7 '"Device Type": 1, "Device Id": 1, "Addr": 65536, "Bytes": 4096, "Total Allocated": 4096'
}
layers of_second >second.json
run convert second.json
exits 0
out_has '"module_name":"Linear_0","module_params":0,"allocated":4096'

# Advice about a profile names what the profiler can record.
echo '{"traceEvents": [{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "ts": 1, "args":
    {"Bytes": 512, "Addr": 512, "Device Type": 0, "Device Id": -1}}, {}]}' >cpu.json
run suggest cpu.json
exits 3
err 'memsnap: cpu.json: the profile has memory of the CPU only, in which checkpoints are not planned; profile the model on a GPU'
run replay cpu.json
exits 3
err 'memsnap: cpu.json: cannot be replayed: a profiler trace does not tell where segments begin and end'
sed 's/"Device Type": 0, "Device Id": -1/"Device Type": 1, "Device Id": 0/' cpu.json >bare.json
run suggest bare.json
exits 3
err_has 'with torch.profiler.profile(profile_memory=True, with_stack=True)'

# Checkpoints may keep the results of operators, which have kernels of their own. In each of four blocks, linear calls
# addmm, which has a workspace; its results are small for their time. gelu is the opposite.
# step TIME SEQUENCE OPERATOR LINE BYTES MICROSECONDS: in a block
step() {
    stack="\"Call stack\": \"model.py($4): forward;model.py(11): forward;train.py(5): main\""
    operator "aten::$3" "$1" 7 8 "\"Sequence number\": $2, $stack"
    memory "$(($1 + 2))" 7 "$cuda, \"Addr\": $((4096 * $1)), \"Bytes\": $5"
    launch "$(($1 + 3))" 7 "$1"
    kernel "$1" "$6"
}
blocks() {
    echo '{"traceEvents": ['
    event 'train.py(5): main' X 50 7 '' 900 python_function
    for block in 1 2 3 4; do
        operator aten::linear "${block}00" 7 30 '"Sequence number": '"$block"0
        step "${block}10" "$block"0 "$1" 21 1048576 100
        memory "${block}14" 7 "$cuda, \"Addr\": 8192, \"Bytes\": 2097152"
        memory "${block}15" 7 "$cuda, \"Addr\": 8192, \"Bytes\": -2097152"
        step "${block}50" "$block"3 "$2" 22 4194304 5
        step "${block}70" "$block"5 "$1" 23 1048576 100
    done
    for block in 4 3 2 1; do
        operator 'autograd::engine::evaluate_function: AddmmBackward0' "$((1450 - 100 * block))" 8 40 \
            '"Sequence number": '"$block"5
        for place in 70:1048576 50:4194304 10:1048576; do
            memory "$((1460 - 100 * block))" 8 \
                "$cuda, \"Addr\": $((4096 * $block${place%:*})), \"Bytes\": -${place#*:}"
        done
    done
    echo '{"ph": "M", "name": "x"}]}'
}
blocks addmm gelu >blocks.json
run suggest --budget 60% blocks.json
exits 0
no_err
golden profile-selective.txt
run suggest --budget 60% --format json blocks.json
exits 0
out_has '"keep_operators":["aten.addmm"]'
finish
