"""Modules that run several times in a step: turns.py FILE records one, and turns.py FILE PLAN trains with the plan."""
import copy
import json
import sys

import memsnap_record
import torch
from torch import nn
from torch.utils import checkpoint


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 64), nn.Linear(64, 16)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.down(self.up(self.norm(x)).relu()))


class Again(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.block, self.last = nn.Linear(8, 16), Block(), nn.Linear(16, 4)

    def forward(self, x):
        x = self.first(x)
        for _ in range(6):
            x = self.block(x)
        return self.last(x)


class Tree(nn.Module):
    """A module that calls itself: which call ends is not known."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x[:, :8] + (self(x[:, 8:]) if x.shape[1] > 8 else 0))


class Root(nn.Module):
    def __init__(self):
        super().__init__()
        self.tree = Tree()

    def forward(self, x):
        return self.tree(x)


def loss(model, batch):
    """The model runs twice in a step."""
    return nn.functional.mse_loss(model(batch), model(batch.flip(0)))


def train(model, batch):
    torch.manual_seed(1)
    model.zero_grad()
    value = loss(model, batch)
    value.backward()
    return value.detach(), [parameter.grad for parameter in model.parameters()]


def compare(model, batch, plan):
    plain = copy.deepcopy(model)
    memsnap_record.apply(model, plan)
    calls, run = [], checkpoint.checkpoint

    def counted(*args, **kwargs):
        calls.extend([args] if torch.is_grad_enabled() else [])
        return run(*args, **kwargs)

    memsnap_record.checkpoint = counted
    for _ in range(3):
        expected, found = train(plain, batch), train(model, batch)
        assert torch.allclose(expected[0], found[0])
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(expected[1], found[1]))
        with torch.no_grad():
            model(batch)
    return len(calls)


def check_forward_rows(traces):
    for row in traces:
        if not row["is_forward"]:
            of = traces[row["forward_row"]]
            assert of["is_forward"] and of["module_name"] == row["module_name"]
    calls = [index for index, row in enumerate(traces) if row["module_name"] == "block" and "plain" in row]
    assert len(calls) == 12, calls
    assert {row["forward_row"] for row in traces if not row["is_forward"]} >= set(calls)
    # the backward pass comes to the last call of a parameter first
    with_gradient = [index for index, row in enumerate(traces) if row.get("gradient_bytes")]
    assert min(with_gradient) > calls[5], with_gradient


def main():
    torch.manual_seed(0)
    model, batch = Again(), torch.randn(4, 8)
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as file:
            plan = json.load(file)
        names = [name for part in plan["apply"]["parts"] for name in part["modules"]]
        assert "block [5/12]" in names, names
        plan["apply"]["parts"] = [{"modules": [name]} for name in ("block [1/12]", "block [8/12]")]
        assert compare(copy.deepcopy(model), batch, plan) == 6  # two calls of each of three steps
        # calls in a row, of either run of the model
        plan["apply"]["parts"] = [{"modules": ["block [%d/12]" % k for k in calls]} for calls in ((2, 3), (7, 8, 9))]
        assert compare(model, batch, plan) == 6
        print("all is right")
        return
    with memsnap_record.layers(model, sys.argv[1]) as recording:
        loss(model, batch).backward()
    check_forward_rows(recording.traces)
    with memsnap_record.layers(Root()) as recording:
        recording.model(torch.randn(4, 16)).sum().backward()
    assert "recursive" in [row.get("traits") for row in recording.traces]


main()
