#!/bin/sh
# memsnap shard: the code
. "$srcdir/tests/cli/lib.sh"

trace=samples/gpt.layers.json.gz
cp "$cli/shard/tables.json" .
cp "$cli/shard/types.json" .

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
# a module that a list has several times, of which named_modules() tells only the first place, becomes a unit in all of them
for code in fsdp fsdp1; do
    run shard --code $code --format python $trace
    [ -z "${PYTHON3-}" ] || check 'replaces a module wherever it is' "$PYTHON3" -c '
import sys
class Module:
    def __init__(self, **modules):
        self.__dict__["_modules"] = modules
    def __setattr__(self, name, module):
        self._modules[name] = module
    def modules(self):
        yield self
        for module in self._modules.values():
            yield from module.modules()
code = open(sys.argv[1]).read()
exec(code[code.index("def replace("):code.index("def shard(")])
tied, other, unit = Module(), Module(), Module()
model = Module(a=other, b=Module(c=tied, d=tied))
replace(model, tied, unit)
assert model._modules["a"] is other and set(model._modules["b"]._modules.values()) == {unit}' .run/out
done
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
# types are spelt as given, and the model gets that of --dtype
run shard --code fsdp2 --format python --param-dtype float16 --reduce-dtype float32 $trace
out_has 'MixedPrecisionPolicy(param_dtype=torch.float16, reduce_dtype=torch.float32)'
out_has_not 'model.to('
run shard --code fsdp --format python --param-dtype float16 $trace
out_has 'mixed_precision=True'
out_has_not 'compute_dtype'
run shard --code fsdp --format python --param-dtype bfloat16 $trace
out_has 'options["compute_dtype"] = torch.bfloat16'
run shard --code ddp --format python --dtype float16 --master-copy --state-bytes 6 $trace
out_has 'model = model.to(torch.float16)'
out_has '    # Replace torch.optim.Adam by an optimizer that has 6 bytes of state for each parameter and a float32 copy of'
run shard --code ddp --format python --master-copy $trace
out_has '# Replace torch.optim.Adam by an optimizer that has a float32 copy of the parameters.'
run shard --code ddp --format python --master-copy --main-gradients --state-bytes 6 $trace
out_has ' that has 6 bytes of state for each parameter, a float32 copy of the parameters and float32 gradients that it keeps.'
run shard --code ddp --format python --main-gradients $trace
out_has '# Replace torch.optim.Adam by an optimizer that has float32 gradients that it keeps.'
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
out_has 'return split_units(model, more + units) if more else units' # modules that leave may contain others
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
run shard --code fsdp1 --flat-parameters --format python samples/recorded/lora.pickle.gz
exits 0
out_has_not 'split_units'

# DistributedDataParallel is told of parameters that get no gradient: those of a module such as weight_norm() makes, whose
# leaves have no backward rows
leaf='{"module_name": "tables.0.norm", "module_params": 0, "is_leaf": true, "allocated": 8404, "peak_bytes": 8404,'
leaf="$leaf \"reserved\": 0, \"is_forward\": true, \"reads\": [], \"all_gathered\": 0, \"cumul_all_gathered\": 0,"
leaf="$leaf \"event\": {\"memory_diff\": 0, \"memory_activations\": 0}},"
sed "/16808, \"reserved\"/s/tables.0/tables.9/; s/^{\"module_name\": \"tables.0\"/$leaf&/" tables.json >within.json
run shard --world 2 --code ddp --format python within.json
exits 0
out_has 'find_unused_parameters=True)'
sed 's/tables.9/tables.0.norm/' within.json >used.json
run shard --world 2 --code ddp --format python used.json
exits 0
out_has_not 'find_unused_parameters'
# a layer without a backward row
sed 's/"tensors": "0:1000x1"/"is_leaf": true, &/; /"allocated": 16808/s/tables.0/tables.9/' tables.json >unused.json
for code in ddp zero oss; do
    run shard --world 2 --code $code --format python unused.json
    exits 0
    out_has 'find_unused_parameters=True)'
    run shard --world 2 --code $code --format python tables.json
    out_has_not 'find_unused_parameters'
done

# FSDP takes no scalars
for code in fsdp1 fsdp2; do
    run shard --world 2 --code $code --format python tables.json
    exits 0
    out_has 'value.detach().reshape(1)'
done
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out

# a module without a forward, such as a level of a U-Net, is no unit: nothing would gather it
sed 's/"is_forward": true/&, "plain": true/; s/tables.0/levels.0.first/; s/tables.1/levels.0.second/' tables.json >levels.json
run shard --world 2 --code fsdp2 --format python levels.json
exits 0
out_has '"levels.0.first",'
out_has '"levels.0.second",'
run shard --world 2 --code fsdp2 --granularity 1 --format python levels.json
exits 0
out_has '"levels.0.first",'
out_has_not '"levels",'
run shard --code fsdp2 --format python samples/recorded/resnet50.pickle.gz
out_has 'return getattr(module.forward, "__func__", None) is not torch.nn.Module.forward'

# modules that share a parameter are in no units of their own
run shard --world 2 --code fsdp2 --granularity leaf --format python tables.json
exits 0
out_has '"top",'
sed 's/"module_params": 404,/"module_params": 4404,/' tables.json >shared.json
run shard --world 2 --code fsdp2 --granularity leaf --format python shared.json
exits 0
out_has '"tables.0",'
out_has_not '"tables.1",'
out_has_not '"top",'

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

# an optimizer of two
run shard --code fsdp2 --optimizer muon --format python $trace
exits 0
out_has 'class MuonAndAdamW(torch.optim.Optimizer):'
out_has 'optimizer = MuonAndAdamW(model.parameters(), lr=lr)'
[ -z "${PYTHON3-}" ] || check 'is Python' "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' .run/out
# two blocks that run three times each: a checkpoint makes all calls of a module again
cp "$cli/shard/again.json" .
run shard --world 2 --checkpointed --code ddp --format python again.json
exits 0
out_has 'CHECKPOINTS = [  # modules that run again in the backward pass'
out_has '    "blocks.1",'
run shard --world 2 --checkpointed again.json
exits 0
out_has 'ddp + checkpoints     275.40 KiB   275.40 KiB'
out_has 'a step computes 22.3% longer (extra)'
# FairScale's fsdp hooks each result of a unit, also if it has the id of one that is gone
run shard --code fsdp --format python $trace
exits 0
out_has 'unit = Unit(module, reshard_after_forward=True, **options)'
[ -z "${PYTHON3-}" ] || check 'hooks all results' "$PYTHON3" -c '
import sys
class FullyShardedDataParallel:
    _output_pre_backward_hook_registered = []
    def __init__(self, is_root):
        self._is_root = is_root
    def _register_pre_backward_hooks(self, outputs):
        known = self._output_pre_backward_hook_registered
        hooked = [i for k, i in enumerate(outputs) if k == 0 or i not in known]
        known.extend(hooked)
        return hooked
code = open(sys.argv[1]).read()
exec(code[code.index("class Unit("):code.index("def replace(")])
assert Unit(False)._register_pre_backward_hooks([1, 2]) == [1, 2]
assert Unit(False)._register_pre_backward_hooks([3, 2]) == [3, 2]
assert Unit(True)._register_pre_backward_hooks([4, 2]) == [4]' .run/out
# a module of a list whose parameter another module has, too, is no unit
run shard --code fsdp1 --format python samples/recorded/resnet50.pickle.gz
exits 0
[ -z "${PYTHON3-}" ] || check 'shares no unit' "$PYTHON3" -c '
import sys, types
class Module:
    def forward(self):
        raise NotImplementedError
    def __init__(self, values=(), **modules):
        self.values, self.by_name = list(values), modules
    def parameters(self, recurse=True):
        yield from self.values
        for module in self.children() if recurse else ():
            yield from module.parameters()
    def children(self):
        return iter(self.by_name.values())
    def modules(self):
        return (module for name, module in self.named_modules())
    def named_modules(self, prefix=""):
        yield prefix, self
        for name, module in self.by_name.items():
            yield from module.named_modules(prefix + "." * bool(prefix) + name)
    def get_submodule(self, path):
        module = self
        for name in path.split(".") if path else ():
            module = module.by_name[name]
        return module
class List(Module):
    pass
class Layer(Module):
    def forward(self):
        pass
torch = types.SimpleNamespace(nn=types.SimpleNamespace(Module=Module, Sequential=List, ModuleList=List))
code = open(sys.argv[1]).read()
exec(code[code.index("LISTS = "):code.index("def replace(")])
tables = List(**{"0": Layer("a"), "1": Layer("b")})
assert find_units(Layer(tables=tables, bag=Layer("c"))) == ["tables.0", "tables.1"]
assert find_units(Layer(tables=tables, bag=Layer("a"))) == ["tables.1"]' .run/out
finish
