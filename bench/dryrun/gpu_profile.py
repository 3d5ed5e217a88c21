"""The program of a public profile of a GPU (kineto's sample of ResNet-50), profiled the same way: gpu_profile.py TRACE."""
import sys

import torch
import torchvision
from torch.profiler import ProfilerActivity, profile

STEPS = 3

model = torchvision.models.resnet50().cuda().train()
loss_of = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)


def step():
    images = torch.randn(32, 3, 224, 224).cuda(non_blocking=True)
    labels = torch.zeros(32, dtype=torch.long).cuda(non_blocking=True)
    loss = loss_of(model(images), labels)
    optimizer.zero_grad(set_to_none=False)  # the default of 2021
    loss.backward()
    optimizer.step()


for _ in range(2):
    step()
with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as profiler:
    for _ in range(STEPS):
        step()
profiler.export_chrome_trace(sys.argv[1])
