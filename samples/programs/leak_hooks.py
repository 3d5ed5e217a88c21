"""A leak: a forward hook keeps what a layer puts out, for statistics, and nobody clears its list.

leak-hooks: --gpu 4GiB --steps 6 -- leak_hooks.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy

model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Flatten(), nn.Linear(64 * 16 * 16, 10)).cuda()
kept = []
model[6].register_forward_hook(lambda layer, inputs, output: kept.append(output))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
truth.model(model)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    images, labels = torch.randn(32, 3, 64, 64, device="cuda"), torch.randint(10, (32,), device="cuda")
    truth.batch(images, labels)
    truth.phase("forward")
    with truth.saving():
        loss = cross_entropy(model(images), labels)  # the leak
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
