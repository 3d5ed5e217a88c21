"""A deep equilibrium model: a solver finds the fixed point of a layer, and a hook solves for its gradient.

equilibrium: --gpu 4GiB --steps 0 -- equilibrium.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy, relu

CHANNELS, HISTORY, ITERATIONS = 32, 4, 6


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False) for _ in range(2))
        self.norm1, self.norm2 = nn.GroupNorm(8, CHANNELS), nn.GroupNorm(8, CHANNELS)

    def forward(self, z, x):
        return self.norm2(relu(z + x + self.conv2(self.norm1(relu(self.conv1(z))))))


def fixed_point(function, start):
    """Anderson acceleration, over a history of arguments and results."""
    batch, size = start.shape[0], start[0].numel()
    arguments = start.new_zeros(batch, HISTORY, size)
    results = torch.zeros_like(arguments)
    for i in range(ITERATIONS):
        count = min(i, HISTORY)
        if count:
            residuals = results[:, :count] - arguments[:, :count]
            gram = residuals @ residuals.transpose(1, 2) + torch.eye(count, device=start.device)
            weights = torch.linalg.solve(gram, gram.new_ones(batch, count, 1))
            start = (weights.transpose(1, 2) @ results[:, :count]).view_as(start)
        arguments[:, i % HISTORY] = start.flatten(1)
        results[:, i % HISTORY] = function(start).flatten(1)
    return start


class Equilibrium(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        with torch.no_grad():
            z = fixed_point(lambda z: self.layer(z, x), torch.zeros_like(x))
        z = self.layer(z, x)
        start = z.detach().requires_grad_()
        again = self.layer(start, x)

        def solve(gradient):
            return fixed_point(lambda y: torch.autograd.grad(again, start, y, retain_graph=True)[0] + gradient, gradient)

        z.register_hook(solve)
        return z


model = nn.Sequential(nn.Conv2d(3, CHANNELS, 3, padding=1), nn.BatchNorm2d(CHANNELS), Equilibrium(Layer()),
                      nn.AvgPool2d(8), nn.Flatten(), nn.Linear(16 * CHANNELS, 10)).cuda()
truth.model(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
truth.optimizer(optimizer)
for _ in range(3):
    truth.phase("data")
    images, labels = torch.randn(32, 3, 32, 32).cuda(), torch.randint(10, (32,)).cuda()
    truth.batch(images, labels)
    truth.phase("forward")
    with truth.saving():
        loss = cross_entropy(model(images), labels)
    truth.phase("backward")
    optimizer.zero_grad()
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
