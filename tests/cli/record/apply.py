"""A model with the checkpoints of a plan must train as one without: apply.py [PLAN]. Prints whose forward was replaced."""
import copy
import sys

import memsnap_record
import program_model
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


def train(model, batch):
    model.zero_grad()
    sum(model(item).square().mean() for item in (batch if isinstance(batch, list) else [batch])).backward()


def tensors_of(model):
    return {**model.state_dict(), **{"gradient of " + name: item.grad for name, item in model.named_parameters()}}


def replaced(model):
    return [name for name, module in model.named_modules()
            if "forward" in vars(module) and not isinstance(module, nn.BatchNorm1d)]


def compare(plain, batch, plan):
    """Trains a copy of the model with the plan, and one without. Returns the parts."""
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
    assert all(type(getattr(hook, "__self__", None)) is memsnap_record.Turns  # what counts the calls of a module
               for module in checkpointed.modules() for hook in module._forward_pre_hooks.values())
    return parts, checkpointed


class CountRuns(TorchDispatchMode):
    def __init__(self, name):
        super().__init__()
        self.name, self.count = name, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += str(function.overloadpacket) == self.name
        return function(*args, **(kwargs or {}))


def plan_of(*parts):
    return {"schema": "memsnap.suggest/1", "apply": {"target": "modules", "parts": list(parts)}}


def fails(model, plan, words):
    try:
        memsnap_record.apply(model, plan)
    except ValueError as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.inner = nn.Linear(16, 16), nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        x = self.first(x)
        with torch.autocast("cpu", torch.bfloat16):
            return self.inner(x, x, x, need_weights=False)[0].float()


class Joined(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 16)

    def forward(self, results):
        return self.linear(torch.cat(results, 1)).tanh()


class Dense(nn.Module):
    """Layers that take a list of results, to which their own is appended, as those of DenseNet do."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Joined(16 * k) for k in range(1, 4))

    def forward(self, x):
        results = [x]
        for layer in self.layers:
            results.append(layer(results))
        return results[-1]


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


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(16, 16)

    def forward(self, x):
        return self.cell(x, x)


class Recurrent(nn.Module):
    """Recurrent layers return their state beside their result, which is used or not."""

    def __init__(self, uses_state):
        super().__init__()
        self.layers = nn.ModuleList(nn.LSTM(16, 16, batch_first=True) for _ in range(3))
        self.dropouts = nn.ModuleList(nn.Dropout(0.2) for _ in range(3))
        self.uses_state = uses_state

    def forward(self, x):
        for layer, dropout in zip(self.layers, self.dropouts):
            x, (_, state) = layer(x)
            x = dropout(x)
            if self.uses_state:
                x = x + state.mean()
        return x


class Encoder(nn.Module):
    """Blocks that return tuples, as transformers' do."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Weighed() for _ in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)[0]
        return x


class Weighed(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        weights = self.linear(x).softmax(-1)
        return x * weights, weights, None


def compare_tuples():
    row = [kind + "s." + str(k) for k in range(3) for kind in ("layer", "dropout")]
    for uses_state in False, True:
        (part,), _ = compare(Recurrent(uses_state), torch.randn(2, 4, 16), plan_of({"modules": row}))
        assert part.is_chain == (not uses_state)
    (part,), _ = compare(Encoder(), torch.randn(2, 16), plan_of({"modules": ["blocks.%d" % k for k in range(3)]}))
    assert part.is_chain


def main():
    torch.manual_seed(0)
    for path in sys.argv[1:]:
        _, model = compare(program_model.Model(), torch.randint(0, 1000, (8, 32)), path)
        print("replaced:", *replaced(model))

    # statistics, random numbers, parts within parts, and operators whose results are kept
    blocks = [nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Dropout()) for _ in range(6)]
    model, batch = nn.Sequential(*blocks), torch.randn(8, 16)
    last = {"modules": ["4", "5"]}
    if hasattr(torch.utils.checkpoint, "create_selective_checkpoint_contexts"):  # PyTorch 2.4
        last["keep_operators"] = ["aten.addmm"]
    parts, _ = compare(model, batch, plan_of(
        {"modules": ["0"]}, {"modules": ["1", {"modules": ["2", "3"]}]}, last))
    assert [(part.names, part.is_chain) for part in parts] == [
        (["0"], True), (["1", "2", "3"], True), (["4", "5"], True)]
    # the query of attention stays the same tensor as its key while tensors that are saved have hooks
    attention = Attention()
    memsnap_record.apply(attention, plan_of({"modules": ["inner"]}))
    with memsnap_record.layers(attention):
        train(attention, torch.randn(2, 4, 16))

    compare_tuples()
    compare(Dense(), torch.randn(8, 16), plan_of({"modules": ["layers.0"]}, {"modules": ["layers.1"]}))

    if "keep_operators" in last:  # on the CPU, a GRU cell changes results of addmm in place, unseen by PyTorch
        cell = Cell()
        memsnap_record.apply(cell, plan_of({"modules": ["cell"], "keep_operators": ["aten.addmm"]}))
        try:
            train(cell, torch.randn(2, 16))
        except RuntimeError as error:
            assert "aten.addmm in place" in str(error), error
        else:
            raise AssertionError("a kept result was changed")
        compare(nn.Sequential(Cell(), nn.Softmax(1)), torch.randn(2, 16),
                plan_of({"modules": ["0", "1"], "keep_operators": ["aten._softmax"]}))
        # an operator of another version of PyTorch, or of another kind of device, never runs
        linear = nn.Sequential(nn.Linear(16, 16), nn.GELU())
        memsnap_record.apply(linear, plan_of({"modules": ["0"], "keep_operators": ["aten.addmm", "aten.cudnn_gelu"]}))
        try:
            train(linear, torch.randn(2, 16))
        except RuntimeError as error:
            assert str(error).startswith("aten.cudnn_gelu does not run"), error
        else:
            raise AssertionError("an operator that does not run was accepted")

    # lines: of the loop over the blocks, of a block, and one where no module runs
    lines = open(program_model.__file__).read().splitlines()
    loop, block, tokens = ("program_model.py:%d forward" % (1 + next(
        number for number, line in enumerate(lines) if words in line))
        for words in ("x = block(x)", "return x + self.inner", "def __init__"))
    plan = plan_of({"modules": [loop + " [0]"]}, {"modules": [block + " [1]", block + " [2]"]}, {"modules": [tokens]})
    plan["apply"]["target"] = "lines"
    _, model = compare(program_model.Model(), torch.randint(0, 1000, (8, 32)), plan)
    assert replaced(model) == ["blocks.0", "blocks.1", "blocks.2"], replaced(model)
    # what runs outside of modules is left out of a part; so is the model itself
    plan["apply"]["parts"] = [{"modules": [tokens + " (2)", loop + " [0]", loop + " [1]"]}]
    _, model = compare(program_model.Model(), torch.randint(0, 1000, (8, 32)), plan)
    assert replaced(model) == ["blocks.0", "blocks.1"], replaced(model)
    if "keep_operators" in last:
        plan["apply"]["parts"][0]["keep_operators"] = ["aten.addmm"]
        compare(program_model.Model(), torch.randint(0, 1000, (8, 32)), plan)
        plan["apply"]["parts"][0]["keep_operators"] = ["aten.bmm_"]
        try:
            compare(program_model.Model(), torch.randint(0, 1000, (8, 32)), plan)
        except RuntimeError as error:
            assert "aten.bmm_ does not run" in str(error), error
        else:
            raise AssertionError("the operators of lines were ignored")

    # calls of modules, those of a Sequential in one of the blocks, and one that the program does not make
    def line(words):
        return "program_model.py:%d" % (1 + next(number for number, text in enumerate(lines) if words in text))

    block, inner = line("x = block(x)"), line("return x + self.inner")
    plan = plan_of({"modules": [block + " [0/3]", block + " [1/3]"]},
                   {"modules": [block + " [2/3] > " + inner + " [%d/4]" % k for k in (1, 2, 3)]},
                   {"modules": [block + " [0/5]"]})
    plan["apply"]["target"] = "calls"
    _, model = compare(program_model.Model(), torch.randint(0, 1000, (8, 32)), plan)
    assert replaced(model) == ["blocks.0", "blocks.1", *("blocks.2.inner.%d" % k for k in (0, 1, 2))], replaced(model)
    # the model is a Sequential; each call of a module that runs several times has a checkpoint of its own, or none
    twice = Counted()
    model = nn.Sequential(nn.Linear(16, 16), twice, nn.Linear(16, 16), twice, twice, nn.Linear(16, 16))
    plan["apply"]["parts"] = [{"modules": ["model [%d/6]" % k for k in (1, 2)]}, {"modules": ["model [4/6]", "model [5/6]"]},
                              {"modules": ["model [0/6]"]}]
    _, model = compare(model, torch.randn(8, 16), plan)
    assert replaced(model) == ["0", "1", "2", "5"] and sorted(model[1].forward.parts) == [0, 2], replaced(model)
    assert model[1].runs == 3 * 3 + 2 * (3 + 2), model[1].runs  # three trials; in a step, two of the three run again

    # each run of the model in a step has checkpoints of its own
    plan["apply"]["parts"] = [{"modules": ["run 0/2: model [0/3]", "run 0/2: model [1/3]"]}, {"modules": ["run 1/2: model [2/3]"]}]
    layers = nn.Linear(16, 16), nn.Dropout(), nn.Linear(16, 16)
    _, model = compare(nn.Sequential(*layers), [torch.randn(8, 16), torch.randn(8, 16)], plan)
    assert [sorted(layer.forward.parts) for layer in model] == [[0], [0], [1]], replaced(model)

    if "keep_operators" in last:  # results that are changed in place are not kept
        plan["apply"]["parts"] = [{"modules": ["model [0/3]", "model [1/3]"], "keep_operators": ["aten.addmm"]},
                                  {"modules": ["model [2/3]"], "keep_operators": ["aten.addmm"]}]
        compare(nn.Sequential(nn.Linear(16, 16), nn.ReLU(inplace=True), Counted()), torch.randn(8, 16), plan)
        # of three results in one checkpoint, only the one that is changed runs again
        layers = nn.Linear(16, 16), nn.Linear(16, 16), nn.ReLU(inplace=True), nn.Linear(16, 16)
        plan["apply"]["parts"] = [{"modules": ["model [%d/4]" % k for k in range(4)], "keep_operators": ["aten.addmm"]}]
        _, model = compare(nn.Sequential(*layers), torch.randn(8, 16), plan)
        with CountRuns("aten.addmm") as runs:
            result = model(torch.randn(8, 16))
            before = runs.count
            result.sum().backward()
        assert (before, runs.count - before) == (3, 1), (before, runs.count)

    if torch.cuda.is_available():  # numbers of allocations tell where those of calls do not
        layers = [nn.Sequential(nn.PReLU(), nn.ReLU(inplace=True)) for _ in range(4)]
        model = nn.Sequential(nn.Sequential(*layers[:2]), nn.Sequential(*layers[2:])).cuda()
        plan["apply"]["parts"] = [{"modules": ["model [7/9], allocations 1-2 of 4"]}, {"modules": ["model [0/4], allocations 4-4 of 4"]},
                                  {"modules": ["model [2/4], allocations 3-3 of 5"]}]
        memsnap_record.apply(model, plan)
        with torch.no_grad():
            model(torch.zeros(8, 16, device="cuda"))
        assert replaced(model) == []  # until it runs with gradients
        model(torch.zeros(8, 16, device="cuda"))
        assert replaced(model) == ["0", "1.0.0", "1.0.1", "1.1"], replaced(model)

    fails(model, {"schema": "memsnap.suggest/1", "points": []}, "--budget")
    fails(model, {"schema": "memsnap.suggest/1", "feasible": False}, "--budget")
    fails(model, {"schema": "memsnap.diff/1"}, "memsnap suggest")
    print("all is right")


main()
