"""Batches wait in a queue on the device, as a prefetcher keeps them; accumulated and clipped gradients, AdamW.

prefetch: --gpu 4GiB --steps 0 -- prefetch.py
"""
import collections
import torch
import truth
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
                      nn.Conv2d(32, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                      nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 100)).cuda()
truth.model(model)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
truth.optimizer(optimizer)
queue = collections.deque()


def load():
    x = torch.randn(16, 3, 128, 128).cuda(non_blocking=True)
    y = torch.randint(100, (16,)).cuda(non_blocking=True)
    truth.batch(x, y)
    queue.append((x, y))


truth.phase("data")
for _ in range(6):
    load()
for step in range(4):
    for _ in range(2):
        truth.phase("data")
        x, y = queue.popleft()
        load()
        truth.phase("forward")
        with truth.saving():
            loss = nn.functional.cross_entropy(model(x), y) / 2
        truth.phase("backward")
        loss.backward()
    truth.phase("optimizer_step")
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
