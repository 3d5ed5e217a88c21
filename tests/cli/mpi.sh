#!/bin/sh
# memsnap ranks, memsnap merge and memsnap analyze --summary in several processes of MPI.
. "${srcdir:=.}/tests/cli/lib.sh"

skip() {
    echo "skipped: $1"
    exit 77
}

if [ "${WITH_MPI-no}" != yes ]; then
    check 'a build without MPI has nothing of it' lacks MPI_ "$MEMSNAP"
    [ "$failed" -eq 0 ] || exit 1
    skip 'memsnap is built without MPI'
fi
# MPIRUN names the launcher of the MPI that memsnap was built with.
mpirun=${MPIRUN-mpirun}
command -v "$mpirun" >/dev/null || skip "there is no $mpirun"
rank_variable=OMPI_COMM_WORLD_RANK
killed_status=137
killed_words='exited on signal 9'
case $("$mpirun" --version) in
*'Open MPI'*) ;;
*HYDRA*)
    rank_variable=PMI_RANK
    killed_status=9
    killed_words='(signal 9)'
    ;;
*) skip "$mpirun is neither Open MPI's nor MPICH's" ;;
esac

# Four processes on any machine. Without OMPI_MCA_btl it looks for networks, which takes time. Processes that wait
# let others run: else they take most of the processors.
OMPI_MCA_btl=self,vader
OMPI_MCA_mpi_yield_when_idle=1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl OMPI_MCA_mpi_yield_when_idle OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy
if [ "$(id -u)" = 0 ]; then
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
fi

# Where there is no /sys, as in a plain chroot, Open MPI aborts.
timeout 100 "$mpirun" -n 1 true >/dev/null 2>&1 || skip "$mpirun cannot start a process here"

# mpi PROCESSES ARGUMENT...: as `run`, without mpirun's own words, which stand between lines of dashes.
mpi() {
    last="mpirun -n $*"
    processes=$1
    shift
    status=0
    timeout 100 "$mpirun" -n "$processes" "$MEMSNAP" "$@" >.run/out 2>.run/all || status=$?
    grep '^memsnap: ' .run/all >.run/err || :
}

# same ARGUMENT...: output, messages and status are those of a single process.
same() {
    run "$@"
    cp .run/out single.out
    cp .run/err single.err
    single=$status
    for processes in $counts; do
        mpi "$processes" "$@"
        exits "$single"
        check 'prints the same' cmp single.out .run/out
        check 'complains of the same, once' cmp single.err .run/err
    done
}

mkdir -p run/rank0 run/rank1
cp samples/train-loop.pickle.gz run/rank0/snapshot.pickle.gz
cp samples/train-loop.pickle.gz run/rank1/snapshot.pickle.gz
cp samples/leak.pickle.gz run/cuda_alloc_rank_3.pickle.gz
cp samples/pipeline.summary.gz run/others.summary.gz
cp samples/train-loop.pickle.gz "run/a
b 'c_rank_4.pickle.gz"
echo hello >run/log.txt
printf broken >rank_7.pickle

counts='1 4 9' # also more processes than files
same ranks run
counts=4
same ranks --format json --jobs 1 run
same ranks --format csv run run/others.summary.gz
# A process is given a broken file; there is one that is missing.
same ranks run rank_7.pickle nowhere.pickle
exits 3
same ranks rank_7.pickle
same ranks --strict rank_7.pickle run nowhere.pickle
counts='2 9'
same merge run
counts=4
# Wrong usage, and an empty folder, are reported once.
mkdir empty
same ranks empty
same ranks --format xml run
same ranks
same ranks --help
same analyze run/cuda_alloc_rank_3.pickle.gz
mpi 4 analyze --summary mpi.summary run
exits 0
run analyze --summary single.summary run
check 'the summaries are the same' cmp single.summary mpi.summary
mpi 4 merge -o mpi.summary rank_7.pickle run
exits 3
check 'the summaries are the same' cmp single.summary mpi.summary
mpi 4 ranks -o mpi.txt run
exits 0
run ranks run
check 'the output is the same' cmp .run/out mpi.txt

# Standard input goes to the first process. An input is not overwritten, whichever process reads it.
mpi 3 ranks --format csv run - <samples/leak.pickle.gz
exits 0
cp .run/out mpi.out
run ranks --format csv run - <samples/leak.pickle.gz
check 'prints the same' cmp mpi.out .run/out
mpi 3 merge -o run/rank1/snapshot.pickle.gz run
exits 2
check 'the input is there' cmp samples/train-loop.pickle.gz run/rank1/snapshot.pickle.gz

# As another user.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mkdir home
    chmod 755 .
    chmod -R a+rX run
    chown 65534:65534 home
    as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=$here/home TMPDIR=$here/home"
    if $as_nobody "$MEMSNAP" --version >.run/out 2>&1; then
        status=0
        # shellcheck disable=SC2086 # words
        timeout 100 $as_nobody "$mpirun" -n 4 "$MEMSNAP" ranks run >.run/out 2>.run/err || status=$?
        exits 0
        check 'prints the same as another user' cmp mpi.txt .run/out
    fi
fi

# parts: lines "PROCESS PARENT RANK" of the processes of memsnap that were given the pipe.
parts() {
    for process in /proc/[0-9]*; do
        case $(tr '\0' ' ' 2>/dev/null <"$process/cmdline") in
        *mpirun* | *mpiexec* | *hydra*) ;;
        "$MEMSNAP "*"$here/slow.pickle"*)
            echo "${process#/proc/} $(sed -n 's/^PPid:[^0-9]*//p' "$process/status") $(tr '\0' '\n' \
                <"$process/environ" | sed -n "s/^$rank_variable=//p")"
            ;;
        esac
    done 2>/dev/null
}

# part KIND RANK: the leader of that rank, or its worker, whose parent is the leader.
part() {
    parts >.run/parts
    awk -v kind="$1" -v rank="$2" '{ id[NR] = $1; parent[NR] = $2; of[NR] = $3; is[$1] = 1 }
        END { for (i = 1; i <= NR; i++) if (of[i] == rank && (parent[i] in is) == (kind == "worker")) print id[i] }' .run/parts
}

# One process is killed while it waits for a file. All end at once, with a line that says it, and
# without output.
mkfifo slow.pickle
killed() {
    last="killing the $1 of process $2"
    status=0
    rm -f none.txt
    timeout 100 "$mpirun" -n 4 "$MEMSNAP" ranks -o none.txt run/rank0 run/rank1 run/cuda_alloc_rank_3.pickle.gz \
        "$here/slow.pickle" >.run/out 2>.run/err &
    job=$!
    tries=0
    while [ -z "$(part worker 3)" ] || [ -z "$(part "$1" "$2")" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || break
        sleep 0.1
    done
    sleep 0.5
    began=$(date +%s)
    kill -KILL "$(part "$1" "$2")"
    wait $job || status=$?
    took=$(($(date +%s) - began))
    echo "$last: all ended within $((took + 1)) s"
    check 'ends soon' test "$took" -lt 30
    exits "$3"
    check 'writes nothing' test ! -e none.txt
    sleep 0.2
    check 'leaves no process' test -z "$(parts)"
}
killed worker 3 5
err_has 'memsnap: process 3 of 4 ('
err_has '): the process that reads captures was ended by signal 9 (Killed); nothing is written'
killed leader 3 $killed_status
cat .run/out >>.run/err # MPICH's mpirun prints its words there
err_has "$killed_words"
killed leader 0 $killed_status
finish
