"""A network that is trained, frozen under a new head, and thawed in part: the optimizer gets states as it goes on.

thawed: --gpu 4GiB --steps 0 -- thawed.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy


def stage(inner, outer):
    return nn.Sequential(nn.Conv2d(inner, outer, 3, 2, 1), nn.BatchNorm2d(outer), nn.ReLU(), nn.Conv2d(outer, outer, 3, 1, 1),
                         nn.BatchNorm2d(outer), nn.ReLU())


body = nn.Sequential(stage(3, 64), stage(64, 128), stage(128, 256), nn.AdaptiveAvgPool2d(1), nn.Flatten())
model = nn.Sequential(body, nn.Linear(256, 100)).cuda()
truth.model(model)


def train(optimizer, classes, steps):
    for _ in range(steps):
        truth.phase("data")
        images, labels = torch.randn(32, 3, 96, 96).cuda(), torch.randint(classes, (32,)).cuda()
        truth.batch(images, labels)
        truth.phase("forward")
        with truth.saving():
            loss = cross_entropy(model(images), labels)
        truth.phase("backward")
        loss.backward()
        truth.phase("optimizer_step")
        optimizer.step()
        optimizer.zero_grad()


optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
truth.optimizer(optimizer)
train(optimizer, 100, 3)
truth.phase("model")
body.requires_grad_(False)
model[1] = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 20)).cuda()
truth.model(model[1])
optimizer = torch.optim.AdamW(model[1].parameters(), 1e-3)
truth.optimizer(optimizer)
train(optimizer, 20, 3)
for part in (body[2], body[1]):
    truth.phase("model")
    part.requires_grad_(True)
    truth.parameters(*part.parameters())
    optimizer.add_param_group({"params": list(part.parameters()), "lr": 1e-4})
    train(optimizer, 20, 3)
