"""Plans for a module whose training step runs modules within it, as that of a LightningModule does, and never the module
itself."""
import copy

import memsnap_record
import torch
from torch import nn

with open(__file__) as file:
    LINE = 1 + next(i for i, line in enumerate(file) if "x = block(x)" in line and "line" not in line)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 32), nn.Linear(32, 8)

    def forward(self, x):
        return x + self.down(self.up(x).relu())


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(4))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Base(nn.Module):
    """As in Lightning: the forward() of the base class only raises an error."""

    def forward(self, *args, **kwargs):
        return super().forward(*args, **kwargs)


Base.__module__ = "lightning.pytorch.core.module"


class One(Base):
    def __init__(self):
        super().__init__()
        self.network, self.loss = Network(), nn.MSELoss()

    def training_step(self, x):
        return self.loss(self.network(x), x)


class Two(Base):
    def __init__(self):
        super().__init__()
        self.first, self.second = Network(), Network()

    def forward(self, x):
        return self.first(x)

    def training_step(self, x):
        return self.first(x).mean() + self.second(x).square().mean()


def train(model):
    """The losses and gradients of two steps, and how many tensors are kept for backward in the second."""
    made = []
    for step in range(2):
        kept = []
        model.zero_grad()
        with torch.autograd.graph.saved_tensors_hooks(lambda value: kept.append(value) or value, lambda value: value):
            loss = model.training_step(torch.full((2, 8), step + 1.0))
        loss.backward()
        made += [loss.detach(), *(parameter.grad.clone() for parameter in model.parameters())]
    return made, len(kept)


def check(make, apply, copied=lambda model: model):
    torch.manual_seed(0)
    model = make()
    expected, kept_before = train(copy.deepcopy(model))
    parts = apply(model)
    made, kept = train(copied(model))
    for a, b in zip(made, expected):
        torch.testing.assert_close(a, b)
    assert kept < kept_before, (kept, kept_before)
    return parts


names = [f"blocks.{i}" for i in range(4)]
of_two = [["first." + name for name in names], ["second." + name for name in names[:2]], ["second." + name for name in names[2:]]]
for plan, make in ([names], One), (of_two, Two):
    assert all(part.is_chain for part in check(make, lambda model: memsnap_record.checkpoint_modules(model, plan)))
    check(make, lambda model: memsnap_record.checkpoint_modules(model, plan), copy.deepcopy)
calls = [[f"inner.py:{LINE} [{i}/4]" for i in range(4)]]
check(One, lambda model: memsnap_record.checkpoint_calls(model, calls))
check(Two, lambda model: memsnap_record.checkpoint_calls(model.first, calls))
try:
    memsnap_record.checkpoint_modules(Two(), [names])
    raise SystemExit("no error for the names of one module within two")
except ValueError as error:
    assert "(first or second)" in str(error), error
try:
    memsnap_record.checkpoint_calls(nn.ModuleList([Network(), Network()]), calls)
    raise SystemExit("no error for two modules without a forward() that runs them")
except TypeError:
    pass
print("all is right")
