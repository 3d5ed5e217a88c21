"""One rank of two under DistributedDataParallel: three passes a step, two of them under no_sync(); AdamW.

ddp-no-sync: --gpu 4GiB --world 2 --steps 3 -- ddp_no_sync.py
"""
import contextlib

import torch
import truth
from torch import distributed, nn

distributed.init_process_group("nccl")
sizes = 512, 1024, 1536, 1024, 512, 2048
model = nn.Sequential(*(part for pair in zip(sizes, sizes[1:]) for part in (nn.Linear(*pair), nn.GELU()))).cuda()
truth.model(model)
parallel = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=8)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
truth.optimizer(optimizer)
while True:
    for micro in range(3):
        truth.phase("data")
        x, y = torch.randn(256, 512).cuda(), torch.randint(2048, (256,)).cuda()
        truth.batch(x, y)
        with parallel.no_sync() if micro < 2 else contextlib.nullcontext():
            truth.phase("forward")
            with truth.saving():
                loss = nn.functional.cross_entropy(parallel(x), y) / 3
            truth.phase("backward")
            loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
