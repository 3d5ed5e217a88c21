"""Whatever a program does, it goes on with the recorder as without it."""
import contextlib
import copy
import dataclasses
import io
import os
import pickle
import signal
import threading
from collections.abc import Mapping

import memsnap_record
import torch
from torch import nn
from torch.autograd.graph import disable_saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

WIDTH = 8


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Dropout(0.1)) for _ in range(3)))

    def forward(self, x):
        return self.blocks(x)


class Broken(Mapping):
    """A result that cannot be asked for all it holds."""

    def __init__(self, value):
        self.value = value

    def __getitem__(self, key):
        if key == "other":
            raise OSError(key)
        return self.value

    def __iter__(self):
        return iter(("value", "other"))

    def __len__(self):
        return 2


@dataclasses.dataclass
class Late:
    value: torch.Tensor
    other: int = 0

    def __getattribute__(self, name):
        if name == "other":
            raise RuntimeError(name)
        return object.__getattribute__(self, name)


class Wrapped(Net):
    def __init__(self, wrap):
        super().__init__()
        self.wrap = wrap

    def forward(self, x):
        return self.wrap(super().forward(x))


class NoConfig:
    def __getattr__(self, name):
        raise RuntimeError(name)


class Configured(Net):
    config = NoConfig()


class Functional(Net):
    """Uses transforms that allow no hooks of saved tensors."""

    def forward(self, x):
        x = super().forward(x)
        return x + torch.func.grad(lambda y: y.sin().sum())(x) + torch.func.vmap(lambda row: 2 * row)(x)


class Overwriting(Net):
    """Changes what autograd needs: an error, with and without the recorder."""

    def forward(self, x):
        x = super().forward(x).exp()
        x.add_(1)
        return x


def step(model, of=lambda result: result):
    loss = of(model(torch.randn(4, WIDTH))).square().mean()
    loss.backward()
    return loss.detach()


def steps(model, of=lambda result: result):
    return [step(model, of) for _ in range(3)]


def copy_within(model):
    copies = []
    for _ in range(2):
        loss = model(torch.randn(4, WIDTH)).square().mean()
        copies += [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
        loss.backward()
    return [step(copied) for copied in copies]


def disabled(model):
    with disable_saved_tensors_hooks("none here"):
        return steps(model)


class Count(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += 1
        return function(*args, **(kwargs or {}))


def count_across(model):
    """Begins a mode in the step that is recorded, and ends it later."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    loss = model(torch.randn(4, WIDTH)).mean()
    with Count() as mode:
        loss.backward()
        optimizer.step()
        before = mode.count
        torch.ones(2) + 1
        return [mode.count - before]


def align(model):
    """CTC, with lengths on the CPU and results on the GPU."""
    model = model.cuda()
    losses = []
    for _ in range(3):
        x = model(torch.randn(12, 2, WIDTH, device="cuda")).log_softmax(-1)
        labels = torch.ones(2, 5, dtype=torch.long, device="cuda")
        loss = nn.functional.ctc_loss(x, labels, torch.tensor([12, 10]), torch.tensor([5, 4]))
        loss.backward()
        losses.append(loss.detach().cpu())
    return losses


def traced(model):
    """Lets torch.jit.trace() run the model; it then compares the graphs of several runs."""
    model.eval()
    result = torch.jit.trace(model, torch.ones(4, WIDTH))(torch.ones(4, WIDTH))
    return [result.detach(), *steps(model)]


def compiled(model):
    """Compiles the model after the recorder has put its hooks, and runs what was compiled."""
    return steps(torch.compile(model, backend="eager"))


def in_threads(model):
    """Two threads run the model at the same time."""
    both, results = threading.Barrier(2), {}

    def run(number):
        both.wait()
        results[number] = model(torch.full((4, WIDTH), float(number)))
        both.wait()

    model.eval()
    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (results[0] + results[1]).sum().backward()
    return [results[number].detach() for number in range(2)]


def fail(model):
    try:
        return steps(model)
    except RuntimeError as error:
        return [str(error)[:60]]


PROGRAMS = [
    (Net, steps, True),
    (Net, copy_within, True),
    (Net, disabled, False),
    (Net, count_across, True),
    (Net, align, True),
    (Net, traced, True),
    (Net, compiled, False),
    (Net, in_threads, True),
    (Functional, steps, True),
    (Configured, steps, True),
    (Overwriting, fail, True),
    (lambda: nn.Sequential(nn.LazyLinear(WIDTH), nn.LazyLinear(2)), steps, True),
    (lambda: Wrapped(Broken), lambda model: steps(model, lambda result: result["value"]), True),
    (lambda: Wrapped(Late), lambda model: steps(model, lambda result: result.value), True),
]


def run(make, program, path=None):
    torch.manual_seed(0)
    model, rows = make(), []
    if path is None:
        result = program(model)
    else:
        with memsnap_record.layers(model, path) as recording:
            result = program(model)
        rows = recording.traces
    assert not _get_current_dispatch_mode_stack()
    assert not any(module._forward_hooks for module in model.modules())
    return [*result, torch.get_rng_state()], rows


def same(one, other):
    return len(one) == len(other) and all(
        torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in zip(one, other))


def main():
    for number, (make, program, has_rows) in enumerate(PROGRAMS):
        expected, _ = run(make, program)
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            found, rows = run(make, program, "harmless.json")
        assert same(expected, found), (number, expected, found)
        assert bool(rows) == has_rows, (number, told.getvalue())
        assert has_rows or "the recorder failed" in told.getvalue() or "torch.compile()" in told.getvalue(), \
            (number, told.getvalue())

    # a file that cannot be written
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        run(Net, steps, os.curdir)
    assert "cannot be written" in told.getvalue(), told.getvalue()
    run(Net, steps, os.path.join("new", "a.json"))
    assert os.path.exists(os.path.join("new", "a.json"))

    # within itself, and out of order
    model, before = Net(), signal.getsignal(signal.SIGTERM)
    one, other = (memsnap_record.layers(model, name) for name in ("one.json", "other.json"))
    for _ in range(2):
        with one, one:
            other.__enter__()
            steps(model)
        one.__enter__()
        other.__exit__(None, None, None)
        one.__exit__(None, None, None)
        with one:
            steps(model)
    assert one.traces and signal.getsignal(signal.SIGTERM) is before

    # a module that is never called
    told = io.StringIO()
    with contextlib.redirect_stderr(told), memsnap_record.layers(nn.ModuleList([model]), "list.json"):
        steps(model)
    assert "never called" in told.getvalue(), told.getvalue()
    print("all is right")


main()
