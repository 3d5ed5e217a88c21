#!/bin/sh
# `memsnap analyze` of the folder that a run of MemProfiler leaves.
. "${srcdir:=.}/tests/cli/lib.sh"

# point RANK FUNCTION ITERATION SIDE ALLOCATED PEAK: a moment's statistics in YAML.
point() {
    cat <<END
$7$1.$2.$3.$4:
$7  allocated_bytes.all.current: $5
$7  allocated_bytes.all.peak: $6
$7  active_bytes.all.current: $5
$7  active_bytes.all.peak: $6
$7  reserved_bytes.all.current: 4194304
$7  reserved_bytes.all.peak: 4194304
$7  num_alloc_retries: ${retries:-0}
$7  num_ooms: 0
$7  npp_diff: 524288
$7  npp_post_forward: 524288
$7  npp_pre_forward: 0
$7  rss: 734003200
$7  vms: 3093219037184
$7  hook_state: null
END
}

header="!!python/object/apply:collections.defaultdict
args:
- !!python/name:builtins.dict ''
dictitems:"

# With Python's header, and in the plain form.
mkdir -p run/memprofiler
{
    echo "$header"
    point 0 training_step 1 end 2097152 3145728 '  '
    point 0 training_step 1 start 1048576 1048576 '  '
} >run/memprofiler/rank_0_memory_stats.yaml
{
    point 1 training_step 1 start 1048576 1048576
    retries=2
    point 1 training_step 1 end 2097152 4194304
} >run/memprofiler/rank_1_memory_stats.yaml
echo 'learning_rate: 0.1' >run/memprofiler/config.yaml

run analyze run
exits 0
err 'memsnap: run: 1 file of other kinds left out; --verbose names them'
golden run.txt
run analyze --verbose run/memprofiler
exits 0
err 'memsnap: run/memprofiler/config.yaml: left out: this command does not read a text file'

run analyze --format json run
exits 0
out_has '"schema":"memsnap.run/1","input":{"path":"run/memprofiler","format":"memprofiler"'
out_has '"function":"training_step","iteration":1,"start":{"allocated_bytes.all.current":1048576,'
out_has '"diff":{"allocated_bytes.all.current":1048576,"allocated_bytes.all.peak":2097152,'
out_has '{"rank":1,"statistic":"num_alloc_retries","value":2,"median":0}'
out_has '"inconsistencies":[],"inconsistency_count":0'

# One file of any name, plain or compressed.
gzip -c run/memprofiler/rank_1_memory_stats.yaml >statistics.gz
run analyze --format json statistics.gz
exits 0
out_has '"input":{"path":"statistics.gz","format":"memprofiler"'
out_has '"encoding":"yaml","compression":"gzip"'

# A pickle that says something else, and a snapshot of another state.
if [ -n "${PYTHON3-}" ]; then
    "$PYTHON3" - <<'END'
import collections
import pickle
stats = collections.defaultdict(dict)
stats["0.training_step.1.end"] = {"rss": 734003201, "num_ooms": 0, "new": 1}
with open("run/memprofiler/rank_0_memory_stats.pickle", "wb") as file:
    pickle.dump(stats, file)
END
    run analyze --format json run
    exits 0
    out_has '{"check":"files","rank":0,"function":"training_step","iteration":1,"at":"end","statistic":"rss",'
    out_has '"statistic":"new","expected":1,"expected_path"'
    run analyze run
    exits 0
    golden run-differs.txt
    rm run/memprofiler/rank_0_memory_stats.pickle
fi
cp samples/leak.pickle.gz run/memprofiler/cuda_alloc_rank_0.training_step.1.end.pickle.gz
run analyze --format json run
exits 0
out_has '"snapshots":[{"path":"run/memprofiler/cuda_alloc_rank_0.training_step.1.end.pickle.gz"'
out_has '"check":"snapshot-state"'
out_has '"check":"snapshot-peak"'

# Out-of-memory events of a snapshot, of which the statistics know nothing.
cp samples/recorded/oom-batch.pickle.gz run/memprofiler/cuda_alloc_rank_0.training_step.1.end.pickle.gz
run analyze run
exits 0
check 'has a row for them' grep -q '^ *0  training_step 1, end *0 *1  *[0-9.]* [MG]iB  ' .run/out
check 'compares them' sh -c 'tr -s "\n " " " <.run/out | grep -q "the snapshot has more out-of-memory events than the statistics count: num_ooms is 1, not 0"'
run analyze --format json run
exits 0
out_has '"ooms":1,"refused_bytes":'
out_has '"check":"snapshot-ooms"'
cp samples/leak.pickle.gz run/memprofiler/cuda_alloc_rank_0.training_step.1.end.pickle.gz

# What MemProfiler itself recorded.
run analyze --format json samples/memprofiler
exits 0
no_err
out_has '"inconsistencies":[],"inconsistency_count":0'
out_has '"name":"Training.model.blocks.1"'
out_has '"forward_change_bytes"'
run analyze samples/memprofiler
exits 0
golden run-recorded.txt

# Beside them a profiler trace of higher peaks, what the profiler printed, and a text of another kind.
mkdir beside
cp samples/memprofiler/rank_*.yaml.gz samples/training.averages.txt beside
cp samples/training.pt.trace.json.gz beside/host.77.pt.trace.json.gz
cp samples/training.summary.log beside/summary.txt
run analyze beside
exits 0
no_err
golden run-beside.txt
run analyze --format json samples/training.pt.trace.json.gz
peak=$(grep -o '"active":{[^}]*"peak_bytes":[0-9]*' .run/out | head -n 1 | grep -o '[0-9]*$')
mv beside/host.77.pt.trace.json.gz beside/trace_rank_1.json.gz
run analyze --format json beside
exits 0
out_has '"traces":[]'
out_has "\"traces\":[{\"device\":0,\"active_peak_bytes\":$peak,"
out_has '"operator_tables":[{"path":"beside/training.averages.txt","line":1,"device":"CUDA",'
out_has '"trace-peak":2'
out_has '"check":"trace-peak","rank":1,'
rm beside/trace_rank_1.json.gz
echo '}{' >beside/trace_rank_1.json
run analyze beside/*
exits 3
err_has 'memsnap: beside/trace_rank_1.json: '
out_has 'MemProfiler: 2 ranks'

# Options of snapshots do not apply.
run analyze --at end run
exits 2
err_has 'memsnap: run/memprofiler/cuda_alloc_rank_0.training_step.1.end.pickle.gz: --at does not apply to the statistics of a run of MemProfiler, only to allocator snapshots'
rm run/memprofiler/cuda_alloc*

# A file that cannot be read leaves the others.
bad() {
    printf '%b' "$2" >run/memprofiler/rank_1_memory_stats.yaml
    run analyze run/memprofiler/*
    exits "$1"
    out_has 'MemProfiler: 1 rank, 1 call, 1 file'
    err_has "memsnap: run/memprofiler/rank_1_memory_stats.yaml: $3"
}
rm run/memprofiler/config.yaml
bad 3 '1.training_step.1.end:\n  rss: [1]\n' \
    'line 2: expected a number of at most 63 bits in 1.training_step.1.end, found a list'
bad 3 '1.training_step.1.end:\n  rss: 12 MiB\n' \
    'line 2: expected a number of at most 63 bits in 1.training_step.1.end, found a string'
bad 3 '1.training_step.1.end: 3\n' \
    'line 1: expected a dict of statistics in 1.training_step.1.end, found an int'
bad 3 '1.training_step.1.end:\n  rss: *x\n' 'line 2: an alias of an anchor that is not above it'
bad 3 '1.training_step.1.end:\n  rss: 1\n rss: 2\n' 'line 3: expected YAML:'
bad 3 '1.training_step.1.end: {rss: 1}\n---\na: 1\n' 'line 2: expected one YAML document, not several'
bad 3 '1.a.1.end: {}\n2.a.b.end: {}\n' \
    'line 1: expected a key such as 0.training_step.2.end in 2.a.b.end, found a string'
bad 3 '1.a.1.end:\n  rss: \001\n' 'byte 18: expected YAML: control characters are not allowed'
{ printf '1.a.1.end:\n  ' && printf '%0100d' 0 | tr 0 '['; } >run/memprofiler/rank_1_memory_stats.yaml
run analyze run/memprofiler/*
exits 4
err_has 'line 2: nested more than 64 levels deep'
{ printf '1.a.1.end: {rss: 1, rest: "' && head -c 1000000 /dev/zero | tr '\0' x; } \
    >run/memprofiler/rank_1_memory_stats.yaml
run analyze run/memprofiler/*
exits 4
err_has 'more than 128 KiB of YAML without a value'

# Aliases are shared, never copied.
{
    echo 'a0: &a0 {rss: 1}'
    bomb=1
    while [ $bomb -lt 60 ]; do
        echo "a$bomb: &a$bomb [*a$((bomb - 1)), *a$((bomb - 1)), *a$((bomb - 1))]"
        bomb=$((bomb + 1))
    done
} >run/memprofiler/rank_1_memory_stats.yaml
run analyze run/memprofiler/*
exits 3
err_has 'line 1: expected a key such as 0.training_step.2.end in a0, found a string'
{
    printf 'x: &x {'
    i=0
    while [ $i -lt 900 ]; do
        printf 's%d: 1, ' $i
        i=$((i + 1))
    done
    echo '}'
} >stats
{
    sed 's/^x:/1.a.0.end:/' stats
    i=1
    while [ $i -lt 900 ]; do
        echo "1.a.$i.end: *x"
        i=$((i + 1))
    done
} >run/memprofiler/rank_1_memory_stats.yaml
run analyze run/memprofiler/*
exits 4
err_has 'more statistics than the file has bytes'
finish
