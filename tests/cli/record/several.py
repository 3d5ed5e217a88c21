"""Plans of calls, as a snapshot has them: two runs of a model on one line, and two modules for one loss."""
import contextlib
import copy
import io

import memsnap_record
import torch
from torch import nn
from torch.utils import checkpoint

with open(__file__) as file:
    LINES = file.read().splitlines()
LINE = 1 + next(i for i, line in enumerate(LINES) if "x = block(x)" in line and "line" not in line)
HELPER = 1 + next(i for i, line in enumerate(LINES) if line.endswith("# the helper"))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.drop = nn.Linear(8, 32), nn.Linear(32, 8), nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.down(self.up(x).relu()))


class Encoder(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(blocks))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def train(models, compute):
    """The losses and gradients of three steps, and how many checkpoints ran."""
    count, original = [0], checkpoint.checkpoint

    def counted(*args, **kwargs):
        count[0] += torch._C._current_graph_task_id() == -1
        return original(*args, **kwargs)

    losses = []
    for module in (checkpoint, memsnap_record):
        module.checkpoint = counted
    for step in range(3):
        torch.manual_seed(step)
        count[0] = 0
        for model in models:
            model.zero_grad()
        loss = compute(*models)
        loss.backward()
        losses.append(loss.detach())
    return losses + [p.grad for model in models for p in model.parameters()], count[0]


def check(models, compute, plan, several, expected):
    plain = copy.deepcopy(models)
    apply = memsnap_record.checkpoint_calls_of_several if several else memsnap_record.checkpoint_calls
    apply(models if several else models[0], plan)
    torch.manual_seed(9)
    made, count = train(models, compute)
    for a, b in zip(made, train(plain, compute)[0]):
        torch.testing.assert_close(a, b)
    assert count == expected, (count, expected)


def on_one_line(model):
    x, y = model(a), model(b)
    return (x @ y.T).logsumexp(1).mean()


def two(first, second):
    return (first(a) @ second(b).T).logsumexp(1).mean()


def with_helper(first, second):
    x = first(a)
    return (x @ help_with(second).T).logsumexp(1).mean()


def help_with(model):
    return model(b)  # the helper


def check_allocations():
    """Allocations of the second model are counted from the first one's on, and tell its calls where numbers of calls do
    not, also if all lines of a file have moved. But a line of another file has not made the calls."""
    models = [Encoder(4).cuda(), Encoder(4).cuda()]
    x, made = torch.randn(4, 8).cuda(), []
    for _ in range(2):  # libraries allocate workspaces when they first run
        before = memsnap_record.allocations()
        models[0](x)
        made.append(memsnap_record.allocations() - before)
    each, total = made[-1] // 4, 2 * made[-1]
    plan = [[f"{name}:{line} [{k + 8}/16], allocations {(4 + k) * each + 1}-{(5 + k) * each} of {total}"]
            for name, line, k in (("several.py", LINE, 0), ("several.py", LINE - 2, 2), ("other.py", LINE, 3))]
    memsnap_record.checkpoint_calls_of_several(models, plan)
    train(models, lambda first, second: (first(x) @ second(x).T).logsumexp(1).mean())
    found = [[k for k, block in enumerate(model.blocks) if "forward" in vars(block)] for model in models]
    assert found == [[], [0, 2]], found


def check_lines():
    """A line that calls a model twice, and another line that calls it once: each run numbers its own calls. The first
    module gets no gradients."""
    model = nn.Sequential(nn.Flatten(), nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 8)).cuda()
    x, y, z = (torch.randn(4, 2, 4).cuda() for _ in range(3))

    def compute(model):
        first, second = model(x), model(y)
        together = first - second
        return (together * model(z)).square().mean()

    memsnap_record.checkpoint_calls_of_several(model, [
        ["run 0/2: model [3/6]", "run 0/2: model [4/6]", "run 0/2: model [5/6]"], ["run 1/2: model [0/3]"]])
    count = train([model], compute)[1]
    found = [sorted(module.forward.parts) for module in list(model)[1:]]
    assert (count, found) == (2, [[1, 2], [1], [1]]), (count, found)


class Coder(nn.Module):
    """A model that the step calls by other methods than forward()."""

    def __init__(self):
        super().__init__()
        self.inner = Encoder(2)

    def forward(self, x):
        return self.inner(x)


def told(models, plan, compute):
    """What is printed of a plan whose calls are not made."""
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        apply = memsnap_record.checkpoint_calls_of_several if len(models) > 1 else memsnap_record.checkpoint_calls
        apply(models if len(models) > 1 else models[0], plan)
        torch.manual_seed(9)
        for _ in range(8):  # several models look for calls in some steps, and then tell what they have not found
            compute(*models).backward()
    return printed.getvalue()


def check_told():
    """It tells which calls were expected, and which were made."""
    text = told([Encoder(3)], [[f"several.py:{LINE} [1/4]"]], lambda model: model(a).sum())
    assert f"(in Encoder, several.py:{LINE} makes 3 calls here, and 4 in the plan)" in text, text
    text = told([Encoder(3)], [["other.py:1 [1/4]"]], lambda model: model(a).sum())
    assert f"other.py:1 makes 0 calls here, and 4 in the plan; calls here: several.py:{LINE} (3))" in text, text
    text = told([Coder(), Encoder(2)], [["other.py:1 [0/2]"]], lambda coder, model: model(coder.inner(a)).sum())
    assert "the step did not call Coder but perhaps methods" in text, text
    assert "makes 0 calls here, and 2 in the plan" in text, text


torch.manual_seed(0)
a, b = torch.randn(4, 8), torch.randn(4, 8)
calls = [[f"several.py:{LINE} [{i}/8]", f"several.py:{LINE} [{i + 1}/8]"] for i in range(0, 8, 2)]
check([Encoder(4)], on_one_line, calls, False, 4)

# A list with one model twice is that model.
twice = Encoder(4)
check([twice, twice], lambda model, _: on_one_line(model), calls, True, 4)
check([Encoder(4), Encoder(4)], two, calls, True, 4)

# A snapshot takes a function that calls the second model for a part of the model.
inner = [f"several.py:{HELPER} > several.py:{LINE} [{k}/4]" for k in (1, 2)]
check([Encoder(4), Encoder(4)], with_helper, [calls[0], inner], True, 2)

# Modules that have checkpoints in the second run only are found in that run.
by_runs = [[f"run {run}/2: several.py:{LINE} [{k}/4]" for k in (2 * run, 2 * run + 1)] for run in range(2)]
check([Encoder(4), nn.Linear(8, 8)], lambda model, head: head(on_one_line(model) + a).square().mean(), by_runs, True, 2)

# A snapshot takes two modules of one class in a row for one.
check([nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))], lambda model: model(a).square().mean(),
      [["model [0/3]", "model [1/3]"]], False, 1)

# Steps in which a part of the plan is still looked for have the checkpoints that are found.
check([Encoder(4), Encoder(4)], two, [["other.py:1 [0/3]"], *calls], True, 4)
if torch.cuda.is_available():
    check_allocations()
    check_lines()
check_told()
print("all is right")
