"""Two losses on one trunk, whose gradients a script joins so that they do not conflict (PCGrad).

two-tasks: --gpu 4GiB --steps 0 -- two_tasks.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss

trunk = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.LayerNorm(1024), nn.Linear(1024, 1024), nn.GELU(),
                      nn.Linear(1024, 512)).cuda()
kinds, values = nn.Linear(512, 100).cuda(), nn.Linear(512, 32).cuda()
truth.model(trunk, kinds, values)
shared, own = list(trunk.parameters()), [*kinds.parameters(), *values.parameters()]
optimizer = torch.optim.AdamW([*shared, *own])
truth.optimizer(optimizer)


def flat(loss):
    gradients = torch.autograd.grad(loss, shared, retain_graph=True)
    truth.note("gradient", gradients)
    return torch.cat([gradient.flatten() for gradient in gradients])


for _ in range(4):
    truth.phase("data")
    x, kind, value = (torch.randn(512, 512, device="cuda"), torch.randint(100, (512,), device="cuda"),
                      torch.randn(512, 32, device="cuda"))
    truth.batch(x, kind, value)
    truth.phase("forward")
    with truth.saving():
        hidden = trunk(x)
        first, second = cross_entropy(kinds(hidden), kind), mse_loss(values(hidden), value)
    truth.phase("backward")
    one = flat(first)
    two = flat(second)
    truth.phase("optimizer_step")
    truth.note("gradient|temporary", one, two)
    both = one + two - (one @ two) * (one / one.norm() ** 2 + two / two.norm() ** 2)
    truth.note("gradient|temporary", both)
    truth.phase("backward")
    torch.autograd.backward(first + second, inputs=own)
    truth.phase("optimizer_step")
    for weight, gradient in zip(shared, both.split([weight.numel() for weight in shared])):
        weight.grad = gradient.view_as(weight)
    optimizer.step()
    optimizer.zero_grad()
    del one, two, both, gradient
