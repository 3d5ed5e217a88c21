#!/bin/sh
# Folders, patterns and ranks, for every command that reads files.
. "${srcdir:=.}/tests/cli/lib.sh"

mkdir -p run/rank2 run/rank10 'run/node 1'
cp samples/leak.pickle.gz run/rank2/s.pickle.gz
cp samples/train-loop.pickle.gz run/rank10/s.pickle.gz
gzip -dc samples/training.pt.trace.json.gz | sed 's/^{/{"distributedInfo":{"backend":"nccl","rank":7,"world_size":8},/' \
    >'run/node 1/trace.json'
cp samples/leak.pickle.gz pickle.gz
echo 'no capture' >run/log.txt

# Many files: in the order of ranks. The trace tells its rank inside.
run analyze --format json run
exits 0
err 'memsnap: run: 1 file of other kinds left out; --verbose names them'
grep -o '"path":"[^"]*"' .run/out >paths
cat >wanted <<'END'
"path":"run/rank2/s.pickle.gz"
"path":"run/node 1/trace.json"
"path":"run/rank10/s.pickle.gz"
END
check 'the order is that of ranks' diff -u wanted paths
for name in 'run/*' 'run/*/*' 'run/{rank,node}*'; do
    run analyze --format json "$name"
    exits 0
    grep -o '"path":"[^"]*"' .run/out >paths
    check "$name: the order is that of ranks" diff -u wanted paths
done

# of PATH COMMAND...: the command reads that file, by rank, from a folder, a pattern and a list.
of() {
    path=$1
    rank=$2
    shift 2
    run "$@" "$path"
    exits 0
    cp .run/out wanted
    for name in run 'run/*' 'run/*/*'; do
        run "$@" --rank "$rank" "$name"
        exits 0
        check 'reads the file of that rank' cmp wanted .run/out
    done
    run "$@" --rank "$rank" run/rank2/s.pickle.gz run/rank10/s.pickle.gz
    exits 0
    check 'reads the file of that rank' cmp wanted .run/out
    run "$@" --rank "$rank" --rank-pattern '/{RANK}/s' run
    exits 2
    err_has ': no file of rank '
}
of run/rank2/s.pickle.gz 2 analyze
of run/rank2/s.pickle.gz 2 check --max-peak 70GiB
of run/rank2/s.pickle.gz 2 dump
of run/rank2/s.pickle.gz 2 export
of run/rank10/s.pickle.gz 10 flame
of run/rank2/s.pickle.gz 2 merge
of run/rank2/s.pickle.gz 2 plot --term dumb
of run/rank2/s.pickle.gz 2 plot --kind ranks --title x --term dumb
of run/rank2/s.pickle.gz 2 ranks
of run/rank10/s.pickle.gz 10 replay
of run/rank10/s.pickle.gz 10 suggest
of run/rank10/s.pickle.gz 10 shard --world 2
run diff run/rank2 run/rank10
exits 0
cp .run/out wanted
run diff 'run/rank2/*' run/rank10/s.pickle.gz
exits 0
check 'a pattern is the same' cmp wanted .run/out
mkdir other
cp -r run/rank2 other/
run diff --rank 2 run other
exits 0
out_has 'A: run/rank2/s.pickle.gz'
out_has 'B: other/rank2/s.pickle.gz'
run diff --rank 2 run
exits 2
err 'memsnap: diff: expected two files'

# The rank inside a trace counts.
run flame --rank 7 run
exits 0
run flame --rank 7 'run/node 1/trace.json' run/rank2/s.pickle.gz
exits 0

# Layer traces and logs.
mkdir layers logs logs/rank_0 logs/rank_1
cp samples/decoder.layers.json.gz layers/rank-0.json.gz
cp samples/decoder.layers.json.gz layers/rank-1.json.gz
run convert layers --rank 1
exits 0
cp .run/out wanted
run convert layers/rank-1.json.gz
check 'reads the file of that rank' cmp wanted .run/out
run convert layers
exits 2
err 'memsnap: layers: 2 files, of ranks 0-1; choose one with --rank'
echo 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which 1.00 GiB is free. Of the allocated memory 6.00 GiB is allocated by PyTorch, and 0.50 GiB is reserved by PyTorch but unallocated.' >logs/rank_1/stderr.log
echo 'all is well' >logs/rank_0/stderr.log
run oom logs --rank 1
exits 0
out_has '2.00 GiB'
run oom logs
exits 2
err 'memsnap: logs: 2 files, of ranks 0-1; choose one with --rank'

# What there is to choose from.
for command in export flame replay 'shard --world 2' suggest; do
    # shellcheck disable=SC2086 # words
    run $command run
    exits 2
    one_err_line
    err_has 'memsnap: run: '
    err_has 'choose one with --rank'
    no_out
done
run flame run
err 'memsnap: run: 3 files, of ranks 2, 7, 10; choose one with --rank'
run flame run --rank 3
exits 2
err 'memsnap: run: no file of rank 3 (there are ranks 2, 7, 10)'
mkdir same
cp samples/leak.pickle.gz same/one.gz
cp samples/leak.pickle.gz "same/$(printf 'two\n\033[31m').gz"
run flame same
exits 2
one_err_line
err_has 'memsnap: same: 2 files (one.gz, two\n\x1b[31m.gz); name one, or use --rank'
run flame same --rank 0
exits 2
err 'memsnap: same: no file of rank 0: no name tells a rank (see --rank-pattern)'
run flame same/one.gz same/one.gz
exits 2
err 'memsnap: flame: expected one file'
cp run/rank2/s.pickle.gz run/rank2/t.pickle.gz
run flame --rank 2 run
exits 2
err 'memsnap: run: 2 files (rank2/s.pickle.gz, rank2/t.pickle.gz); name one, or use --rank'
run flame --rank 2 run/rank2/s.pickle.gz run/rank2/t.pickle.gz
exits 2
err 'memsnap: 2 files of rank 2; name one'
run flame --rank x run
exits 2
run export layers
exits 3
err 'memsnap: layers: no file in this folder is of a kind that this command reads'

# A file whose name is a pattern is itself; a pattern that matches nothing is a name.
cp samples/leak.pickle.gz '[a]*.gz'
run analyze --format json '[a]*.gz'
exits 0
out_has '"path":"[a]*.gz"'
run analyze 'nothing*'
exits 5
err 'memsnap: nothing*: No such file or directory'
finish
