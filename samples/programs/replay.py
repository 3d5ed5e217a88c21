"""Soft actor-critic: a replay buffer on the device, two critics, target networks that follow, three optimizers.

replay: --gpu 4GiB --steps 0 -- replay.py
"""
import copy
import torch
import truth
from torch import nn

CAPACITY, STATE, ACTION = 20000, 64, 8


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, o)).cuda()


buffer = [torch.zeros(CAPACITY, width, device="cuda") for width in (STATE, ACTION, 1, STATE)]
truth.batch(buffer)
actor = mlp(STATE, 2 * ACTION)
first, second = mlp(STATE + ACTION, 1), mlp(STATE + ACTION, 1)
targets = copy.deepcopy((first, second))
truth.model(actor, first, second, *targets)
log_alpha = torch.zeros(1, device="cuda", requires_grad=True)
truth.parameters(log_alpha)
optimizers = [torch.optim.Adam(actor.parameters(), 3e-4),
              torch.optim.Adam([*first.parameters(), *second.parameters()], 3e-4),
              torch.optim.Adam([log_alpha], 3e-4)]
truth.optimizer(*optimizers)


def act(s):
    mean, log_std = actor(s).chunk(2, -1)
    normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp(), validate_args=False)
    raw = normal.rsample()
    a = raw.tanh()
    return a, (normal.log_prob(raw) - (1 - a.pow(2) + 1e-6).log()).sum(-1, keepdim=True)


for step in range(6):
    truth.phase("eval")
    with torch.no_grad():
        state = torch.randn(256, STATE, device="cuda")
        truth.batch(state)
        action, _ = act(state)
        for part, value in zip(buffer, (state, action, torch.zeros(256, 1, device="cuda"), state)):
            part[256 * step: 256 * step + 256] = value
    truth.phase("data")
    index = torch.randint(0, 256, (1024,), device="cuda")
    s, a, r, s2 = (part[index] for part in buffer)
    truth.batch(index, s, a, r, s2)
    truth.phase("eval")
    with torch.no_grad():
        a2, logp2 = act(s2)
        sa2 = torch.cat([s2, a2], -1)
        goal = r + 0.99 * (torch.min(targets[0](sa2), targets[1](sa2)) - log_alpha.exp() * logp2)
    truth.note("activation|input|temporary", goal)
    truth.phase("forward")
    with truth.saving():
        sa = torch.cat([s, a], -1)
        loss = nn.functional.mse_loss(first(sa), goal) + nn.functional.mse_loss(second(sa), goal)
    truth.phase("backward")
    optimizers[1].zero_grad()
    loss.backward()
    truth.phase("optimizer_step")
    optimizers[1].step()
    truth.phase("forward")
    with truth.saving():
        new, logp = act(s)
        sa = torch.cat([s, new], -1)
        loss = (log_alpha.exp().detach() * logp - torch.min(first(sa), second(sa))).mean()
    truth.phase("backward")
    optimizers[0].zero_grad()
    loss.backward()
    truth.phase("optimizer_step")
    optimizers[0].step()
    truth.phase("forward")
    with truth.saving():
        loss = -(log_alpha * (logp.detach() + ACTION)).mean()
    truth.phase("backward")
    optimizers[2].zero_grad()
    loss.backward()
    truth.phase("optimizer_step")
    optimizers[2].step()
    with torch.no_grad():
        for net, target in zip((first, second), targets):
            for p, q in zip(net.parameters(), target.parameters()):
                q.lerp_(p, 0.005)
