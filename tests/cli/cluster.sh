#!/bin/sh
# The scripts of share/cluster: GNU parallel for real, Slurm by stand-ins for sbatch and srun.
. "${srcdir:=.}/tests/cli/lib.sh"
cluster=$(cd "$cli/../../share/cluster" && pwd)

if ! bash -c 'mapfile -d "" lines </dev/null' 2>/dev/null; then
    echo 'skipped: there is no bash 4.4'
    exit 77
fi
if command -v shellcheck >/dev/null; then
    last=shellcheck
    check 'shellcheck has nothing to say' sh -c "cd '$cluster/../..' && shellcheck -x share/cluster/*.sh"
fi

# Names with spaces, newlines, quotes and commands; a broken capture; a file of another kind.
run='a run/of $(touch owned) "ranks"'
mkdir -p "$run/rank 0" "$run/rank
1" "$run/-o"
cp samples/leak.pickle.gz "$run/rank 0/cuda_alloc_rank_0.pickle.gz"
cp samples/train-loop.pickle.gz "$run/rank
1/snap shot
'\`touch owned\`'_rank_1.pickle.gz"
cp samples/train-loop.pickle.gz "$run/-o/rank3.pickle.gz"
cp samples/pipeline.summary.gz "$run/others.summary.gz"
echo hello >"$run/log.txt"

# What the captures give in one process.
run merge -o single.summary "$run"
exits 0
run ranks single.summary
cp .run/out single.txt

# script STATUS NAME ARGUMENT...
script() {
    wanted=$1
    last=$2
    shift
    name=$1
    shift
    status=0
    MEMSNAP=$MEMSNAP PATH=$here/bin:$PATH "$cluster/$name" "$@" >.run/out 2>.run/err </dev/null || status=$?
    exits "$wanted"
    check 'runs nothing of the names' test ! -e owned
}

# The stand-ins. sbatch copies the script, as Slurm does, and runs it at once, with its output in slurm.out.
mkdir bin
cat >bin/sbatch <<'END'
#!/bin/bash
set -u
array=0-0 script=
while [ $# -gt 0 ]; do
    case $1 in
    --array=*) array=${1#*=} ;;
    --dependency=afterany:4711 | --parsable | --partition=gpu) ;;
    -*) echo "sbatch: unknown option $1" >&2; exit 2 ;;
    *) break ;;
    esac
    shift
done
cp -f "$1" copied # a copy of a file that cannot be written cannot be written either
shift
for ((task = ${array%-*}; task <= ${array#*-}; task++)); do
    SLURM_JOB_ID=4711 SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=$((${array#*-} + 1)) \
        bash copied "$@" >>slurm.out 2>>slurm.err || echo "task $task: status $?" >>slurm.err
done
echo '4711;cluster'
END
cat >bin/srun <<'END'
#!/bin/bash
while [ "${1#--}" != "$1" ]; do shift; done
SLURM_PROCID=0 exec "$@"
END
chmod +x bin/sbatch bin/srun

# slurm TASKS: the report is that of one process.
slurm() {
    rm -f slurm.out slurm.err
    script 0 slurm-submit.sh "$run" 'the parts' "$1" --partition=gpu
    no_err
    check 'the summary is the same' cmp single.summary 'the parts/run.summary'
    check 'the report is the same' sh -c "sed 's|the parts/run.summary|single.summary|' slurm.out | cmp - single.txt"
}
slurm 1
check 'complains of nothing' test ! -s slurm.err
slurm 3
slurm 99
out_has '(4 tasks, 4 captures)'

if command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q 'GNU parallel'; then
    has_parallel=yes
    script 0 parallel.sh "$run" 'more parts' --jobs 2
    no_err
    check 'the summary is the same' cmp single.summary 'more parts/run.summary'
    script 2 parallel.sh "$run"
else
    has_parallel=no
    echo 'not tested: parallel.sh, for there is no GNU parallel'
fi

# A broken capture is reported, and the others are there.
printf 'broken' >"$run/rank
1/bro ken.pickle"
slurm 3
check 'reports the broken capture' grep -qF 'bro ken.pickle: expected a pickle or JSON' slurm.err
check 'its task fails' grep -q '^task [0-9]*: status 3$' slurm.err
if [ $has_parallel = yes ]; then
    script 1 parallel.sh "$run" 'more parts'
    err_has 'bro ken.pickle: expected a pickle or JSON'
    check 'the summary is the same' cmp single.summary 'more parts/run.summary'
fi
# A task that leaves nothing is missed.
slurm 5
check 'names the task' grep -q 'task [0-4] of the job array left no summary' slurm.err
script 3 slurm-submit.sh bin none
err_has 'no captures in bin'
script 2 slurm-submit.sh bin

# The epilog, on two nodes; a broken capture is no broken node.
for node in 1 2; do
    mkdir "node $node"
    cp samples/leak.pickle.gz "node $node/cuda_alloc_rank_$node.pickle.gz"
done
head -c 20000 samples/leak.pickle.gz >'node 2/cuda_alloc_rank_9.pickle.gz'
for node in 1 2; do
    for local in 0 1; do
        SLURM_JOB_ID=17 SLURMD_NODENAME="n$node" SLURM_LOCALID=$local MEMSNAP_CAPTURES="node $node" \
            MEMSNAP_SUMMARIES='all nodes' script 0 slurm-epilog.sh
    done
done
MEMSNAP_CAPTURES='node 2' MEMSNAP_SUMMARIES='all nodes' SLURM_JOB_ID=18 SLURMD_NODENAME=x script 0 slurm-epilog.sh
err_has 'node 2/cuda_alloc_rank_9.pickle.gz: '
err_has 'memsnap epilog on x: status 3'
no_out
rm 'all nodes/18.x.summary'
check 'one summary for a node' test "$(find 'all nodes' -type f | wc -l)" -eq 2
run ranks --format csv 'all nodes'
exits 0
check 'all ranks are there' test "$(cut -d, -f1 .run/out | tr '\n' ' ')" = 'rank 1 2 '
MEMSNAP_CAPTURES='node 1' MEMSNAP_SUMMARIES='' script 0 slurm-epilog.sh
err_has 'MEMSNAP_SUMMARIES is no folder to write to'
finish
