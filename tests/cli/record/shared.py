"""Modules that several layers share, or get as arguments: shared.py FILE records a step, and shared.py FILE PLAN trains with
the plan."""
import copy
import sys

import memsnap_record
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm, self.up, self.down = norm, nn.Linear(16, 64), nn.Linear(64, 16)

    def forward(self, x, mix):
        return x + self.down(mix(self.up(self.norm(x))).relu())


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.mix = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(64, 64)
        self.layers = nn.ModuleList(Layer(self.norm) for _ in range(4))
        self.last = nn.Linear(16, 4)

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x, self.mix)
        return self.last(self.norm(x))


def train(model, batch):
    model.zero_grad()
    loss = model(batch).square().sum()
    loss.backward()
    return [loss.detach(), *(parameter.grad for parameter in model.parameters())]


def main():
    torch.manual_seed(0)
    model, batch = Model(), torch.randn(64, 8)
    if len(sys.argv) > 2:
        plain = copy.deepcopy(model)
        memsnap_record.apply(model, sys.argv[2])
        for _ in range(2):
            assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(train(plain, batch), train(model, batch)))
        print("all is right")
        return
    with memsnap_record.layers(model, sys.argv[1]) as recording:
        train(model, batch)
    ends = {row["module_name"]: row.get("first_name") for row in recording.forward_traces if "plain" in row}
    inner = {"layers.%d.%s" % (k, name): name for k in range(4) for name in ("norm", "mix")}
    assert {name: first for name, first in ends.items() if first} == inner, ends
    assert {"norm", "layers.0", "layers.3", "first", "last"} <= ends.keys() and "mix" not in ends, ends


main()
