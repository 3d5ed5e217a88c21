#!/bin/sh
# memsnap shard
. "$srcdir/tests/cli/lib.sh"

trace=samples/gpt.layers.json.gz

run shard --help
exits 0
golden help-shard.txt

run shard --world 4 --gpu t4 $trace
exits 0
no_err
golden shard-gpt.txt
check 'keeps within 80 columns' test -z "$(grep -v '"""' .run/out | awk 'length > 88')"

run shard --world 4 --gpu 200MiB --checkpointed --batch 2 --bandwidth 100GB --latency 20 $trace
exits 0
no_err
golden shard-checkpointed.txt

run shard --world 2 --gpu 24GiB --optimizer momentum --format json $trace
exits 0
no_err
golden shard-gpt.json
run shard --world 2 --curve --format json $trace
exits 0
no_err
[ -z "${PYTHON3-}" ] || check 'curves reach the peaks in bounded columns' "$PYTHON3" -c '
import json, sys
for row in json.load(open(sys.argv[1]))["strategies"]:
    sums = [sum(v for k, v in c.items() if k.endswith("_bytes")) for c in row["curve"]]
    assert 0 < len(sums) <= 256 and max(sums) == row["peak_bytes"]
    ranks = []
    for group in row["rank_curves"]:
        these = range(group["first_rank"], group["last_rank"] + 1)
        ranks += these
        sums = [sum(v for k, v in c.items() if k.endswith("_bytes")) for c in group["curve"]]
        assert max(sums) == group["peak_bytes"] and group["peak"] in group["curve"]
        assert all(row["ranks"][r]["peak_bytes"] == group["peak_bytes"] for r in these)
        if row["peak_rank"] in these:
            assert group["curve"] == row["curve"]
            assert group["peak"]["unit"] == row["ranks"][row["peak_rank"]]["peak_unit"]
    assert ranks == list(range(2))' .run/out
run shard --world 2 --curve --format csv $trace
exits 0
no_err
out_has 'world,strategy,checkpointed,first_rank,last_rank,column,phase,unit,bytes,'
out_has '2,fsdp2,false,0,1,0,forward,,'
out_has ',backward,blocks.2,'
check 'has 14 columns' test -z "$(awk -F, 'NF != 14' .run/out)"
run shard --curve $trace
exits 2
err 'memsnap: shard: --curve needs --format json or csv, without --sweep'

# by module
run shard --world 4 --code fsdp2 --modules $trace
exits 0
no_err
sed -n '/^By unit/,/^import/p' .run/out >.run/part && mv .run/part .run/out
golden shard-modules.txt
run shard --world 4 --checkpointed --group 2 --modules --format json $trace
exits 0
no_err
[ -z "${PYTHON3-}" ] || check 'modules add up to the peaks' "$PYTHON3" -c '
import json, sys
for row in json.load(open(sys.argv[1]))["strategies"]:
    parts = [m for m in row["modules"] + [row["no_module"]]]
    assert sum(v for p in parts for k, v in p.items() if k.endswith("_at_peak")) == row["peak_bytes"]
    assert min(v for p in parts for k, v in p.items() if k.endswith("_at_peak")) >= 0
    rank = row["ranks"][row["peak_rank"]]
    assert sum(m["optimizer_state_bytes"] for m in row["modules"]) == rank["optimizer_state_bytes"]
    assert sum(m["parameters"] for m in row["modules"]) == 6852608' .run/out
run shard --world 2 --parameters 1M --layers 200 --modules
exits 0
out_has '178 others'
out_has 'unit 1 '
run shard --modules --format csv $trace
exits 2
err 'memsnap: shard: --modules needs --format text or json, without --sweep'
run shard --world 2 --parameters 1G --layers 100000 --modules
exits 4
one_err_line

run shard --world 2 --optimizer sgd --format csv $trace
exits 0
no_err
check 'has a row for each strategy and rank' test "$(wc -l <.run/out)" -eq 15
check 'has 14 columns' test -z "$(awk -F, 'NF != 14' .run/out)"
run shard --format json $trace
exits 0
out_has '"recommended":null'
out_has '"fits":null'

# the file of another recorder, from standard input, and to a file
run shard samples/fsdp.layers.pickle
exits 0
out_has 'does not show the memory of the backward pass'
run shard - <$trace
exits 0
cp .run/out from-input.txt
run shard -o report.txt $trace
exits 0
no_out
check 'writes the file' cmp from-input.txt report.txt

# a snapshot: the parameters of torchvision's ResNet-50, known by their gradients, and its blocks
run shard --world 8 --gpu 1.5GiB --optimizer momentum samples/recorded/resnet50.pickle.gz
exits 0
no_err
golden shard-resnet50.txt
out_has '25,557,032 parameters in 16 units'
out_has 'a parameter of r rows takes 8/r'
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
out_has 'fsdp2 + checkpoints'
run shard samples/recorded/truncated-bptt.pickle.gz
exits 0
out_has 'No units were found'
# a snapshot has sizes only; a layer trace has the shapes of parameters
out_has 'does not tell the shapes of parameters'
run shard "$trace"
exits 0
out_has_not 'the shapes'

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
# a teacher beside the model is there on every rank
sed 's/"device": "cpu"/&, "buffer_bytes": 100, "beside_bytes": 3000/' workspace.json >teacher.json
run shard --optimizer sgd --format json teacher.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":23100,'
# and on a GPU it is there in the step: parameters, gradients, buckets, state, temporaries, and 19,000 B
sed 's/"device": "cpu"/"device": "cuda:0"/; s/"peak_bytes": 20000/"peak_bytes": 28000/; s/"peak_bytes": 1[26]000/"peak_bytes": 9000/
    s/"allocated": 20000/"allocated": 27000/' workspace.json >gpu.json
run shard --optimizer adam --format json gpu.json
exits 0
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":43000,'

# tables, whose inputs need no gradient, stay whole under fsdp2 until backward has ended: shards of 4,204 B, tables and
# their gradients of 8,000 B each, the root of 408 B, and its gradients of 404 B
cat >tables.json <<'EOF'
{"device": "cpu", "parameter_bytes": 8404, "before_bytes": 8404, "peak_bytes": 16808, "storages": [[16, 0], [16, 1]], "traces": [
{"module_name": "tables.0", "module_params": 4000, "gradient_bytes": 4000, "tensors": "0:1000x1", "allocated": 8404, "peak_bytes": 8404,
 "reserved": 0, "is_forward": true, "reads": [], "all_gathered": 0, "cumul_all_gathered": 0,
 "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "tables.1", "module_params": 4000, "gradient_bytes": 4000, "tensors": "1:1000x1", "allocated": 8404, "peak_bytes": 8404,
 "reserved": 0, "is_forward": true, "reads": [], "all_gathered": 0, "cumul_all_gathered": 0,
 "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "top", "module_params": 404, "gradient_bytes": 404, "tensors": "2:100x1,3:1", "allocated": 8404, "peak_bytes": 8404,
 "reserved": 0, "is_forward": true, "reads": [0, 1], "all_gathered": 0, "cumul_all_gathered": 0,
 "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "top", "module_params": 404, "allocated": 8808, "peak_bytes": 8808, "reserved": 0, "is_forward": false,
 "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}},
{"module_name": "tables.1", "module_params": 4000, "allocated": 12808, "peak_bytes": 12808, "reserved": 0, "is_forward": false,
 "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}},
{"module_name": "tables.0", "module_params": 4000, "allocated": 16808, "peak_bytes": 16808, "reserved": 0, "is_forward": false,
 "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}}]}
EOF
run shard --world 2 --optimizer sgd --code fsdp2 --format json tables.json
exits 0
out_has '"prefetch":1,"forward_prefetch":0},"checkpointed":false,"peak_bytes":21016,'
# unless a module before them is trained
sed 's/"tensors": "1:1000x1"/&, "reads": [0]/; s/, "is_forward": true, "reads": \[\]/, "is_forward": true/' tables.json >chained.json
run shard --world 2 --optimizer sgd --code fsdp2 --format json chained.json
exits 0
out_has_not '"prefetch":1,"forward_prefetch":0},"checkpointed":false,"peak_bytes":21016,'
# DistributedDataParallel is told of parameters that get no gradient: a layer without a backward row
sed 's/"tensors": "0:1000x1"/"is_leaf": true, &/; /"allocated": 16808/s/tables.0/tables.9/' tables.json >unused.json
for code in ddp zero oss; do
    run shard --world 2 --code $code --format python unused.json
    exits 0
    out_has 'find_unused_parameters=True)'
    run shard --world 2 --code $code --format python tables.json
    out_has_not 'find_unused_parameters'
done

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

# FSDP takes no scalars
for code in fsdp1 fsdp2; do
    run shard --world 2 --code $code --format python tables.json
    exits 0
    out_has 'value.detach().reshape(1)'
done
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out

# the largest batch, of 65,536 combinations in a second
run shard --gpu 1GiB --sweep world=1..1024 batch=1..64 $trace
exits 0
no_err
golden shard-sweep.txt
run shard --gpu 1GiB --sweep world=2,8 --sweep batch=1,2,4 --format json $trace
exits 0
out_has '"name":"fsdp2","world":8,"largest_batch":2,"is_last":false'
run shard --gpu 1GiB --sweep world=2,8 --format csv $trace
exits 0
check 'has a row for each strategy and world' test "$(wc -l <.run/out)" -eq 15
run shard --gpu 350MiB --sweep world=2,8 --sweep batch=1..8 --checkpointed $trace
exits 0
no_err
golden shard-sweep-checkpointed.txt
run shard --gpu 350MiB --sweep world=2,4,8 --sweep batch=1..8 --checkpointed --group 4 --format json $trace
exits 0
[ -z "${PYTHON3-}" ] || check 'divides ranks into groups, and tries checkpoints' "$PYTHON3" -c '
import json, sys
rows = {(r["name"], r["checkpointed"], r["world"]): r for r in json.load(open(sys.argv[1]))["sweep"]}
assert len(rows) == 42
assert [rows["fsdp2", False, w]["group"] for w in (2, 4, 8)] == [2, 4, 4] and rows["oss", True, 8]["group"] == 8
assert rows["fsdp2", False, 8]["peak_bytes"] == rows["fsdp2", False, 4]["peak_bytes"]
assert all(rows[n, True, w]["largest_batch"] > r["largest_batch"] for (n, c, w), r in rows.items() if not c)' .run/out
run shard --gpu 350MiB --sweep world=2..6 --group 4 $trace
exits 2
err 'memsnap: samples/gpt.layers.json.gz: --sweep: 5 ranks are not a multiple of --group 4'
run shard --gpu 350MiB --sweep world=2..6 --code fsdp2 $trace
exits 2
err 'memsnap: shard: --sweep does not go with --code or --format python'
run shard --gpu 1MiB --sweep batch=1..4 $trace
exits 0
out_has 'Nothing fits.'
run shard --sweep batch=1..4 $trace
exits 2
err 'memsnap: shard: --sweep needs --gpu'
run shard --gpu t4 --sweep ranks=1..4 $trace
exits 2
err "memsnap: shard: invalid --sweep 'ranks=1..4' (expected world or batch)"
run shard --gpu t4 --sweep world=many $trace
exits 2
err "memsnap: shard: invalid --sweep 'world=many' (for example world=1..1024, world=2,8,64 or batch=8..64+8)"
run shard --gpu t4 --sweep world=0..4 $trace
exits 2
run shard --gpu t4 --sweep world=1..99999 $trace
exits 2

# sizes by hand: 1.2 GB of parameters; state twice that, buckets, gradients, temporaries
run shard --world 4 --parameters 0.3B --layers 3 --activations 0 --format json
exits 0
out_has '"name":"ddp","options":{"optimizer":"adam","batch":1.0,"accumulation":1,"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":7200000000,'
run shard --world 4 --parameters 300M --dtype bfloat16 --master-copy --fused --format json
exits 0
out_has '"optimizer_state_bytes":3600000000'

# the code of each strategy
for code in ddp:DistributedDataParallel zero:ZeroRedundancyOptimizer oss:OSS sdp:ShardedDataParallel \
    fsdp:FullyShardedDataParallel fsdp1:FullyShardedDataParallel fsdp2:fully_shard; do
    run shard --code "${code%%:*}" --format python $trace
    exits 0
    no_err
    out_has "${code#*:}("
    [ -z "${PYTHON3-}" ] ||
        check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
done
golden shard-fsdp2.py
run shard --code fsdp2 --format python --reshard last --offload --world 8 --group 4 --param-dtype bfloat16 $trace
exits 0
out_has 'MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=None)'
out_has 'CPUOffloadPolicy()'
out_has 'init_device_mesh("cuda", (2, 4),'
out_has 'reshard = name != units[-1]'
run shard --code fsdp1 --format python --group 4 --reshard last --offload --param-dtype bfloat16 --backward-prefetch post \
    --forward-prefetch 1 --flat-parameters $trace
exits 0
out_has 'ShardingStrategy.HYBRID_SHARD'
out_has 'last_strategy = ShardingStrategy._HYBRID_SHARD_ZERO2'
out_has 'options["device_mesh"] = init_device_mesh("cuda", (2, 4),'
out_has 'MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=None)'
out_has 'CPUOffload(True)'
out_has 'backward_prefetch=BackwardPrefetch.BACKWARD_POST, forward_prefetch=True,'
out_has 'use_orig_params=False,'
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
run shard --code fsdp1 --format python --group 1 --backward-prefetch none $trace
exits 0
out_has 'strategy = ShardingStrategy.NO_SHARD'
out_has 'backward_prefetch=None,'
out_has_not 'mesh_dim_names'
run shard --bandwidth 0 $trace
exits 2
err "memsnap: shard: invalid --bandwidth '0' (for example 10GiB)"
run shard --batch nan $trace
exits 2
err "memsnap: shard: invalid --batch 'nan' (expected a number above 0, up to 65536)"
run shard --backward-prefetch later $trace
exits 2
one_err_line
run shard --code fsdp2 --format python --prefetch 3 --forward-prefetch 2 --fused --accumulate 4 $trace
exits 0
out_has 'module.set_modules_to_forward_prefetch(modules[i + 1:i + 1 + 2])'
out_has 'module.set_modules_to_backward_prefetch(modules[max(i - 3, 0):i][::-1])'
out_has 'lr=lr, fused=True)'
out_has 'PASSES = 4 '
out_has_not 'no_sync'
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
run shard --code sdp --format python --accumulate 4 --fused --optimizer muon $trace
exits 0
out_has 'with contextlib.nullcontext() if is_last else model.no_sync():'
out_has_not 'fused'
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
run shard --code fsdp --format python --offload $trace
exits 0
out_has 'model = model.cpu()'
out_has 'move_params_to_cpu=True'
run shard --prefetch 0 $trace
exits 2
err "memsnap: shard: invalid --prefetch '0' (expected at least 1)"
run shard --code fsdp --format python samples/recorded/resnet50.pickle.gz # its units are no modules
exits 0
out_has 'units = find_units(model)'

# what is trained in frozen units has units of its own, but not if flat parameters must be trained or frozen
run shard --code fsdp1 --format python samples/recorded/lora.pickle.gz
exits 0
out_has 'units = split_units(model, find_units(model))'
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
run shard --code fsdp1 --flat-parameters --format python samples/recorded/lora.pickle.gz
exits 0
out_has_not 'split_units'

# parameters of several types: 2,000 B of bfloat16 and 400 B of float32 in a block, 4,000 B of float32 in the root
cat >types.json <<'EOF'
{"device": "cpu", "before_bytes": 0, "peak_bytes": 6400, "traces": [
{"module_name": "blocks.0.norm", "module_params": 400, "gradient_bytes": 400, "dtype": "float32", "tensors": "2:100",
 "allocated": 0, "peak_bytes": 0, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "is_leaf": true,
 "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "blocks.0.linear", "module_params": 2000, "gradient_bytes": 2000, "dtype": "bfloat16", "tensors": "0:100x10",
 "allocated": 0, "peak_bytes": 0, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "is_leaf": true,
 "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "head", "module_params": 4000, "gradient_bytes": 4000, "dtype": "float32", "tensors": "1:100x10", "is_leaf": true,
 "allocated": 0, "peak_bytes": 0, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0,
 "event": {"memory_diff": 0, "memory_activations": 0}},
{"module_name": "head", "module_params": 4000, "forward_row": 2, "allocated": 4000, "peak_bytes": 4000, "reserved": 0,
 "is_forward": false, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}},
{"module_name": "blocks.0.linear", "module_params": 2000, "forward_row": 1, "allocated": 6000, "peak_bytes": 6000, "reserved": 0,
 "is_forward": false, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}},
{"module_name": "blocks.0.norm", "module_params": 400, "forward_row": 0, "allocated": 6400, "peak_bytes": 6400, "reserved": 0,
 "is_forward": false, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_activations": 0}}]}
EOF
run shard --world 2 --gpu 1GiB --format json types.json
exits 0
out_has '"parameters":2100,'
# parameters, buckets, gradients, two states, and as many temporaries
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":38400,"peak_rank":0,"fits":true,"runs":true'
out_has '"fits":true,"runs":false'
run shard --world 2 --gpu 35000 types.json
exits 0
out_has '2,100 parameters in 1 unit'
out_has 'The code of zero, oss and sdp would stop: the parameters have several types. It'
out_has "The code of fsdp would stop: FairScale's"
out_has 'Use fsdp2: of those that fit, it sends the least.'
out_has 'return value.dtype if value.requires_grad else None'
out_has 'units = split_units(model, UNITS)'
run shard --world 2 --code fsdp1 --format python types.json
exits 0
out_has 'return value.dtype, value.requires_grad'
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
run shard --world 2 --code fsdp2 --prefetch 2 --format python types.json
exits 0
out_has 'modules = [model.get_submodule(name) for name in UNITS]'
run shard --world 2 --gpu 1GiB --sweep world=2 batch=1,2 types.json
exits 0
out_has '    2   2+     -    -    -     -     2+     2+'
out_has 'The code of zero, oss, sdp and fsdp would stop'
# --dtype makes all of one type
run shard --world 2 --gpu 1GiB --dtype float32 types.json
exits 0
out_has_not 'would stop'
out_has ' 49.22 KiB '
# little is left of the GPU: a context, and a tenth of the peak; and nothing fits
run shard --world 2 --gpu 40000 types.json
exits 0
out_has 'It leaves only 1.56 KiB of the GPU for the CUDA context, about 512.00 MiB, and'
out_has 'under memsnap dryrun --world 2'
out_has_not 'If it does not'
run shard --world 2 --parameters 1G --layers 8 --gpu 24GiB
exits 0
out_has 'Use ddp'
out_has 'It leaves only 1.65 GiB of the GPU'
out_has 'If it does not, use sdp, which needs'
out_has_not 'is part of FairScale'
run shard --world 2 --parameters 1G --layers 8 --gpu 20GiB
exits 0
out_has 'Use sdp'
out_has 'is part of FairScale'
# a gathered unit of 1.86 GiB is cached for a stream of its own
run shard --world 64 --parameters 1G --layers 2 --gpu 8GiB
exits 0
out_has 'Use fsdp2'
out_has 'It leaves only 2.21 GiB of the GPU'
run shard --world 64 --parameters 1G --layers 2 --gpu 9GiB
exits 0
out_has 'Use fsdp2'
out_has_not 'leaves only'
run shard --world 2 --gpu 20000 types.json
exits 0
out_has 'None fits; fsdp2 needs the least.'
out_has 'more than the GPU has. Less is needed with activation'
run shard --world 2 --gpu 20000 --checkpointed --offload types.json
exits 0
out_has_not '(--checkpointed)'
# the parameters of modules that the step does not call have no gradient: DDP waits for none of them
run shard --world 2 --code ddp --format python types.json
exits 0
out_has_not 'find_unused_parameters'
sed 's/"tensors": "1:100x10"/"tensors": "1:100x10,3:50"/' types.json >uncalled.json
run shard --world 2 --code ddp --format python uncalled.json
exits 0
out_has 'find_unused_parameters=True'
# fully_shard() takes no weights in channels_last
run shard --world 2 --code fsdp2 --format python types.json
exits 0
out_has_not 'contiguous'
sed 's/"tensors": "1:100x10"/"tensors": "1:100x10:strided"/' types.json >strided.json
run shard --world 2 --code fsdp2 --format python strided.json
exits 0
out_has '        value.data = value.data.contiguous()'
run shard --world 2 --code fsdp1 --format python strided.json
exits 0
out_has_not 'contiguous'
# two types in one module cannot be divided
sed 's/"tensors": "0:100x10"/"tensors": "0:100x8,3:100:float32"/' types.json >inside.json
run shard --world 2 --gpu 35000 inside.json
exits 0
out_has 'The code of zero, oss, sdp, fsdp1 and fsdp2 would stop: the parameters have'
out_has 'None fits; ddp needs the least.'
sed 's/"tensors": "0:100x10"/"tensors": "0:100x10:frozen:float32"/' types.json >order.json
run shard order.json
exits 3
err_has 'bad tensors of a trace'

# batch norm without mixed precision; a snapshot does not tell whether there is one
sed 's/"tensors": "2:100x1,3:1"/"traits": "batch_norm", &/' tables.json >norms.json
for code in fsdp1 fsdp2; do
    run shard --world 2 --code $code --format python --param-dtype bfloat16 norms.json
    exits 0
    out_has 'units = [name for name in UNITS if name not in norms]'
    [ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
    run shard --code $code --format python --param-dtype bfloat16 samples/recorded/resnet50.pickle.gz
    exits 0
    out_has 'units = [name for name in find_units(model) if name not in norms]'
    run shard --code $code --format python --param-dtype bfloat16 $trace
    out_has_not 'norms'
done

# checkpoints are inside of what is gathered, and only around units
run shard --checkpointed --code fsdp2 --format python $trace
exits 0
golden shard-checkpointed.py
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
run shard --code fsdp2 --format python $trace
out_has_not 'CHECKPOINTS'
run shard --checkpointed --code ddp --format python samples/recorded/resnet50.pickle.gz
exits 0
out_has 'for name in find_units(model)]'

# a step in which no checkpoint saves anything
[ -z "${PYTHON3-}" ] || "$PYTHON3" -c '
import gzip, json, sys
trace = json.load(gzip.open(sys.argv[1]))
trace.pop("storages", None)
trace.pop("operators", None)
for row in trace["traces"]:
    row["saved_activations"] = row["event"]["memory_activations"] = 0
    row["reads"] = row["saves"] = []
json.dump(trace, open(".run/idle.json", "w"))' $trace
if [ -n "${PYTHON3-}" ]; then
    run shard --checkpointed --code ddp --format python .run/idle.json
    exits 0
    out_has_not 'find_units'
    out_has_not 'CHECKPOINTS'
fi

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

# wrong usage
run shard --world 0 $trace
exits 2
err "memsnap: shard: invalid --world '0' (expected at least 1)"
run shard --world 20000 $trace
exits 2
run shard --gpu moon $trace
exits 2
err "memsnap: shard: invalid --gpu 'moon' (a name of memsnap dryrun --list, or a size like 24GiB)"
run shard --optimizer adagrad $trace
exits 2
err "memsnap: shard: invalid optimizer 'adagrad' (expected adam, adamw, sgd, momentum, adam8bit, adafactor, lion or muon)"
run shard --group 3 $trace
exits 2
err 'memsnap: shard: invalid --group 3 (--world 8 is not a multiple of it)'
run shard --parameters 7X
exits 2
err "memsnap: shard: invalid --parameters '7X' (for example 7B; at most 1T)"
run shard --parameters 7B $trace
exits 2
err 'memsnap: shard: --parameters, --activations and --layers do not apply to a file'
run shard --layers 3
exits 2
run shard --batch nan $trace
exits 2
run shard --batch 0 $trace
exits 2
run shard --granularity 'nothing.*' $trace
exits 2
err_has 'no module matches'
run shard --code fsdp2 --optimizer adafactor $trace
exits 2
err 'memsnap: shard: --code fsdp2 does not work with --optimizer adafactor'
run shard --world 8 --gpu 24GiB --optimizer adam8bit --code ddp $trace
exits 0
out_has '134.6%  stops'
out_has 'The code of fsdp2 would stop: the optimizer does not take its DTensors.'
run shard --code fsdp2 --optimizer muon --format python $trace
exits 0
out_has 'class MuonAndAdamW(torch.optim.Optimizer):'
out_has 'optimizer = MuonAndAdamW(model.parameters(), lr=lr)'
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
run shard --code zero3 $trace
exits 2
run shard $trace $trace
exits 2

# wrong input
run shard samples/ranks.log
exits 3
run shard samples/pinned.pickle.gz
exits 3
err_has 'no backward pass follows a forward pass; record a whole training step'
run shard samples/kept-gradients.pickle.gz
exits 3
err_has 'the backward pass makes no gradients, which tell the parameters'
run shard --device 7 samples/leak.pickle.gz
exits 2
echo '[]' >empty.json
run shard empty.json
exits 3
run shard missing.json
exits 5
run shard --max-memory 16KiB $trace
exits 4
one_err_line

# Blocks named encoder_layer_0 are units too.
run shard --world 8 samples/models/vit.layers.json.gz
exits 0
out_has ' parameters in 12 units and the root'
finish
