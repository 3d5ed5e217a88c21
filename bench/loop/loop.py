#!/usr/bin/env python3
"""Does the Python that `memsnap suggest` prints run as it stands, and change nothing?

    bench/loop/loop.py MEMSNAP [MODEL]...

For each model of models.py and each request: records a layer trace, asks memsnap for a plan, runs the
printed Python on a copy of the model, and compares loss, gradients and the keys of the state dict of
two training steps with those of the model without checkpoints. Needs torch, torchvision and
transformers; prints a line for each plan, and exits with 1 if any plan failed."""
import copy
import json
import subprocess
import sys
import tempfile

import torch

from models import MODELS

REQUESTS = [
    ["--checkpoints", "2"],
    ["--checkpoints", "5"],
    ["--budget", "60%"],
    ["--budget", "35%"],
    ["--model", "rotor", "--budget", "50%"],
]


def run(model, inputs):
    torch.manual_seed(1)
    model.zero_grad(set_to_none=True)
    result = model(**inputs) if isinstance(inputs, dict) else model(inputs)
    loss = getattr(result, "loss", None)
    if loss is None:
        loss = result.square().mean()
    loss.backward()
    return loss.detach(), {name: p.grad for name, p in model.named_parameters()}


def size(value):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(map(size, value)) if isinstance(value, (tuple, list)) else 0


def record(model, inputs, path):
    """A trace as FairScale writes it: a row for each leaf module, with the size of its output."""
    rows = []

    def add(name, module, args, result):
        in_place = any(arg is result for arg in args)
        bytes_kept = 0 if in_place else size(result)
        rows.append({"module_name": name, "module_params": 0, "allocated": 0, "reserved": 0,
                     "is_forward": True, "all_gathered": 0, "cumul_all_gathered": 0,
                     "event": {"memory_diff": bytes_kept, "memory_activations": bytes_kept}})

    for name, module in model.named_modules():
        if not any(module.children()):
            module.register_forward_hook(
                lambda module, args, result, name=name: add(name, module, args, result))
    run(model, inputs)
    with open(path, "w") as file:
        json.dump({"traces": rows}, file)


def python_of(report):
    """The printed Python: from its first line to the explanation of the figures."""
    lines = report.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith(("from ", "# "))]
    ends = [i for i, line in enumerate(lines) if line.startswith("Basis of these figures")]
    return "\n".join(lines[starts[0]:ends[0]]) if starts and ends else None


def same(expected, found):
    (loss, gradients), (other_loss, others) = expected, found
    return torch.allclose(loss, other_loss) and all(
        (gradient is None) == (others[name] is None)
        and (gradient is None or torch.allclose(gradient, others[name], atol=1e-6))
        for name, gradient in gradients.items())


def judge(code, model, inputs):
    plain, checkpointed = copy.deepcopy(model), copy.deepcopy(model)
    names = {"model": checkpointed}
    expected = [run(plain, inputs), run(plain, inputs)]
    try:
        exec(code, names)
        found = [run(checkpointed, inputs), run(checkpointed, inputs)]
    except Exception as error:
        return f"FAIL: {type(error).__name__}: {str(error).splitlines()[0]}"
    if not all(map(same, expected, found)):
        return "FAIL: loss or gradients differ"
    if list(plain.state_dict()) != list(checkpointed.state_dict()):
        return "FAIL: the keys of the state dict differ"
    parts = names.get("parts", [])
    return f"ok, {sum(part.is_chain for part in parts)} chains of {len(parts)} parts"


def main():
    memsnap, wanted = sys.argv[1], sys.argv[2:] or list(MODELS)
    failed = 0
    for name in wanted:
        torch.manual_seed(0)
        model, inputs = MODELS[name]()
        with tempfile.TemporaryDirectory() as folder:
            trace = folder + "/trace.json"
            record(copy.deepcopy(model), inputs, trace)
            for request in REQUESTS:
                report = subprocess.run([memsnap, "suggest", *request, trace],
                                        capture_output=True, text=True)
                code = python_of(report.stdout)
                verdict = judge(code, model, inputs) if code else "no plan"
                failed += verdict.startswith("FAIL")
                print(f"{name:12} {' '.join(request):28} {verdict}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
