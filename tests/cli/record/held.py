"""Layers that return more than the next layer gets: held.py TRACE [PLAN]. The program holds that, or drops it at once.
With a plan, prints the peak of the step."""
import sys

import torch
from torch import nn

import memsnap_record


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(256, 256), nn.Linear(256, 256)

    def forward(self, x):
        gate = torch.sigmoid(self.one(x))
        return torch.relu(self.two(x)) * gate, gate


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.holding = nn.ModuleList(Block() for _ in range(6))
        self.dropping = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x):
        gates = []
        for block in self.holding:
            x, gate = block(x)
            gates.append(gate)
        for block in self.dropping:
            x, _ = block(x)
        return x.sum(), gates


def main():
    torch.manual_seed(0)
    model, x = Model().cuda(), torch.randn(4096, 256, device="cuda")
    if len(sys.argv) == 2:
        with memsnap_record.layers(model, sys.argv[1]):
            loss, gates = model(x)
            loss.backward()
        return
    memsnap_record.apply(model, sys.argv[2])
    loss, gates = model(x)
    loss.backward()
    print(torch.cuda.max_memory_allocated())


main()
