#!/bin/sh
# memsnap plot --kind fit, and analyze, of the results of memsnap dryrun --fit.
. "${srcdir:=.}/tests/cli/lib.sh"
top=$(cd "$cli/../.." && pwd)
MEMSNAP_PLOTS=$top/share/plots
export MEMSNAP_PLOTS

# results GPU NAME: results on two GPUs, of which the second has a name of the test's.
results() {
    cat <<EOF
{"schema":"memsnap.fit/1","variable":"$2","values":"1..512","command":["python","train.py","--batch","{BATCH}"],"steps":3,"gpus":[
{"name":"t4","product":"Tesla T4","memory_bytes":15642329088,"other_bytes":536870912,"runs":[
{"value":60,"result":"fits","peak_active_bytes":14900000000,"peak_reserved_bytes":15000000000,"ooms":0,"duration_us":9000000},
{"value":61,"result":"out-of-memory","peak_active_bytes":14000000000,"peak_reserved_bytes":15000000000,"ooms":1,"duration_us":9000000}]},
{"name":"$1","product":"NVIDIA A100","memory_bytes":85095874560,"other_bytes":536870912,"runs":[
{"value":1,"result":"fits","peak_active_bytes":1000000000,"peak_reserved_bytes":1100000000,"ooms":0,"duration_us":8000000},
{"value":256,"result":"fits","peak_active_bytes":62000000000,"peak_reserved_bytes":65000000000,"ooms":2,"duration_us":8000000},
{"value":300,"result":"failed","ooms":0,"duration_us":8000000,"failure":"the program failed with status 1 (ValueError)"}]}]}
EOF
}
results a100 BATCH >fit.json

run plot fit.json --script s
exits 0
no_out
no_err
sed '/^# page.gp/,$d' s/plot.gp | cat - s/curves.tsv s/limits.tsv s/failures.tsv s/largest.tsv >.run/out
golden plot-fit.txt
# A GPU with far more memory than any run needed has a label, but does not flatten the curves.
cat >large.json <<'EOF'
{"schema":"memsnap.fit/1","variable":"B","values":"1..8","command":[],"steps":3,"gpus":[
{"name":"small","product":"Tesla T4","memory_bytes":4294967296,"other_bytes":0,"runs":[
{"value":4,"result":"fits","peak_active_bytes":4000000000,"peak_reserved_bytes":4100000000,"ooms":0,"duration_us":1},
{"value":5,"result":"out-of-memory","ooms":1,"duration_us":1}]},
{"name":"large","product":"NVIDIA H200","memory_bytes":150119383040,"other_bytes":0,"runs":[
{"value":8,"result":"fits","peak_active_bytes":7000000000,"peak_reserved_bytes":8589934592,"ooms":0,"duration_us":1}]}]}
EOF
run plot large.json --script large
exits 0
check 'says that its memory is above the graph' grep -q "'large: 139.81 GiB, above the graph'" large/plot.gp
check 'ends the axis just above what was needed' sh -c 'sed -n "s/^y_top = //p" large/plot.gp | awk "{ exit !(\$1 < 25) }"'
run plot --kind timeline fit.json --script new
exits 2
err 'memsnap: fit.json: --kind timeline does not support results of memsnap dryrun --fit (supported by: fit)'
run plot --kind fit samples/leak.pickle.gz --script new
exits 2
err_has '--kind fit does not support an allocator snapshot'
check 'leaves no folder' test ! -e new

run analyze fit.json
exits 0
golden fit.txt
# Reserved memory alone that falls, near the limit and far from it.
sed 's/"peak_reserved_bytes":1100000000/"peak_reserved_bytes":66000000000/' fit.json >falls.json
run analyze falls.json
exits 0
check 'says which' grep -q '^  Peak reserved memory is not monotone in BATCH: 61.47 GiB at 1' .run/out
out_has_not 'releases cached memory'
sed 's/"memory_bytes":85095874560/"memory_bytes":70000000000/' falls.json >near.json
run analyze near.json
check 'says why' sh -c 'tr -s "\n " " " <.run/out | grep -q "Near the limit the allocator releases cached memory."'
run analyze --format json fit.json
exits 0
out_has '"largest":60,"limit":61,"fits_above_limit":null,"not_monotone":[]'
out_has '"largest":256,"limit":300'
run analyze --at end fit.json
exits 2
err 'memsnap: fit.json: --at does not apply to results of memsnap dryrun --fit, only to allocator snapshots'
for command in flame export suggest dump; do
    [ "$command" = dump ] || {
        run "$command" fit.json
        exits 3
        err_has 'not results of memsnap dryrun --fit'
    }
done
run check --max-peak 1GiB fit.json
exits 3
err_has 'not results of memsnap dryrun --fit'
run diff fit.json fit.json
exits 2
err_has 'not results of memsnap dryrun --fit'

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi
results "f';system('a')#\`touch owned\`\\u001b[2J\\n\\\"<b>&@x" "B'.\`touch owned\`\\t\\n" >fit.json
plots_hostile fit.json
# Nothing fits, and one run only.
cat >fit.json <<EOF
{"schema":"memsnap.fit/1","variable":"B","values":"1..2","command":[],"steps":0,"gpus":[
{"name":"t4","product":"Tesla T4","memory_bytes":15642329088,"other_bytes":0,"runs":[
{"value":1,"result":"out-of-memory","ooms":1,"duration_us":1}]}]}
EOF
run plot fit.json --out none.svg
exits 0
no_err
run plot fit.json --term dumb
exits 0
finish
