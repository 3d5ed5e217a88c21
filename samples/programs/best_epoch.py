"""Keeps the best epoch: copies of the weights and of the optimizer's state.

best-epoch: --gpu 4GiB --steps 8 -- best_epoch.py
"""
import copy

import torch
import truth
from torch import nn

model = nn.Sequential(nn.Embedding(4000, 256), nn.LSTM(256, 512, 2, batch_first=True)).cuda()
head = nn.Linear(512, 4000).cuda()
params = [*model.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(params)
truth.model(model, head)
truth.optimizer(optimizer)
best = None
for step in range(8):
    truth.phase("data")
    x = torch.randint(0, 4000, (16, 65), device="cuda")
    truth.batch(x)
    truth.phase("forward")
    with truth.saving():
        h, _ = model(x[:, :-1])
        loss = nn.functional.cross_entropy(head(h).flatten(0, 1), x[:, 1:].flatten())
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
    truth.phase("other")
    if step % 2 == 1:
        best = copy.deepcopy(model.state_dict()), copy.deepcopy(head.state_dict()), copy.deepcopy(optimizer.state_dict())
        truth.note("parameter", best[0], best[1])
        truth.note("optimizer_state", *best[2]["state"].values())
