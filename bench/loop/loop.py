#!/usr/bin/env python3
"""Do plans of `memsnap suggest` run as they stand, and change nothing?

    bench/loop/loop.py MEMSNAP [MODEL]...

For each model of models.py: records a trace in FairScale's format and one with memsnap_record. For each request: asks
memsnap for a plan, runs the printed Python on a copy of the model, and memsnap_record.apply() on another. Compares
loss, gradients, buffers and the keys of the state dict of two training steps with those of the model without
checkpoints. Needs torch, torchvision and transformers; prints a line for each plan, and exits with 1 if any failed."""
import copy
import json
import os
import subprocess
import sys
import tempfile

import torch

from models import MODELS

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../share/record"))
import memsnap_record

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
    return (loss.detach(), {name: p.grad for name, p in model.named_parameters()},
            {name: buffer.clone() for name, buffer in model.named_buffers()})


def size(value):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(map(size, value)) if isinstance(value, (tuple, list)) else 0


def record_as_fairscale(model, inputs, path):
    """A row for each leaf module, with the size of its output."""
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


def record(model, inputs, path):
    with memsnap_record.layers(model, path):
        run(model, inputs)


def python_of(report):
    """The printed Python: from its first line to the explanation of the figures."""
    lines = report.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith(("names = [", "# "))]
    ends = [i for i, line in enumerate(lines) if line.startswith("Basis of these figures")]
    return "\n".join(lines[starts[0]:ends[0]]) if starts and ends else None


def same(expected, found):
    (loss, gradients, buffers), (other_loss, others, other_buffers) = expected, found
    return torch.allclose(loss, other_loss) and all(
        (gradient is None) == (others[name] is None)
        and (gradient is None or torch.allclose(gradient, others[name], atol=1e-6))
        for name, gradient in gradients.items()) and all(
        torch.allclose(buffer, other_buffers[name]) for name, buffer in buffers.items())


def judge(apply, model, inputs):
    plain, checkpointed = copy.deepcopy(model), copy.deepcopy(model)
    expected = [run(plain, inputs), run(plain, inputs)]
    try:
        parts = apply(checkpointed)
        found = [run(checkpointed, inputs), run(checkpointed, inputs)]
    except Exception as error:
        return f"FAIL: {type(error).__name__}: {str(error).splitlines()[0]}"
    if not all(map(same, expected, found)):
        return "FAIL: loss, gradients or buffers differ"
    if list(plain.state_dict()) != list(checkpointed.state_dict()):
        return "FAIL: the keys of the state dict differ"
    return f"ok, {sum(part.is_chain for part in parts)} chains of {len(parts)} parts"


def suggest(memsnap, request, trace):
    result = subprocess.run([memsnap, "suggest", *request, trace], capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else None


def print_verdicts(memsnap, request, trace, model, inputs):
    """Prints a line for each way to apply the plan. Returns how many failed."""
    code = python_of(suggest(memsnap, request, trace) or "")
    if not code:
        print("no plan", flush=True)
        return 0

    def run_printed(model):
        variables = {"model": model}
        exec(code, variables)
        return variables.get("parts", [])

    plan = json.loads(suggest(memsnap, [*request, "--format", "json"], trace))
    verdicts = [judge(run_printed, model, inputs),
                judge(lambda model: memsnap_record.apply(model, plan), model, inputs)]
    print(f"{verdicts[0]:32} apply: {verdicts[1]}", flush=True)
    return sum(verdict.startswith("FAIL") for verdict in verdicts)


def main():
    memsnap, wanted = sys.argv[1], sys.argv[2:] or list(MODELS)
    failed = 0
    for name in wanted:
        torch.manual_seed(0)
        model, inputs = MODELS[name]()
        for recorder in (record_as_fairscale, record):
            with tempfile.TemporaryDirectory() as folder:
                trace = folder + "/trace.json"
                recorder(copy.deepcopy(model), inputs, trace)
                for request in REQUESTS:
                    print(f"{name:12} {recorder.__name__:20} {' '.join(request):28} ", end="")
                    failed += print_verdicts(memsnap, request, trace, model, inputs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
