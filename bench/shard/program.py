"""Trains a model on one device or sharded: program.py MODEL OPTIMIZER [--plan FILE | --layers FILE] [--tracker FILE --units NAMES] [--half]

A plan is the Python that memsnap shard prints. --layers records the model's layers with memsnap_record. --tracker
writes the peaks that FSDPMemTracker, or MemTracker, of torch.distributed._tools finds in the second step, and those of
the allocator in the third one, while each of the modules NAMES (JSON) runs. With --half parameters and batch are bfloat16.
"""
import argparse
import contextlib
import importlib.util
import json
import os
from functools import partial

import torch
import torch.distributed as dist

from models import MODELS, call, make_model


def plain(model, lr, optimizer):
    if optimizer == "adam":
        return model, torch.optim.Adam(model.parameters(), lr=lr)
    return model, torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)


def load(path):
    spec = importlib.util.spec_from_file_location("plan", path)
    plan = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plan)
    return plan


class ModulePeaks:
    """The allocator's peaks of requested bytes while modules run, in both passes. A module whose inputs need no gradient
    has no hook at the end of its backward: it runs until another one does, or backward ends."""
    def __init__(self, model, names):
        self.running, self.peaks = "", {}
        for name, module in model.named_modules():
            if name in names:
                module.register_forward_pre_hook(partial(self.begin_forward, name))
                module.register_forward_hook(lambda *arguments: self.switch(""))
                module.register_full_backward_pre_hook(partial(self.begin_backward, name))

    def switch(self, name):
        peak = torch.cuda.memory_stats()["requested_bytes.all.peak"]
        torch.cuda.reset_peak_memory_stats()
        self.peaks[self.running] = max(peak, self.peaks.get(self.running, 0))
        self.running = name

    def begin_forward(self, name, module, inputs):
        self.switch(name)
        for tensor in inputs:
            if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
                tensor.register_hook(partial(self.end_backward, name))

    def begin_backward(self, name, *arguments):
        self.switch(name)
        torch.autograd.Variable._execution_engine.queue_callback(lambda: self.switch(""))

    def end_backward(self, name, gradient):
        if self.running == name:
            self.switch("")


def track(model, optimizer, step, path, names):
    from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
    from torch.distributed._tools.mem_tracker import MemTracker
    from torch.distributed.fsdp import FSDPModule
    if isinstance(model, FSDPModule):
        tracker = FSDPMemTracker(model, optimizer)
    else:
        tracker = MemTracker()
        tracker.track_external(model, optimizer)
    with tracker:
        step()
    peak = [kinds for device, kinds in tracker.get_tracker_snapshot("peak").items() if device.type == "cuda"][0]
    modules = ModulePeaks(model, names)
    step()
    modules.switch("")
    with open(path, "w") as out:
        json.dump({"tracker": type(tracker).__name__, "peak": {str(kind): size for kind, size in peak.items()},
                   "modules": modules.peaks}, out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("optimizer", choices=("adam", "momentum"))
    parser.add_argument("--plan")
    parser.add_argument("--layers")
    parser.add_argument("--tracker")
    parser.add_argument("--units", default="[]")
    parser.add_argument("--half", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    model, batch, loss_of = make_model(options.model)
    if options.plan:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl")
    model = model.to("cuda", torch.bfloat16 if options.half else None)  # some have several types
    recording = contextlib.nullcontext()
    if options.plan:
        model, optimizer = load(options.plan).shard(model, 1e-3)
    else:
        model, optimizer = plain(model, 1e-3, options.optimizer)
    if options.layers:
        import memsnap_record
        recording = memsnap_record.layers(model, options.layers, warmup=1)
    def step():
        inputs = batch()
        if options.half and torch.is_tensor(inputs) and inputs.is_floating_point():
            inputs = inputs.bfloat16()
        outputs = call(model, inputs)
        loss = loss_of(outputs)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    with recording:
        for _ in range(1 if options.tracker else 3):
            step()
    if options.tracker:
        track(model, optimizer, step, options.tracker, json.loads(options.units))


if __name__ == "__main__":
    main()
