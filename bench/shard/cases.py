"""Trains models with plans that memsnap shard prints, each in a process of its own: cases.py CASES RESULTS

CASES is JSON: a list of objects with name, model, plan, is_half (the batch has 16 bits), passes (of gradient
accumulation), keeps_gradients, state_bytes (of an optimizer that takes the place of SGD), and units (names of modules:
kinds.py then watches a fourth step). RESULTS gets a line for each: the peak of requested bytes in the first step and in the
next two, and the bytes on the host between backward and the optimizer's step, and after it.
"""
import gc
import json
import os
import sys
import time
import traceback

import torch
import torch.distributed as dist

from kinds import Watch
from models import call, make_model
from program import load

PEAK = "requested_bytes.all.peak"


def peak():
    torch.cuda.synchronize()
    found = torch.cuda.memory_stats()[PEAK]
    torch.cuda.reset_peak_memory_stats()
    return found


def settle():
    """Makes NCCL's process group forget tensors that it need not keep, such as the parameters from before the first step of
    ShardedDataParallel. Its thread looks every 0.1 s, and the next collective then lets go of them. Steps of a dry run take
    less, and a model without buffers has no collective before the end of its forward pass."""
    time.sleep(0.3)
    dist.all_reduce(torch.zeros(1, device="cuda"))
    gc.collect()


def local(tensor):
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def tensors_of(value):
    """The tensors of optimizer state, in dictionaries, or of bitsandbytes."""
    if isinstance(value, torch.Tensor):
        yield local(value)
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_of(item)


def held(model, optimizer, device):
    """Bytes of distinct storages of parameters, gradients and optimizer state."""
    found = {}
    for kind, tensors in (("parameters", model.parameters()), ("gradients", (p.grad for p in model.parameters())),
                          ("state", tensors_of(list(optimizer.state.values())))):
        storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
                    for tensor in map(local, (t for t in tensors if t is not None)) if tensor.device.type == device}
        found[kind] = sum(storages.values())
    return found


def leave_out_kernels(plan):
    """Kernels of bitsandbytes are no part of PyTorch, and need a GPU. They allocate nothing."""
    if hasattr(plan, "bitsandbytes"):
        for name in ("optimizer_update_8bit_blockwise", "optimizer_update_32bit"):
            setattr(plan.bitsandbytes.functional, name, lambda *arguments, **named: None)


class Stored(torch.optim.Optimizer):
    """An optimizer with a number of bytes for each parameter, and no temporaries."""
    bytes = 0

    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None and p not in self.state:
                    self.state[p] = torch.zeros(local(p).numel() * self.bytes, dtype=torch.uint8, device=local(p).device)
                if p.grad is not None:
                    p.add_(p.grad, alpha=-group["lr"])


class Begun:
    """A reduction that has begun, and is done when somebody asks for the second time. A dry run's collectives take no time,
    but on a GPU none ends in the hook that starts it. Waiting also makes NCCL's process group forget the tensor, which it
    would keep until its thread looks, every 0.1 s: that is longer than a step of a dry run."""
    def __init__(self, work):
        self.work, self.is_asked = work, False

    def is_completed(self):
        was_asked, self.is_asked = self.is_asked, True
        if was_asked:
            self.work.wait()
        return was_asked

    def wait(self):
        return self.work.wait()


def slow_reductions():
    start = dist.reduce

    def reduce(*arguments, **named):
        work = start(*arguments, **named)
        return work and Begun(work)

    dist.reduce = reduce


def run(case):
    torch.manual_seed(0)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    slow_reductions()
    model, batch, loss_from = make_model(case["model"])
    plan = load(case["plan"])
    leave_out_kernels(plan)
    watch = Watch(model, case["units"]) if "units" in case else None
    if case.get("state_bytes"):
        Stored.bytes = case["state_bytes"]
        torch.optim.SGD = Stored
    model, optimizer = plan.shard(model.cuda(), 1e-3)
    host, kept = {}, []

    def loss_of(model, inputs):
        if case["is_half"] and torch.is_tensor(inputs) and inputs.is_floating_point():
            inputs = inputs.bfloat16() if case["is_half"] == "bfloat16" else inputs.half()
        kept.clear()
        outputs = call(model, inputs)
        kept.append(outputs)  # until the step has ended, as in program.py
        return loss_from(outputs)

    step_of = optimizer.step

    def watched(*arguments, **named):
        host["before_step"] = held(model, optimizer, "cpu")
        if watch and watch.is_on:
            watch.before_update()
        result = step_of(*arguments, **named)
        if watch and watch.is_on:
            watch.after_update()
        host["after_step"] = held(model, optimizer, "cpu")
        host["device"] = held(model, optimizer, "cuda")
        return result

    optimizer.step = watched

    def step():
        if case["passes"] > 1:
            plan.train_step(model, optimizer, [batch() for _ in range(case["passes"])], loss_of)
        else:
            inputs = batch()
            loss_of(model, inputs).backward()
            optimizer.step()
            optimizer.zero_grad(**({"set_to_none": False} if case["keeps_gradients"] else {}))
        kept.clear()

    step()
    settle()
    first = peak()
    step()
    settle()
    step()
    result = {"first": first, "later": peak(), "host": host}
    if watch:
        watch.begin(model, optimizer)
        step()
        result["watched"] = watch.finish()
    return result


def run_alone(case):
    """In a process of its own."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = run(case)
        except BaseException as failure:
            traceback.print_exc()
            result = {"failure": ("%s: %s" % (type(failure).__name__, failure)).splitlines()[0][:300]}
        os.write(writable, json.dumps(dict(result, name=case["name"])).encode())
        sys.stderr.flush()
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"name": case["name"], "failure": "the process died"}


def main():
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    for case in cases:
        result = run_alone(case)
        with open(sys.argv[2], "a") as out:
            print(json.dumps(result), file=out)


main()
