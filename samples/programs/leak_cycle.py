"""A leak until Python's cyclic garbage collector runs: each batch's result refers to itself, so no counter drops to 0.

leak-cycle: --gpu 4GiB --steps 6 -- leak_cycle.py
"""
import gc

import torch
import truth
from torch import nn
from torch.nn.functional import mse_loss

gc.disable()  # as if it did not run for these few steps


class Result:
    def __init__(self, batch):
        self.features = batch * 2  # the leak
        self.owner = self


model = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
truth.model(model)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    batch = torch.randn(2048, 1024, device="cuda")
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        result = Result(batch)
        truth.note("activation|input", result.features)
        loss = mse_loss(model(result.features), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
