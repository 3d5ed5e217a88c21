"""Compares two steps with the Python of plans from a snapshot to two without, on the CPU, where values are computed.

A dry run of the program has to note the modules of each plan first, since lines are numbered by what allocates on the GPU."""
import json
import random
from contextlib import contextmanager
from pathlib import Path

import torch

ON_THE_CPU = {"aten._scaled_dot_product_efficient_attention": "aten._scaled_dot_product_flash_attention_for_cpu",
              "aten._scaled_dot_product_cudnn_attention": "aten._scaled_dot_product_flash_attention_for_cpu",
              "aten._scaled_dot_product_flash_attention": "aten._scaled_dot_product_flash_attention_for_cpu"}


def apply(code, model):
    """Runs the printed Python, and returns its names."""
    names = {"model": model}
    exec(compile(Path(code).read_text(), code, "exec"), names)
    return names


def note_modules(names, file):
    """Writes which modules the calls of a plan are, with their turns, when the model first runs."""
    find, found = names["Runs"].modules_of, []

    def modules_of(runs, part):
        modules = find(runs, part)
        found.append([[runs.names[module], turn] for module, turn in modules])
        Path(file).write_text(json.dumps(found))
        return modules

    names["Runs"].modules_of = modules_of


@contextmanager
def both(outer, inner):
    """Operators of the GPU's libraries need not run on the CPU."""
    with outer, inner:
        yield


def use_modules(names, file):
    noted = iter(json.loads(Path(file).read_text()))

    def modules_of(runs, _part):
        modules = {name: module for module, name in runs.names.items()}
        return [(modules[name], turn) for name, turn in next(noted)]

    names["Runs"].modules_of = modules_of
    names["both"] = both
    for call, operators in names.get("keep", {}).items():
        names["keep"][call] = [ON_THE_CPU.get(name, name) for name in operators]


def train(make, batch, code=None, calls=None):
    """Loss, gradients and buffers after each of two steps."""
    torch.manual_seed(0)
    model, loss = make(batch)
    model.train()
    if code:
        use_modules(apply(code, model), calls)
    steps = []
    for step in range(2):
        random.seed(step)
        torch.manual_seed(step)
        model.zero_grad()
        value = loss(model)
        value.backward()
        steps.append({"loss": value.detach(),
                      **{"gradient of " + name: item.grad.clone() for name, item in model.named_parameters() if item.grad is not None},
                      **{name: item.clone() for name, item in model.named_buffers()}})
    return steps


def difference(plain, planned):
    """The first tensor that differs, or None."""
    for before, after in zip(plain, planned):
        if before.keys() != after.keys():
            return min(before.keys() ^ after.keys())
        for name, tensor in before.items():
            size = tensor.double().abs().max().item() if tensor.numel() else 0.0
            if not torch.allclose(tensor.double(), after[name].double(), rtol=1e-3, atol=1e-5 * size + 1e-9, equal_nan=True):
                return name
    return None


def compare(make, batch, plans):
    """Prints for each plan's file "equal", or what differs. The file of its modules has .json behind its name."""
    plain = train(make, batch)
    for code in plans:
        try:
            print(code, difference(plain, train(make, batch, code, code + ".json")) or "equal", sep="\t", flush=True)
        except Exception as error:
            print(code, "%s: %s" % (type(error).__name__, str(error).splitlines()[0] if str(error) else ""), sep="\t", flush=True)
