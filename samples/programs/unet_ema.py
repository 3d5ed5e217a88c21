"""A U-Net that learns to remove noise, with a moving average of its weights.

unet-ema: --gpu 4GiB --steps 4 -- unet_ema.py
"""
import copy

import torch
import truth
from torch import nn
from torch.nn.functional import mse_loss


def layer(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(8, outputs), nn.SiLU())


class UNet(nn.Module):
    def __init__(self, widths=(32, 64, 128)):
        super().__init__()
        self.first = layer(3, widths[0])
        self.downs = nn.ModuleList(layer(a, b) for a, b in zip(widths, widths[1:]))
        self.ups = nn.ModuleList(layer(b + a, a) for a, b in zip(widths, widths[1:]))
        self.last = nn.Conv2d(widths[0], 3, 1)

    def forward(self, x):
        x = self.first(x)
        skipped = []
        for down in self.downs:
            skipped.append(x)
            x = down(nn.functional.avg_pool2d(x, 2))
        for up in reversed(self.ups):
            x = up(torch.cat((nn.functional.interpolate(x, scale_factor=2), skipped.pop()), 1))
        return self.last(x)


model = UNet().cuda()
average = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
truth.model(model, average)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    clean = torch.randn(8, 3, 64, 64, device="cuda")
    noise = torch.randn_like(clean)
    truth.batch(clean, noise)
    noisy = clean + noise
    truth.batch(noisy)
    truth.phase("forward")
    with truth.saving():
        loss = mse_loss(model(noisy), noise)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
    truth.phase("other")
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), model.parameters()):
            slow.lerp_(fast, 0.01)
