"""Records what a sharded model gathers: sharded.py fsdp1|fsdp2|fairscale. Prints the bytes of forward and of the parameters."""
import os
import sys

import memsnap_record
import program_model
import torch
from torch import nn


def shard(model, kind):
    if kind == "fsdp2":
        from torch.distributed._composable.fsdp import fully_shard
        for block in model.blocks:
            fully_shard(block)
        fully_shard(model)
        return model
    if kind == "fsdp1":
        from torch.distributed.fsdp import FullyShardedDataParallel
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy
        return FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({program_model.Block}))
    from fairscale.nn import FullyShardedDataParallel
    for number, block in enumerate(model.blocks):
        model.blocks[number] = FullyShardedDataParallel(block)
    return FullyShardedDataParallel(model)


def main():
    torch.distributed.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    model = program_model.Model().cuda()
    parameters = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    model = shard(model, sys.argv[1])
    tokens = torch.zeros(8, 32, dtype=torch.long, device="cuda")
    with memsnap_record.layers(model) as recording:
        nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
    gathered = sum(row["all_gathered"] for row in recording.forward_traces)
    held = max(row["cumul_all_gathered"] for row in recording.forward_traces)
    print("gathered %d held %d of %d" % (gathered, held, parameters))
    assert parameters <= gathered <= 1.01 * parameters, "each parameter is gathered once, and padded"
    assert 0 < held <= gathered
    again = sum(row["all_gathered"] for row in recording.backward_traces)
    blocks = sum(row["all_gathered"] > 0 for row in recording.backward_traces)
    assert 0 < again <= gathered and blocks >= 2, (again, blocks)
    print("all is right")


main()
