"""Programs that train or run several models and know nothing of the recorder: adversaries.py gan|teacher STEPS"""
import sys

import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.net = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(depth)))

    def forward(self, x):
        return self.net(x)


class Critic(Generator):
    def __init__(self):
        super().__init__(2)


def train_adversaries(steps):
    generator, critic = Generator(), Critic()
    optimizers = [torch.optim.Adam(model.parameters()) for model in (generator, critic)]
    for _ in range(steps):
        fake = generator(torch.randn(256, 64))  # with gradients, which the critic's step does not use
        optimizers[1].zero_grad()
        (critic(fake.detach()).mean() - critic(torch.randn(256, 64)).mean()).backward()
        optimizers[1].step()
        optimizers[0].zero_grad()
        (-critic(generator(torch.randn(256, 64))).mean()).backward()
        optimizers[0].step()


def train_student(steps):
    """The teacher runs first, with autograd on, and has more layers."""
    teacher, student = Generator(12), Critic()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    for _ in range(steps):
        x = torch.randn(256, 64)
        wanted = teacher(x).detach()
        (student(x) - wanted).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


{"gan": train_adversaries, "teacher": train_student}[sys.argv[1]](int(sys.argv[2]))
