#!/bin/sh
# memsnap suggest on the command line.
. "${srcdir:=.}/tests/cli/lib.sh"

decoder=samples/decoder.layers.json.gz

. "$cli/layer_trace.sh"

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
check 'is lower than the answer of FairScale' sh -c '! grep -q "has a lower real peak" .run/out'
run suggest --checkpoints 2 samples/models/resnet50.layers.json.gz
exits 0
out_has "FairScale's placement has a lower real peak, but its segments contain layers"
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
run suggest --budget least one.json
exits 0
out_has 'No checkpoint around these layers lowers the peak'
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
