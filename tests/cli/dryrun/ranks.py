"""A distributed program for the real torch: the memory of one rank, as parallel training is known to need it."""
import os

import torch
import torch.distributed as dist

SIZE, LAYERS = 1024, 8
UNIT = SIZE * SIZE * 4


def in_units():
    return torch.cuda.memory_stats()["requested_bytes.all.current"] / UNIT


def make():
    return torch.nn.Sequential(*[torch.nn.Linear(SIZE, SIZE, bias=False) for _ in range(LAYERS)]).cuda()


def workspaces():
    """Those that the first matrix product leaves."""
    before = in_units()
    a = torch.ones(SIZE, SIZE, device="cuda")
    a @ a
    del a
    return in_units() - before


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
print("rank", dist.get_rank(), "of", dist.get_world_size(), flush=True)
total = torch.tensor([5.0], device="cuda")
dist.all_reduce(total)
assert total.item() == 5 * dist.get_world_size()
of_forward = workspaces()

model = torch.nn.parallel.DistributedDataParallel(make())
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.ones(8, SIZE, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
# parameters, buckets and two states; the backward pass may have left a workspace of its own
held = in_units() - of_forward
assert abs(held - 4 * LAYERS) < 0.1 or abs(held - 4 * LAYERS - of_forward) < 0.1, held

try:
    from torch.distributed.fsdp import fully_shard
except ImportError:
    fully_shard = None
if fully_shard:
    before = in_units()
    sharded = make()
    for layer in sharded:
        fully_shard(layer)
    fully_shard(sharded)
    assert abs(in_units() - before - LAYERS / dist.get_world_size()) < 0.1, in_units() - before
dist.barrier()
dist.destroy_process_group()
