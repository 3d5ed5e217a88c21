"""An energy-based model: Langevin steps on the input with autograd.grad(), while .grad holds gradients of the last step.

langevin: --gpu 4GiB --steps 0 -- langevin.py
"""
import torch
import truth
from torch import nn


def block(inner, outer):
    return nn.Sequential(nn.Conv2d(inner, outer, 3, 1, 1), nn.SiLU(), nn.Conv2d(outer, outer, 4, 2, 1), nn.SiLU())


energy = nn.Sequential(block(3, 72), block(72, 144), block(144, 288), nn.Flatten(), nn.Linear(288 * 16, 1)).cuda()
truth.model(energy)
optimizer = torch.optim.Adam(energy.parameters(), 1e-4, betas=(0.0, 0.999))
truth.optimizer(optimizer)
truth.phase("data")
buffer = torch.rand(1000, 3, 32, 32, device="cuda")
truth.note("input", buffer)
for _ in range(3):
    truth.phase("data")
    real, rows = torch.rand(64, 3, 32, 32).cuda(), torch.randint(1000, (64,)).cuda()
    truth.batch(real, rows)
    fake = buffer[rows]
    truth.note("input|activation", fake)
    energy.requires_grad_(False)
    for _ in range(5):
        truth.phase("forward")
        fake = (fake + 0.005 * torch.randn_like(fake)).clamp(0, 1).detach().requires_grad_()
        truth.note("input|activation", fake)
        with truth.saving():
            sum_of_energies = energy(fake).sum()
        truth.phase("backward")
        slope, = torch.autograd.grad(sum_of_energies, fake)
        truth.note("gradient|autograd_detail|activation", slope)
        truth.phase("other")
        fake = (fake - 10 * slope.clamp(-0.03, 0.03)).detach()
        truth.note("input|activation", fake)
    energy.requires_grad_(True)
    truth.phase("data")
    buffer[rows] = fake
    truth.phase("forward")
    with truth.saving():
        up, down = energy(real), energy(fake)
        loss = up.mean() - down.mean() + 0.1 * (up ** 2 + down ** 2).mean()
    truth.phase("backward")
    optimizer.zero_grad()
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
