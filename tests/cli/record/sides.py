"""The recorder in programs that are not a plain loop of steps."""
import threading

import memsnap_record
import torch
from torch import nn
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack


class Failing(nn.Module):
    fails = True

    def forward(self, x):
        if self.fails:
            raise RuntimeError("no memory")
        return x


def make():
    return nn.Sequential(*(nn.Sequential(nn.Linear(8, 8), nn.GELU()) for _ in range(3)))


def train(model):
    model(torch.randn(4, 8)).sum().backward()


def rows(recording):
    return [row["module_name"] for row in recording.traces]


def check_accumulation():
    """Gradients pile up over two runs: the second one is recorded. After zero_grad() the first one is."""
    model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(3)))
    size = sum(parameter.nbytes for parameter in model.parameters())
    for keeps in True, False:
        model.zero_grad()
        with memsnap_record.layers(model) as recording:
            for _ in range(3):
                model(torch.randn(4, 64)).sum().backward()
                if not keeps:
                    model.zero_grad()
        made = sum(row["gradient_bytes"] for row in recording.forward_traces)
        assert made == (0 if keeps else size), made
        before = recording.trace["before_bytes"]
        assert (before >= 2 * size) == keeps and before >= size, before
        assert sum(row["is_leaf"] for row in recording.forward_traces) == 3


def check_sampler():
    """Passes that take gradients of the input come before that of a training step, which is recorded."""
    for passes in 2, 6:
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with memsnap_record.layers(model) as recording:
            for _ in range(4):
                x = torch.randn(4, 8)
                for _ in range(passes):
                    x = torch.autograd.grad(model(x.requires_grad_()).sum(), x)[0].detach()
                (model(torch.randn(4, 8)).sum() - model(x).sum()).backward()
                optimizer.step()
                optimizer.zero_grad()
        found = [row["module_name"] for row in recording.forward_traces if row["is_leaf"]]
        assert len(found) == 12, (passes, found)  # two runs


def check_unused():
    """The recorder keeps no graph that the program drops."""
    model, grown = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid()), []
    for _ in range(2):
        with memsnap_record.layers(model) as recording:
            for _ in range(2):
                model(torch.randn(1024, 8))  # not used
            train(model)
        grown.append(recording.trace["peak_bytes"] - recording.trace["before_bytes"])
    assert max(grown) < 2 * 2 * 1024 * 8 * 4, grown  # of one run at a time


class Masked(nn.Module):
    """Has children, and a parameter of its own that the step does not use."""

    def __init__(self):
        super().__init__()
        self.mask, self.scale, self.linear = nn.Parameter(torch.zeros(4)), nn.Parameter(torch.ones(8)), nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x) * self.scale


def check_unused_parameters():
    model = nn.Sequential(Masked())
    with memsnap_record.layers(model) as recording:
        train(model)
    found = {row["module_name"]: row["gradient_bytes"] for row in recording.forward_traces if row["module_params"]}
    assert found == {"0": 4 * 8, "0.linear": 4 * (64 + 8)}, found


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x, before):
        return self.norm(x + before)


class Around(nn.Module):
    """Its result is that of a module which gets other arguments."""

    def __init__(self):
        super().__init__()
        self.linear, self.last = nn.Linear(8, 8), Last()

    def forward(self, x, mask=None, *, scale=None):
        return self.last(self.linear(x) * scale, x)


def check_rows_of_blocks():
    class Blocks(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(Around() for _ in range(3))

        def forward(self, x):
            scale = x.sum()
            for block in self.blocks:
                x = block(x, None, scale=scale)
            return x
    with memsnap_record.layers(Blocks()) as recording:
        train(recording.model)
    plain = {row["module_name"]: row["plain"] for row in recording.forward_traces if "plain" in row}
    assert [plain["blocks.%d" % number] for number in range(3)] == [False, True, True], plain
    assert not plain["blocks.1.last"]


def check_errors(expected):
    """A run that ends with an error, and another try in the same recording."""
    model = make()
    model.append(Failing())
    with memsnap_record.layers(model, "failed.json") as recording:
        try:
            train(model)
        except RuntimeError:
            pass
    assert recording.trace["failed_in"] == "forward of 3", recording.trace

    with memsnap_record.layers(model) as recording:
        try:
            train(model)
        except RuntimeError:
            Failing.fails = False
        train(model)
    assert [name for name in rows(recording) if name != "3"] == expected, rows(recording)
    assert "failed_in" not in recording.trace


def check_steps_in_backward(expected):
    """Optimizers that step in the backward pass."""
    model = make()
    optimizers = {parameter: torch.optim.SGD([parameter], 0.1) for parameter in model.parameters()}
    for parameter in model.parameters():
        parameter.register_hook(lambda gradient, parameter=parameter: [optimizers[parameter].step(), gradient][1])
    with memsnap_record.layers(model) as recording:
        train(model)
    assert rows(recording) == expected


def check_thread(expected):
    """The step runs in another thread."""
    model = make()
    with memsnap_record.layers(model) as recording:
        thread = threading.Thread(target=train, args=(model,))
        thread.start()
        thread.join()
    assert rows(recording) == expected


def check_transform(expected):
    """A transform of torch.func, which allows no hooks of saved tensors, is no step."""
    model = make()
    parameters, batch = dict(model.named_parameters()), torch.randn(4, 8)
    with memsnap_record.layers(model) as recording:
        torch.func.grad(lambda given: torch.func.functional_call(model, given, (batch,)).sum())(parameters)
        train(model)
    assert rows(recording) == expected


def check_wrapped():
    """A plan fits a model that is wrapped otherwise than the recorded one."""
    plan = {"schema": "memsnap.suggest/1", "apply": {"target": "modules", "parts": [{"modules": ["module.1"]}]}}
    for model in make(), nn.DataParallel(make()):
        memsnap_record.apply(model, plan)
        inner = getattr(model, "module", model)
        assert ["forward" in vars(module) for module in inner] == [False, True, False]
        train(model)
    plan["apply"]["parts"][0]["modules"] = ["1"]
    memsnap_record.apply(nn.DataParallel(make()), plan)

    plan["apply"]["parts"][0]["modules"] = ["4"]
    try:
        memsnap_record.apply(make(), plan)
    except ValueError as error:
        assert str(error) == "the model has no module 4", error
    else:
        raise AssertionError("a module that does not exist was found")


def main():
    check_rows_of_blocks()
    check_accumulation()
    check_sampler()
    check_unused()
    check_unused_parameters()

    model = make()
    recording = memsnap_record.layers(model)
    with recording:
        train(model)
    expected = rows(recording)
    assert len(expected) > 12, expected
    recording(train)(model)  # again, as a decorated function does that is called twice
    assert rows(recording) == expected

    check_errors(expected)
    check_steps_in_backward(expected)
    check_thread(expected)
    check_transform(expected)
    check_wrapped()
    assert not _get_current_dispatch_mode_stack()
    print("all is right")


main()
