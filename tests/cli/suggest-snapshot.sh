#!/bin/sh
# memsnap suggest of allocator snapshots.
. "${srcdir:=.}/tests/cli/lib.sh"

loop=samples/train-loop.pickle.gz

# The whole of the answers.
run suggest "$loop"
exits 0
no_err
golden suggest-snapshot-front.txt
run suggest --budget 45% "$loop"
exits 0
no_err
golden suggest-snapshot-budget.txt
run suggest --budget 60% samples/oom.pickle.gz
exits 0
golden suggest-snapshot-runs.txt
run suggest --model rotor --budget 70MiB samples/labelled/transformer-adamw.pickle.gz
exits 0
out_has 'no checkpoints are needed'
run suggest --checkpoints 2 "$loop"
exits 0
golden suggest-snapshot-checkpoints.txt
run suggest samples/labelled/checkpointed-adamw.pickle.gz
exits 0
out_has '4 of them ran within torch.utils.checkpoint already'
run suggest samples/oom.pickle.gz
exits 0
out_has 'Memory ran out in the backward pass of this step: what the rest of it takes'
run suggest samples/recorded/oom-batch.pickle.gz
exits 0
out_has 'The peak of the trace is in no step with a whole forward and backward pass'
run suggest --budget 1MiB "$loop"
exits 1
out_has 'nothing fits'

# A model without loops calls three stages of four blocks, each from a line of its own. Checkpoints
# around stages hold more than checkpoints around blocks.
awk '
function frame(name, file, line) { return sprintf("{\"name\":\"%s\",\"filename\":\"%s\",\"line\":%d}", name, file, line) }
function event(action, address, size, frames) {
    printf "%s{\"action\":\"%s\",\"addr\":%d,\"size\":%d,\"stream\":0,\"frames\":[%s]}", comma, action, address, size, frames
    comma = ","
}
BEGIN {
    size[3] = size[4] = 1048576
    size[5] = 65536
    call = frame("_call_impl", "/site-packages/torch/nn/modules/module.py", 1790)
    backward = frame("at::_ops::mm::call(x)", "??", 0) "," \
        frame("torch::autograd::generated::MmBackward0::apply(x)", "??", 0) "," \
        frame("torch::autograd::Node::operator()(x)", "??", 0) "," \
        frame("torch::autograd::Engine::evaluate_function(x)", "??", 0)
    printf "{\"segments\":[],\"device_traces\":[["
    for (stage = 50; stage < 53; stage++)
        for (block = 10; block < 14; block++)
            for (line = 3; line < 6; line++)
                event("alloc", ++n * 1048576, size[line], frame("at::_ops::mm::call(x)", "??", 0) "," \
                    frame("forward", "/home/u/block.py", line) "," call "," frame("forward", "/home/u/stage.py", block) "," \
                    call "," frame("forward", "/home/u/model.py", stage) "," call "," frame("<module>", "/home/u/train.py", 9))
    for (; n > 0; n--) {
        event("alloc", 1e9, 65536, backward)
        event("free_completed", n * 1048576, size[(n - 1) % 3 + 3], backward)
        event("free_completed", 1e9, 65536, backward)
    }
    print "]]}"
}' >stages.json
run suggest --budget 20% --no-code stages.json
exits 0
out_has 'stage.py:10 forward'
run suggest --budget 20% --granularity 1 --no-code stages.json
exits 1

# Layers of a loop may get different arguments, which a snapshot does not show. Those of a Sequential
# get only results.
run suggest --budget least samples/recorded/oom-batch.pickle.gz
exits 0
out_has "each gets a checkpoint of its own, and the step peaks at 224.66 MiB"
run suggest --budget least --format json samples/recorded/oom-batch.pickle.gz
out_has '"total_peak_bytes":230858752'
out_has '"total_peak_at_most_bytes":235577344'
run suggest --budget 60% --format json samples/recorded/resnet50.pickle.gz
exits 0
out_has_not 'total_peak_at_most_bytes'

# What the plan leaves as it is may need more.
run suggest --budget least samples/recorded/muon.pickle.gz
exits 0
out_has 'The whole trace then peaks at 205.27 MiB, at by_hand.py:47 muon'
run suggest --budget least --format json samples/recorded/muon.pickle.gz
out_has '"trace_total_peak_bytes":215244288'
out_has '"elsewhere_at":"by_hand.py:47 muon"'
run suggest --budget least "$loop"
out_has_not 'The whole trace then peaks'

# One layer per block, and sums that match the layers.
run suggest --format json --budget 60% "$loop"
exits 0
for has in '"schema":"memsnap.suggest/1"' '"source":"allocator-snapshot"' '"pieces":6,' \
    '"time":"operator_classes"' '"parts":["model.py:93 forward [2]"]' '"verified":true' \
    '"activation_bytes":153189128,' '"peak_chain_bytes":153189124,' '"output_from":"repeats"'; do
    out_has "$has"
done

# Operators are kept by their class; where stacks do not name them, the report says how to record that.
run suggest --format json --budget 80% "$loop"
exits 0
out_has '"keep_operators":["aten.mm","aten.bmm"]'
gzip -dc "$loop" | sed 's/::redispatch(/::redispatxh(/g' >unnamed.pickle
run suggest unnamed.pickle
exits 0
out_has '_record_memory_history(stacks="all")'
out_has_not 'cheap operators'

printf 'model.py:%s\t10\n' '90 forward' '93 forward' '94 forward' >some.times
printf 'train.py:29 train_step\t10\n' >>some.times
run suggest --times some.times --budget 80% "$loop"
exits 0
out_has 'The times of operators within a layer are not known'
out_has_not 'aten.mm'

# Modules are named by the lines that call them, and no line of code is to be moved by hand.
run suggest --budget 80% "$loop"
out_has '    ["model.py:93 [0/3], allocations'
out_has '": ["aten.mm", "aten.bmm"],'
out_has 'checkpoint_calls(model, plan, keep)'

# The code for several modules is printed where the step may call several: two, a container, or one twice.
out_has_not 'class Several'
for name in recorded/recommender labelled/adversarial recorded/gan; do
    run suggest --budget least "samples/$name.pickle.gz"
    out_has '# model = [encoder, decoder].'
    out_has 'class Several'
    out_has 'checkpoint_calls_of_several(model, plan'
done
run suggest --budget least samples/recorded/resnet50.pickle.gz
out_has 'checkpoint_calls(model, plan'
out_has_not 'class Several'

# So it is where only one of two models has checkpoints: their allocations are numbered together. The models are of one file, and
# one line calls them, as in judge(make(noise)).
cat >models.awk <<'EOF'
function frame(name, file, line) { return "{\"name\":\"" name "\",\"filename\":\"" file "\",\"line\":" line "}" }
function call() { return frame("_call_impl", "/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", 1790) }
function event(action, address, size, frames) {
    printf "%s{\"action\":\"%s\",\"addr\":%d,\"size\":%d,\"stream\":0,\"time_us\":%d,\"frames\":[%s]}", comma, action, address, size, ++time, frames
    comma = ","
}
function keep(outer, inner, size) {
    at++
    event("alloc", at * 4194304, size, frame("at::_ops::mm::call(x)", "??", 0) "," frame("forward", "/home/u/gan.py", inner) "," call() "," \
        frame("forward", "/home/u/gan.py", outer) "," call() "," frame("<module>", "/home/u/train.py", 9))
    sizes[at] = size
}
BEGIN {
    printf "{\"segments\":[],\"device_traces\":[["
    for (i = 0; i < 3; i++) {
        keep(20, 10, 1048576)
        keep(20, 11, 2097152)
    }
    for (i = 0; i < 2; i++) {
        keep(60, 40, 1024)
        keep(60, 41, 2048)
    }
    backward = frame("at::_ops::mm::call(x)", "??", 0) "," frame("torch::autograd::generated::MmBackward0::apply(x)", "??", 0) "," \
        frame("torch::autograd::Node::operator()(x)", "??", 0) "," frame("torch::autograd::Engine::evaluate_function(x)", "??", 0)
    event("alloc", 419430400, 512, backward)
    for (; at > 0; at--) {
        event("free_requested", at * 4194304, sizes[at], backward)
        event("free_completed", at * 4194304, sizes[at], backward)
    }
    printf "]]}\n"
}
EOF
awk -f models.awk >models.json
run suggest --budget 80% models.json
exits 0
out_has '"gan.py:20 [0/3], allocations 1-2 of 10"'
out_has_not '"gan.py:60'
out_has 'checkpoint_calls_of_several(model, plan'
out_has_not 'cache of keys'

# The code turns off the cache that transformers' models fill also in training.
sed 's|{"name":"forward","filename":"/home/u/gan.py","line":11}|{"name":"update","filename":"/venv/lib/python3.12/site-packages/transformers/cache_utils.py","line":102},&|g' \
    models.json >caching.json
run suggest --budget 80% caching.json
exits 0
out_has '  These figures include a cache of keys and values, which the forward pass makes'
out_has '  and leaves: 6.00 MiB. The Python code turns it off (config.use_cache), since a'

# A checkpoint for each layer may lower the peak further than one for several.
run suggest --checkpoints 2 samples/recorded/decoder.pickle.gz
exits 0
out_has '  each gets a checkpoint of its own, and the step peaks at 115.01 MiB. A'
out_has '  one_by_one=True, each always gets its own.'

run suggest --budget 80% "$loop"
run suggest --format json --budget 80% "$loop"
out_has '"apply":{"target":"calls","parts":[{"modules":["model.py:93 [0/3], allocations 2-32 of 101","model.py:93 [1/3], allocations 33-63 of 101","model.py:93 [2/3], allocations 64-94 of 101"],"keep_operators":["aten.mm","aten.bmm"]}],"left_out":[]}'
run suggest --model rotor --format json --budget 45% "$loop"
exits 0
out_has '"apply":{"target":"lines"'

# What the program would reserve, from a replay of its requests.
out_has '"reserved_in":"trace","reserved_peak_bytes":'
run suggest --format json --budget 60% samples/leak.pickle.gz
exits 0
out_has '"reserved_in":"trace","reserved_peak_bytes":438304768,"no_checkpoint_reserved_peak_bytes":501219328'
out_has '"allocated_peak_bytes":385346048,"no_checkpoint_allocated_peak_bytes":455172096'
run suggest --budget 60% samples/leak.pickle.gz
out_has "Replayed through PyTorch's allocator, the whole trace then reserves about"
out_has '418.00 MiB; without checkpoints 478.00 MiB. torch.cuda.max_memory_allocated()'

# A plan of lines is written by hand: that comes before its figures.
for question in --checkpoints=3 --budget=90%; do
    COLUMNS=500 run suggest "$question" --no-code samples/joined.pickle.gz
    exits 0
    check "tells what is left to do ($question)" awk '
        /checkpoints are written by hand/ { told = NR }
        /With parameters, gradients/ { figures = NR }
        END { exit !(told > 0 && told < figures) }' .run/out
    run suggest "$question" --no-code samples/train-loop.pickle.gz
    exits 0
    out_has_not 'by hand'
done

# Memory may be fragmented otherwise if tensors are freed in another order.
COLUMNS=500 run suggest --checkpoints 3 --no-code samples/kept-gradients.pickle.gz
exits 0
out_has 'MiB, or up to'
run suggest --checkpoints 3 --format json samples/kept-gradients.pickle.gz
check 'no order reserves less' "$PYTHON3" -c '
import json
best = json.load(open(".run/out"))["best"]
assert best["reserved_peak_at_most_bytes"] > best["reserved_peak_bytes"], best'

# The plan is in every pass of the model: here in all micro batches, of which one begins where the last one ends.
run suggest --format json --checkpoints 2 samples/recorded/accumulated-masters.pickle.gz
exits 0
out_has '"allocated_peak_bytes":108677120,"no_checkpoint_allocated_peak_bytes":115875328'
# Most passes are of the same layers, although the first lines that keep something differ: once some weights are frozen,
# nothing before the trained layers is kept. The plan is in all of them.
run suggest --checkpoints 2 samples/recorded/thawed.pickle.gz
exits 0
out_has '  then returns 106.67 MiB; without checkpoints 171.39 MiB.'
out_has_not 'in a pass that this plan is not made from'
# Memory that ran out in a pass does not count for the trace with a plan.
run suggest --format json --checkpoints 2 samples/recorded/oom-batch.pickle.gz
exits 0
out_has_not '"reserved_in":"trace"'
run suggest --budget 100% samples/leak.pickle.gz
exits 0
out_has_not 'reserves'
run suggest --format json --checkpoints 2 samples/leak.pickle.gz
exits 0
out_has '"no_checkpoint_reserved_peak_bytes":501219328,"allocated_peak_bytes":385085952,"no_checkpoint_allocated_peak_bytes":455172096,"best":'
out_has '"no_checkpoint_reserved_peak_bytes":501219328,"allocated_peak_bytes":385085952,"no_checkpoint_allocated_peak_bytes":455172096},"apply"'
run suggest --format json samples/leak.pickle.gz
out_has '"reserved_not_known":"the points are not replayed; a plan with --budget is"'
for asked in '--budget 60%' '--checkpoints 2' '--pareto'; do
    run suggest --format json $asked samples/decoder.layers.json.gz
    exits 0
    out_has_not 'reserved_'
done
run suggest --format json --budget 60% "$loop"

# The same result for every encoding.
cp .run/out first.json
gzip -dc "$loop" >loop.pickle
gzip -dc samples/train-loop.json.gz >loop.json
for file in loop.pickle loop.json samples/train-loop.json.gz; do
    run suggest --format json --budget 60% "$file"
    check "$file is answered like the first" cmp first.json .run/out
done

# Cut positions, and the part of the trace.
run suggest --granularity 1 --format json "$loop"
out_has '"pieces":6,'
run suggest --granularity 2 --format json "$loop"
out_has '"pieces":11,'
run suggest --granularity 'model.py:68*' --format json "$loop"
out_has '"parts":["model.py:68 forward [0]"]'
run suggest --granularity leaf --format json "$loop"
out_has '"pieces":53,'
run suggest --range 0:1400 --format json "$loop"
exits 0
out_has '"step":0,'
run suggest --device 0 --format json samples/two-devices.pickle.gz
out_has '"device":0,'
run suggest --format json samples/two-devices.pickle.gz
out_has '"device":1,'
run suggest --device 7 samples/two-devices.pickle.gz
exits 2
err 'memsnap: samples/two-devices.pickle.gz: the file has no device 7 (devices: 0, 1)'
run suggest --device 0 samples/decoder.layers.json.gz
exits 2
err 'memsnap: samples/decoder.layers.json.gz: --device applies only to allocator snapshots'

# Nothing to checkpoint, and nothing to tell layers by.
run suggest samples/labelled/inference.pickle.gz
exits 1
no_out
err 'memsnap: samples/labelled/inference.pickle.gz: nothing to checkpoint: no backward pass follows a forward pass on device 0 (inference?)'
run suggest samples/history-off.pickle
exits 3
no_out
one_err_line
err_has 'device 0 has no events'
{
    printf '%s' '{"segments":[],"device_traces":[['
    printf '{"action":"%s","addr":%d,"size":512,"stream":0},' alloc 1 alloc 2
    printf '%s' '{"action":"free_completed","addr":1,"size":512,"stream":0}]]}'
} >bare.json
run suggest bare.json
exits 3
no_out
err_has 'device 0 has no Python stacks'
run suggest --max-memory 64KiB "$loop"
exits 4
no_out
one_err_line

# A plan for lines of code is for the iterations of a loop, not for calls within them.
run suggest --budget least samples/joined.pickle.gz
exits 0
out_has 'record_profile.py:24 forward [0]  80.25 KiB'

# torch.compile compiled the model as a whole: the line of the model is next to the code that runs it, and no module is
# called in between.
if [ -n "${PYTHON3-}" ]; then
    for backend in inductor aot_eager eager; do
        "$PYTHON3" - "$loop" "$backend.pickle" "$backend" <<'EOF'
import gzip, pickle, sys
snapshot = pickle.load(gzip.open(sys.argv[1]))
torch = "/lib/python3/dist-packages/torch/"
runs = {
    "inductor": [("__call__", torch + "_inductor/output_code.py")],
    "aot_eager": [("forward", "<eval_with_key>.3"), ("_call_impl", torch + "nn/modules/module.py"),
                  ("forward", torch + "_functorch/_aot_autograd/runtime_wrappers.py"),
                  ("runtime_wrapper", torch + "_functorch/_aot_autograd/runtime_wrappers.py")],
    "eager": [("forward", "<eval_with_key>.3"), ("_call_impl", torch + "nn/modules/module.py"),
              ("_fn", torch + "_dynamo/eval_frame.py")],
}[sys.argv[3]]
runs = [{"name": name, "filename": file, "line": 830} for name, file in runs]
for event in snapshot["device_traces"][0]:
    frames = event.get("frames", [])
    lines = [frame for frame in frames if frame["filename"].endswith("/model.py") and frame["name"] == "forward"]
    if lines:
        if sys.argv[3] == "inductor":
            frames[frames.index(lines[0]) + 1:frames.index(lines[-1]) + 1] = runs
        else:
            frames[frames.index(lines[0]):frames.index(lines[-1])] = runs
pickle.dump(snapshot, open(sys.argv[2], "wb"))
EOF
        for asked in '--budget 60%' '--checkpoints 2' '--pareto'; do
            run suggest $asked "$backend.pickle"
            exits 0
            out_has 'No plan: torch.compile compiled the model as a whole'
            out_has_not 'use_reentrant'
            out_has_not 'peaks at'
            run suggest $asked --format json "$backend.pickle"
            exits 0
            out_has '"compiled":true'
            out_has_not '"apply"'
        done
        run analyze "$backend.pickle"
        exits 0
        out_has 'torch._functorch.config.activation_memory_budget = 0.5'
    done
fi
run suggest --budget 60% "$loop"
out_has_not 'compiled the model as a whole'
run analyze "$loop"
out_has_not 'activation_memory_budget'

# The model skips operators in the first step and in the last.
if [ -n "${PYTHON3-}" ]; then
    "$PYTHON3" - "$loop" skips.pickle <<'EOF'
import gzip, pickle, sys
snapshot = pickle.load(gzip.open(sys.argv[1]))
kept, dropped, made = [], set(), 0
events = snapshot["device_traces"][0]
for i, event in enumerate(events):
    lines = [frame for frame in event.get("frames", []) if frame["filename"].endswith("/model.py")]
    if event["action"] == "alloc":
        made += bool(lines)
        if lines and made > 2 and made % 2 and abs(i - len(events) / 2) > len(events) / 6:
            dropped.add(event["addr"])
            continue
    elif event["action"].startswith("free") and event["addr"] in dropped:
        dropped -= {event["addr"]} if event["action"] == "free_completed" else set()
        continue
    kept.append(event)
snapshot["device_traces"][0] = kept
pickle.dump(snapshot, open(sys.argv[2], "wb"))
EOF
    run suggest --budget 60% skips.pickle
    exits 0
    out_has 'The calls of this model differ from step to step: in 2 of 2 other steps'
    out_has 'one_by_one=True'
    run suggest --budget 60% --format json skips.pickle
    out_has '"other_steps":2,"unlike_steps":2'
fi
run suggest --budget 60% "$loop"
out_has_not 'differ from step to step'

# Another pass of the step, which may call the modules of the plan, has the peak.
run suggest --budget least --no-code samples/recorded/gan.pickle.gz
exits 0
out_has 'That is the peak of another pass of the step, as it was recorded.'
run suggest --budget least --format json samples/recorded/gan.pickle.gz
exits 0
out_has '"total_peak_at_least_bytes":'

# An optimizer that steps within the backward pass does not end it.
run suggest --format json --pareto samples/recorded/step-in-backward.pickle.gz
exits 0
out_has '"activation_bytes":77336600,'
out_has '"parts":["blocks.py:68 forward [2]"]'

finish
