"""A critic and a generator against each other, with a gradient penalty: a graph of the backward pass itself.

gan: --gpu 4GiB --steps 4 -- gan.py
"""
import torch
import truth
from torch import nn

critic = nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
                       nn.Flatten(), nn.Linear(64 * 256, 1)).cuda()
generator = nn.Sequential(nn.ConvTranspose2d(64, 64, 16), nn.ReLU(), nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU(),
                          nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh()).cuda()
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-4, betas=(0.0, 0.9))
truth.model(critic, generator)
truth.optimizer(critic_optimizer, generator_optimizer)


def penalty(real, fake):
    between = torch.lerp(real, fake, torch.rand(len(real), 1, 1, 1, device="cuda")).requires_grad_()
    truth.note("activation|input", between)
    slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.flatten(1).norm(dim=1) - 1) ** 2).mean()


while True:
    truth.phase("data")
    real = torch.randn(32, 3, 64, 64, device="cuda")
    noise = torch.randn(32, 64, 1, 1, device="cuda")
    truth.batch(real, noise)
    truth.phase("forward")
    with truth.saving():
        fake = generator(noise).detach()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(real, fake)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    critic_optimizer.step()
    critic_optimizer.zero_grad()
    truth.phase("forward")
    with truth.saving():
        loss = -critic(generator(noise)).mean()
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    generator_optimizer.step()
    generator_optimizer.zero_grad()
    critic_optimizer.zero_grad()
