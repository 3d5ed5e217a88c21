"""A copy of a model with the checkpoints of a plan must run and train its own parameters, as a copy of the model without
does, and leave the original as it was. Also if the copy is made through a file, or before the first run."""
import copy
import os
import pickle

import memsnap_record
import program_model
import torch
from compared import IS_SELECTIVE, CountRuns, plan_of
from torch import nn

KEPT = {"keep_operators": ["aten.addmm"]} if IS_SELECTIVE else {}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.inner = nn.Linear(16, 16), nn.BatchNorm1d(16), nn.Linear(16, 16)

    def forward(self, x):
        return x + self.inner(self.norm(self.linear(x)).tanh())


class Net(nn.Module):
    """Blocks in a row, of which the last runs twice."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(4))

    def forward(self, x):
        for block in [*self.blocks, self.blocks[3]]:
            x = block(x)
        return x


def of_lines():
    line = "program_model.py:%d forward" % (1 + next(
        number for number, text in enumerate(open(program_model.__file__).read().splitlines()) if "x = block(x)" in text))
    return plan_of({"modules": [line + " [0]", line + " [1]"], **KEPT}, target="lines")


def of_calls(*numbers, run=""):
    line = run + "copied.py:%d" % (Net.forward.__code__.co_firstlineno + 2)
    return plan_of(*({"modules": ["%s [%d/5]" % (line, k) for k in part], **KEPT} for part in numbers), target="calls")


KINDS = {
    "one module": (Net, plan_of({"modules": ["blocks.0"]})),
    "a row": (Net, plan_of({"modules": ["blocks.0", "blocks.1", "blocks.2"]})),
    "rows within a row": (Net, plan_of({"modules": ["blocks.0", {"modules": ["blocks.1", "blocks.2"]}]})),
    "kept results": (Net, plan_of({"modules": ["blocks.0", "blocks.1"], **KEPT})),
    "turns": (Net, plan_of({"modules": ["blocks.2", "blocks.3 [0/2]"], **KEPT}, {"modules": ["blocks.3 [1/2]"]})),
    "lines": (program_model.Model, of_lines()),
    "calls": (Net, of_calls([0, 1], [3])),
    "calls of a run": (Net, of_calls([0, 1], [3], run="run 0/2: ")),
}


def batch_of(model):
    return torch.randint(0, 1000, (8, 32)) if isinstance(model, program_model.Model) else torch.randn(8, 16)


def train(model, batch):
    """The loss, gradients and buffers of a step."""
    torch.manual_seed(1)
    model.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    return [loss.detach(), *(item.grad.clone() for item in model.parameters()), *map(torch.clone, model.buffers())]


def through_a_file(model):
    with open("model.pickle", "wb") as file:
        pickle.dump(model, file)
    with open("model.pickle", "rb") as file:
        return pickle.load(file)


def change(model):
    """So that a run of other parameters is noticed."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)


def runs_again(model, batch):
    """How many activations run in a backward pass: they do only in checkpoints."""
    with CountRuns("aten.tanh" if isinstance(model, Net) else "aten.gelu") as runs:
        loss = model(batch).square().mean()
        before = runs.count
        loss.backward()
    return runs.count - before


def check(make, plan, copied, is_before_first_run):
    torch.manual_seed(0)
    plain = make()
    planned, batch = copy.deepcopy(plain), batch_of(plain)
    memsnap_record.apply(planned, plan)
    if not is_before_first_run:
        train(planned, batch), train(plain, batch)
    other, plain_other = copied(planned), copy.deepcopy(plain)
    assert not {id(item) for item in other.parameters()} & {id(item) for item in planned.parameters()}
    assert len(list(other.modules())) == len(list(planned.modules()))
    change(other), change(plain_other)
    before = {name: tensor.clone() for name, tensor in planned.state_dict().items()}
    planned.zero_grad()
    for expected, found in zip(train(plain_other, batch), train(other, batch), strict=True):
        assert torch.allclose(expected, found, atol=1e-6)
    assert all(torch.equal(tensor, before[name]) for name, tensor in planned.state_dict().items())
    assert all(parameter.grad is None for parameter in planned.parameters())
    for expected, found in zip(train(plain, batch), train(planned, batch), strict=True):
        assert torch.allclose(expected, found, atol=1e-6)
    assert runs_again(other, batch) == runs_again(planned, batch) > runs_again(plain, batch)


def check_several():
    """Models that a step calls together are copied with what looks for their calls."""
    torch.manual_seed(0)
    models = nn.ModuleDict({"one": Net(), "two": Net()})
    memsnap_record.apply(models, of_calls([0, 1]))
    other = copy.deepcopy(models)
    change(other)
    batch = torch.randn(8, 16)
    loss = other["two"](other["one"](batch)).square().mean()
    loss.backward()
    assert all(parameter.grad is None for parameter in models.parameters())
    assert all(parameter.grad is not None for parameter in other.parameters())


def main():
    for name, (make, plan) in KINDS.items():
        for copied in copy.deepcopy, through_a_file:
            for is_before_first_run in True, False:
                print(name, copied.__name__, "before the first run" if is_before_first_run else "after a step")
                check(make, plan, copied, is_before_first_run)
    os.remove("model.pickle")
    check_several()
    print("all is right")


if __name__ == "__main__":
    main()
