#!/bin/sh
# Reports of the samples with every option.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/*.gz samples/*.pickle .

# report GOLDEN ARGUMENT...
report() {
    file=$1
    shift
    run analyze "$@"
    exits 0
    no_err
    golden "$file"
    check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
}

for sample in train-loop leak kept-gradients cache pending-frees oom two-devices \
    expandable ring-overflow; do
    report "$sample.txt" "$sample.pickle.gz"
done
# Active memory counts requested sizes. Rounded sizes plus unused memory equal reserved memory.
run analyze --units bytes oom.pickle.gz
out_has '769,654,784 B reserved: 706,539,212 B'
out_has 'active (714,497,536 B after rounding), 55,157,248 B unused'
for sample in oom-fragmented oom-other-process pinned recorded/oom-graph-pools recorded/oom-other-stream \
    recorded/oom-batch recorded/leak-losses; do
    report "${sample##*/}.txt" --top 3 "samples/$sample.pickle.gz"
done
# A report on the peak mentions holes at the end, if they matter only then.
run analyze --top 1 pinned.pickle.gz
out_has 'Fragmentation at the end: 572.00 MiB of the 1.14 GiB reserved, 49.0% (--at end'
out_has_not 'Fragmentation at the peak'
run analyze --top 1 --at end pinned.pickle.gz
out_has 'Fragmentation at the end: 572.00 MiB of the 1.14 GiB reserved, 49.0%'
out_has 'up to 568.00 MiB of reserved memory'
out_has_not '(--at end'
run analyze --top 1 --at 0 pinned.pickle.gz
out_has_not 'Fragmentation at the end'
run analyze --top 1 --range 0:135 pinned.pickle.gz
out_has_not 'Fragmentation at the end'
out_has 'Pinned in the snapshot: 572.00 MiB in 8 segments'

# A few bytes of pinned memory, such as those of item(), are no activations of an inference.
cat >pinned-scalar.json <<'END'
{"segments": [], "device_traces": [], "host_segments": [], "host_traces": [
    {"action": "alloc", "addr": 64, "size": 4, "stream": 0, "time_us": 1},
    {"action": "free_requested", "addr": 64, "size": 4, "stream": 0, "time_us": 2},
    {"action": "free_completed", "addr": 64, "size": 4, "stream": 0, "time_us": 3}]}
END
run analyze pinned-scalar.json
exits 0
out_has 'Live at the peak: 4 B in 1 allocation'
out_has_not 'No backward pass was recorded'

# A device that only dumps touched is a line. One with memory from before is not.
cat >devices.json <<'END'
{"segments": [
    {"device": 1, "address": 4096, "total_size": 2097152, "blocks": [
        {"address": 4096, "size": 2097152, "requested_size": 2097152, "state": "active_allocated"}]}],
 "device_traces": [
    [{"action": "snapshot", "addr": 0, "size": 0, "stream": 0}],
    [{"action": "snapshot", "addr": 0, "size": 0, "stream": 0}],
    [{"action": "snapshot", "addr": 0, "size": 0, "stream": 0},
     {"action": "oom", "size": 99, "device_free": 9, "stream": 0}]],
 "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "roundup_power2_divisions:4",
    "roundup_power2_divisions.1": 4, "roundup_power2_divisions.2": 4, "classes.1": 3, "classes.2": 5,
    "version.1": 7}}
END
run analyze devices.json
exits 0
out_has '  roundup_power2_divisions=4, classes.1=3, classes.2=5, version.1=7'
check 'says of device 0 that it was not used' test "$(grep -A 2 '^Device 0' .run/out | tail -n 1)" = 'Device 1: 2.00 MiB in use when the snapshot was taken, 100.0% of the 2.00 MiB'
out_has 'Device 0: not used'
out_has 'warning: 1 event but no allocation: recording began too late'
out_has 'out of memory at event 1 of 2'
run flame devices.json
exits 0
err_has 'device 2: no stack has any weight'
err_has_not 'device 0:'

# The end of a range is that of nothing else.
run analyze --top 1 --range 500:900 leak.pickle.gz
out_has '  baseline   93.25 MiB  allocated before the range'
out_has '  end       129.24 MiB  after the last event of the range'
out_has '  reserved  222.00 MiB  at the end of the range'
out_has_not 'in 59 segments'
out_has_not 'inactive'
out_has 'In the snapshot, 25.13 MiB lie unused'
run analyze --top 1 --range 500:900 --at end leak.pickle.gz
out_has 'Live at the end of the range: 129.24 MiB'
# Allocations recorded before the range are not reported as older than the recording.
run analyze --top 0 --range +20ms:+60ms --device 1 two-devices.pickle.gz
out_has '(no stack recorded)     workspace'
out_has_not 'before recording began'
for range in 0: 300:600; do
    run analyze --top 0 --range $range samples/labelled/cnn-sgd-late.pickle.gz
    out_has '(before recording began)'
done
# A stream is written in one form everywhere.
run analyze --at end pending-frees.pickle.gz
check 'one form of stream' test "$(grep -c 'stream 9435\|0x55d08a317c40' .run/out)" \
    -eq "$(grep -c 0x55d08a317c40 .run/out)"
out_has 'small, stream 0x55d08a317c40'
run analyze --at 100 --top 1 oom.pickle.gz
out_has '  --at       83.41 MiB  event 100 of 2,982'

run analyze --top 1 --range 500: leak.pickle.gz
out_has 'after the last event'
out_has 'reserved but unused at the end,'
out_has_not 'of the range'
run analyze --top 1 samples/recorded/oom-batch.pickle.gz
out_has_not 'Fragmentation at the end'
run analyze --format json pinned.pickle.gz
out_has '"inactive_split_bytes":599785472,"releasable_bytes":0,"releasable_after_graphs_bytes":0,"largest_hole_bytes":89653248,"notable":true}},"ooms"'
report oom-gpu-memory.txt --top 1 --gpu-memory 3GiB oom-other-process.pickle.gz

# A device with less than was seen of it is none.
refused() {
    run analyze --gpu-memory "$2" "$1"
    exits 2
    no_out
    one_err_line
    err_has "--gpu-memory $3"
}
refused oom-other-process.pickle.gz 24 \
    '24 B is less than the 2.03 GiB that device 0 is seen to have; did you mean 24GiB?'
refused oom-other-process.pickle.gz 24564 \
    '23.99 KiB is less than the 2.03 GiB that device 0 is seen to have; did you mean 24564MiB?'
refused oom-other-process.pickle.gz 3MiB '3.00 MiB is less than the 2.03 GiB that device 0 is'
refused oom-other-process.pickle.gz 2GiB '2.00 GiB is less than the 2.03 GiB that device 0 is seen'
check 'guesses nothing' lacks 'did you mean' .run/err
# its most: reserved and free together when memory ran out
refused samples/recorded/oom-batch.pickle.gz 1409286143 '1,409,286,143 B is less than the 1,409,286,144 B that'
refused history-off.pickle 271MiB '271.00 MiB is less than the 272.00 MiB that device 0'
run analyze --top 1 --gpu-memory 2GiB samples/recorded/oom-batch.pickle.gz
exits 0
no_err

# With it every verdict says how much other processes held; nothing else changes.
COLUMNS=200
export COLUMNS
run analyze oom.pickle.gz
cp .run/out plain.txt
run analyze --gpu-memory 24GiB oom.pickle.gz
exits 0
diff plain.txt .run/out >added.txt
echo "23.25 GiB of the device's 24.00 GiB are held outside of PyTorch: by other processes, CUDA contexts or other allocators
used, as nvidia-smi shows it: 681.40 MiB allocated + 52.60 MiB cached + 23.25 GiB outside of PyTorch = 23.97 GiB of 24.00 GiB" >wanted.txt
sed -n 's/^[<>] *//p' added.txt >told.txt
check 'adds what others held, and the sum' diff -u wanted.txt told.txt
for sample in oom-fragmented oom-other-process recorded/oom-graph-pools recorded/oom-other-stream \
    recorded/oom-batch; do
    run analyze --gpu-memory 24GiB --top 1 "samples/$sample.pickle.gz"
    exits 0
    out_has "of the device's 24.00 GiB are held"
done
run analyze --gpu-memory 768MiB oom.pickle.gz
out_has "nothing outside of PyTorch holds any of the device's 768.00 MiB"
out_has_not 'other allocators'
unset COLUMNS

# empty_cache() does not release memory kept by the pool of a CUDA graph.
run analyze oom-fragmented.pickle.gz
out_has_not 'graphs are deleted'
segment() {
    printf '{"device": 0, "address": %s, "total_size": 41943040, "stream": 0, "segment_type": "large", "segment_pool_id": [0, %s], "blocks": [{"address": %s, "size": 41943040, "requested_size": 0, "state": "inactive"}]}' "$1" "$2" "$1"
}
printf '{"segments": [%s, %s, {"device": 0, "address": 4294967296, "total_size": 41943040, "stream": 0, "segment_type": "large", "blocks": [{"address": 4294967296, "size": 2097152, "requested_size": 2097152, "state": "active_allocated"}, {"address": 4297064448, "size": 39845888, "requested_size": 0, "state": "inactive"}]}], "device_traces": []}\n' "$(segment 268435456 0)" "$(segment 536870912 3)" >graph-pool.json
report graph-pool.txt graph-pool.json

report oom-range.txt --top 1 --range 100:167 --at 101 oom-fragmented.pickle.gz
report oom-cut.txt --top 1 --range 0:166 --at 100 oom-fragmented.pickle.gz
report history-off.txt history-off.pickle
report at-end.txt --at end leak.pickle.gz
# For allocations recorded with a stack, no other recording is suggested.
little() {
    words=$1
    shift
    COLUMNS=200 "$MEMSNAP" analyze --top 1 "$@" >.run/out
    out_has "are inferred with low confidence; --explain shows why, $words"
}
little 'and --rules can set their category.' --at end leak.pickle.gz
little 'and a recording with stacks from the start would explain them.' --at end --device 0 two-devices.pickle.gz
little 'the whole trace, without --range, may explain 8.00 MiB, and --rules can set the category of the others.' \
    --at end --range 300: samples/recorded/moco.pickle.gz
little 'and the whole trace, without --range, may explain them.' --range 4000: leak.pickle.gz
report at-event.txt --at 1000 --top 3 train-loop.pickle.gz
report at-time.txt --at +20ms --top 3 train-loop.pickle.gz
report range.txt --range 1000:2000 --top 3 train-loop.pickle.gz
report device.txt --device 1 --top 2 two-devices.pickle.gz
report units.txt --units MiB --top 3 train-loop.pickle.gz
report units-bytes.txt --units bytes --top 3 train-loop.pickle.gz
report verbose.txt --verbose --top 1 train-loop.pickle.gz
run analyze --at peak train-loop.pickle.gz
exits 0
golden train-loop.txt

report at-peak-annotations.txt --at 4000 --top 1 train-loop.pickle.gz
report stacks.txt --stacks --top 4 train-loop.pickle.gz
# All frames, with Python's lines whole; so they may be long.
run analyze --stacks=all --top 2 train-loop.pickle.gz
exits 0
no_err
golden stacks-all.txt
out_has '      /home/user/train/train.py:62 main'

# Narrow pages leave columns out.
for columns in 40 50 60 66 72 76; do
    COLUMNS=$columns
    export COLUMNS
    for sample in train-loop leak kept-gradients cache pending-frees oom two-devices expandable ring-overflow; do
        run analyze "$sample.pickle.gz"
        exits 0
        check "keeps within $columns columns" test -z "$(awk -v w="$columns" 'NF > 1 && length > w' .run/out)"
    done
    run analyze --stacks --top 0 train-loop.pickle.gz
    exits 0
    out_has 'train.py:32 train_step'
done
COLUMNS=60
run analyze oom.pickle.gz
exits 0
golden narrow.txt
unset COLUMNS

# Wider pages cut less; --top 0 cuts no rows.
COLUMNS=120
export COLUMNS
run analyze oom.pickle.gz
exits 0
golden wide.txt
unset COLUMNS
run analyze --top 0 --units bytes oom.pickle.gz
exits 0
out_has_not 'more call sites'

# The example that the front page shows.
example=$(sed -n 's/^\$ memsnap //p' "$cli/../../README.md")
# shellcheck disable=SC2086 # a list of words
run $example
exits 0
sed -n '/^\$ memsnap /,/^```/p' "$cli/../../README.md" | sed '1d;$d' >.run/shown
sed '/^\[\.\.\.\]$/,$d' .run/shown >.run/wanted
head -n "$(wc -l <.run/wanted)" .run/out >.run/begins
check 'begins as README.md shows' diff -u .run/wanted .run/begins
sed '1,/^\[\.\.\.\]$/d' .run/shown >.run/wanted
tail -n "$(wc -l <.run/wanted)" .run/out >.run/ends
check 'ends as README.md shows' diff -u .run/wanted .run/ends
check 'README.md shows both ends' test -s .run/wanted

finish
