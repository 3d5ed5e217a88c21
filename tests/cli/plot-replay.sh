#!/bin/sh
# memsnap plot --kind replay: the reserved memory of all settings of memsnap replay as a picture.
. "${srcdir:=.}/tests/cli/lib.sh"
top=$(cd "$cli/../.." && pwd)
MEMSNAP_PLOTS=$top/share/plots
export MEMSNAP_PLOTS

run plot --kind replay --gpu-memory 1GiB --other-use 200MiB samples/train-loop.pickle.gz --script s
exits 0
no_out
no_err
sed '/^# page.gp/,$d' s/plot.gp | cat - s/peaks.tsv >.run/out
golden plot-replay.txt

# The highest point of each curve is the peak in the table of memsnap replay, in MiB.
highest() {
    awk -F '\t' '/^#/ { next } NF { seen = 1; if ($2 > most) most = $2 } !NF && seen { printf "%.0f\n", most; most = seen = 0 }' "$1" |
        sort -nu
}
peaks() { awk -F , 'NR > 1 { printf "%.0f\n", $4 / 1048576 }' "$1" | sort -nu; }
run replay --format csv samples/train-loop.pickle.gz -o table.csv
exits 0
highest s/curves.tsv >found
peaks table.csv >wanted
check 'has the peaks of the table' diff wanted found
check 'knows several' test "$(wc -l <found)" -gt 2
run plot --kind replay --x time samples/train-loop.pickle.gz --script t
exits 0
highest t/curves.tsv >found
check 'has the same peaks over time' diff wanted found

# The line of the recorded setting is what was recorded, if the whole program was.
recorded=$(sed -n 's/^recorded = //p' t/plot.gp)
check 'marks the recorded setting' test "$recorded" -ge 1
run plot --kind replay --torch 2.8 --alloc-conf max_split_size_mb:64 \
    --alloc-conf expandable_segments:True,max_split_size_mb:128,roundup_power2_divisions:8 \
    samples/oom-fragmented.pickle.gz --script u
exits 0
check 'draws the given settings' grep -q '^groups = 3$' u/plot.gp
check 'cuts long settings at commas' grep -q "key_text\[.\] = 'max_split_size_mb:128,'" u/plot.gp
check 'draws what was there when memory ran out' grep -q 'what PyTorch could have when memory ran out' u/plot.gp

usage() {
    wanted=$1
    shift
    run plot "$@" --script new
    exits 2
    one_err_line
    err_has "$wanted"
    check 'leaves no folder' test ! -e new
}
usage '--gpu-memory applies only to --kind replay' --gpu-memory 1GiB samples/train-loop.pickle.gz
usage '--range does not apply to --kind replay' --kind replay --range 5: samples/train-loop.pickle.gz
usage 'does not support a layer trace' --kind replay samples/decoder.layers.json.gz
usage '--alloc-conf' --kind replay --alloc-conf nonsense:1 samples/train-loop.pickle.gz
set -- --kind replay
for size in 21 22 23 24 25 26 27 28 29 30 31 32; do
    set -- "$@" --alloc-conf "max_split_size_mb:$size"
done
usage 'has colours for 12 settings, not 13' "$@" samples/train-loop.pickle.gz
run plot --kind replay samples/history-off.pickle --script new
exits 3
one_err_line
err_has 'cannot be replayed: the trace has no allocations'

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi
name="x';system('touch owned')#\`touch owned\`@{x=9 b}<script>&$(printf '\033')[2J.pickle.gz"
cp samples/train-loop.pickle.gz "$name"
plots_hostile --kind replay --gpu-memory 1GiB "$name"
out_has 'expandable_segments:True: '
out_has 'device: 1.00 GiB'

finish
