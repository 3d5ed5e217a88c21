"""A model that grows, as in Gaussian splatting: points are added, and Adam's states with them.

splatting: --gpu 4GiB --steps 0 -- splatting.py
"""
import torch
import truth
from torch.nn import Parameter

PARTS = {"place": (3,), "scale": (3,), "turn": (4,), "opacity": (1,), "color": (16, 3)}


def keep(name, parameter):
    points[name] = parameter
    parameter.register_post_accumulate_grad_hook(lambda leaf: truth.note("gradient", leaf.grad))


def render(camera):
    projected = torch.cat((points["place"], torch.ones_like(points["opacity"])), 1) @ camera
    at = projected[::20, :2] / (projected[::20, 2:3].abs() + 1)
    turn = points["turn"] / points["turn"].norm(dim=1, keepdim=True)
    size = (points["scale"].exp().mean(1) * turn[:, 0])[::20]
    far = ((pixels[:, None] - at[None]) ** 2).sum(-1)
    weight = torch.sigmoid(points["opacity"][::20, 0]) * torch.exp(-far * size)
    return (weight @ torch.sigmoid(points["color"].sum(1))[::20]).T.reshape(3, 64, 64)


def grow(count):
    for group in optimizer.param_groups:
        old = group["params"][0]
        state, more = optimizer.state.pop(old), old[:count].detach().clone()
        for name in ("exp_avg", "exp_avg_sq"):
            state[name] = torch.cat((state[name], torch.zeros_like(more)))
        group["params"][0] = Parameter(torch.cat((old.detach(), more)))
        optimizer.state[group["params"][0]] = state
        keep(group["name"], group["params"][0])


points = {}
truth.watch("parameter", lambda: points)
for part, shape in PARTS.items():
    keep(part, Parameter(torch.rand(20000, *shape).cuda()))
optimizer = torch.optim.Adam([{"params": [points[part]], "name": part} for part in PARTS], lr=1e-3, eps=1e-15)
truth.optimizer(optimizer)
cameras, pictures = torch.randn(8, 4, 4, device="cuda"), torch.rand(8, 3, 64, 64, device="cuda")
pixels = torch.rand(4096, 2).cuda()
truth.batch(cameras, pictures, pixels)
for step in range(8):
    truth.phase("forward")
    with truth.saving():
        loss = (render(cameras[step]) - pictures[step]).abs().mean()
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
    if step % 3 == 2:
        truth.phase("other")
        grow(4000)
