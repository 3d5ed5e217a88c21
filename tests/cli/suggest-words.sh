#!/bin/sh
# Messages of memsnap suggest about unusual traces, and its errors.
. "${srcdir:=.}/tests/cli/lib.sh"

# rows FILE [NAME ACTIVATIONS MORE]...: a layer trace of modules that ran forward in this order; MORE
# are the members of its rows that need not be there.
rows() {
    file=$1
    shift
    printf '{"traces": [' >"$file"
    comma=
    while [ $# -gt 0 ]; do
        printf '%s{"module_name": "%s", "module_params": 0, "allocated": 0, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_diff": %s, "memory_activations": %s}, %s}' \
            "$comma" "$1" "$2" "$2" "$3" >>"$file"
        comma=,
        shift 3
    done
    printf ']}' >>"$file"
}

# The root, whose name is empty, is in no plan: wrapping it would wrap everything.
rows root.json '' 100 '"saved_activations": 1000000' m0 100 '"saved_activations": 900000' \
    m1 100 '"saved_activations": 900000' m2 100 '"saved_activations": 900000'
run suggest --budget 90% root.json
exits 0
out_has_not '(the model)'
out_has '"m1"'
run suggest --checkpoints 2 root.json
exits 0
out_has_not '(the model)'
out_has '"m0"'

# The layers may be of another step than the peak: that comes first, and no budget simply fits.
oom=samples/oom.pickle.gz
late=samples/recorded/oom-batch.pickle.gz # its last batch is larger, and fails in the forward pass
first='These are the layers of step 0, which keeps 179.20 MiB. The peak, in step 2,'
for question in --pareto --budget=400MiB --checkpoints=2; do
    run suggest "$question" "$late"
    exits 0
    check 'begins with whose layers they are' test "$(head -n 1 .run/out)" = "$first"
    out_has 'holds 907.38 MiB of activations: give budgets as shares (60%), not as sizes.'
done
run suggest --budget 400MiB "$late"
out_has 'Budget 400.00 MiB: step 0 peaks at 306.95 MiB'
out_has_not 'It fits: '
run suggest --budget 400MiB --format json "$late"
out_has '"step":0,"at_peak":false,"unfinished":false,"trace_peak_bytes":1062622260,"trace_peak_phase":"forward","trace_peak_step":2,'

# Or of a pass that came to no end.
alloc() {
    printf '{"action":"alloc","addr":%s,"size":%s,"stream":0,"frames":[{"name":"%s","filename":"%s","line":%s}]},' "$@"
}
{
    printf '{"segments":[],"device_traces":[['
    for i in 1 2 3 4; do
        alloc "$i" 1048576 forward model.py "$i"
    done
    printf '{"action":"oom","addr":0,"size":99,"stream":0,"device_free":1,"frames":[]}]]}'
} >unfinished.json
run suggest --budget 100MiB unfinished.json
exits 0
check 'begins with what is missing' grep -qx 'Memory ran out before the backward pass of this step: the later layers are' .run/out
out_has_not 'It fits: '

# Or the peak is something else's.
{
    printf '{"segments":[],"device_traces":[['
    for i in 1 2 3; do
        alloc "$i" 1048576 forward model.py "$i"
    done
    alloc 4 512 backward /torch/_tensor.py 9
    for i in 3 2 1; do
        printf '{"action":"free_completed","addr":%s,"size":1048576,"stream":0},' "$i"
    done
    alloc 5 1073741824 step /torch/optim/adam.py 9
    printf '{"action":"free_completed","addr":5,"size":1073741824,"stream":0}]]}'
} >optimizer.json
run suggest optimizer.json
exits 0
out_has 'Checkpoints do not lower this peak: of its 1.00 GiB, in the optimizer step of'
out_has 'step 0, 0 B are activations.'
run suggest "$late"
out_has_not 'do not lower'

# Or one layer needs most of it while it runs.
for bytes in 20000000 2000000; do
    {
        printf '{"segments":[],"device_traces":[['
        for i in 1 2 3; do
            alloc "$i" 1048576 forward model.py "$i"
        done
        alloc 4 "$bytes" backward /torch/_tensor.py 9
        printf '{"action":"free_completed","addr":4,"size":%s,"stream":0},' "$bytes"
        for i in 3 2; do
            printf '{"action":"free_completed","addr":%s,"size":1048576,"stream":0},' "$i"
        done
        printf '{"action":"free_completed","addr":1,"size":1048576,"stream":0}]]}'
    } >"layer-$bytes.json"
done
run suggest layer-20000000.json
check 'begins with the layer' grep -q '^Most of this peak is what one layer needs while it runs: 19.07 MiB of 22.07' .run/out
out_has 'in the backward pass of model.py:3 forward. Checkpoints do not lower that'
run suggest layer-2000000.json
out_has_not 'one layer needs'

# Or one layer keeps most of it in one allocation.
for bytes in 20971520 2097152; do
    {
        printf '{"segments":[],"device_traces":[['
        alloc 1 1048576 forward model.py 1
        alloc 2 "$bytes" forward model.py 2
        alloc 3 1048576 forward model.py 2
        alloc 5 1048576 forward model.py 3
        alloc 4 1024 backward /torch/_tensor.py 9
        for i in 5 3; do
            printf '{"action":"free_completed","addr":%s,"size":1048576,"stream":0},' "$i"
        done
        printf '{"action":"free_completed","addr":2,"size":%s,"stream":0},' "$bytes"
        printf '{"action":"free_completed","addr":1,"size":1048576,"stream":0}]]}'
    } >"allocation-$bytes.json"
done
COLUMNS=500 run suggest allocation-20971520.json
check 'begins with the allocation' grep -q '^Most of what these layers keep is a single allocation: 20.00 MiB of 23.00 MiB, which model.py:2 ' .run/out
out_has 'A smaller batch lowers it'
out_has_not 'recurrent'
run suggest allocation-2097152.json
out_has_not 'single allocation'
run suggest samples/train-loop.pickle.gz
check 'begins with the answer' test "$(head -n 1 .run/out)" = 'Memory against recomputed activations, with one level of checkpoints'

# The command printed with a front gives the point it is printed for, or a better one.
for file in "$oom" samples/decoder.layers.json.gz samples/train-loop.pickle.gz root.json; do
    run suggest --format csv "$file"
    cp .run/out points.csv
    COLUMNS=200 run suggest "$file"
    sed -n 's/.*, at .*: memsnap suggest --budget \([0-9]*\)$/\1/p' .run/out >told
    knees=$(grep -c knee points.csv)
    check 'tells of the least and every knee' test "$(wc -l <told)" -gt "$knees"
    while read -r bytes; do
        run suggest --budget "$bytes" --format json "$file"
        exits 0
        peak=$(sed 's/.*"peak_bytes":\([0-9]*\),"\(extra\|recomputed\).*/\1/' .run/out)
        extra=$(sed 's/.*"[a-z_]*_share":\([0-9.e-]*\),"split.*/\1/' .run/out)
        check "$bytes bytes give their point" awk -F , -v bytes="$bytes" -v peak="$peak" -v extra="$extra" '
            $1 == bytes && $3 ~ /front|knee|nested/ { found = peak <= bytes && extra <= $2 + 1e-6 }
            END { exit !found }' points.csv
    done <told
done
COLUMNS=200 run suggest "$late"
out_has 'A knee, at 197.52 MiB: memsnap suggest --budget 207118280'
rows flat.json a 100 '"saved_activations": 100'
run suggest flat.json
out_has 'Checkpoints between these layers save nothing; between smaller ones'
out_has 'The chain has 1 layer, made of 1 run of modules.'

# A pattern that matches nothing is a mistake, not a chain of one piece.
for command in suggest 'plot --kind pareto --term dumb'; do
    # shellcheck disable=SC2086 # words
    run $command --granularity 'blokcs.*' samples/decoder.layers.json.gz
    exits 2
    no_out
    err "memsnap: samples/decoder.layers.json.gz: --granularity: no module matches 'blokcs.*'; there are embed, blocks.0, blocks.1, ..."
    # shellcheck disable=SC2086 # words
    run $command --granularity 'mdoel.py*' "$oom"
    exits 2
    no_out
    err "memsnap: $oom: --granularity: no line matches 'mdoel.py*'; there are model.py:90 forward, model.py:93 forward, model.py:94 forward, ..."
done
run suggest --granularity 'x*' --checkpoints 1 root.json
exits 2
err "memsnap: root.json: --granularity: no module matches 'x*'; there are m0, m1, m2"

# Without allocation events, stacks of live memory do not help.
{
    printf '{"segments":[],"device_traces":[['
    printf '{"action":"free_completed","addr":1,"size":512,"stream":0,"frames":[{"name":"forward","filename":"model.py","line":1}]}]]}'
} >state.json
run suggest state.json
exits 3
err 'memsnap: state.json: device 0 has only a state, no allocation events; record a whole step with torch.cuda.memory._record_memory_history()'
run suggest --range 2981:2982 "$oom"
exits 3
err "memsnap: $oom: device 0 has no allocation events in the --range; select a whole step"

# Backward times count where every row of the forward pass has one, or every one of the backward.
# share SHARE: that of running both modules forward again, 30 us.
share() {
    check "extra compute is $1" grep -qx "[0-9]*,$1,sqrt" .run/out
}
a='a 1000 "forward_us":10,'
b='b 1000 "forward_us":20,'
timed() { # FILE MORE-OF-A MORE-OF-B
    # shellcheck disable=SC2086 # words
    rows "$1" $a$2 $b$3
}
timed both.json '"backward_us":40' '"backward_us":60'
run suggest --format csv both.json
share 0.230769
timed one.json '"backward_us":3' '"depth":1'
run suggest --format csv one.json
share 0.333333
COLUMNS=200 run suggest one.json
out_has "Backward times are known for some modules only, so the"
sed 's/\(.*\)\]}$/\1, {"module_name": "b", "module_params": 0, "allocated": 0, "reserved": 0, "is_forward": false, "all_gathered": 0, "cumul_all_gathered": 0, "backward_us": 100, "event": {"memory_diff": 0, "memory_activations": 0}}]}/' one.json >behind.json
run suggest --format csv behind.json
share 0.230769
sed 's/"forward_us":20,//' one.json >half.json
run suggest half.json
exits 0
out_has 'The trace has times of some modules only, so the extra compute is unknown.'

# Lines for blocks serve --checkpoints too, which cuts within them: a time is divided by bytes.
rows blocks.json m.0.a 3000 '"depth":1' m.0.b 1000 '"depth":1' m.1.a 1000 '"depth":1' \
    m.1.b 0 '"depth":1' m.2.a 1000 '"depth":1'
printf 'm.0\t40\nm.1\t10\nm.2\t50\n' >times.tsv
run suggest --times times.tsv --checkpoints 9 --skip-layers 1 --format json blocks.json
exits 0
out_has '"time":"given"'
# all but m.0.a runs again: 70 of 300
out_has '"extra_time_share":0.23333333333333334,"no_checkpoint_peak_bytes"'
# by their own lines, where all of a block have one
printf 'm.0\t40\nm.0.a\t1\nm.0.b\t3\nm.1\t10\nm.2\t50\n' >times.tsv
run suggest --times times.tsv --checkpoints 9 --skip-layers 1 --format json blocks.json
out_has '"extra_time_share":0.3,"no_checkpoint_peak_bytes"'
printf 'm.0\t0\nm.1\t0\nm.2\t0\n' >times.tsv
run suggest --times times.tsv --checkpoints 2 blocks.json
exits 0

# Sizes that do not fit a chain are refused before they are added up.
rows vast.json b.0.x 0 '"saved_activations":4611686018427387903' \
    b.0.y 2305843009213693952 '"depth":1' b.0.z 2305843009213693951 '"depth":1'
rows large.json a 1125899906842624 '"saved_activations":1'
rows saved.json a.0.x 1 '"saved_activations":1125899906842623' a.0.y 1 '"saved_activations":1'
for file in vast.json large.json saved.json; do
    run suggest "$file"
    exits 4
    err "memsnap: $file: the sizes of all layers add up to 2^50 or more"
done

# Beyond 1,024 pieces a budget has a coarser chain, but for --model peak.
# shellcheck disable=SC2046 # a list of words
rows long.json $(seq 1 1100 | sed 's/.*/m& 1000 "saved_activations":&000/')
COLUMNS=200 run suggest long.json
exits 0
out_has 'memsnap suggest --model peak --budget '

# What needs care when it runs twice is named where the plan has it, and only there.
traits='"saved_activations": 900000, "traits": '
rows traits.json b0.norm 100 "$traits"'"batch_norm"' b1.drop 100 "$traits"'"fsdp,random"' \
    b2.fc 100 '"saved_activations": 900000' b3.fc 100 '"saved_activations": 1000000' head.norm 100 '"saved_activations": 1, "traits": "batch_norm"'
run suggest --budget 70% --keep head traits.json
exits 0
tr -s ' \n' ' ' <.run/out >.run/joined
check 'names batch norm' grep -qF '1 module with batch norm (b0.norm) would update statistics twice' .run/joined
check 'names dropout' grep -qF '1 module draws random numbers, as dropout does (b1.drop)' .run/joined
check 'names FSDP' grep -qF '1 module is wrapped by FSDP (b1.drop)' .run/joined
run suggest --budget 70% --keep head --format json traits.json
exits 0
out_has '"warnings":[{"about":"batch_norm","modules":["b0.norm"]},{"about":"random","modules":["b1.drop"]},{"about":"fsdp","modules":["b1.drop"]}]'
run suggest --budget 80% --only 'b[23]' --format json traits.json
exits 0
out_has '"warnings":[]'
run suggest --budget 80% --only 'b[23]' traits.json
exits 0
out_has_not 'batch norm ('
out_has_not 'random numbers'
out_has_not 'FSDP ('

finish
