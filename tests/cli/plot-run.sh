#!/bin/sh
# memsnap plot --kind fsdp and --kind iterations, of the folder of a MemProfiler run.
. "${srcdir:=.}/tests/cli/lib.sh"
top=$(cd "$cli/../.." && pwd)
MEMSNAP_PLOTS=$top/share/plots
export MEMSNAP_PLOTS

# A folder with tables is drawn by kind; what else is in it does not matter.
run plot samples/memprofiler --script s
exits 0
no_out
err 'memsnap: samples/memprofiler: 2 files of other kinds left out'
sed '/^# page.gp/,$d' s/plot.gp | cat - s/rows.tsv s/boxes.tsv >.run/out
golden plot-fsdp.txt
rm -r s
run plot --kind iterations samples/memprofiler --script s
exits 0
sed '/^# page.gp/,$d' s/plot.gp | cat - s/bars.tsv s/calls.tsv >.run/out
golden plot-iterations.txt
rm -r s

# One file is enough, by its content.
cp samples/memprofiler/rank_1_memory_stats.yaml.gz plain
run plot plain --script s
exits 0
check 'draws statistics' grep -q '^y_label = .memory of the device, MiB' s/plot.gp
rm -r s
run plot --kind fsdp plain --script s
exits 2
err_has '--kind fsdp does not support'
err_has '(supported by: iterations)'
run plot --kind fsdp samples/leak.pickle.gz --script s
exits 2
err_has '--kind fsdp does not support an allocator snapshot'
run plot --kind timeline samples/memprofiler --script s
exits 2
err_has 'expected one file for this kind'
check 'leaves no folder' test ! -e s

# point RANK FUNCTION ITERATION: the statistics at the end of a call.
point() {
    printf '%s.%s.%s.end:\n' "$1" "$2" "$3"
    printf '  allocated_bytes.all.current: %s\n' $((1048576 * ($3 + 1)))
    printf '  allocated_bytes.all.peak: %s\n' $((1048576 * ($3 + $1 + 2)))
    printf '  reserved_bytes.all.peak: %s\n  num_ooms: %s\n' $((1048576 * 40)) "$1"
}
mkdir many
for rank in 0 1; do
    for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
        point "$rank" training_step "$i"
    done >"many/rank_${rank}_memory_stats.yaml"
done
run plot many --script s
exits 0
check 'tells of ranks out of memory' grep -q '^plot_note = .0 ranks had to retry an allocation, 1 ran out of memory.' s/plot.gp
check 'draws a bar for each call and rank' test "$(grep -c '^[0-9]' s/bars.tsv)" -eq 24
check 'calls by number' grep -q '^2.5	4.5	0	[0-9]*	1$' s/calls.tsv
check 'and by function' grep -q '^0.5	24.5	1	[0-9]*	training_step$' s/calls.tsv
check 'orders ranks in a call' sh -c 'sed -n 2p s/bars.tsv | grep -q "^1	1	2	40	" && sed -n 3p s/bars.tsv | grep -q "^2	1	3	40	"'
rm -r s

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi
run plot samples/memprofiler --out fsdp.svg
exits 0
check 'has tooltips' grep -q '<title>Training.model' fsdp.svg
run plot --kind iterations samples/memprofiler --out iterations.svg
exits 0
check 'has tooltips' grep -q '<title>rank 1, training_step 2' iterations.svg
COLUMNS=100 LINES=16
export COLUMNS LINES
run plot samples/memprofiler --term dumb
exits 0
golden plot-fsdp-text.txt
run plot --kind iterations many --term dumb
exits 0
golden plot-iterations-text.txt

# Names from the input.
{
    point 0 training_step 1
    printf '"0.%s.1.end":\n  allocated_bytes.all.peak: 5000000\n' "f';system('a')#\`touch owned\`\\x1b[2J<b>&@x"
} >rank_0_memory_stats.yaml
plots_hostile rank_0_memory_stats.yaml
gzip -dc samples/memprofiler/fsdp_mem_rank_0_training_step_2.log.gz |
    sed "s/Training.model/f';system('a')#\`touch owned\`<b>@x/" >fsdp_mem_rank_0_training_step_2.log
plots_hostile fsdp_mem_rank_0_training_step_2.log
finish
