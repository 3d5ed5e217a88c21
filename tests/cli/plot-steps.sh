#!/bin/sh
# memsnap plot --kind steps: the peak and the end of each step of a capture, or of its summary.
. "${srcdir:=.}/tests/cli/lib.sh"
MEMSNAP_PLOTS=$(cd "$cli/../../share/plots" && pwd)
export MEMSNAP_PLOTS

# script FILE ARGUMENT...: settings and data of the picture.
script() {
    file=$1
    shift
    rm -rf s
    run plot --kind steps "$file" --script s "$@"
    exits 0
    no_out
    no_err
    sed '/^# page.gp/,$d' s/plot.gp | cat - s/bars.tsv s/ticks.tsv s/text.tsv >.run/out
}

# A leak: what is there at the end of each step grows.
script samples/leak.pickle.gz --title t
golden plot-steps.txt
cp .run/out capture.txt
# The summary of a capture gives the same picture.
"$MEMSNAP" analyze --summary leak.summary samples/leak.pickle.gz >analyzed
script leak.summary --title t
check 'a summary gives the same' cmp capture.txt .run/out

# steps COUNT: a trace of so many steps; each allocates 2 MiB for its own time and keeps 1 KiB.
steps() {
    awk -v count="$1" 'BEGIN {
        printf "{\"segments\":[],\"external_annotations\":["
        for (i = 0; i < count; i++)
            printf "%s{\"stage\":\"START\",\"name\":\"ProfilerStep#%d\",\"device\":0,\"time_us\":%d},{\"stage\":\"END\",\"name\":\"ProfilerStep#%d\",\"device\":0,\"time_us\":%d}", \
                i ? "," : "", i, 1000 + 10 * i, i, 1009 + 10 * i
        printf "],\"device_traces\":[["
        for (i = 0; i < count; i++) {
            one = sprintf("\"stream\":0,\"frames\":[],\"size\":2097152,\"addr\":%d", 1048576)
            printf "%s{\"action\":\"alloc\",\"time_us\":%d,%s},", i ? "," : "", 1001 + 10 * i, one
            printf "{\"action\":\"alloc\",\"time_us\":%d,\"stream\":0,\"frames\":[],\"size\":1024,\"addr\":%d},", \
                1002 + 10 * i, 1073741824 + 4096 * i
            printf "{\"action\":\"free_requested\",\"time_us\":%d,%s},", 1003 + 10 * i, one
            printf "{\"action\":\"free_completed\",\"time_us\":%d,%s}", 1004 + 10 * i, one
        }
        printf "]]}"
    }'
}

# A summary has 256 steps at most; the picture says which are missing.
steps 300 >many.json
script many.json
out_has '44 steps in the middle are left out'
check 'has 256 bars' test "$(grep -vc '^#' s/bars.tsv)" -eq 256
check 'shows the gap' grep -qx '129	\.\.\.' s/ticks.tsv
check 'no number touches the dots' sh -c '! grep -q "^127	" s/ticks.tsv'
check 'leaves a place empty' sh -c '! grep -q "^129	" s/bars.tsv && grep -q "^130	" s/bars.tsv'
check 'numbers go on' grep -qx '254	296' s/ticks.tsv
steps 256 >whole.json
script whole.json
out_has_not 'left out'

# In letters, the last steps.
run plot --kind steps --term dumb many.json
exits 0
out_has 'step 299'
out_has_not 'step 0 '

# Tooltips of both bars of each step, and of the picture.
run plot --kind steps leak.summary --out steps.svg
exits 0
check 'has tooltips' test "$(grep -c '<title>step ' steps.svg)" -eq 10
check 'draws it' grep -q 'highest peak 425.15 MiB, in step 4' steps.svg

# What has no steps.
printf '{"segments":[],"device_traces":[[{"action":"alloc","addr":4096,"size":512,"stream":0,"frames":[]}]]}' >none.json
run plot --kind steps none.json --out none.svg
exits 3
err 'memsnap: none.json: nothing to plot: the trace shows no steps'
check 'writes nothing' test ! -e none.svg
run plot --kind steps --device 3 leak.summary --out none.svg
exits 3
err 'memsnap: leak.summary: nothing to plot: the file has no such device'
"$MEMSNAP" analyze --summary other.summary whole.json >analyzed
"$MEMSNAP" merge leak.summary other.summary -o two.summary
run plot --kind steps two.summary --out none.svg
exits 2
err 'memsnap: two.summary: the file has summaries of several captures; --kind ranks draws them'
run plot --kind steps samples/gpt.layers.json.gz --out none.svg
exits 2
err_has '--kind steps does not support'
finish
