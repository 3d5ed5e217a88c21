#!/bin/sh
# memsnap suggest on the command line.
. "${srcdir:=.}/tests/cli/lib.sh"

decoder=samples/decoder.layers.json.gz

# trace NAME [NAME BYTES...]: a layer trace of modules that ran forward in this order.
trace() {
    file=$1
    shift
    printf '{"traces": [' >"$file"
    comma=
    while [ $# -gt 0 ]; do
        printf '%s{"module_name": "%s", "module_params": 0, "allocated": 0, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_diff": %s, "memory_activations": %s}}' \
            "$comma" "$1" "$2" "$2" >>"$file"
        comma=,
        shift 2
    done
    printf ']}' >>"$file"
}

# The whole of the answers.
run suggest "$decoder"
exits 0
no_err
golden suggest-front.txt
run suggest --pareto "$decoder"
golden suggest-front.txt
run suggest --budget 60% "$decoder"
exits 0
no_err
golden suggest-budget.txt
run suggest --model rotor --budget 520MiB "$decoder"
exits 0
golden suggest-rotor.txt
run suggest --checkpoints 3 "$decoder"
exits 0
golden suggest-checkpoints.txt
run suggest --granularity leaf --budget 530MiB "$decoder"
exits 0
golden suggest-leaf.txt
run suggest --budget 100MiB "$decoder"
exits 1
no_err
golden suggest-infeasible.txt

# layers of memsnap's recorder: the total peak, and nothing in a plan that cannot be wrapped
for model in gpt unet; do
    run suggest --budget 70% samples/$model.layers.json.gz
    exits 0
    no_err
    golden suggest-recorded-$model.txt
done
run suggest samples/unet.layers.json.gz
exits 0
golden suggest-recorded-front.txt
run suggest --format json --budget 70% samples/gpt.layers.json.gz
exits 0
check 'the same results are kept in segments and in what is applied' test \
    "$(grep -o '"keep_operators":\["aten._scaled_dot_product_efficient_attention"' .run/out | wc -l)" -ge 2
out_has '"no_checkpoint_total_peak_bytes":370926592,'
run suggest --model rotor --budget 70% samples/gpt.layers.json.gz
exits 2
err "memsnap: samples/gpt.layers.json.gz: --model rotor does not apply to layers of memsnap's recorder, whose graph it does not know; use --model peak"
run suggest --checkpoints 2 samples/gpt.layers.json.gz
exits 0
out_has 'the step then peaks at'
run suggest --format csv "$decoder"
exits 0
golden suggest-front.csv
run suggest --verbose --budget 60% "$decoder"
exits 0
golden suggest-budget.txt
check 'tells the times' grep -Eqx 'memsnap: reading took [0-9.]+ s, the model [0-9.]+ s, the solver and the report [0-9.]+ s' .run/err
run suggest --help
exits 0
golden help-suggest.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"

# A narrow page: the remark is broken into lines, and no line is wider.
COLUMNS=40 run suggest "$decoder"
exits 0
out_has 'segments'
check 'keeps within 40 columns' test -z "$(awk 'length > 40' .run/out)"

# One is one; and characters beyond U+FFFF that must not stand for themselves are Python's.
trace one.json "$(printf 'a\363\240\200\201')" 8
run suggest --checkpoints 3 one.json
out_has '3 checkpoints among 1 module:'
trace odd.json a 100 "$(printf 'b\363\240\200\201')" 900 c 100
run suggest --granularity leaf --budget 2050 odd.json
out_has '"b\U000e0001"'

# FairScale's ties: equal sizes, zeros, and an omitted split after the last module.
trace small.json a 1 b 1 c 1 d 1
run suggest --checkpoints 1 --format json small.json
exits 0
out_has '"max_memory":2,"split_modules":["c"],"split_indices":[2],"modules":4'
run suggest --checkpoints 9 --format json small.json
out_has '"max_memory":1,"split_modules":["b","c","d"],"split_indices":[1,2,3],"modules":4'
run suggest --checkpoints 1 --skip-layers 2 --format json small.json
out_has '"max_memory":1,"split_modules":["d"],"split_indices":[1],"modules":2'
run suggest --checkpoints 1 --skip-layers 9 --format json small.json
exits 0
out_has '"max_memory":0,"split_modules":[],"split_indices":[],"modules":0'
run suggest --model sum --checkpoints 0 --format json small.json
out_has '"max_memory":4,"split_modules":[]'
trace zeros.json a 0 b 0 c 0
run suggest --checkpoints 1 --format json zeros.json
exits 0
out_has '"max_memory":0,"split_modules":["b"]'
run suggest zeros.json
exits 0
run suggest --budget 1 zeros.json
exits 0
out_has 'no checkpoints are needed'

# One layer, and a module that runs twice.
trace one.json only 100
run suggest one.json
exits 0
run suggest --budget 50 one.json
exits 1
out_has 'nothing fits'
trace twice.json a 100 shared 100 b 100 shared 100 c 100 d 10
run suggest --budget 450 twice.json
exits 0
out_has '1 of the modules runs more than once'
out_has '1 module runs more than once in a step (shared): the code leaves it out.'
out_has_not '"shared"'

# FairScale's own rows have outputs, but not what autograd keeps: the allocator shows the difference.
trace fairscale.json a 100 b 100 c 100 d 100
run suggest --budget 90% fairscale.json
out_has 'The trace has the outputs of modules (400 B), not what autograd keeps: on'
out_has 'by up to a third.'
out_has_not 'compute,'
sed -e 's/"a", "module_params": 0, "allocated": 0/"a", "module_params": 0, "allocated": 1125/' \
    -e 's/"d", "module_params": 0, "allocated": 0/"d", "module_params": 0, "allocated": 1500/' \
    fairscale.json >grown.json
run suggest --format json --budget 90% grown.json
out_has '"recomputed_share":'
out_has_not '"extra_time_share":'
COLUMNS=200 run suggest --budget 90% grown.json
out_has 'allocated memory grew by 475 B, so these figures may err by 15.8%.'

# patterns of what may be in a plan: modules, modules in them, and modules around them
trace deep.json enc.0.a 400 enc.0.b 400 enc.0.c 100 enc.1.a 400 enc.1.b 400 enc.1.c 100 \
    enc.2.a 400 enc.2.b 400 enc.2.c 100 head 10
run suggest --keep enc.0 --budget 2900 deep.json
exits 0
out_has '"enc.1"'
out_has_not '"enc.0"'
run suggest --keep 'enc.?.b' --budget 2900 deep.json
exits 1
out_has 'nothing fits'
run suggest --only enc.1.a --only 'enc.1.[bc]' --budget 2900 deep.json
exits 0
out_has '"enc.1"'
out_has_not '"enc.0"'
run suggest --only enc --keep enc.0 --keep enc.2 --format json --budget 2900 deep.json
out_has '"parts":[{"modules":["enc.1"]}]'
run suggest --keep lstm deep.json
exits 2
err "memsnap: deep.json: --keep: no module matches 'lstm'; there are enc.0, enc.1, enc.2, ..."
run suggest --keep enc.0 --model rotor --budget 400 deep.json
exits 2
err 'memsnap: deep.json: --model rotor cannot leave modules out of a plan; use --model peak'
run suggest --keep model.py:93 --budget 99% --format json samples/train-loop.pickle.gz
exits 0
out_has '"modules":["model.py:94'
out_has_not '"modules":["model.py:93'
run suggest --keep '* [[]2]' --format json --budget 90% samples/train-loop.pickle.gz
exits 0
out_has_not '"modules":["model.py:93 forward [2]"'
out_has '"modules":["model.py:93 forward ['
run suggest --only '' deep.json
exits 2

# what a program applies: the modules of each part, and those left out
run suggest --budget 450 --format json twice.json
exits 0
out_has '"apply":{"target":"modules","parts":['
out_has '"left_out":[{"module":"shared","reason":"repeated"}]'
check 'repeated modules are in no part' sh -c \
    'sed "s/.*\"parts\":\(.*\)\"left_out\".*/\1/" .run/out | grep -vq shared'
run suggest --model rotor --budget 520MiB --format json "$decoder"
exits 0
out_has '"parts":[{"modules":['
run suggest --budget 100MiB --format json "$decoder"
exits 1
out_has_not '"apply"'
run suggest --checkpoints 2 --format json -o plan.json "$decoder"
exits 0
check 'writes a file' grep -q '"apply":{' plan.json

# In-place modules belong to the module whose output they change; no cut separates them.
trace inplace.json conv1 100 relu1 0 conv2 100 relu2 0 conv3 100 relu3 0 head 1
run suggest --model peak --budget 450 inplace.json
exits 0
out_has '"conv1", "relu1"'

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

# The manual page knows every option.
run suggest --verbose --budget 60% "$decoder"
exits 0
golden suggest-budget.txt
check 'tells the times' grep -Eqx 'memsnap: reading took [0-9.]+ s, the model [0-9.]+ s, the solver and the report [0-9.]+ s' .run/err
run suggest --help
for option in $(sed -n 's/^ .* --\([a-z-]*\).*/\1/p' .run/out); do
    check "memsnap-suggest(1) has --$option" \
        grep -qF -e "\\-\\-$(printf '%s' "$option" | sed 's/-/\\-/g')" "$cli/../../man/memsnap-suggest.1"
done

finish
