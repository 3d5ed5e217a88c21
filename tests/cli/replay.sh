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

# Of two requests that ran out of memory, the first needs more than there is, and the second failed
# because of fragmentation: expandable segments make it fit, as analyze says.
MIB=1048576
first=$((0x7f0000000000)) second=$((0x7f0010000000)) comma=
event() {
    printf '%s{"action":"%s","addr":%d,"size":%d,"stream":0%s}\n' "$comma" "$1" "$2" $(($3 * MIB)) "${4-}"
    comma=,
}
freed() {
    event free_requested "$1" "$2"
    event free_completed "$1" "$2"
}
segment() { # 30 of 40 MiB are in use
    printf '{"device":0,"address":%d,"total_size":%d,"stream":0,"segment_type":"large","blocks":[
        {"size":%d,"state":"active_allocated"},{"size":%d,"state":"inactive"}]}%s' \
        "$1" $((40 * MIB)) $((30 * MIB)) $((10 * MIB)) "$2"
}
{
    echo '{"segments":['
    segment $first ,
    segment $second ''
    echo '],"device_traces":[['
    event segment_alloc $first 40
    event alloc $first 40
    event segment_alloc $second 40
    event alloc $second 40
    event oom 0 60 ",\"device_free\":$((20 * MIB))"
    freed $first 40
    event alloc $first 30
    freed $second 40
    event alloc $second 30
    event oom 0 36 ",\"device_free\":$((20 * MIB))"
    echo ']]}'
} >twice.json
run replay twice.json
exits 0
out_has '2 of 2 segment'
run analyze --format json twice.json
exits 0
out_has 'replayed with it, this request fits, but an earlier one still fails'

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
