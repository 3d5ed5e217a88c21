"""Plans of snapshots name lines of code, or calls of modules by the lines that make them."""
import os
import sys
import tempfile

import memsnap_record
import program_model
import torch
from compared import IS_SELECTIVE, Counted, CountRuns, compare, fails, plan_of, replaced
from torch import nn

ADDMM = {"keep_operators": ["aten.addmm"]}


def line(words):
    """The line of the program that has these words."""
    lines = open(program_model.__file__).read().splitlines()
    return "program_model.py:%d" % (1 + next(number for number, text in enumerate(lines) if words in text))


def compare_program(plan):
    """Returns the names of the modules whose forward was replaced."""
    return replaced(compare(program_model.Model(), torch.randint(0, 1000, (8, 32)), plan)[1])


def check_lines():
    """Of the loop over the blocks, of a block, and one where no module runs."""
    loop, block, tokens = (line(words) + " forward" for words in ("x = block(x)", "return x + self.inner", "def __init__"))
    plan = plan_of({"modules": [loop + " [0]"]}, {"modules": [block + " [1]", block + " [2]"]}, {"modules": [tokens]},
                   target="lines")
    names = compare_program(plan)
    assert names == ["blocks.0", "blocks.1", "blocks.2"], names

    # which module runs in a loop within a loop is not known
    names = compare_program(plan_of({"modules": [loop + " [0][1]"]}, {"modules": [loop + " [2]"]}, target="lines"))
    assert names == ["blocks.2"], names

    # what runs outside of modules is left out of a part; so is the model itself
    part = {"modules": [tokens + " (2)", loop + " [0]", loop + " [1]"]}
    names = compare_program(plan_of(part, target="lines"))
    assert names == ["blocks.0", "blocks.1"], names
    if IS_SELECTIVE:
        compare_program(plan_of({**part, **ADDMM}, target="lines"))
        fails(RuntimeError, "aten.bmm_ does not run", compare_program,
              plan_of({**part, "keep_operators": ["aten.bmm_"]}, target="lines"))


def check_calls():
    """Calls of modules, those of a Sequential in one of the blocks, and one that the program does not make."""
    block, inner = line("x = block(x)"), line("return x + self.inner")
    names = compare_program(plan_of(
        {"modules": [block + " [0/3]", block + " [1/3]"]},
        {"modules": [block + " [2/3] > " + inner + " [%d/4]" % k for k in (1, 2, 3)]},
        {"modules": [block + " [0/5]"]}, target="calls"))
    assert names == ["blocks.0", "blocks.1", *("blocks.2.inner.%d" % k for k in (0, 1, 2))], names


def check_repeated():
    """The model is a Sequential; each call of a module that runs several times has a checkpoint of its own, or none."""
    twice = Counted()
    model = nn.Sequential(nn.Linear(16, 16), twice, nn.Linear(16, 16), twice, twice, nn.Linear(16, 16))
    _, model = compare(model, torch.randn(8, 16), plan_of(
        {"modules": ["model [%d/6]" % k for k in (1, 2)]}, {"modules": ["model [4/6]", "model [5/6]"]},
        {"modules": ["model [0/6]"]}, target="calls"))
    assert replaced(model) == ["0", "1", "2", "5"] and sorted(model[1].forward.parts) == [0, 2], replaced(model)
    assert model[1].runs == 3 * 3 + 2 * (3 + 2), model[1].runs  # three trials; in a step, two of the three run again


def check_runs():
    """Each run of the model in a step has checkpoints of its own."""
    layers = nn.Linear(16, 16), nn.Dropout(), nn.Linear(16, 16)
    _, model = compare(nn.Sequential(*layers), [torch.randn(8, 16), torch.randn(8, 16)], plan_of(
        {"modules": ["run 0/2: model [0/3]", "run 0/2: model [1/3]"]}, {"modules": ["run 1/2: model [2/3]"]},
        target="calls"))
    assert [sorted(layer.forward.parts) for layer in model] == [[0], [0], [1]], replaced(model)


def check_package():
    """A package may wrap the calls of its modules in a method of its own, which is not the line that makes them."""
    folder = os.path.join(tempfile.mkdtemp(), "site-packages")
    os.mkdir(folder)
    with open(os.path.join(folder, "wrapping.py"), "w") as file:
        file.write("import torch\n\nclass Layer(torch.nn.Linear):\n"
                   "    def __call__(self, *args):\n        return super().__call__(*args)\n")
    sys.path.insert(0, folder)
    import wrapping
    model = program_model.Model()
    model.blocks = nn.ModuleList(wrapping.Layer(64, 64) for _ in range(3))
    _, model = compare(model, [torch.randint(0, 1000, (8, 32)), torch.randint(0, 1000, (8, 16))], plan_of(
        {"modules": [line("x = block(x)") + " [1/6]", line("x = block(x)") + " [2/6]"]},
        {"modules": [line("x = block(x)") + " [3/6]"]}, target="calls"))
    assert [sorted(getattr(block.forward, "parts", ())) for block in model.blocks] == [[1], [0], [0]], replaced(model)


def check_kept_in_place():
    """Results that are changed in place are not kept."""
    compare(nn.Sequential(nn.Linear(16, 16), nn.ReLU(inplace=True), Counted()), torch.randn(8, 16), plan_of(
        {"modules": ["model [0/3]", "model [1/3]"], **ADDMM}, {"modules": ["model [2/3]"], **ADDMM}, target="calls"))

    # of three results in one checkpoint, only the one that is changed runs again
    layers = nn.Linear(16, 16), nn.Linear(16, 16), nn.ReLU(inplace=True), nn.Linear(16, 16)
    _, model = compare(nn.Sequential(*layers), torch.randn(8, 16),
                       plan_of({"modules": ["model [%d/4]" % k for k in range(4)], **ADDMM}, target="calls"))
    with CountRuns("aten.addmm") as runs:
        result = model(torch.randn(8, 16))
        before = runs.count
        result.sum().backward()
    assert (before, runs.count - before) == (3, 1), (before, runs.count)


def check_allocations():
    """Numbers of allocations tell where those of calls do not."""
    layers = [nn.Sequential(nn.PReLU(), nn.ReLU(inplace=True)) for _ in range(4)]
    model = nn.Sequential(nn.Sequential(*layers[:2]), nn.Sequential(*layers[2:])).cuda()
    memsnap_record.apply(model, plan_of(
        {"modules": ["model [7/9], allocations 1-2 of 4"]}, {"modules": ["model [0/4], allocations 4-4 of 4"]},
        {"modules": ["model [2/4], allocations 3-3 of 5"]}, target="calls"))
    with torch.no_grad():
        model(torch.zeros(8, 16, device="cuda"))
    assert replaced(model) == []  # until it runs with gradients
    model(torch.zeros(8, 16, device="cuda"))
    assert replaced(model) == ["0", "1.0.0", "1.0.1", "1.1"], replaced(model)


def check_allocations_before_others():
    """A model that makes more or fewer allocations behind a call is still known to make that call, by its line."""
    layers = [nn.Sequential(nn.PReLU(), nn.ReLU(inplace=True)) for _ in range(4)]
    model = nn.Sequential(nn.Sequential(*layers[:2]), nn.Sequential(*layers[2:])).cuda()
    memsnap_record.apply(model, plan_of(
        {"modules": ["model [7/9], allocations 3-3 of 6"]}, {"modules": ["other.py:1 [7/9], allocations 4-4 of 6"]},
        target="calls"))
    model(torch.zeros(8, 16, device="cuda"))
    assert replaced(model) == ["1.0"], replaced(model)


class Residual(nn.Module):
    """Two lines, each with a sum: no chain. `more` allocations are its own, too."""

    def __init__(self, more):
        super().__init__()
        self.one, self.two = (nn.Sequential(nn.PReLU(), nn.PReLU()) for _ in range(2))
        self.more = more

    def forward(self, x):
        x = x + self.one(x)
        for _ in range(self.more):
            x = x * 2
        return x + self.two(x)


def check_blocks():
    """Calls that are all that a module makes have the checkpoint of that module, but not if it makes more by itself."""
    for more, expected in (1, ["0"]), (2, ["0.one", "0.two"]):
        model = nn.Sequential(Residual(more), nn.PReLU()).cuda()
        total = 7 + more
        memsnap_record.apply(model, plan_of({"modules": [
            f"a.py:1, allocations 1-2 of {total}", f"a.py:2, allocations {4 + more}-{5 + more} of {total}"]}, target="calls"))
        model(torch.zeros(8, 16, device="cuda"))
        assert replaced(model) == expected, replaced(model)


def main():
    torch.manual_seed(0)
    check_lines()
    check_calls()
    check_repeated()
    check_runs()
    check_package()
    if IS_SELECTIVE:
        check_kept_in_place()
    if torch.cuda.is_available():
        check_allocations()
        check_allocations_before_others()
        check_blocks()
    print("all is right")


main()
