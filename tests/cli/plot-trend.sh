#!/bin/sh
# memsnap plot --kind trend, of a history of runs and of what memsnap trend prints of one.
. "${srcdir:=.}/tests/cli/lib.sh"
MEMSNAP_PLOTS=$(cd "$cli/../../share/plots" && pwd)
export MEMSNAP_PLOTS

# trend NAME VALUE...: the values of runs; `null` for a run without the metric.
trend() {
    printf '{"schema":"memsnap.trend/1","metric":"%s","unit":"%s","runs":[' "${metric:-peak_active}" "${unit:-bytes}"
    name=$1
    shift
    number=0
    for value in "$@"; do
        [ $number -eq 0 ] || printf ','
        number=$((number + 1))
        printf '{"run":%d,"name":"%s","commit":"c%d","time":%d,"ranks":4,"failed":0,"value":%s,"rank":3}' \
            $number "$name" $number $((1795000000 + number)) "$value"
    done
    printf ']}\n'
}

# script FILE GOLDEN ARGUMENT...: settings and data of the picture.
script() {
    file=$1
    wanted=$2
    shift 2
    rm -rf s
    run plot "$file" --script s "$@"
    exits 0
    no_out
    no_err
    sed '/^# page.gp/,$d' s/plot.gp |
        cat - s/values.tsv s/medians.tsv s/points.tsv s/labels.tsv s/ticks.tsv >.run/out
    [ -z "$wanted" ] || golden "$wanted"
}

# A jump, a run without the metric, a fall, and a newest run that is as usual.
trend main 1000000000 1010000000 1000000000 1000000000 null 1300000000 1310000000 800000000 1000000000 >t.json
script t.json plot-trend.txt
check 'labels the jump, once' test "$(grep -c ', +' s/labels.tsv)" -eq 1
check 'labels the fall' grep -q ', -20.0%$' s/labels.tsv
check 'compares with fewer runs' sh -c \
    '"$MEMSNAP" plot --kind trend --last 3 t.json --script three && ! cmp three/medians.tsv s/medians.tsv'
# close values are told apart
trend a 1000 1001 1002 >close.json
script close.json ''
out_has 'the axis does not begin at 0'
# growth out of nothing is a jump without a percentage
metric=growth unit=bytes_per_step trend a 0 0 0 0 1048576 >growth.json
script growth.json ''
out_has "y_label = 'growth, MiB a step'"
out_has '1.00 MiB a step in the newest run against the median of the runs before, 0 B'
check 'is red' grep -q '13369344	1.00 MiB$' s/labels.tsv
# one run, of which nothing is known
metric=ooms unit=events trend a null >none.json
script none.json ''
out_has 'not known of the newest run'
# more runs than a picture shows
# shellcheck disable=SC2046
trend a $(seq 501) >many.json
script many.json ''
out_has 'the newest 500 of 501 runs'

run plot --kind timeline t.json --script new
exits 2
err 'memsnap: t.json: --kind timeline does not support a trend of memsnap trend (supported by: trend)'
run plot --kind trend samples/leak.pickle.gz --script new
exits 2
err_has '--kind trend does not support an allocator snapshot'
run plot --kind trend --metric ooms t.json --script new
exits 2
err 'memsnap: t.json: --metric applies to a history; this trend is of one metric and its runs'
run plot --kind trend --rank 1 t.json --script new
exits 2
run plot --last 3 t.json --script new
exits 2
err 'memsnap: plot: --last applies only to --kind trend'
run plot --kind trend --last 0 t.json --script new
exits 2
err_has "invalid --last '0' (expected 1 to 1000)"
check 'leaves no folder' test ! -e new
run analyze t.json
exits 3
err_has "not a trend of memsnap trend; see 'memsnap plot --kind trend'"
for wrong in '"runs":[7]' '"runs":[{"value":1e3}]' '"runs":[{"value":99999999999999999999}]' \
    '"runs":[{"name":3}]' '"runs":[{"rank":-1}]' '"unit":"pints"' '"runs":{}' '"runs":[]'; do
    printf '{"metric":"a","unit":"bytes",%s}' "$wrong" >wrong.json
    run plot --kind trend wrong.json --script new
    exits 3
    one_err_line
done
printf '{"metric":"a","runs":[{"value":1}]}' >wrong.json
run plot wrong.json --script new
exits 3
err 'memsnap: wrong.json: expected a trend of memsnap trend, found no unit'

if "$MEMSNAP" ranks --into runs.sqlite --run one samples/train-loop.pickle.gz >/dev/null 2>&1; then
    "$MEMSNAP" ranks --into runs.sqlite --run two samples/leak.pickle.gz >/dev/null
    "$MEMSNAP" trend --format json --metric peak_reserved runs.sqlite >reserved.json
    script reserved.json ''
    cp .run/out from-json
    script runs.sqlite '' --kind trend --metric peak_reserved --title reserved.json
    check 'draws a history like its trend' diff from-json .run/out
    script runs.sqlite '' --kind trend --run o\*
    out_has 'x_last = 1'
    run plot --kind trend --run x runs.sqlite --script new
    exits 3
    err 'memsnap: runs.sqlite: the history has no such run'
    run plot --kind trend --rank 7 runs.sqlite --script new
    exits 0
    run plot --kind timeline runs.sqlite --script new
    exits 3
    one_err_line
    "$MEMSNAP" export -o capture.sqlite samples/leak.pickle.gz
    run plot --kind trend capture.sqlite --script new
    exits 3
    err "memsnap: capture.sqlite: expected a history of runs, found another program's database"
fi

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi
metric="f';system('a')#\`touch owned\`" trend "B'.\`touch owned\`\\t\\n\\u001b[2J<b>&@x" 10 10 10 10 30 >hostile.json
plots_hostile hostile.json
for file in none close many growth; do
    run plot $file.json --out $file.svg
    exits 0
    no_err
done
run plot t.json --term dumb
exits 0
out_has 'median of the runs before'
finish
