#!/bin/sh
# Counters of the allocator: torch.cuda.memory_stats() and memory_summary().
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/training.summary.log samples/training.stats.json.gz .
run analyze training.summary.log
exits 0
no_err
golden summary.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
run analyze training.stats.json.gz
exits 0
golden stats.txt

cat >stats.json <<'END'
{"active_bytes.all.allocated": 3000, "active_bytes.all.current": 100, "active_bytes.all.freed": 2900,
 "active_bytes.all.peak": 1000, "active_bytes.large_pool.peak": 900, "allocation.all.current": 3,
 "inactive_split_bytes.all.current": 24, "reserved_bytes.all.current": 1536, "reserved_bytes.all.peak": 2048,
 "oversize_segments.peak": 5, "max_split_size": -1, "num_alloc_retries": 1, "num_ooms": 2, "other.all.peak": 7}
END
run analyze --units bytes stats.json
exits 0
no_err
out_has 'active               100 B  1,000 B           3,000 B       2,900 B'
out_has '2 allocations failed for lack of memory.'
out_has '1 allocation had to empty the cache first, which is slow: the device was'
out_has 'At the peak of reserved memory, at least 1,048 B of it were not in use.'
out_has 'Now 1,436 B of reserved memory are not in use, and 24 B of that are holes in'
run analyze --format json stats.json
exits 0
out_has '"format":"memory-stats"'
out_has '"devices":[{"active":{"peak_bytes":1000,"end_bytes":100},"reserved":{"peak_bytes":2048,"end_bytes":1536},"stats":{"active_bytes.all.current":100,'
out_has '"active_bytes.large_pool.peak":900'
out_has '"oversize_segments.peak":5,"num_ooms":2,"num_alloc_retries":1}'
out_has_not 'other'

# torch.cuda.memory_stats_as_nested_dict()
echo '{"active_bytes": {"all": {"current": 100, "peak": 1000}, "x": {"deep": {"er": [1]}}}, "num_ooms": 2,' \
    '"active_bytes.all.allocated": 4, "oversize_segments": {"peak": 5}, "inactive_split_bytes": {}}' >nested.json
run analyze --format json nested.json
exits 0
out_has '"stats":{"active_bytes.all.current":100,"active_bytes.all.peak":1000,"active_bytes.all.allocated":4,"oversize_segments.peak":5,"num_ooms":2}'

if [ -n "${PYTHON3-}" ]; then
    "$PYTHON3" -c 'import collections, json, pickle
for name in "stats", "nested":
    pickle.dump(collections.OrderedDict(json.load(open(name + ".json"))), open(name + ".pickle", "wb"))
shared = {str(i): 0 for i in range(2000)}
pickle.dump({"active_bytes.all.peak": 1, "x": {i: shared for i in map(str, range(2000))}}, open("shared.pickle", "wb"))
pickle.dump({"active_bytes": {"all": {"peak": "x"}}, "inactive_split_bytes": {}}, open("bad.pickle", "wb"))'
    for name in stats nested; do
        run analyze --format json $name.json
        sed 's/.*"devices"//' .run/out >from-json
        run analyze --format json $name.pickle
        exits 0
        sed 's/.*"devices"//' .run/out >from-pickle
        check "$name is the same pickled" cmp from-json from-pickle
    done
    run analyze shared.pickle
    exits 4
    err 'memsnap: shared.pickle: more than 1000000 members of memory statistics'
    run analyze bad.pickle
    exits 3
    err "memsnap: bad.pickle: expected a whole number for 'active_bytes.all.peak', found a string"
fi

# Tables in a log: two devices, one of an old version, and one that is cut off.
cat >run.log <<'END'
step 1 done | loss 2.5
[rank0]: |===========================================================================|
[rank0]: |                  PyTorch CUDA memory summary, device ID 0                 |
[rank0]: |---------------------------------------------------------------------------|
[rank0]: |            CUDA OOMs: 1            |        cudaMalloc retries: 12        |
[rank0]: |===========================================================================|
[rank0]: |        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
[rank0]: |---------------------------------------------------------------------------|
[rank0]: | Allocated memory      |  82653 KiB | 398343 KiB |   2697 MiB |   2616 MiB |
[rank0]: |       from large pool |  81920 KiB | 397312 KiB |   2681 MiB |   2601 MiB |
a line of another process
[rank0]: | Some new row          |  many      | 0          | 0          | 0          |
[rank0]: |       from large pool |  many      | 0          | 0          | 0          |
[rank0]: | Allocations           |      64    |     104    |     308    |     800 K  |
[rank0]: |===========================================================================|
|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 7                 |
|---------------------------------------------------------------------------|
| Active memory         |   1024 B   |      2 MB  |      1 GB  |      0 B   |
done | 1 | 2
END
run analyze --units bytes run.log
exits 0
out_has 'Device 0, table at line 3'
out_has 'allocated    84,636,672 B  407,903,232 B   2,828,009,472 B  2,743,074,816 B'
out_has 'allocations            64            104               308          800,000'
out_has '1 allocation failed for lack of memory.'
out_has '12 allocations had to empty the cache first'
out_has 'Device 7, table at line 17'
out_has 'active  1,024 B  2,097,152 B   1,073,741,824 B           0 B'
out_has 'warning: the table ends early.'
out_has 'The table rounds sizes down to its units.'
run analyze --format json run.log
exits 0
out_has '"encoding":"text"'
out_has '"device":7,"line":17,"active":{"peak_bytes":2097152,"end_bytes":1024},'
out_has '"is_rounded":true,"is_cut":true}'
gzip -c run.log >run.log.gz
run analyze run.log.gz
exits 0
{
    yes 'a line of a long log' | head -n 5000
    cat run.log
} >long.log
run analyze long.log
exits 0
out_has 'Device 0, table at line 5,003'

# bad CELL EXPECTED SHOWN
bad() {
    sed "s/ 398343 KiB /$1/" run.log >bad.log
    run analyze bad.log
    exits 3
    no_out
    err "memsnap: bad.log: line 9: expected $2, found '$3'"
}
bad ' 398343 XiB ' 'a size such as 512 KiB' '398343 XiB'
bad ' 398343 K ' 'a size such as 512 KiB' '398343 K'
bad ' ? ' 'a size such as 512 KiB' '?'
bad ' 9999999999 PiB ' 'a size such as 512 KiB' '9999999999 PiB'
sed 's/     104  /  1 KiB  /' run.log >bad.log
run analyze bad.log
exits 3
err "memsnap: bad.log: line 14: expected a number, found '1 KiB'"
sed 's/retries: 12/retries: x/' run.log >bad.log
run analyze bad.log
exits 3
err "memsnap: bad.log: line 5: expected a number, found 'x'"
echo '{"active_bytes.all.peak": 1.5}                                ' >bad.json
run analyze bad.json
exits 3
err 'memsnap: bad.json: byte 26: expected a whole number, found a number that is not whole'
echo '{"active_bytes.all.current": 1, "active_bytes.all.peak": [1], "config": [1]}' >bad.json
run analyze bad.json
exits 3
err 'memsnap: bad.json: byte 57: expected a whole number, found an array'
echo '{"active_bytes.all.current": 1, "active_bytes.all.peak": 1, "config": [1], "num_ooms": null}' >bad.json
run analyze bad.json
exits 3
err 'memsnap: bad.json: byte 87: expected a whole number, found null'
printf '\200\002}(U\030active_bytes.all.currentK\001U\025active_bytes.all.peakU\001xU\006configU\001xu.' >bad.pickle
run analyze bad.pickle
exits 3
err "memsnap: bad.pickle: expected a whole number for 'active_bytes.all.peak', found a string"

# A log without tables, and other commands.
echo 'nothing here' >none.log
run analyze none.log
exits 3
err 'memsnap: none.log: expected a pickle or JSON, not a text file without out-of-memory errors of PyTorch or tables of memory_summary()'

# A program that printed a table, and ran out of memory later.
{
    awk 'BEGIN { for (i = 0; i < 4000; i++) print "step " i " loss 0.5" }'
    cat samples/training.summary.log
    echo 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which 1.00 GiB is free. Of the allocated memory 6.00 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.'
} >stdout.log
run analyze stdout.log
exits 0
out_has 'Device 0, table at line 4,003'
out_has 'stdout.log: 1 out-of-memory error in '
out_has '2.00 GiB requested'
run analyze --format json stdout.log
exits 0
check 'has two documents' [ "$(grep -o '"schema":"memsnap[^"]*"' .run/out | tr '\n' ' ')" = '"schema":"memsnap.analyze/1" "schema":"memsnap.oom/1" ' ]
mkdir crashed
cp stdout.log none.log crashed
gzip -c stdout.log >crashed/rank0.out.gz
run analyze crashed
exits 0
err 'memsnap: crashed: 1 file of other kinds left out; --verbose names them'
check 'explains the error in each log' [ "$(grep -c '1 out-of-memory error in' .run/out)" = 2 ]
run analyze --verbose crashed
err 'memsnap: crashed/none.log: left out: this command does not read a text file'

# Counters of a pool whose memory another allocator frees.
sed 's/|  82653 KiB |/| -82653 KiB |/' run.log >negative.log
run analyze --format json negative.log
exits 0
out_has '"allocated_bytes.all.current":-84636672'
run analyze negative.log
exits 0
out_has '-80.72 MiB'
run check --max-peak 1GiB stats.json
exits 3
err_has 'expected an allocator snapshot, not the statistics of torch.cuda.memory_stats()'
mkdir folder
cp run.log stats.json folder
run analyze folder
exits 0
no_err
out_has 'Comparison of files in folder/'
finish
