#!/bin/sh
# Options of memsnap suggest on layer traces: budgets, cuts, slots, times, and values that are refused.
. "${srcdir:=.}/tests/cli/lib.sh"
. "$cli/layer_trace.sh"

decoder=samples/decoder.layers.json.gz

# Budgets: several, shares, and JSON.
run suggest --budgets 90%,70%,40%,1 --format json "$decoder"
exits 1
no_err
for has in '"plans":[' '"feasible":true' '"feasible":false' '"least_budget_bytes":' \
    '"verified":true' '"model":"peak"' '"model":"rotor"'; do
    out_has "$has"
done
run suggest --budget 60% --no-verify --format json "$decoder"
exits 0
out_has '"verified":false'
# The plan alone, without its Python.
for file in "$decoder" samples/train-loop.pickle.gz; do
    run suggest --budget 60% --no-code "$file"
    exits 0
    out_has 'Without --no-code, the Python code that applies this plan follows here.'
    out_has 'Basis of these figures'
    for code in 'import torch' 'def ' 'plan = ['; do
        check 'has no Python' lacks "$code" .run/out
    done
    check 'fits a screen' test "$(wc -l <.run/out)" -lt 60
    run suggest --budgets 80%,60% --no-code "$file"
    check 'says so of each plan' test "$(grep -c 'Without --no-code' .run/out)" -eq 2
done
for threads in 1 2 7; do
    run suggest --threads "$threads" --model rotor --budget 520MiB "$decoder"
    golden suggest-rotor.txt
done

# Cut positions.
run suggest --granularity 1 --format json "$decoder"
out_has '"pieces":4,'
run suggest --granularity 2 --format json "$decoder"
out_has '"pieces":9,'
run suggest --granularity 'blocks.[024]' --format json "$decoder"
out_has '"pieces":7,'
run suggest --granularity leaf --format json "$decoder"
out_has '"pieces":51,'

# usage MESSAGE ARGUMENT...
usage() {
    message=$1
    shift
    run suggest "$@" no-such-file
    exits 2
    no_out
    err "memsnap: suggest: $message"
}

usage "invalid --checkpoints '-1' (expected a whole number)" --checkpoints -1
usage "invalid --threads '1025' (expected a whole number up to 1024)" --threads 1025
usage "invalid budget 'much' (for example 8GiB, 60% or least)" --budget much
usage "invalid budget '0' (for example 8GiB, 60% or least)" --budget 0
usage "--budget takes one size; use --budgets '1GiB,60%'" --budget 1GiB,60%
usage "invalid share '120%' (expected 0% to 100%)" --budget 120%
usage "invalid budget '' (for example 8GiB, 60% or least)" --budgets 1GiB,
usage "invalid model 'best' (expected sum, peak or rotor)" --model best
usage "--model sum needs --checkpoints K" --model sum
usage "--model rotor needs --budget SIZE" --model rotor
usage "--skip-layers needs --checkpoints K" --skip-layers 3
usage "--format csv needs --pareto" --format csv --budget 1GiB
usage "--no-code applies only to --format text" --format json --no-code
usage "invalid format 'xml' (expected text, json or csv)" --format xml
usage "--checkpoints, --budget and --pareto cannot be combined" \
    --checkpoints 3 --budget 1GiB
usage "invalid --granularity '0' (expected at least 1)" --granularity 0
run suggest --backend abacus "$decoder"
exits 2
err_has "invalid back end 'abacus' (expected one of auto, cpu"
run suggest "$decoder" "$decoder"
exits 2
err 'memsnap: suggest: expected one file'

# A plan with least memory nests deeper than Python can.
layers=
for layer in $(seq 0 150); do
    layers="$layers l$layer 1048576"
done
# shellcheck disable=SC2086 # a list of words
trace deep.json $layers
run suggest --granularity leaf --model rotor --budget 1 --format json deep.json
exits 1
least=$(sed 's/.*"least_budget_bytes":\([0-9]*\).*/\1/' .run/out)
run suggest --granularity leaf --model rotor --budget "$least" deep.json
exits 0
out_has 'too deep for Python code'
out_has_not 'checkpoint_wrapper'

# For any number of slots, the least budget reported is valid and sufficient.
layers=
size=1000003
for layer in $(seq 0 60); do
    size=$(((size * 7919 + 12345) % 3000017 + 500000))
    layers="$layers l$layer $size"
done
# shellcheck disable=SC2086
trace uneven.json $layers
for slots in 2 5 9 150 500; do
    run suggest --granularity leaf --slots $slots --budget 1 --format json uneven.json
    exits 1
    least=$(sed 's/.*"least_budget_bytes":\([0-9]*\).*/\1/' .run/out)
    check "tells a least budget with $slots slots" test "$least" -gt 3000000
    run suggest --granularity leaf --slots $slots --budget "$least" --format json uneven.json
    exits 0
    out_has "\"peak_bytes\":$least"
done
run suggest --granularity leaf --budget 1 --model peak --format json uneven.json
exits 1
one=$(sed 's/.*"least_budget_bytes":\([0-9]*\).*/\1/' .run/out)
check 'nested checkpoints reach no less than what is told' test "$least" -le "$one"

# More slots than memory allows: one line names the largest value that fits, and it does.
limited="suggest --granularity leaf --model rotor --max-memory 64MiB --threads 1024"
# shellcheck disable=SC2086
run $limited --slots 100000 --budget 40% --format json uneven.json
exits 0
one_err_line
err_has 'memsnap: --slots 100000 needs more memory than --max-memory allows; using '
slots=$(sed 's/.*; using \([0-9]*\),.*/\1/' .run/err)
check 'most of the memory is used' test "$slots" -gt 1000
cp .run/out limited.json
# shellcheck disable=SC2086
run $limited --slots "$slots" --budget 40% --format json uneven.json
exits 0
no_err
check 'the value that is named gives the same plan' cmp -s .run/out limited.json

# Every number has a range that is named: nothing huge, nothing below it.
for option in slots threads checkpoints skip-layers device granularity; do
    run suggest "--$option" 99999999999999999999 uneven.json
    exits 2
    no_out
    one_err_line
    err_has "invalid --$option '99999999999999999999' (expected a whole number up to "
done
for option in slots threads checkpoints skip-layers device; do
    run suggest "--$option" -1 uneven.json
    exits 2
    one_err_line
    err_has "invalid --$option '-1' (expected a whole number)"
done
for option in budget budgets max-memory; do
    for size in -1 0 99999999999999999999GiB; do
        run suggest "--$option" $size uneven.json
        exits 2
        no_out
        one_err_line
        err_has "$size"
    done
done
# 0 of these is the default.
run suggest --slots 0 --threads 0 --model rotor --budget 40% --format json uneven.json
exits 0
no_err

# A chain that fits needs no checkpoints, with or without slots.
run suggest --granularity leaf --model rotor --slots 50 --budget 100% --format json uneven.json
exits 0
out_has '"recomputed_share":0.0,'

# Times that are all zero cost nothing.
trace timeless.json a 100 b 100 c 100 d 100
sed 's/"is_forward"/"forward_us": 0, "backward_us": 0, &/g' timeless.json >zero-times.json
run suggest --budget 450 zero-times.json
exits 0
out_has 'with 0.0% more compute'
run suggest --checkpoints 2 zero-times.json
exits 0
out_has 'the real peak is 600 B, with 0.0% more'

# Other files.
run suggest samples/decoder.operators.pickle.gz
exits 3
no_out
one_err_line
err_has 'expected a layer trace, an allocator snapshot or a profiler trace, not memory curves of MemoryTracker'
printf '{"traces": []}' >empty.json
run suggest empty.json
exits 3
err 'memsnap: empty.json: the layer trace has no forward events: no module ran'
run suggest --max-memory 4KiB "$decoder"
exits 4
no_out
one_err_line

# Times from a file: for segments, or for the modules in them.
trace timed.json m.0.a 500 m.0.b 500 m.1 1000 m.2 1000 m.3 1000
printf '# measured\n\nm.0\t900\nm.1\t1\r\nm.2\t1\nm.3\t98' >times.tsv
run suggest --times times.tsv --format csv timed.json
exits 0
no_err
out_has '5000,0.000667,'
printf 'm.0.a\t900\t1\nm.0.b\t0\t1\nm.1\t1\t998\nm.2\t1\t0\nm.3\t98\t0\n' >times.tsv
run suggest --times times.tsv --format csv timed.json
out_has '5000,0.001000,'
run suggest --times times.tsv --budget 90% timed.json
out_has 'Times are those of --times.'
run suggest --times times.tsv --format json timed.json
out_has '"time":"given"'
run suggest --times times.tsv --checkpoints 1 timed.json
exits 0
printf 'm.0\t900\nm.1\t1\nm.2\t1\n' >times.tsv
run suggest --times times.tsv timed.json
exits 2
no_out
err 'memsnap: timed.json: --times has no line for m.3'
for line in 'm.0' 'm.0\t' 'm.0\tfast' 'm.0\t-1' 'm.0\tinf' 'm.0\t1\t' 'm.0\t1\t2\t3' '\t1'; do
    printf "#\n$line\n" >times.tsv
    run suggest --times times.tsv timed.json
    exits 2
    err 'memsnap: timed.json: times.tsv:2: expected a layer, a tab and microseconds'
done
printf 'm.0\t1e300\nm.1\t1\nm.2\t1\nm.3\t1\n' >times.tsv
run suggest --times times.tsv timed.json
exits 4
one_err_line
run suggest --times missing.tsv timed.json
exits 5
one_err_line
run suggest --format json samples/train-loop.pickle.gz
sed 's/"parts":\["/&\n/g' .run/out | sed -n 's/^\([^"]*\)"\].*/\1/p' | sed 's/ \[[0-9]*\]$//' |
    sort -u | sed 's/$/\t10/' >times.tsv
run suggest --times times.tsv --format json samples/train-loop.pickle.gz
exits 0
out_has '"time":"given"'
out_has '"forward_ns":10000,'

finish
