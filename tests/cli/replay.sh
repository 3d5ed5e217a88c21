#!/bin/sh
# memsnap replay
. "${srcdir:=.}/tests/cli/lib.sh"

run replay --help
exits 0
no_err
golden help-replay.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"

# With the recorded settings the model does what the allocator did. The settings that fit are those
# that analyze can only guess.
run replay samples/oom-fragmented.pickle.gz
exits 0
no_err
golden replay-oom.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
run replay samples/ring-overflow.pickle.gz
exits 0
out_has 'the figures below are usually within 2% of the truth'
run replay samples/two-devices.pickle.gz
exits 0
out_has 'Device 0'
out_has 'Device 1'
run replay --device 1 samples/two-devices.pickle.gz
exits 0
out_has_not 'Device 0'

run replay --format json --gpu-memory 1GiB --other-use 724MiB samples/train-loop.pickle.gz
exits 0
golden replay.json
run replay --format csv --units MiB samples/train-loop.pickle.gz
exits 0
golden replay.csv
cp .run/out all.csv
run replay --format csv --jobs 1 samples/train-loop.pickle.gz -o one.csv
exits 0
no_out
check 'is the same with one thread' cmp all.csv one.csv

# the size of the device decides
run replay --gpu-memory 1GiB samples/train-loop.pickle.gz
out_has 'every setting fits'
run replay --gpu-memory 1GiB --other-use 900MiB samples/train-loop.pickle.gz
out_has 'In 124.00 MiB for PyTorch, no setting fits'
run replay --gpu-memory 1GiB --other-use 2GiB samples/train-loop.pickle.gz
exits 0
out_has 'no setting fits'

# a range of events; a release that only a call of the program caused
run replay --range 1000: --format json samples/train-loop.pickle.gz
exits 0
out_has '"basis":"checked"'
run replay --format json samples/expandable.pickle.gz
out_has '"empty_caches":1'
out_has '"segment_frees":23'
run replay --format json --no-empty-cache samples/expandable.pickle.gz
out_has '"alloc_conf":"","as_recorded":false,"peak_reserved_bytes":429916160'
out_has '"segment_frees":0'
out_has_not '"segment_frees":23'
run replay --torch 2.13 --format json samples/train-loop.pickle.gz
exits 0
out_has '"tie_break":"segment"'

# torch's own syntax and errors
run replay --alloc-conf 'expandable_segments:True, max_split_size_mb:64' --format csv \
    samples/train-loop.pickle.gz
exits 0
out_has '0,"expandable_segments:True,max_split_size_mb:64",false,'
check 'has the recorded settings and these' test "$(wc -l <.run/out)" -eq 3
run replay --alloc-conf expandable_segments:true samples/train-loop.pickle.gz
exits 2
err_has "expected 'True' or 'False' at index 2 but got 'true'"
run replay --alloc-conf max_split_size:64 samples/train-loop.pickle.gz
exits 2
err_has "Unrecognized key 'max_split_size'"
run replay --alloc-conf backend:cudaMallocAsync samples/train-loop.pickle.gz
exits 2
err_has 'cudaMallocAsync) cannot be replayed'
run replay --gpu-memory lots samples/train-loop.pickle.gz
exits 2
err_has "--gpu-memory: invalid size 'lots' (for example 40GiB)"
run replay --torch 1.13 samples/train-loop.pickle.gz
exits 2
err_has "--torch: invalid version '1.13' (2.1 or later)"
run replay a b
exits 2

# no trace, no figures
run replay samples/history-off.pickle
exits 3
no_out
err_has 'cannot be replayed: the trace has no allocations'
run replay samples/gpt.layers.json.gz
exits 3
err_has 'expected an allocator snapshot, not'
run replay samples/training.pt.trace.json.gz
exits 3
no_out

finish
