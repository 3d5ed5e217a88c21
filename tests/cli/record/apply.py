"""A model with the checkpoints of a plan for modules must train as one without."""
import types
import warnings

import memsnap_record
import torch
from compared import IS_SELECTIVE, compare, fails, plan_of, train
from torch import nn


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


def check_nested():
    """Statistics, random numbers, parts within parts, and operators whose results are kept."""
    blocks = [nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Dropout()) for _ in range(6)]
    last = {"modules": ["4", "5"], **({"keep_operators": ["aten.addmm"]} if IS_SELECTIVE else {})}
    parts, _ = compare(nn.Sequential(*blocks), torch.randn(8, 16),
                       plan_of({"modules": ["0"]}, {"modules": ["1", {"modules": ["2", "3"]}]}, last))
    assert [(part.names, part.is_chain) for part in parts] == [
        (["0"], True), (["1", "2", "3"], True), (["4", "5"], True)]


def check_attention():
    """The query of attention stays the same tensor as its key while tensors that are saved have hooks."""
    attention = Attention()
    memsnap_record.apply(attention, plan_of({"modules": ["inner"]}))
    with memsnap_record.layers(attention):
        train(attention, torch.randn(2, 4, 16))


def check_tuples():
    row = [kind + "s." + str(k) for k in range(3) for kind in ("layer", "dropout")]
    for uses_state in False, True:
        (part,), _ = compare(Recurrent(uses_state), torch.randn(2, 4, 16), plan_of({"modules": row}))
        assert part.is_chain == (not uses_state)
    (part,), _ = compare(Encoder(), torch.randn(2, 16), plan_of({"modules": ["blocks.%d" % k for k in range(3)]}))
    assert part.is_chain


class WithTable(nn.Module):
    """Copies of its buffer that a checkpoint makes are no results of its operators."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.register_buffer("index", torch.arange(16).flip(0))

    def forward(self, x):
        return self.linear(x)[:, self.index].transpose(0, 1).clone().tanh().transpose(0, 1) * 2.0


class Between(nn.Module):
    """What runs between the layers hands their results on as they are, or not."""

    def __init__(self, between):
        super().__init__()
        self.layers, self.between = nn.ModuleList(nn.Sequential(nn.Tanh(), nn.Linear(16, 16)) for _ in range(3)), between

    def forward(self, x):
        for layer in self.layers:
            x = self.between(layer(x))
        return x


def check_between():
    for between, is_chain in ((lambda x: nn.functional.dropout(x, 0.0, True), True), (lambda x: x.float(), True),
                              (lambda x: nn.functional.relu(x, True), False), (lambda x: x * 1.0, False)):
        (part,), _ = compare(Between(between), torch.randn(2, 16),
                             plan_of({"modules": ["layers.0", "layers.1", "layers.2"]}))
        assert part.is_chain == is_chain


def check_kept_in_place():
    """On the CPU, a GRU cell changes results of addmm in place, unseen by PyTorch."""
    cell = Cell()
    memsnap_record.apply(cell, plan_of({"modules": ["cell"], "keep_operators": ["aten.addmm"]}))
    fails(RuntimeError, "aten.addmm in place", train, cell, torch.randn(2, 16))
    compare(nn.Sequential(Cell(), nn.Softmax(1)), torch.randn(2, 16),
            plan_of({"modules": ["0", "1"], "keep_operators": ["aten._softmax"]}))


class Rewording(nn.Module):
    """Makes an error of its own of every other one, as a library does that compiles expressions."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        try:
            return self.leave(self.enter(x).relu())
        except Exception as error:
            raise ValueError("the expression failed") from error


class FailsAgain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.runs = nn.Sequential(nn.Linear(16, 16)), []

    def forward(self, x):
        self.runs.append(None)
        if len(self.runs) > 1:
            raise KeyError("again")
        return self.layer(x).exp()


def check_errors():
    """A checkpoint ends its second run with an error of PyTorch's own; others are the program's."""
    compare(nn.Sequential(Rewording(), nn.Linear(16, 16)), torch.randn(2, 16), plan_of({"modules": ["0"]}))
    failing = nn.Sequential(FailsAgain())
    memsnap_record.apply(failing, plan_of({"modules": ["0"]}))
    fails(KeyError, "again", train, failing, torch.randn(2, 16))


def check_unknown_operator():
    """An operator of another version of PyTorch, or of another kind of device, never runs."""
    linear = nn.Sequential(nn.Linear(16, 16), nn.GELU())
    memsnap_record.apply(linear, plan_of({"modules": ["0"], "keep_operators": ["aten.addmm", "aten.cudnn_gelu"]}))
    fails(RuntimeError, "aten.cudnn_gelu does not run", train, linear, torch.randn(2, 16))


class Cached(nn.Module):
    """Puts its result into a cache, as attention does with its keys."""

    def __init__(self):
        super().__init__()
        self.config, self.linear = types.SimpleNamespace(use_cache=True), nn.Linear(16, 16)

    def forward(self, x):
        x = self.linear(x)
        return torch.cat([x[:0], x]) if self.config.use_cache else x


def check_cache():
    """A plan turns caches off, so that operators of a cache do not run."""
    plan = plan_of({"modules": ["0"], "keep_operators": ["aten.addmm", "aten.cat"]})
    with warnings.catch_warnings(record=True) as told:
        compare(nn.Sequential(Cached(), nn.Linear(16, 16)), torch.randn(2, 16), plan)
    assert [str(warning.message).split()[0] for warning in told] == ["aten.cat"], told
    memsnap_record.without_cache.clear()


def check_backward_again():
    """A penalty of gradients goes through the graph twice, as retain_graph does: the kept results are used up then."""
    found = []
    for plan in (None, plan_of({"modules": ["0", "1"], "keep_operators": ["aten.addmm"]})):
        torch.manual_seed(0)
        model = nn.Sequential(*(nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(3)))
        if plan:
            memsnap_record.apply(model, plan)
        x = torch.randn(2, 16, requires_grad=True)
        result = model(x)
        penalty = torch.autograd.grad(result.sum(), x, create_graph=True)[0].square().sum()
        (result.square().mean() + penalty).backward(retain_graph=True)
        result.sum().backward()
        found.append([parameter.grad for parameter in model.parameters()])
    assert all(torch.allclose(one, other) for one, other in zip(*found))


class Twice(nn.Module):
    """Two modules that share a weight, which autocast converts where it runs first."""

    def __init__(self):
        super().__init__()
        shared = nn.Linear(16, 16)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.Tanh(), shared) for _ in range(2))

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.layers[1](self.layers[0](x)).float()


def check_transform():
    """torch.func.vmap() does not support a checkpoint, so modules run without one there."""
    model = nn.Sequential(*(nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(3)))
    weights = {name: torch.stack([value.detach()] * 4).requires_grad_() for name, value in model.named_parameters()}
    x, found = torch.randn(2, 16), []
    for plan in None, plan_of({"modules": ["0", "1"]}):
        if plan:
            memsnap_record.apply(model, plan)
        torch.func.vmap(lambda one: torch.func.functional_call(model, one, (x,)))(weights).square().mean().backward()
        found.append([value.grad.clone() for value in weights.values()])
        for value in weights.values():
            value.grad = None
    assert all(torch.allclose(one, other) for one, other in zip(*found))


def check_refusals():
    for plan, words in (({"schema": "memsnap.suggest/1", "points": []}, "--budget"),
                        ({"schema": "memsnap.suggest/1", "feasible": False}, "--budget"),
                        ({"schema": "memsnap.diff/1"}, "memsnap suggest")):
        fails(ValueError, words, memsnap_record.apply, nn.Linear(16, 16), plan)


def main():
    torch.manual_seed(0)
    check_nested()
    check_attention()
    check_tuples()
    check_between()
    check_errors()
    compare(Dense(), torch.randn(8, 16), plan_of({"modules": ["layers.0"]}, {"modules": ["layers.1"]}))
    if IS_SELECTIVE:
        check_kept_in_place()
        check_backward_again()
        compare(nn.Sequential(WithTable(), WithTable()), torch.randn(4, 16),
                plan_of(*({"modules": [name], "keep_operators": ["aten.clone", "aten.addmm"]} for name in "01")))
        for kept in ["aten.addmm"], ["aten._to_copy"], ["aten._to_copy", "aten.addmm"]:
            compare(Twice(), torch.randn(4, 16), plan_of({"modules": ["layers.1"], "keep_operators": kept}))
        check_unknown_operator()
        check_cache()
    if memsnap_record.knows_transforms():
        check_transform()
    check_refusals()
    print("all is right")


main()
