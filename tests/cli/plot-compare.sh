#!/bin/sh
# memsnap plot of several files on one axis.
. "${srcdir:=.}/tests/cli/lib.sh"
top=$(cd "$cli/../.." && pwd)
MEMSNAP_PLOTS=$top/share/plots
export MEMSNAP_PLOTS

mkdir -p rank0 rank1
cat >rank0/small.json <<'END'
{"segments": [], "device_traces": [[
 {"action": "segment_alloc", "addr": 4096, "size": 4194304, "stream": 0, "time_us": 1000, "frames": []},
 {"action": "alloc", "addr": 4096, "size": 3145728, "stream": 0, "time_us": 1500, "frames": []},
 {"action": "free_requested", "addr": 4096, "size": 3145728, "stream": 0, "time_us": 2000, "frames": []},
 {"action": "free_completed", "addr": 4096, "size": 3145728, "stream": 0, "time_us": 3000, "frames": []}]]}
END
sed 's/3145728/2097152/' rank0/small.json >rank1/small.json
run plot rank0/small.json rank1/small.json --script s # its kind by itself
exits 0
no_out
no_err
sed '/^# page.gp/,$d' s/plot.gp | cat - s/curves.tsv s/peaks.tsv >.run/out
golden plot-compare.txt
check 'names them by what differs' grep -q "name\[1\] = 'rank0/small.json'; " s/plot.gp
run plot rank0/small.json rank1/small.json --x share --script s
exits 0
check 'goes up to 100 %' test "$(awk -F '\t' '!/#/ && $1 > most { most = $1 } END { print most }' s/curves.tsv)" = 100
run plot rank0/small.json rank1/small.json --x time --script s
exits 0
check 'begins at 0' test "$(awk -F '\t' '!/#/ && NF { print $1; exit }' s/curves.tsv)" = 0
check 'tells of time' grep -q "x_label = 'microseconds since the first event of each'" s/plot.gp
run plot --kind compare samples/decoder.layers.json.gz samples/fsdp.layers.pickle --script s
exits 0
check 'counts rows' grep -q "x_label = 'row of the layer trace'" s/plot.gp

# Inputs and options that cannot be combined.
run plot --kind compare samples/leak.pickle.gz --script new
exits 2
err_has '2 to 8 files, not 1'
set --
for number in 1 2 3 4 5 6 7 8 9; do
    cp rank0/small.json "$number.json"
    set -- "$@" "$number.json"
done
run plot "$@" --script new
exits 2
one_err_line
err_has '2 to 8 files, not 9'
run plot samples/leak.pickle.gz samples/decoder.layers.json.gz --script new
exits 2
one_err_line
err_has 'samples/decoder.layers.json.gz: the file is a layer trace, but the first file is an allocator snapshot'
run plot samples/leak.pickle.gz gone.pickle --script new
exits 5
err_has gone.pickle
run plot samples/leak.pickle.gz --x share --script new
exits 2
err_has '--x share needs --kind compare'
run plot samples/leak.pickle.gz samples/oom.pickle.gz --kind timeline --script new
exits 2
err_has 'expected one file for this kind'
check 'leaves no folder' test ! -e new

# Names that want to be more than text.
evil="x';system(\"touch owned\")#\`touch owned\`@{x=50 big}%s<script>&#1;]]>$(printf '\033')[2J$(printf '\342\200\256').json"
cp rank0/small.json "$evil"
run plot "$evil" rank1/small.json --script s
exits 0
check 'ends no string' lacks '`' s/plot.gp
check 'has no markup' lacks '<script' s/plot.gp
long=$(printf '%0240d' 0)
cp rank0/small.json "$long"
run plot "$long" rank1/small.json --script s
exits 0
check 'cuts long names' sh -c '! grep "^name" s/plot.gp | grep -q "0\{40\}"'

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi
plots_hostile "$evil" rank1/small.json samples/leak.pickle.gz
plots_hostile "$evil" rank1/small.json
out_has '3.00 MiB'
out_has '2.00 MiB, 1.00 MiB less'

finish
