"""A model with the checkpoints of a plan beside one without."""
import copy

import memsnap_record
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

IS_SELECTIVE = hasattr(torch.utils.checkpoint, "create_selective_checkpoint_contexts")  # PyTorch 2.4


def train(model, batch):
    model.zero_grad()
    sum(model(item).square().mean() for item in (batch if isinstance(batch, list) else [batch])).backward()


def tensors_of(model):
    return {**model.state_dict(), **{"gradient of " + name: item.grad for name, item in model.named_parameters()}}


def replaced(model):
    return [name for name, module in model.named_modules()
            if "forward" in vars(module) and not isinstance(module, nn.BatchNorm1d)]


def compare(plain, batch, plan):
    """Trains a copy of the model with the plan, and one without: they must stay equal. Returns the parts and the copy."""
    checkpointed = copy.deepcopy(plain)
    parts = memsnap_record.apply(checkpointed, plan)
    for step in range(2):
        for model in plain, checkpointed:
            torch.manual_seed(step)
            train(model, batch)
    tensors, others = tensors_of(plain), tensors_of(checkpointed)
    assert tensors.keys() == others.keys()
    for name, tensor in tensors.items():
        assert torch.allclose(tensor, others[name], atol=1e-6), name
    counting = memsnap_record.Turns, memsnap_record.Running, memsnap_record.Several
    assert all(type(getattr(hook, "__self__", None)) in counting
               for module in checkpointed.modules() for hook in module._forward_pre_hooks.values())
    return parts, checkpointed


def plan_of(*parts, target="modules"):
    return {"schema": "memsnap.suggest/1", "apply": {"target": target, "parts": list(parts)}}


def fails(kind, words, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError("no error: " + words)


class CountRuns(TorchDispatchMode):
    """Counts how often an operator runs."""

    def __init__(self, name):
        super().__init__()
        self.name, self.count = name, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += str(function.overloadpacket) == self.name
        return function(*args, **(kwargs or {}))


class Counted(nn.Module):
    """Counts how often it runs, in an object that is no value of its own."""

    def __init__(self):
        super().__init__()
        self.linear, self.count = nn.Linear(16, 16), []

    @property
    def runs(self):
        return len(self.count)

    def forward(self, x):
        self.count.append(1)
        return self.linear(x).tanh()
