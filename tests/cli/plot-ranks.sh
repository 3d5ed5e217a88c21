#!/bin/sh
# memsnap plot --kind ranks: memory of all ranks of a run over time, and their peaks.
. "${srcdir:=.}/tests/cli/lib.sh"
top=$(cd "$cli/../.." && pwd)
MEMSNAP_PLOTS=$top/share/plots
export MEMSNAP_PLOTS

# drawn: what the script s shows, in .run/out.
drawn() {
    sed '/^# page.gp/,$d' s/plot.gp | cat - s/bars.tsv s/names.tsv s/labels.tsv s/marks.tsv s/heat.tsv >.run/out
}

# A file of summaries is drawn so without --kind.
run plot samples/pipeline.summary.gz --script s
exits 0
no_out
no_err
drawn
golden plot-ranks.txt

# A folder, several files and a file of summaries give the same.
mkdir -p run/rank0 run/rank1
cp samples/train-loop.pickle.gz run/rank0/snapshot.pickle.gz
cp samples/leak.pickle.gz run/rank1/snapshot.pickle.gz
cp samples/train-loop.pickle.gz run/snapshot_rank_2.pickle.gz
echo hello >run/rank1/log.txt
run plot --kind ranks --title t run --script s
exits 0
err_has 'memsnap: run: 1 file of '
drawn
cp .run/out folder.txt
check 'the rank of a folder' grep -q "	rank 1$" folder.txt
run plot --kind ranks --title t run/rank1 run/rank0/snapshot.pickle.gz run/snapshot_rank_2.pickle.gz --script s
exits 0
drawn
check 'files give the same' cmp folder.txt .run/out
run merge -o run.summary run
run plot --kind ranks --title t run.summary --script s
exits 0
drawn
check 'summaries give the same' cmp folder.txt .run/out
run plot --kind ranks --title t --rank-pattern 'ank{RANK}/' run --script s
exits 0
drawn
check 'not that of the file' lacks 'rank 2' .run/out

# A broken file is reported, and the others are drawn.
printf broken >run/snapshot_rank_9.pickle
run plot --kind ranks run run/snapshot_rank_9.pickle --script s
exits 3
err_has 'memsnap: run/snapshot_rank_9.pickle: '
check 'says so' grep -q 'not read: 1 file;' s/plot.gp
rm -r s
run plot --kind ranks run/snapshot_rank_9.pickle --script s
exits 3
one_err_line
check 'leaves no folder' test ! -e s

# Wrong usage.
run plot --kind ranks --at end run --script s
exits 2
err_has 'plot: --at does not apply to --kind ranks'
run plot --kind ranks --rank-pattern x run --script s
exits 2
err_has '--rank-pattern needs {RANK} once'
run plot --kind ranks samples/decoder.layers.json.gz --script s
exits 3
err 'memsnap: samples/decoder.layers.json.gz: expected a snapshot or summaries, not a layer trace'
run plot --kind timeline samples/pipeline.summary.gz --script s
exits 2
err_has '--kind timeline does not support'

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi
run plot run.summary --term dumb
exits 0
out_has 'rank 1'
name="';system('touch owned')#\`touch owned\`<b>&@x.pickle.gz"
mkdir evil
cp samples/leak.pickle.gz "evil/$name"
plots_hostile --kind ranks evil
finish
