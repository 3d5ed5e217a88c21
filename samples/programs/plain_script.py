"""A script without modules: its variables hold every result until the next iteration computes it anew.

plain-script: --gpu 4GiB --steps 5 -- plain_script.py
plain-updates: --gpu 4GiB --steps 0 -- plain_script.py by-hand
"""
import sys

import torch
import truth
from torch.nn.functional import conv2d, cross_entropy, linear

weights = [(torch.randn(o, i, 3, 3, device="cuda") * 0.05).requires_grad_() for i, o in ((3, 32), (32, 64), (64, 64))]
weights.append((torch.randn(10, 64, device="cuda") * 0.1).requires_grad_())
pictures, kinds = torch.rand(512, 3, 32, 32, device="cuda"), torch.randint(10, (512,), device="cuda")
truth.parameters(*weights)
truth.batch(pictures, kinds)
optimizer = None
if "by-hand" not in sys.argv:
    optimizer = torch.optim.RMSprop(weights, lr=1e-3)
    truth.optimizer(optimizer)
for _ in range(5):
    truth.phase("data")
    chosen = torch.randint(512, (64,), device="cuda")
    x, y = pictures[chosen], kinds[chosen]
    truth.batch(chosen, x, y)
    truth.phase("forward")
    with truth.saving():
        hidden = torch.relu(conv2d(x, weights[0], padding=1))
        wide = torch.relu(conv2d(hidden, weights[1], padding=1, stride=2))
        deep = torch.relu(conv2d(wide, weights[2], padding=1)) + wide
        scores = linear(deep.mean((2, 3)), weights[3])
        loss = cross_entropy(scores, y)
    truth.phase("backward")
    gradients = torch.autograd.grad(loss, weights) if optimizer is None else loss.backward()
    truth.phase("optimizer_step")
    if optimizer is None:
        truth.note("gradient", *gradients)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients):
                weight -= 0.01 * gradient
        del gradient
    else:
        optimizer.step()
        optimizer.zero_grad()
