#!/bin/sh
# share/record/memsnap_record.py, with a Python that has PyTorch's CUDA build: $MEMSNAP_TORCH. Runs under dryrun, which
# stands in for CUDA.
. "${srcdir:=.}/tests/cli/lib.sh"

recorder=${cli%/tests/cli}/share/record/memsnap_record.py
if [ -z "${MEMSNAP_TORCH-}" ]; then
    echo 'skipped: MEMSNAP_TORCH names no Python that has PyTorch'
    exit 77
fi
PYTHONPATH=${recorder%/*}
export PYTHONPATH
cp "$cli"/record/*.py .

dry()
{
    run dryrun --gpu 24GiB --steps 0 -o dry.pickle "$@"
}

# what each module keeps adds up to what the allocator holds, on each kind of device
for device in cuda cpu fake; do
    dry -- "$MEMSNAP_TORCH" program.py $device $device.json
    check "records on $device" grep -q '^all is right$' .run/out
    check "has the facts on $device" "$PYTHON3" facts.py $device.json
    run analyze --verbose $device.json
    exits 0
    out_has 'Unknown keys: none'
    run convert $device.json -o a.msgpack
    run convert a.msgpack -o b.json
    check 'loses nothing' "$PYTHON3" -c 'import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
assert a == b' $device.json b.json
    run suggest --format json --budget least $device.json
    exits 0
done

# each call of a module that runs several times is a layer of its own
dry -- "$MEMSNAP_TORCH" turns.py turns.json
run suggest --format json --budget least -o turns.plan.json turns.json
exits 0
dry -- "$MEMSNAP_TORCH" turns.py turns.json turns.plan.json
check 'checkpoints calls by their turn' grep -q '^all is right$' .run/out

# what layers share is in each of them
dry -- "$MEMSNAP_TORCH" shared.py shared.json
for granularity in 'layers.?' leaf; do
    run suggest --granularity "$granularity" --format json --budget least -o shared.plan.json shared.json
    exits 0
    check "a plan has what is shared ($granularity)" "$PYTHON3" -c '
import json, sys
names = {name for part in json.load(open("shared.plan.json"))["apply"]["parts"] for name in part["modules"]}
if sys.argv[1] == "leaf":
    assert any(name.startswith("mix [") or name.startswith("norm [") for name in names), names
    assert not any(name.endswith((".mix", ".norm")) for name in names), names
else:
    assert {"layers.0", "layers.1", "layers.2"} <= names, names' "$granularity"
    dry -- "$MEMSNAP_TORCH" shared.py shared.json shared.plan.json
    check "trains with what is shared ($granularity)" grep -q '^all is right$' .run/out
done

# a step that calls a model twice on one line, and one that calls two models
dry -- "$MEMSNAP_TORCH" several.py
check 'checkpoints the calls of several runs and modules' grep -q '^all is right$' .run/out

# a training step that runs modules within the model, and not the model
dry -- "$MEMSNAP_TORCH" inner.py
check 'checkpoints what a training step runs within the model' grep -q '^all is right$' .run/out

# a checkpoint does not free what the program holds of its results
dry -- "$MEMSNAP_TORCH" held.py held.json
run suggest --format json --budget least -o held.plan.json held.json
exits 0
dry -- "$MEMSNAP_TORCH" held.py held.json held.plan.json
check 'counts results that the program holds' "$PYTHON3" -c '
import json, sys
trace, plan = (json.load(open(name)) for name in sys.argv[1:3])
held = [trace["traces"][storage[1]]["module_name"] for storage in trace["storages"] if len(storage) == 3
        and storage[2] == len(trace["traces"])]
assert {name.split(".")[0] for name in held} == {"holding"} and len(held) == 6, held
peak, told = int(open(".run/out").readline()), plan["total_peak_bytes"]
assert abs(told - peak) < 0.05 * peak, (told, peak)' held.json held.plan.json

# a step that lacks the state of an optimizer, which makes it in its first step, is followed by another; with gradients that
# pile up, too
cat >optimizer.py <<'EOF'
import sys
import torch
runs, file = int(sys.argv[1]), sys.argv[2]
torch.cuda.init()
if len(sys.argv) > 3:
    import memsnap_record
model = torch.nn.Sequential(torch.nn.Linear(1024, 1024, bias=False)).cuda()
optimizer = torch.optim.Adam(model.parameters())
def train():
    for run in range(3 * runs):
        model(torch.randn(8, 1024, device="cuda")).sum().backward()
        if run % runs == runs - 1:
            optimizer.step()
            optimizer.zero_grad()
if len(sys.argv) > 3:
    with memsnap_record.layers(model, file):
        train()
else:
    train()
EOF
for runs in 1 2 4; do
    dry -- "$MEMSNAP_TORCH" optimizer.py $runs adam.json own
    check "waits for the state of the optimizer ($runs)" "$PYTHON3" -c '
import json, sys
runs, parameters = int(sys.argv[1]), 4 << 20
before = json.load(open("adam.json"))["before_bytes"] // parameters
assert before == (3 if runs == 1 else 4), before' $runs
    mv adam.json own.json
    dry -- "$MEMSNAP_TORCH" "$recorder" --layers adam.json optimizer.py $runs adam.json
    check "waits for it in a program ($runs)" "$PYTHON3" -c '
import json
assert json.load(open("adam.json"))["before_bytes"] == json.load(open("own.json"))["before_bytes"]'
done

# torch.cdist() frees some of its workspace before it allocates the rest, and what was there before was much more
cat >distances.py <<'EOF'
import torch
import memsnap_record
class Wasteful(torch.nn.Module):
    def forward(self, x):
        torch.empty(1 << 28, device="cuda")
        return x
class Distances(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("codes", torch.randn(64, 64))
    def forward(self, x):
        return torch.cdist(x, self.codes)
model = torch.nn.Sequential(Wasteful(), torch.nn.Linear(64, 64), Distances()).cuda()
batch = torch.randn(1 << 16, 64, device="cuda")
with torch.no_grad():
    x = model[:2](batch)
    model[2](x)  # libraries take their workspaces
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    model[2](x)
    measured = torch.cuda.max_memory_allocated() - before
    del x
with memsnap_record.layers(model) as recording:
    model(batch).sum().backward()
rows = {row["module_name"]: row for row in recording.forward_traces if row["is_leaf"]}
recorded = rows["2"]["peak_bytes"] - rows["1"]["allocated"]
assert abs(recorded - measured) < 1 << 20, (recorded, measured)
print("all is right")
EOF
dry -- "$MEMSNAP_TORCH" distances.py
check 'knows the peak of an operator made of others' grep -q '^all is right$' .run/out

# MultiheadAttention takes the parameters of its out_proj, which it never calls
cat >attention.py <<'EOF'
import torch
import memsnap_record
model = torch.nn.MultiheadAttention(64, 2).cuda()
with memsnap_record.layers(model, "attention.json"):
    model(*3 * [torch.randn(8, 4, 64, device="cuda")], need_weights=False)[0].sum().backward()
EOF
dry -- "$MEMSNAP_TORCH" attention.py
check 'counts parameters of modules that are not called' "$PYTHON3" -c '
import json
trace = json.load(open("attention.json"))
forward = [row for row in trace["traces"] if row["is_forward"]]
for key in "module_params", "gradient_bytes":
    assert sum(row[key] for row in forward) == trace["parameter_bytes"], forward'

# a module with parameters of several types tells that of each, and one with a single type tells it once
cat >mixed.py <<'EOF'
import torch
import memsnap_record


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(8, 4, dtype=torch.bfloat16))
        self.scale = torch.nn.Parameter(torch.zeros(8), requires_grad=False)
        self.columns = torch.nn.Parameter(torch.zeros(3, 8).t())

    def forward(self, x):
        return x.bfloat16() @ self.weight.t() * self.scale.bfloat16() + self.columns.sum()


model = torch.nn.Sequential(torch.nn.Linear(4, 4), Scaled()).cuda()
with memsnap_record.layers(model, "mixed.json"):
    model(torch.randn(8, 4, device="cuda")).sum().backward()
EOF
dry -- "$MEMSNAP_TORCH" mixed.py
check 'lists the types of parameters' "$PYTHON3" -c '
import json
rows = {row["module_name"]: row for row in json.load(open("mixed.json"))["traces"] if row["is_forward"]}
assert rows["0"]["tensors"] == "0:4x4,1:4", rows["0"]
assert rows["1"]["tensors"] == "2:8x4:bfloat16,3:8:float32:frozen,4:8x3:float32:strided", rows["1"]'

dry -- "$MEMSNAP_TORCH" peaks.py
check 'has the peak of a step that nothing watches' grep -q '^all is right$' .run/out

check 'applies plans for modules' "$MEMSNAP_TORCH" apply.py
check 'copies and pickles models with plans' "$MEMSNAP_TORCH" copied.py

dry -- "$MEMSNAP_TORCH" places.py
check 'applies plans for lines and calls' grep -q '^all is right$' .run/out

dry -- "$MEMSNAP_TORCH" state.py
check 'runs modules again as they were' grep -q '^all is right$' .run/out

dry -- "$MEMSNAP_TORCH" sides.py
check 'records programs that are no plain loop' grep -q '^all is right$' .run/out
run suggest --budget least failed.json
exits 0
out_has 'An error ended this step in the forward of 3'
check 'promises no total' sh -c '! grep -q "then peaks" .run/out'
run convert failed.json
out_has '"failed_in":"forward of 3"'

dry -- "$MEMSNAP_TORCH" harmless.py
check 'leaves programs alone' grep -q '^all is right$' .run/out

dry -- "$MEMSNAP_TORCH" wrapped.py
check 'puts checkpoints inside FSDP' grep -q '^all is right$' .run/out

dry -- "$MEMSNAP_TORCH" timed.py
check 'measures times on CUDA' grep -q '^all is right$' .run/out

# the same program without a change
dry -- "$MEMSNAP_TORCH" "$recorder" --layers cli.json --snapshots snaps --steps 1 train.py 3
check 'passes arguments on' grep -q '^3 steps$' .run/out
check 'has the facts' "$PYTHON3" facts.py cli.json
check 'dumps after step 1' test -s snaps/step-1.pickle -a ! -e snaps/step-0.pickle -a ! -e snaps/end.pickle
check 'dumps when memory runs out' test -s snaps/oom.pickle
run analyze --format json snaps/step-1.pickle
exits 0
check 'has categories as facts, where PyTorch can mark them' "$PYTHON3" -c '
import json
device = json.load(open(".run/out"))["devices"][0]
names = {row["name"] for row in device["categories"]}
assert {"parameter", "activation"} <= names, names
marked = device["trace"]["by_action"].get("annotate", 0)
assert marked == 0 or "unknown" not in names, names'
dry -- "$MEMSNAP_TORCH" "$recorder" train.py
check 'wants something to record' grep -q 'give --layers FILE, --snapshots FOLDER, or both' .run/err

dry -- "$MEMSNAP_TORCH" "$recorder" --layers more.json --iterations 3 train.py 4
check 'records several steps' "$PYTHON3" facts.py more.json
dry -- "$MEMSNAP_TORCH" "$recorder" --layers more.json --iterations 0 train.py 4
check 'wants a step to record' grep -q 'invalid --iterations 0 (at least 1)' .run/err

# a program that is killed, or leaves without an end, has its layers
for how in done:0:'None 3' leaves:3:'None 3' term:143:'None 3' handler:4:'None 3' unsaved:143:'None 3' midway:143:'forward of 2 3'; do
    name=${how%%:*} rest=${how#*:}
    rm -f ends.json
    code=0
    sh -c '"$@"; exit $?' sh "$MEMSNAP_TORCH" ends.py "$name" ends.json >.run/out 2>.run/err || code=$?
    check "$name ends as it would" test "$code" -eq "${rest%%:*}"
    check "$name leaves the layers" "$PYTHON3" -c 'import json, sys
trace = json.load(open("ends.json"))
leaves = sum(row["is_forward"] and row["is_leaf"] for row in trace["traces"])
found = "%s %d" % (trace.get("failed_in"), leaves // 2)
assert found == sys.argv[1], found' "${rest#*:}"
done
check 'a child that is killed leaves no layers' "$MEMSNAP_TORCH" ends.py child ends.json

# of several models, that which keeps the most in a step of its own
several() {
    file=$1 model=$2 depth=$3
    shift 3
    "$MEMSNAP_TORCH" "$recorder" --layers "$file" "$@" >.run/out 2>.run/err
    check "tells that it recorded $model" grep -q "$file has the layers of $model (.* MiB kept for the backward pass)" .run/err
    check "records $model" "$PYTHON3" -c 'import json, sys
rows = json.load(open(sys.argv[1]))["traces"]
names = {row["module_name"] for row in rows if row["is_forward"] and row["is_leaf"]}
assert len(names) == 2 * int(sys.argv[2]), names
assert any(row["module_name"] in names for row in rows if not row["is_forward"]), rows' "$file" "$depth"
}
several gan.json Generator 6 adversaries.py gan 6
several critic.json Critic 2 --model Critic adversaries.py gan 6
several student.json Critic 2 adversaries.py teacher 3
"$MEMSNAP_TORCH" "$recorder" --layers none.json --model Other adversaries.py gan 2 >.run/out 2>.run/err
check 'names the models there are' grep -q 'no model Other ran .*; there are Critic (not recorded), Generator' .run/err
cat >cached.py <<'END'
import types
import torch
class Cached(torch.nn.Linear):
    config = types.SimpleNamespace(use_cache=True)
    def forward(self, x):
        return super().forward(x), x.clone() if self.config.use_cache else None
model = Cached(8, 8)
for _ in range(3):
    result, cache = model(torch.randn(4, 8))
    result.sum().backward()
print("cache:", cache is not None)
END
for option in '' --no-cache; do
    "$MEMSNAP_TORCH" "$recorder" --layers cached.json $option cached.py >.run/out 2>.run/err
    case $option in
        '') check 'leaves the cache on, and tells once' \
            sh -c 'grep -q "cache: True" .run/out && test "$(grep -c no-cache .run/err)" = 1' ;;
        *) check 'turns the cache off' sh -c 'grep -q "cache: False" .run/out && ! test -s .run/err' ;;
    esac
done

# what the driver and the host say, as marks of events
"$MEMSNAP" dryrun --steps 0 --late 1000 -- "$MEMSNAP_TORCH" marks.py marks >.run/out 2>.run/err
check 'removes its hooks, also after an exception' grep -q '^all is right$' .run/out
check 'takes a single step' test -e marks/1/step-1.pickle -a ! -e marks/1/end.pickle
check 'tells for which steps there is no snapshot' grep -qx \
    'memsnap_record: no snapshot after step 7: the optimizer made 2 steps, counted from 0' .run/err
check 'marks tensors that have no memory as well' sh -c '! grep "marked in part" .run/err'
cp .run/err .run/marks
run analyze --format json marks/cast/end.pickle
check 'leaves casts of weights to memsnap' "$PYTHON3" -c '
import json
categories = {row["name"]: row["bytes"] for row in json.load(open(".run/out"))["devices"][0]["categories"]}
assert categories["cast_cache"] >= 2 * 256 * 512, categories'
check 'marks events where PyTorch can' "$PYTHON3" -c '
import pickle
events = [event for trace in pickle.load(open("marks/end.pickle", "rb"))["device_traces"] for event in trace]
marks = [event["user_metadata"] for event in events if event.get("user_metadata", "").startswith("{")]
wanted = ["\"phase\":\"backward\"", "\"nvml_used\":128974848", "\"nvml_utilization\":7", "\"host_rss\":"]
assert not any("user_metadata" in event for event in events) or any(
    all(word in mark for word in wanted) for mark in marks), marks[:3]'

if ! grep -q 'does not record pinned memory' .run/marks; then
    run analyze --format json marks/pinned/end.pickle
    check 'records pinned memory where PyTorch can' "$PYTHON3" -c '
import json
peak = json.load(open(".run/out"))["host"]["active"]["peak_bytes"]
assert peak >= 3 << 20, peak'
fi

# bytes that shards gather: forward gathers every parameter once
for kind in fsdp1 fsdp2 fairscale; do
    case $kind in
        fsdp1) module=torch.distributed.fsdp ;;
        fsdp2) module=torch.distributed._composable.fsdp ;;
        fairscale) module=fairscale.nn ;;
    esac
    dry --world 4 -- "$MEMSNAP_TORCH" sharded.py $kind
    if grep -q -e "No module named '${module%%.*}" -e "No module named '$module" -e 'for allGatherSingleImpl' .run/err; then
        echo "skipped $kind: this PyTorch cannot run it"
        continue
    fi
    check "tells what $kind gathers" grep -q '^all is right$' .run/out
done

# FairScale's documented example
cat >resnet.py <<'END'
import memsnap_record, torch, torchvision
model = torchvision.models.resnet50().cuda()
with memsnap_record.layers(model, "resnet.json"):
    model(torch.randn(16, 3, 224, 224, device="cuda")).sum().backward()
END
if ! dry -- "$MEMSNAP_TORCH" resnet.py || grep -q "No module named 'torchvision'" .run/err; then
    echo 'skipped ResNet-50: there is no torchvision'
    finish
fi
for answer in '0 1435630080 []' '2 485095936 ["layer1.1.bn3","layer2.2.conv3"]'; do
    set -- $answer
    run suggest --checkpoints "$1" --format json resnet.json
    out_has "\"max_memory\":$2,\"split_modules\":$3"
done
finish
