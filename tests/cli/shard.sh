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
run shard --world 4 --checkpointed --format json $trace
exits 0
out_has '"extra_time_share":0.257827552875547'
run shard --world 4 --checkpointed samples/fsdp.layers.pickle # without times
exits 0
out_has 'of ddp  again'
out_has 'They make 80.6% of all'
out_has_not 'longer (extra)'
run shard --world 4 --checkpointed --format json samples/train-loop.pickle.gz # of the host
exits 0
out_has '"extra_time_share":null,"recomputed_share":0.72509'

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

# the largest batch, of 65,536 combinations in a second
run shard --gpu 1760MiB --sweep world=1..1024 batch=1..64 $trace
exits 0
no_err
golden shard-sweep.txt
run shard --gpu 1760MiB --sweep world=2,8 --sweep batch=1,2,4 --format json $trace
exits 0
out_has '"name":"fsdp2","world":8,"largest_batch":2,"is_last":false'
run shard --gpu 1760MiB --sweep world=2,8 --format csv $trace
exits 0
check 'has a row for each strategy and world' test "$(wc -l <.run/out)" -eq 15
run shard --gpu 1000MiB --sweep world=2,8 --sweep batch=1..8 --checkpointed $trace
exits 0
no_err
golden shard-sweep-checkpointed.txt
run shard --gpu 1040MiB --sweep world=2,4,8 --sweep batch=1..8 --checkpointed --group 4 --format json $trace
exits 0
[ -z "${PYTHON3-}" ] || check 'divides ranks into groups, and tries checkpoints' "$PYTHON3" -c '
import json, sys
rows = {(r["name"], r["checkpointed"], r["world"]): r for r in json.load(open(sys.argv[1]))["sweep"]}
assert len(rows) == 42
assert [rows["fsdp2", False, w]["group"] for w in (2, 4, 8)] == [2, 4, 4] and rows["oss", True, 8]["group"] == 8
assert rows["fsdp2", False, 8]["peak_bytes"] == rows["fsdp2", False, 4]["peak_bytes"]
assert all(rows[n, True, w]["largest_batch"] > r["largest_batch"] for (n, c, w), r in rows.items() if not c)' .run/out
run shard --gpu 935MiB --sweep world=2..6 --group 4 $trace
exits 2
err 'memsnap: samples/gpt.layers.json.gz: --sweep: 5 ranks are not a multiple of --group 4'
run shard --gpu 935MiB --sweep world=2..6 --code fsdp2 $trace
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

# what is assumed of the step
run shard --world 4 --batch 2 --accumulate 3 $trace
exits 0
out_has 'each rank trains 2 times the recorded batch; a step of all'
out_has '24 recorded batches.'
out_has 'The optimizer is assumed to be adam'
run shard --world 4 --optimizer sgd --state-bytes 6 --master-copy $trace
exits 0
out_has 'sgd with 6 B of state a'
out_has ' with a float32 copy of the parameters'
out_has_not 'assumed to be'
run shard --parameters 1M
exits 0
out_has_not 'recorded batch'

# sizes by hand: 1.2 GB of parameters; state twice that, buckets, gradients, temporaries
run shard --world 4 --parameters 0.3B --layers 3 --activations 0 --format json
exits 0
out_has '"name":"ddp","options":{"optimizer":"adam","master_copy":false,"main_gradients":false,"batch":1.0,"accumulation":1,"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":7200000000,'
run shard --world 4 --parameters 300M --dtype bfloat16 --master-copy --fused --format json
exits 0
out_has '"optimizer_state_bytes":3600000000'
out_has '"master_copy":true'
out_has '"master_copy_bytes":0,'
# of 300M parameters 2 bytes, as many of the bucket, gradients of 4, and the optimizer's 12
run shard --world 4 --parameters 300M --dtype bfloat16 --master-copy --main-gradients --fused --format json
exits 0
out_has '"main_gradients":true'
out_has '"peak_bytes":6000000000,'
out_has '"main_gradient_bytes":0,'
run shard --world 4 --parameters 300M --dtype bfloat16 --master-copy --main-gradients
exits 0
out_has 'of the parameters and float32 gradients'
run shard --format json samples/recorded/accumulated-masters.pickle.gz
exits 0
out_has '"master_copy":true'
out_has '"parameters":3605760,"units":2,"master_copy_bytes":14423040,'

# with checkpoints: parameters and buckets, 2 outputs of 100 MB, what the third unit makes again, and its output's gradient
run shard --world 4 --optimizer sgd --parameters 3M --layers 3 --activations 3GB --unit-output 100MB --checkpointed --format json
exits 0
out_has '"name":"ddp","options":{"optimizer":"sgd","master_copy":false,"main_gradients":false,"batch":1.0,"accumulation":1,"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":3028000000,'
out_has '"name":"ddp","options":{"optimizer":"sgd","master_copy":false,"main_gradients":false,"batch":1.0,"accumulation":1,"gradient_as_bucket_view":false},"checkpointed":true,"peak_bytes":1324000000,'
out_has '"recomputed_share":1.0'
run shard --world 4 --parameters 3M --layers 3 --activations 3GB --unit-output 100MB --checkpointed --code fsdp2 --format python
exits 0
out_has 'find_units(model)'
run shard --parameters 3M --layers 3 --activations 3GB --checkpointed
exits 2
err 'memsnap: shard: --checkpointed needs a file, or --unit-output (for example 64MiB)'
run shard --parameters 3M --layers 3 --activations 3GB --unit-output 2GB
exits 2
err 'memsnap: shard: --unit-output is more than --activations of one of --layers'

# what FairScale advises for one machine and for several
run shard --world 64 --parameters 7B --layers 32 --gpu h100
out_has 'Use sdp'
out_has '--reduce-buffer 8388608 sends fewer'
out_has 'Between machines, --broadcast-fp16'
out_has 'The optimizer is assumed to be adam; --optimizer names another.'
run shard --world 64 --parameters 7B --layers 32 --gpu h100 --reduce-buffer 1000 --broadcast-fp16 --optimizer adam
out_has 'all ranks are on one machine, --reduce-buffer 0 is best.'
out_has_not 'Between machines'
out_has_not 'assumed to be'

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
err 'memsnap: shard: --parameters, --activations, --unit-output and --layers do not apply to a file'
run shard --layers 3
exits 2
run shard --batch nan $trace
exits 2
run shard --batch 0 $trace
exits 2
run shard --granularity 'nothing.*' $trace
exits 2
err_has 'no module matches'
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
run shard --range 1000:2871 samples/kept-gradients.pickle.gz # without the step that makes them
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
finish
