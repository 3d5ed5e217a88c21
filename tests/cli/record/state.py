"""What checkpoints must mind in a model that is more than a function of its input."""
import contextlib
import copy
import warnings

import memsnap_record
import torch
from torch import nn


def train(model, batch):
    torch.manual_seed(1)
    model.zero_grad()
    model(batch).square().mean().backward()
    return {**model.state_dict(), **{"gradient of " + name: item.grad for name, item in model.named_parameters()}}


def plan_of(*parts):
    return {"schema": "memsnap.suggest/1",
            "apply": {"target": "modules", "parts": [{"modules": list(part)} for part in parts]}}


def assert_same(tensors, others):
    assert tensors.keys() == others.keys()
    for name, tensor in tensors.items():
        assert torch.allclose(tensor, others[name], atol=1e-6), name


def compare(make, batch, *parts):
    torch.manual_seed(0)
    plain, checkpointed = (make() for _ in range(2))
    checkpointed.load_state_dict(plain.state_dict())
    made = memsnap_record.apply(checkpointed, plan_of(*parts))
    for _ in range(3):
        assert_same(train(plain, batch), train(checkpointed, batch))
    return plain, checkpointed, made


class Counting(nn.Module):
    """Averages its input in a buffer, counts its calls, and makes a tensor when it first runs."""

    def __init__(self):
        super().__init__()
        self.linear, self.calls, self.scale, self.last = nn.Linear(16, 16), 0, None, None
        self.register_buffer("mean", torch.zeros(16))
        self.register_buffer("codes", torch.ones(16))
        self.register_buffer("spread", torch.zeros(16))

    def forward(self, x):
        self.calls += 1
        if self.scale is None:
            self.scale = torch.full((), 0.5)
        self.mean.lerp_(x.detach().mean(0), 0.5)
        self.codes = self.codes + self.mean
        self.spread.data.lerp_(x.detach().std(0), 0.5)  # which leaves the version of the buffer as it is
        x = (self.linear(x - self.mean) * self.codes / self.calls + self.spread).tanh()
        self.last = x.detach()
        return x * self.scale


class Collecting(nn.Module):
    """Hooks its layers when it first runs, and uses what the hooks collect."""

    def __init__(self):
        super().__init__()
        self.layers, self.head = nn.Sequential(*(Counting() for _ in range(3))), nn.Linear(48, 8)
        self.is_hooked, self.seen = False, []

    def forward(self, x):
        if not self.is_hooked:
            for layer in self.layers:
                layer.register_forward_hook(lambda _module, _args, result: self.seen.append(result))
            self.is_hooked = True
        self.seen.clear()
        self.layers(x)
        return self.head(torch.cat(self.seen, 1))


class Skipping(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.skipped = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(4)), None

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            if number != self.skipped:
                x = layer(x)
        return x


class Asking(nn.Module):
    """Asks about a result between two modules: of the first two, the last one has the same answers."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 8)

    def forward(self, x):
        x = self.a(x)
        rows, _ = x.shape
        x = self.b(x)
        return self.c(x) * rows + x.size(1)


class Mixing(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x, k, scale=1.0):
        return (self.linear(x) * scale).tanh()[k]


class Ordered(nn.Module):
    """Of what the first module gets beside its input, the next one gets nothing, and the third one only a part."""

    def __init__(self):
        super().__init__()
        self.one, self.norm, self.two = Mixing(), nn.LayerNorm(16), Mixing()
        self.register_buffer("order", torch.randperm(8))

    def forward(self, x):
        return self.two(self.norm(self.one(x, k=self.order, scale=2.0)), self.order)


class Gathered(nn.Linear):
    """Its weight is an attribute while it is gathered, as in FSDP, and a parameter at other times."""

    def gather(self, *_):
        if "weight" in self._parameters:
            vars(self)["weight"] = self._parameters.pop("weight")

    def release(self, *_):
        if "weight" in vars(self):
            self._parameters["weight"] = vars(self).pop("weight")


class Prefetching(nn.Module):
    """Gathers weights before each forward, and in the backward pass before they are needed."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(Gathered(16, 16, bias=False), nn.Tanh(), Gathered(16, 16, bias=False))
        for layer in self.block[::2]:
            layer.register_forward_pre_hook(Gathered.gather)
            layer.register_forward_hook(Gathered.release)

    def forward(self, x):
        x = self.block(x)
        x.register_hook(self.prefetch)
        return x

    def prefetch(self, _gradient):
        for layer in self.block[::2]:
            layer.gather()
            torch.autograd.Variable._execution_engine.queue_callback(layer.release)


def fails(model, batch, words):
    try:
        train(model, batch)
    except RuntimeError as error:
        assert words in str(error) and "one_by_one=True" in str(error), error
    else:
        raise AssertionError(words)


def make_blocks():
    return nn.Sequential(*(Counting() for _ in range(4)))


def check_counters(batch):
    plain, checkpointed, _ = compare(make_blocks, batch, ["0"], ["1", "2", "3"])
    assert [block.calls for block in plain] == [3] * 4
    assert [block.calls for block in checkpointed] in ([3] * 4, [3, 4, 4, 4])

    # a copy, as an average of the weights needs it, runs itself and not the model that it is a copy of
    average = copy.deepcopy(checkpointed)
    for parameter in checkpointed.parameters():
        parameter.data.zero_()
    assert_same(train(plain, batch), train(average, batch))


def check_data_parallel(batch):
    """Copies of modules on other GPUs would run the modules of the first."""
    for name in "0", "1":
        model = nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16))
        memsnap_record.apply(model, plan_of([name]))
        model(batch)
        try:
            getattr(model, name)._replicate_for_data_parallel()
        except RuntimeError as error:
            assert "DistributedDataParallel" in str(error), error
        else:
            raise AssertionError(name)


def check_order(batch):
    _, _, made = compare(Ordered, batch, ["one", "norm", "two"])
    assert made[0].is_chain


def check_hooks(batch):
    compare(Collecting, batch, ["layers.0", "layers.1"], ["layers.2"])
    compare(lambda: nn.Sequential(Collecting(), nn.Tanh()), batch, ["0", "1"])

    # a hook that stores a result when the block runs again stores none of its graph
    stored = []
    model = nn.Sequential(nn.Sequential(nn.Linear(16, 16), nn.Tanh()), nn.Linear(16, 16))
    model[0][0].register_forward_hook(lambda _module, _args, result: stored.append(result))
    memsnap_record.apply(model, plan_of(["0"]))
    model(batch).square().mean().backward()
    assert [result.grad_fn is None for result in stored] == [False, True], stored


def check_gathered(batch):
    compare(Prefetching, batch, ["block"])
    compare(Prefetching, batch, ["block.0"], ["block.1", "block.2"])


def check_flags(batch):
    """A program that turns dropout off before the backward pass."""
    model = nn.Sequential(nn.Linear(16, 16), nn.Dropout(), nn.Tanh(), nn.Linear(16, 16))
    gradients = []
    for apply in False, True:
        if apply:
            memsnap_record.apply(model, plan_of(["1"], ["2", "3"]))
        model.train()
        model.zero_grad()
        torch.manual_seed(1)
        loss = model(batch).square().mean()
        model.eval()
        loss.backward()
        gradients.append({name: item.grad.clone() for name, item in model.named_parameters()})
    assert_same(*gradients)


def check_skipped(batch):
    """Layers that do not run in each step: no wrong result, but an error if they have run in a checkpoint already."""
    plain, checkpointed, parts = compare(Skipping, batch, ["layers.0", "layers.1"], ["layers.2", "layers.3"])
    assert all(part.is_chain for part in parts)
    for skipped, words in (1, "layers.1 was skipped"), (3, "layers.3 was skipped"):
        checkpointed.skipped = skipped
        fails(checkpointed, batch, words)
    plain.skipped = checkpointed.skipped = 0
    assert torch.equal(plain(batch), checkpointed(batch))
    plain.skipped = checkpointed.skipped = None
    assert_same(train(plain, batch), train(checkpointed, batch))

    single = Skipping()
    single.load_state_dict(plain.state_dict())
    memsnap_record.apply(single, plan_of(["layers.0", "layers.1"]), one_by_one=True)
    for model in plain, single:
        model.skipped = 1
    plain.zero_grad(), single.zero_grad()
    assert (plain(batch) == single(batch)).all()


def check_alone(batch):
    """A program that calls a module of a row by itself, or gives it a hook, gets its own result."""
    plain, checkpointed, (part,) = compare(Skipping, batch, ["layers.0", "layers.1", "layers.2"])
    assert part.is_chain
    for k in range(3):
        assert torch.equal(plain.layers[k](batch), checkpointed.layers[k](batch))
    assert_same(train(plain, batch), train(checkpointed, batch))
    seen = [], []
    for results, model in zip(seen, (plain, checkpointed)):
        handles = [layer.register_forward_hook(lambda _module, _args, result, results=results: results.append(result.detach()))
                   for layer in model.layers]
        train(model, batch)
        for handle in handles:
            handle.remove()
    assert len(seen[0]) == len(seen[1]) == 4 and all(map(torch.equal, *seen))
    assert_same(train(plain, batch), train(checkpointed, batch))

    # a step that fails leaves nothing behind
    handle = checkpointed.layers[3].register_forward_pre_hook(lambda _module, _args: 1 / 0)
    with contextlib.suppress(ZeroDivisionError):
        train(checkpointed, batch)
    handle.remove()
    assert torch.equal(plain.layers[0](batch), checkpointed.layers[0](batch))
    assert_same(train(plain, batch), train(checkpointed, batch))


def check_questions(batch):
    """A program that asks for the shape of a result between two modules."""
    _, _, parts = compare(Asking, batch, ["a", "b"])
    assert parts[0].is_chain
    _, _, parts = compare(Asking, batch, ["a", "b", "c"])
    assert not parts[0].is_chain


def make_scripted():
    return nn.Sequential(*(torch.jit.script(nn.Sequential(nn.Linear(16, 16), nn.GELU())) for _ in range(3)))


def check_scripted(batch):
    compare(make_scripted, batch, ["0"], ["1", "2"])
    model = make_scripted()
    with memsnap_record.layers(model) as recording:
        train(model, batch)
    names = [row["module_name"] for row in recording.traces if row["is_forward"]]
    assert names[:4] == ["0", "1", "2", ""], names
    assert not torch.nn.modules.module._global_forward_pre_hooks and not torch.nn.modules.module._global_forward_hooks


def make_compiled():
    modules = [nn.Sequential(nn.Linear(16, 16), nn.GELU()) for _ in range(3)]
    for module in modules:
        module.compile(backend="eager")
    return nn.Sequential(*modules)


def check_compiled(batch):
    compare(make_compiled, batch, ["0"], ["1", "2"])

    # a model that is compiled after its plan, and never ran before
    plain = Skipping()
    checkpointed = copy.deepcopy(plain)
    (part,) = memsnap_record.apply(checkpointed, plan_of(["layers.0", "layers.1", "layers.2"]))
    found = train(torch.compile(checkpointed, backend="aot_eager"), batch)
    assert part.is_chain
    assert_same(train(plain, batch), {name.replace("_orig_mod.", ""): tensor for name, tensor in found.items()})

    # what compiled code keeps cannot be chosen
    modules = [nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.LayerNorm(16)) for _ in range(3)]
    plain = nn.Sequential(*(torch.compile(module, backend="aot_eager") for module in modules))
    plan = plan_of(["0"], ["1", "2"])
    plan["apply"]["parts"][1]["keep_operators"] = ["aten.addmm"]
    model = copy.deepcopy(plain)
    memsnap_record.apply(model, plan)
    for _ in range(2):
        assert_same(train(plain, batch), train(model, batch))


def main():
    warnings.simplefilter("ignore")
    batch = torch.randn(8, 16)
    check_counters(batch)
    check_order(batch)
    check_hooks(batch)
    check_gathered(batch)
    check_flags(batch)
    check_data_parallel(batch)
    check_skipped(batch)
    check_alone(batch)
    check_questions(batch)
    check_scripted(batch)
    if memsnap_record.VERSION >= (2, 6):
        check_compiled(batch)
    print("all is right")


main()
