"""Groups that NCCL splits from the group of all ranks, of which each rank is told the size."""
import os

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
mesh = init_device_mesh("cuda", (2, 4), mesh_dim_names=("replicas", "shards"))
for name, size in ("replicas", 2), ("shards", 4):
    total = torch.tensor([3.0], device="cuda")
    dist.all_reduce(total, group=mesh[name].get_group())
    gathered = torch.empty(size, device="cuda")
    dist.all_gather_into_tensor(gathered, total, group=mesh[name].get_group())
    print(name, total.item())
