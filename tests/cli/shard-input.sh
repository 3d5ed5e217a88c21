#!/bin/sh
# memsnap shard: what recordings tell of a step
. "$srcdir/tests/cli/lib.sh"

trace=samples/gpt.layers.json.gz

# a snapshot: the parameters of torchvision's ResNet-50, known by their gradients, and its blocks
run shard --world 8 --gpu 1.5GiB --optimizer momentum samples/recorded/resnet50.pickle.gz
exits 0
no_err
golden shard-resnet50.txt
out_has '25,557,032 parameters in 16 units'
out_has 'Depending on the number of rows, its peak is between'
# the bytes of a snapshot, as elements of another type
run shard --recorded-dtype bfloat16 samples/recorded/resnet50.pickle.gz
exits 0
out_has '51,114,064 parameters in 16 units'
out_has_not 'recorded-dtype'
run shard --recorded-dtype bfloat16 $trace
exits 2
err_has 'a layer trace has the types'
run shard --recorded-dtype bfloat16 --parameters 1B
exits 2
err_has '--recorded-dtype needs a snapshot'
# the first module of a Sequential keeps nothing, but has parameters
run shard samples/recorded/gan.pickle.gz
exits 0
out_has '1,133,764 parameters in 6 units'
# oss deals out parameters in the order in which they were made: those of the critic first, of which the largest goes to
# rank 1, and then the generator's largest, most of all, to rank 0
run shard --world 2 --optimizer adam --format csv samples/recorded/gan.pickle.gz
exits 0
out_has '2,oss,false,0,76921012,,4535056,65540,8532488,'
run shard --checkpointed samples/recorded/decoder.pickle.gz
exits 0
out_has 'What an iteration computes beside them'
out_has 'fsdp2 + checkpoints'
out_has_not 'Some units are iterations'
run shard samples/recorded/radiance.pickle.gz
exits 0
out_has_not 'Some units are iterations'
run shard samples/recorded/langevin.pickle.gz
exits 0
out_has 'Some units are iterations of loops that call several modules'
out_has_not 'with checkpoints are not'
run shard --checkpointed --code ddp samples/recorded/langevin.pickle.gz
exits 0
out_has 'with checkpoints are not'
out_has_not 'ddp + checkpoints'
out_has 'module.forward = Checkpointed('
run shard --checkpointed --gpu 1GiB --sweep world=2 batch=1 samples/recorded/langevin.pickle.gz
exits 0
out_has 'Checkpoints are not predicted'
out_has_not 'With checkpoints'
run shard samples/two-devices.pickle.gz
exits 0
out_has 'Only device 1 was read, of 2'
run shard --device 1 samples/two-devices.pickle.gz
out_has_not 'was read, of'
run shard samples/recorded/truncated-bptt.pickle.gz
exits 0
out_has 'No units were found'
# a snapshot has sizes only; a layer trace has the shapes of parameters
out_has 'does not tell the shapes of parameters'
run shard "$trace"
exits 0
out_has_not 'the shapes'
# but those of the weights of all experts in one tensor: 8 rows, which 64 ranks pad to 64
run shard --world 64 --units mib samples/recorded/experts.pickle.gz
exits 0
out_has 'fsdp2      228.09 MiB'
out_has 'its peak is between 114.21 MiB and'
out_has '228.09 MiB. A layer trace has the shapes.'
# a range that prints the same twice is none
run shard samples/recorded/moco.pickle.gz
exits 0
out_has 'The input does not tell the shapes of parameters.'
out_has_not 'its peak is between'

# gradients that are kept from step to step are made in the first one
run shard samples/recorded/resnet50-kept-gradients.pickle.gz
exits 0
out_has '25,557,032 parameters in 16 units'

# nor whether a parameter without a gradient is frozen
run shard samples/recorded/lora.pickle.gz
exits 0
out_has 'Parameters without a gradient count as frozen.'
run shard samples/recorded/gan.pickle.gz
exits 0
out_has_not 'count as frozen'

# what a layer leaves behind beyond the peak of tensors is the allocator's: 8,000 B of activations
cat >workspace.json <<'EOF'
{"device": "cpu", "before_bytes": 4000, "peak_bytes": 20000, "traces": [
{"module_name": "a", "module_params": 4000, "gradient_bytes": 4000, "allocated": 14000, "peak_bytes": 12000, "reserved": 0,
 "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_diff": 0, "memory_activations": 8000}},
{"module_name": "a", "module_params": 4000, "allocated": 20000, "peak_bytes": 16000, "reserved": 0, "is_forward": false,
 "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}}]}
EOF
run shard --optimizer sgd --format json workspace.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":20000,'
# three times the batch: 7,000 B of activations are 21,000 B, beside 1,000 B of a workspace, parameters, gradients and buckets
sed 's/"allocated": 20000/"allocated": 10000/; s/"peak_bytes": 1[26]000/&, "workspace_bytes": 1000/' workspace.json >fixed.json
run shard --optimizer sgd --batch 3 --format json fixed.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":34000,'
# and 2,000 B of the 7,000 B grow until they are 3,000 B: 1,000 + 3 * 5,000 + 3,000 B, and 12,000 B as before. On a card with
# 48,000 B beside the context and a fifth for fragmentation, 7 * 5,000 B fit, and not 8 * 5,000 B
sed 's/"workspace_bytes": 1000/&, "limited_bytes": 2000, "limit_bytes": 3000/; s/"gradient_bytes": 4000/&, "output_bytes": 500/' \
    fixed.json >limited.json
run shard --optimizer sgd --batch 3 --format json limited.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":31000,'
run shard --optimizer sgd --gpu $((512 * 1024 * 1024 + 61200)) --sweep world=8..8 batch=1..64 --format csv limited.json
exits 0
out_has 'ddp,8,7,false,51000,'
# a tensor of 4,000 B that layers save needs room for two of it: 16,000 B and 3 * 5,000 B fit with 3 * 8,000 B, and not 4
sed 's/"traces"/"storages": [[4000, 0]], &/' limited.json >holes.json
run shard --optimizer sgd --gpu $((512 * 1024 * 1024 + 61200)) --sweep world=8..8 batch=1..64 --format csv holes.json
exits 0
out_has 'ddp,8,3,false,31000,'
run convert --to json limited.json
exits 0
out_has '"limited_bytes":2000,"limit_bytes":3000'
# a teacher beside the model is there on every rank, and is not sent: of 8 ranks, one sends 88 of 100 B of buffers
sed 's/"device": "cpu"/&, "buffer_bytes": 100, "beside_bytes": 3000/' workspace.json >teacher.json
run shard --optimizer sgd --format json teacher.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":23100,'
out_has '"traffic_bytes":{"all_reduce":7000,"reduce":0,"broadcast":88,'
# and on a GPU it is there in the step: parameters, gradients, buckets, state, temporaries, and 19,000 B
sed 's/"device": "cpu"/"device": "cuda:0"/; s/"peak_bytes": 20000/"peak_bytes": 28000/; s/"peak_bytes": 1[26]000/"peak_bytes": 9000/
    s/"allocated": 20000/"allocated": 27000/' workspace.json >gpu.json
run shard --optimizer adam --format json gpu.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":43000,'

# tables, whose inputs need no gradient, stay whole under fsdp2 until backward has ended: shards of 4,204 B, tables and
# their gradients of 8,000 B each, the root of 408 B, and its gradients of 404 B
cp "$cli/shard/tables.json" .
run shard --world 2 --optimizer sgd --code fsdp2 --format json tables.json
exits 0
out_has '"prefetch":1,"forward_prefetch":0},"checkpointed":false,"peak_bytes":21016,'
# unless a module before them is trained
sed 's/"tensors": "1:1000x1"/&, "reads": [0]/; s/, "is_forward": true, "reads": \[\]/, "is_forward": true/' tables.json >chained.json
run shard --world 2 --optimizer sgd --code fsdp2 --format json chained.json
exits 0
out_has_not '"prefetch":1,"forward_prefetch":0},"checkpointed":false,"peak_bytes":21016,'
# what the step does not use has no gradient and no state, but a place in the buckets: a layer without a backward row, and
# a module that is not called, whose 200 B a row with children lists
sed 's/"tensors": "0:1000x1"/"is_leaf": true, &/; /"allocated": 16808/s/tables.0/tables.9/' tables.json >unused.json
run shard --world 2 --format json unused.json
exits 0
out_has '"parameter_bytes":8404,"gradient_bytes":4404,"optimizer_state_bytes":8808,"activation_bytes":0,"buffer_bytes":12808,'
sed 's/"tensors": "2:100x1,3:1"/"is_leaf": false, "tensors": "2:100x1,3:1,4:50x1"/' tables.json >uncalled.json
run shard --world 2 --format json uncalled.json
exits 0
out_has '"parameter_bytes":8604,"gradient_bytes":8404,"optimizer_state_bytes":16808,"activation_bytes":0,"buffer_bytes":17008,'

# a row that follows backward is not the model's loss, behind which fsdp2 gathers the last unit: shards of 2,000 B, 100,000 B
# of activations, and 4,000 B
cat >loss.json <<'EOF'
{"device": "cpu", "before_bytes": 4000, "peak_bytes": 104000, "traces": [
{"module_name": "blocks.0", "module_params": 4000, "gradient_bytes": 4000, "tensors": "0:1000x1", "allocated": 4000,
 "peak_bytes": 4000, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0,
 "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "", "module_params": 0, "output_bytes": 4, "allocated": 4000, "peak_bytes": 4000, "reserved": 0, "is_leaf": false,
 "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "", "module_params": 0, "forward_row": 1, "allocated": 4000, "peak_bytes": 104000, "reserved": 0, "is_leaf": false,
 "is_forward": false, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}},
{"module_name": "blocks.0", "module_params": 4000, "forward_row": 0, "allocated": 8000, "peak_bytes": 8000, "reserved": 0,
 "is_forward": false, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}},
{"module_name": "", "module_params": 0, "allocated": 8000, "peak_bytes": 8000, "reserved": 0, "is_leaf": false,
 "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_diff": 0, "memory_activations": 0}}]}
EOF
run shard --world 2 --optimizer sgd --format json loss.json
exits 0
out_has '"prefetch":1,"forward_prefetch":0},"checkpointed":false,"peak_bytes":106000,'

# a head that is tied to the table of words: its gradient exists from the begin of backward on, 4,000 B beside 10,000 B of
# activations in the block, and the block's own; parameters, buckets
cat >tied.json <<'EOF'
{"device": "cpu", "before_bytes": 8000, "peak_bytes": 26000, "traces": [
{"module_name": "words", "module_params": 4000, "gradient_bytes": 0, "tensors": "0:1000x1", "allocated": 8000, "is_leaf": true,
 "peak_bytes": 8000, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0,
 "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "blocks.0", "module_params": 4000, "gradient_bytes": 4000, "tensors": "1:1000x1", "allocated": 8000, "is_leaf": true,
 "peak_bytes": 8000, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0,
 "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "head", "module_params": 4000, "gradient_bytes": 4000, "allocated": 8000, "peak_bytes": 8000, "reserved": 0,
 "is_leaf": true, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "head", "module_params": 4000, "forward_row": 2, "allocated": 12000, "peak_bytes": 12000, "reserved": 0,
 "is_forward": false, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}},
{"module_name": "blocks.0", "module_params": 4000, "forward_row": 1, "allocated": 16000, "peak_bytes": 26000, "reserved": 0,
 "is_forward": false, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}},
{"module_name": "words", "module_params": 4000, "forward_row": 0, "allocated": 16000, "peak_bytes": 16000, "reserved": 0,
 "is_forward": false, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}}]}
EOF
run shard --world 2 --optimizer sgd --format json tied.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":34000,'
out_has '"gradient_bytes":8000,"optimizer_state_bytes":0,"activation_bytes":10000,"buffer_bytes":8000,'
# it does not grow with the batch
run shard --world 2 --optimizer sgd --batch 2 --format json tied.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":44000,'
run shard --world 2 --optimizer sgd --checkpointed --format json tied.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":true,"peak_bytes":34000,'

# workspaces that stay are there once in each moment
[ -z "${PYTHON3-}" ] || check 'counts workspaces once' "$PYTHON3" -c '
import gzip, json, subprocess, sys
MORE = 64 << 20
trace = json.load(gzip.open(sys.argv[1]))

def peaks():
    with open(".run/workspaces.json", "w") as out:
        json.dump(trace, out)
    command = [sys.argv[2], "shard", "--dtype", "float64", "--batch", "0.01", "--format", "json", ".run/workspaces.json"]
    answer = subprocess.run(command, stdout=subprocess.PIPE)
    return [row["peak_bytes"] for row in json.loads(answer.stdout)["strategies"] if row["name"] == "fsdp"]

trace["device"] = "cuda:0"
trace["peak_bytes"] = max(row["peak_bytes"] for row in trace["traces"])
before = peaks()
trace["peak_bytes"] += MORE
for row in trace["traces"]:
    row["allocated"] += MORE
assert peaks() == [peak + MORE for peak in before]' $trace "$MEMSNAP"

# Blocks named encoder_layer_0 are units too.
run shard --world 8 samples/models/vit.layers.json.gz
exits 0
out_has ' parameters in 12 units and the root'

# a profile has one sum of what was there before it, here parameters
run shard --world 8 samples/training.pt.trace.json.gz
exits 0
out_has '1,835,264 parameters in 3 units'
out_has 'Of what was there before the profile began, it has only the sum, 7.00 MiB.'
out_has_not 'which line of a function was running'
run shard --world 8 --format csv samples/training.pt.trace.json.gz
exits 0
out_has '8,ddp,false,0,83363840,,7341056,2077696,14682112,51921920,7341056,'

# state of the size of the parameters, of which the gradients' blocks are a little larger: no buffers
if [ -n "${PYTHON3-}" ]; then
    "$PYTHON3" - samples/training.pt.trace.json.gz .run/state.json <<'END'
import gzip, json, sys
trace = json.load(gzip.open(sys.argv[1]))
for event in trace["traceEvents"]:
    if event.get("name") == "[memory]":
        for name in ("Bytes", "Total Allocated", "Total Reserved"):
            if name in event["args"]:
                event["args"][name] *= 4096
        event["args"]["Total Allocated"] += 28673 << 20
json.dump(trace, open(sys.argv[2], "w"))
END
    run shard --world 8 .run/state.json
    exits 0
    out_has 'it has only the sum'
    out_has_not 'neither trained parameters nor'
fi
finish
