"""Checkpoints of modules that FSDP wraps: each goes inside, and none runs several of them. And modules of a model that is
in wrappers unknown to the recorder."""
import copy

import memsnap_record
import program_model
import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import ModuleWrapPolicy


def run(model, tokens):
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
    return [loss.detach(), *(parameter.grad for parameter in model.parameters())]


def main():
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    torch.manual_seed(0)
    original, tokens = program_model.Model(), torch.randint(0, 32, (4, 16))

    def make():
        return FullyShardedDataParallel(copy.deepcopy(original), auto_wrap_policy=ModuleWrapPolicy({program_model.Block}),
                                        device_id=torch.device("cpu"), use_orig_params=True)

    expected = run(make(), tokens)
    names = [name for name, module in make().named_modules()
             if name and isinstance(module, FullyShardedDataParallel)]
    assert len(names) == 3, names
    with memsnap_record.layers(make()) as recording:
        run(recording.model, tokens)
    marked = {row["module_name"] for row in recording.forward_traces if "fsdp" in row.get("traits", "")}
    assert marked >= set(names), marked
    for plan in [[name] for name in names], [names[:2], names[2:]]:
        model = make()
        parts = memsnap_record.checkpoint_modules(model, plan)
        found = run(model, tokens)
        assert all(map(torch.allclose, expected, found)), plan
        assert not any(isinstance(module, FullyShardedDataParallel)
                       for part in parts for module in part.modules)
    inner = original
    for name in "model", "base_model":
        wrapper = nn.Module()
        setattr(wrapper, name, inner)
        inner = wrapper
    for name, module in original.named_modules():
        assert name == "" or memsnap_record.find_module(inner, name) is module, name
    try:
        memsnap_record.find_module(inner, "absent")
        raise SystemExit("no error for a module that is not there")
    except ValueError:
        pass
    print("all is right")


main()
