"""Contrast with a queue of earlier keys, which a slowly moving copy of the model makes.

moco: --gpu 4GiB --steps 4 -- moco.py
"""
import copy

import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy, normalize

LENGTH, BATCH = 16384, 32


def encoder():
    return nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.BatchNorm2d(64),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 128))


model = encoder().cuda()
slow = copy.deepcopy(model).requires_grad_(False)
queue = normalize(torch.randn(128, LENGTH, device="cuda"), dim=0)
optimizer = torch.optim.SGD(model.parameters(), lr=3e-2, momentum=0.9, weight_decay=1e-4)
truth.model(model, slow)
truth.note("parameter|input", queue)
truth.optimizer(optimizer)
for step in range(4):
    truth.phase("data")
    views = [torch.randn(BATCH, 3, 96, 96, device="cuda") for _ in range(2)]
    truth.batch(views)
    truth.phase("forward")
    with torch.no_grad():
        for behind, ahead in zip(slow.parameters(), model.parameters()):
            behind.mul_(0.999).add_(ahead, alpha=0.001)
        keys = normalize(slow(views[1]))
    with truth.saving():
        queries = normalize(model(views[0]))
        near = (queries * keys).sum(1, keepdim=True)
        far = queries @ queue.clone()
        loss = cross_entropy(torch.cat((near, far), 1) / 0.07, torch.zeros(BATCH, dtype=torch.long, device="cuda"))
    truth.phase("backward")
    loss.backward()
    truth.phase("other")
    queue[:, step * BATCH:(step + 1) * BATCH] = keys.T
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
