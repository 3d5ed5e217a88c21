#!/bin/sh
# memsnap shard: what stops, and what is recommended
. "$srcdir/tests/cli/lib.sh"

trace=samples/gpt.layers.json.gz
room=$((512 * 1024 * 1024)) # of a CUDA context

# parameters of several types: 2,000 B of bfloat16 and 400 B of float32 in a block, 4,000 B of float32 in the root
cp "$cli/shard/types.json" .
run shard --world 2 --gpu 1GiB --format json types.json
exits 0
out_has '"parameters":2100,'
# parameters, buckets, gradients, two states, and as many temporaries
out_has '"gradient_as_bucket_view":false},"checkpointed":false,"peak_bytes":38400,"peak_rank":0,"fits":true,"has_room":true,"runs":true'
out_has '"fits":true,"has_room":true,"runs":false'
run shard --world 2 --gpu $((room + 42500)) types.json
exits 0
out_has '2,100 parameters in 1 unit'
out_has 'The code of zero, oss and sdp would stop: the parameters have several types. It'
out_has "The code of fsdp would stop: FairScale's"
out_has 'Use fsdp2: of those that fit, it sends the least.'
out_has 'return value.dtype if value.requires_grad else None'
out_has 'units = split_units(model, UNITS)'
out_has 'for value in {value for value in staying if kind_of(value)} or values:'
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
# little is left of the GPU: a context, and a fifth of the peak; and nothing fits
run shard --world 2 --gpu 40000 types.json
exits 0
out_has 'Use fsdp2: none is sure to fit, and it leaves the most.'
out_has ' of the GPU for the CUDA context, about 512.00 MiB, and'
out_has 'fragmentation; no strategy leaves as much as these may take.'
out_has 'under memsnap dryrun --world 2'
out_has_not 'would cost less'
run shard --world 2 --parameters 1G --layers 8 --gpu 24GiB
exits 0
out_has '100.0%  tight'
out_has 'Use sdp: of those that fit, it sends the least.'
out_has 'It would cost less to use ddp, but that is tight: it would leave only 1.65 GiB'
out_has_not 'no strategy leaves'
run shard --world 2 --parameters 1G --layers 8 --gpu 24GiB --format json
exits 0
out_has '"name":"ddp",'
out_has '"fits":true,"has_room":false,"runs":true'
out_has '"recommended":"sdp"'
run shard --world 2 --parameters 1G --layers 8 --gpu 27.4GiB
exits 0
out_has 'Use ddp: every rank fits without sharding'
out_has_not 'tight'
run shard --world 2 --parameters 1G --layers 8 --gpu 20GiB
exits 0
out_has 'Use sdp'
out_has_not 'would cost less'
out_has 'is part of FairScale'
# a gathered unit of 1.86 GiB is cached for a stream of its own
run shard --world 64 --parameters 1G --layers 2 --gpu 8GiB
exits 0
out_has 'Use fsdp2'
out_has 'It leaves only 2.21 GiB of the GPU'
run shard --world 64 --parameters 1G --layers 2 --gpu 10GiB
exits 0
out_has 'Use fsdp2'
out_has_not 'tight: it'
out_has_not 'leaves only'
run shard --world 2 --gpu 20000 types.json
exits 0
out_has 'None fits; fsdp2 needs the least.'
out_has 'more than the GPU has. Less is needed with activation'
run shard --world 2 --gpu 20000 --checkpointed --offload types.json
exits 0
out_has_not '(--checkpointed)'
# complex parameters of 8 bytes, where each of the others has 2
sed 's/bfloat16/complex64/; s/"module_params": 2000/"module_params": 8000/' types.json >complex.json
run shard --world 2 --format json complex.json
exits 0
out_has '"parameters":2100,'
out_has '"parameter_bytes":12400,'
# nothing is trained
sed 's/\("tensors": "[^"]*\)"/\1:frozen"/' types.json >frozen.json
run shard --world 2 frozen.json
exits 3
err_has 'no parameter gets a gradient'
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

# an optimizer that does not take DTensors
run shard --code fsdp2 --optimizer adafactor $trace
exits 2
err 'memsnap: shard: --code fsdp2 does not work with --optimizer adafactor'
run shard --world 8 --gpu 24GiB --optimizer adam8bit --code ddp $trace
exits 0
out_has '134.6%  stops'
out_has 'The code of fsdp2 would stop: the optimizer does not take its DTensors.'
# why one is recommended: by bytes or by time, and checkpoints only where nothing fits without them
run shard --world 8 --gpu 975MiB samples/gpt.layers.json.gz
out_has 'Use sdp: of those that fit, it sends the least.'
run shard --world 8 --gpu 975MiB --bandwidth 1GB samples/gpt.layers.json.gz
out_has 'Use sdp: of those that fit, it takes the least time for its traffic.'
run shard --world 8 --gpu 872MiB --checkpointed samples/gpt.layers.json.gz
out_has 'Use ddp with checkpoints: nothing fits without checkpoints; with them, every'
run shard --world 8 --gpu 790MiB --checkpointed samples/gpt.layers.json.gz
out_has 'Use sdp with checkpoints: nothing fits without checkpoints, and of those that'

# one rank has nothing to share
run shard --world 1 --gpu 80GiB $trace
exits 0
out_has 'Use the plain program: it fits on one rank.'
out_has 'ddp is the plain program, without'
out_has_not 'DistributedDataParallel('
out_has_not 'on rank 0'
run shard --world 1 --gpu 80GiB --accumulate 2 --code ddp --format python $trace
exits 0
out_has 'optimizer = torch.optim.Adam(model.parameters(), lr=lr)'
out_has_not 'no_sync'
run shard --world 1 --gpu 1MiB $trace
exits 0
out_has 'None fits; the plain program needs the least.'
out_has_not 'whose last release'
run shard --world 1 --parameters 1G --layers 8 --gpu 12GiB --offload
exits 0
out_has 'one rank has no room for the plain program.'
run shard --gpu 2GiB --sweep world=1,2 batch=1..4 $trace
exits 0
out_has '    1    3     -    -    -     -      -      -'
out_has 'ddp is the plain program there.'
finish
