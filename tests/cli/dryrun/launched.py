"""For torchrun and the real torch: what two ranks exchange."""
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))

seven = torch.tensor([7], device="cuda")
gathered = [torch.empty_like(seven) for _ in range(2)]
dist.all_gather(gathered, seven)
assert [int(one) for one in gathered] == [7, 7], gathered

state = torch.get_rng_state().cuda()
dist.broadcast(state, 0)
torch.set_rng_state(state.cpu())

objects = [None, None]
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": 0}, {"rank": 1}], objects
dist.gather_object(rank, objects if rank == 1 else None, dst=1)
assert rank == 0 or objects == [0, 1], objects
objects = [rank]
dist.broadcast_object_list(objects, src=1)
assert objects == [1], objects
dist.scatter_object_list(objects, ["for 0", "for 1"] if rank == 0 else None, src=0)
assert objects == ["for %d" % rank], objects
alone = [dist.new_group([one]) for one in range(2)][rank]
dist.all_gather_object(objects, rank, group=alone)
assert objects == [rank], objects

model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64).cuda(), gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(2):
    model(torch.ones(8, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.barrier()
print("rank %d made its steps" % rank, flush=True)
dist.destroy_process_group()
