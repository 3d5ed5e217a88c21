#!/bin/sh
# memsnap plot --kind pareto: the front of memsnap suggest as a picture.
. "${srcdir:=.}/tests/cli/lib.sh"
top=$(cd "$cli/../.." && pwd)
MEMSNAP_PLOTS=$top/share/plots
export MEMSNAP_PLOTS

run plot --kind pareto samples/decoder.layers.json.gz --script s
exits 0
no_out
no_err
sed '/^# page.gp/,$d' s/plot.gp | cat - s/front.tsv s/labels.tsv >.run/out
golden plot-pareto.txt
# The same points as those of the table.
"$MEMSNAP" suggest --format csv samples/decoder.layers.json.gz |
    awk -F , '$3 == "front" || $3 == "knee" { printf "%.2f %.3f\n", 100 * $2, $1 / 1073741824 }' | sort >wanted
awk -F '\t' '!/#/ { printf "%.2f %.3f\n", $1, $2 }' s/front.tsv | sort >found
check 'has the points of suggest' diff wanted found
run plot --kind pareto samples/decoder.layers.json.gz --granularity leaf --script t
exits 0
check 'cuts elsewhere' sh -c '! cmp -s s/front.tsv t/front.tsv'
run plot --kind pareto samples/train-loop.pickle.gz --script s
exits 0
check 'reads snapshots' grep -q 'no checkpoints' s/labels.tsv
run suggest samples/decoder.layers.json.gz
out_has 'memsnap plot --kind pareto'
run plot --kind pareto samples/decoder.operators.pickle.gz --script new
exits 2
err_has 'does not support memory curves of MemoryTracker (supported by: layers, compare'
run plot --kind pareto samples/decoder.layers.json.gz --granularity 0 --script new
exits 2
run plot --kind pareto samples/labelled/inference.pickle.gz --script new
exits 1
one_err_line
err_has 'nothing to checkpoint'
check 'leaves no folder' test ! -e new

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi
name="x';system('touch owned')#\`touch owned\`@{x=9 b}<script>&$(printf '\033')[2J.json.gz"
cp samples/decoder.layers.json.gz "$name"
plots_hostile --kind pareto "$name"
out_has 'least with one level: 532.00 MiB (30.9%), +23.3%'
out_has 'sqrt(n) even segments (Chen et al.): 732.00 MiB (42.5%), +33.3%'
# shortened text is marked
COLUMNS=50 run plot --kind pareto samples/decoder.layers.json.gz --term dumb
out_has 'sqrt(n) even segments (Chen et al.):…'

finish
