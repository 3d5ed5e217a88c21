#!/bin/sh
# memsnap flame: the frames of stacks, the sum of weights, and hostile names.
. "${srcdir:=.}/tests/cli/lib.sh"

run flame --help
exits 0
golden help-flame.txt
for bad in '--weight heavy' '--format svg' '--by name' '--stacks some' '--at never' '--device x' \
    '--weight count --at end' '--max-memory 0' 'samples/oom.pickle.gz'; do
    # shellcheck disable=SC2086 # a list of words
    run flame $bad samples/leak.pickle.gz
    exits 2
    no_out
    one_err_line
done
run flame --device 7 samples/leak.pickle.gz
exits 2
err_has 'the file has no device 7 (devices: 0)'
run flame --weight bytes-time samples/history-off.pickle
exits 0
no_out
run flame samples/decoder.layers.json.gz -o out
exits 3
err 'memsnap: samples/decoder.layers.json.gz: expected an allocator snapshot, not a layer trace, which has no call stacks'
check 'leaves no file' test ! -e out
echo junk >junk
run flame junk -o out
exits 3
one_err_line
check 'leaves no file' test ! -e out

# stacks GOLDEN ARGUMENT...
stacks() {
    file=$1
    shift
    run flame "$@"
    exits 0
    no_err
    golden "$file"
    check 'has a weight in every line' test -z "$(grep -v ' [1-9][0-9]*$' .run/out)"
}

stacks flame.txt samples/train-loop.pickle.gz
stacks flame-category.txt --by category --at end samples/leak.pickle.gz
stacks flame-phase.txt --by phase --weight count --range 0:400 samples/train-loop.pickle.gz
stacks flame-devices.txt samples/two-devices.pickle.gz
stacks flame-time.txt --weight bytes-time --range 500:900 samples/train-loop.pickle.gz
stacks flame-history-off.txt samples/history-off.pickle
run flame --device 1 samples/two-devices.pickle.gz
exits 0
out_has_not 'device 1'
run flame --stacks all samples/train-loop.pickle.gz
exits 0
out_has 'torch/nn/modules/module.py:'
out_has ';at::_ops::mm::call('
run flame --format speedscope --device 1 --by category samples/two-devices.pickle.gz
exits 0
golden flame-speedscope.txt
run flame samples/train-loop.pickle.gz -o out
exits 0
no_out
check 'is the same in a file' diff out "$cli/golden/flame.txt"
run flame - <samples/train-loop.pickle.gz
exits 0
check 'reads standard input' diff .run/out "$cli/golden/flame.txt"

# weights ARGUMENT...: their sum.
weights() {
    run flame "$@"
    exits 0
    awk '{sum += $NF} END {printf "%.0f\n", sum}' .run/out >.run/sum
}

# The peak, and the area below the curve, by hand: 100 bytes for 10 us, 50 of them for 30 us more.
cat >area.json <<'END_OF_FILE'
{"segments": [], "device_traces": [[
 {"action": "alloc", "addr": 4096, "size": 50, "stream": 0, "time_us": 1000, "frames": []},
 {"action": "alloc", "addr": 8192, "size": 50, "stream": 0, "time_us": 1000, "frames": []},
 {"action": "free_requested", "addr": 8192, "size": 50, "stream": 0, "time_us": 1005},
 {"action": "free_completed", "addr": 8192, "size": 50, "stream": 0, "time_us": 1010},
 {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": 1040}]]}
END_OF_FILE
for case in 'live 100' 'bytes-time 2500' 'allocated 100' 'count 2'; do
    weights --weight "${case% *}" area.json
    no_err
    check "sums to ${case#* }" test "$(cat .run/sum)" = "${case#* }"
    check 'says that there is no stack' grep -qx '(no stack recorded) [0-9]*' .run/out
done
weights --at end area.json
check 'sums what is live at the end' test "$(cat .run/sum)" = 50

# A long run: more than 2^63 byte-microseconds.
sed 's/"size": 50/"size": 4000000000000/; s/1040/1000000000/' area.json >long.json
run flame --weight bytes-time long.json
exits 0
one_err_line
err_has 'weights are bytes times 1000 microseconds'
check 'is the area' test "$(cat .run/out)" = '(no stack recorded) 3999996040000000000'

# Bytes that no allocation of an inconsistent trace explains.
sed 's/"size": 50, "stream": 0, "time_us": 1010/"size": 20, "stream": 0, "time_us": 1010/' area.json >over.json
run flame --at end over.json
exits 0
no_err
out_has '(not explained: the trace contradicts itself) 30'
sed 's/"size": 50, "stream": 0, "time_us": 1010/"size": 60, "stream": 0, "time_us": 1010/' area.json >under.json
run flame --at end under.json
exits 0
one_err_line
err_has 'the weights sum to 10 bytes more than its curve'

# Names that would be frames, weights or lines of their own.
cat >evil.json <<'END_OF_FILE'
{"segments": [], "device_traces": [[
 {"action": "alloc", "addr": 4096, "size": 7, "stream": 0, "time_us": 1000, "frames": [
   {"name": "a;b\nc 12 34", "filename": "/home/u/x y.py", "line": 3},
   {"name": "\u001b[2J\u202e\ud800 5.", "filename": "/home/u/z.py", "line": 4},
   {"name": "", "filename": "", "line": 0}]}]]}
END_OF_FILE
run flame evil.json
exits 0
golden flame-evil.txt
check 'is one line' test "$(wc -l <.run/out)" -eq 1
run flame --format speedscope evil.json
exits 0
golden flame-evil-speedscope.txt

# Annotations.
cat >annotated.json <<'END_OF_FILE'
{"segments": [], "device_traces": [[
 {"action": "alloc", "addr": 4096, "size": 512, "stream": 0,
  "frames": [{"name": "main", "filename": "a.py", "line": 1}]},
 {"action": "alloc", "addr": 8192, "size": 128, "stream": 0,
  "frames": [{"name": "main", "filename": "a.py", "line": 1}]},
 {"action": "annotate", "addr": 8192, "size": 128, "stream": 0, "user_metadata": "bias;\u001b"}]]}
END_OF_FILE
run flame --by annotation annotated.json
exits 0
out_has '(no annotation);a.py:1 main 512'
out_has 'bias:\x1b;a.py:1 main 128'
run flame annotated.json
out_has 'a.py:1 main 640'

# Forward calls under which the backward hangs.
cat >forward.json <<'END_OF_FILE'
{"segments": [], "device_traces": [[
 {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 1000,
  "frames": [{"name": "at::_ops::mm::call(x)", "filename": "??", "line": 0},
             {"name": "torch::autograd::generated::MmBackward0::apply(x)", "filename": "??", "line": 0},
             {"name": "torch::autograd::Engine::evaluate_function(x)", "filename": "??", "line": 0}],
  "forward_frames": [{"name": "forward", "filename": "/home/u/model.py", "line": 3},
                     {"name": "<module>", "filename": "/home/u/train.py", "line": 9}]}]]}
END_OF_FILE
run flame forward.json
exits 0
golden flame-forward.txt

finish
