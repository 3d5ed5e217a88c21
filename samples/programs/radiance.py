"""A radiance field: coarse and fine networks trained on rays, then a frame rendered in chunks without gradients.

radiance: --gpu 4GiB --steps 0 -- radiance.py
"""
import torch
import truth
from torch import nn


def encode(x, levels):
    parts = [x]
    for i in range(levels):
        parts += [torch.sin(2.0 ** i * x), torch.cos(2.0 ** i * x)]
    return torch.cat(parts, -1)


class Field(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        inner = [63, width, width, width + 63, width, width]
        self.layers = nn.ModuleList(nn.Linear(size, width) for size in inner)
        self.sigma, self.feature = nn.Linear(width, 1), nn.Linear(width, width)
        self.view, self.rgb = nn.Linear(width + 27, width // 2), nn.Linear(width // 2, 3)

    def forward(self, points, dirs):
        e = encode(points, 10)
        h = e
        for i, layer in enumerate(self.layers):
            if i == 3:
                h = torch.cat([e, h], -1)
            h = torch.relu(layer(h))
        d = encode(dirs, 4)[:, None].expand(-1, points.shape[1], -1)
        color = torch.relu(self.view(torch.cat([self.feature(h), d], -1)))
        return torch.sigmoid(self.rgb(color)), self.sigma(h).squeeze(-1)


def composite(rgb, sigma, t):
    delta = torch.cat([t[:, 1:] - t[:, :-1], torch.full_like(t[:, :1], 1e10)], -1)
    alpha = 1 - torch.exp(-torch.relu(sigma) * delta)
    trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
    weights = alpha * trans
    return (weights[..., None] * rgb).sum(1), weights


def render(coarse, fine, origins, dirs, samples=32, more=32):
    t = torch.linspace(2, 6, samples, device=origins.device).expand(origins.shape[0], samples)
    t = t + torch.rand_like(t) * 4 / samples
    color0, weights = composite(*coarse(origins[:, None] + dirs[:, None] * t[..., None], dirs), t)
    pdf = weights.detach()[:, 1:-1] + 1e-5
    cdf = torch.cumsum(pdf / pdf.sum(-1, keepdim=True), -1)
    u = torch.rand(origins.shape[0], more, device=origins.device)
    index = torch.searchsorted(cdf, u, right=True).clamp(max=samples - 1)
    t, _ = torch.sort(torch.cat([t, torch.gather(t, 1, index)], -1), -1)
    color1, _ = composite(*fine(origins[:, None] + dirs[:, None] * t[..., None], dirs), t)
    return color0, color1


coarse, fine = Field().cuda(), Field().cuda()
truth.model(coarse, fine)
optimizer = torch.optim.Adam([*coarse.parameters(), *fine.parameters()], lr=5e-4)
truth.optimizer(optimizer)
rays = torch.randn(40000, 9)
for step in range(4):
    truth.phase("data")
    batch = rays[torch.randint(0, 40000, (1024,))].cuda()
    o, d, rgb = batch.split(3, -1)
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        a, b = render(coarse, fine, o, d)
        loss = ((a - rgb) ** 2).mean() + ((b - rgb) ** 2).mean()
    truth.phase("backward")
    optimizer.zero_grad()
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    if step == 2:
        truth.phase("eval")
        with torch.no_grad():
            frame = []
            for chunk in rays[:8192].split(2048):
                chunk = chunk.cuda()
                truth.note("input", chunk)
                color = render(coarse, fine, chunk[:, :3], chunk[:, 3:6])[1]
                frame.append(color.cpu())
            frame = torch.cat(frame)
        del chunk, color
