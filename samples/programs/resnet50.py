"""Trains ResNet-50, as PyTorch's articles on GPU memory do.

resnet50: --gpu 4GiB --steps 4 -- resnet50.py
resnet50-kept-gradients: --gpu 4GiB --steps 4 -- resnet50.py --keep-gradients
"""
import sys

import torch
import truth
from torch.nn.functional import cross_entropy
from torchvision.models import resnet50

keep_gradients = "--keep-gradients" in sys.argv
model = resnet50().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
truth.model(model)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    images = torch.randn(16, 3, 224, 224, device="cuda")
    labels = torch.randint(1000, (16,), device="cuda")
    truth.batch(images, labels)
    truth.phase("forward")
    with truth.saving():
        loss = cross_entropy(model(images), labels)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad(set_to_none=not keep_gradients)
