"""A deep ensemble: seven networks stacked into one tensor for each layer, which torch.func.vmap() trains together.

ensemble: --gpu 4GiB --steps 0 -- ensemble.py
"""
import copy

import torch
import truth
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

MEMBERS, WIDTH, INPUTS, OUTPUTS, ROWS = 7, 512, 200, 400, 30000


def member():
    return nn.Sequential(nn.Linear(INPUTS, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(),
                         nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, OUTPUTS))


members = [member().cuda() for _ in range(MEMBERS)]
weights, buffers = stack_module_state(members)
skeleton = copy.deepcopy(members[0]).to("meta")
del members
truth.parameters(*weights.values())
truth.note("parameter", weights)
optimizer = torch.optim.Adam(weights.values(), lr=1e-3)
truth.optimizer(optimizer)
inputs = torch.randn(ROWS, INPUTS, device="cuda")
targets = torch.randn(ROWS, OUTPUTS // 2, device="cuda")
truth.batch(inputs, targets)
for _ in range(4):
    truth.phase("data")
    rows = torch.randint(ROWS, (MEMBERS, WIDTH), device="cuda")
    x, y = inputs[rows], targets[rows]
    truth.batch(rows, x, y)
    truth.phase("forward")
    with truth.saving():
        out = vmap(lambda weights, buffers, x: functional_call(skeleton, (weights, buffers), (x,)))(weights, buffers, x)
        mean, log_variance = out.chunk(2, -1)
        loss = ((y - mean).square() * (-log_variance).exp() + log_variance).mean()
    truth.phase("backward")
    optimizer.zero_grad()
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
