"""What a sharded model's memory is at the peak of a step, told by its own tensors: no category of memsnap is used.

Hooks see each parameter that a module uses, each gradient that autograd makes, and the state of the optimizer. Their
storages are looked up in the allocator's own history, which also tells what else was live.
"""
import gc
from functools import partial

import torch

MARK = 7  # bytes: an allocation of this size is a mark in the history
KINDS = ("parameters", "gradients", "state", "rest")


def local(tensor):
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def storages(tensors):
    found = {}
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.is_cuda:
            storage = local(tensor).untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
    return found


def state_of(optimizer):
    inner = getattr(optimizer, "optim", optimizer)  # ZeroRedundancyOptimizer and OSS have one
    return {p: [value for value in state.values() if torch.is_tensor(value)] for p, state in inner.state.items()}


class Watch:
    """Made before the model is sharded; `units` are names of modules. Hooks work between begin() and finish()."""
    def __init__(self, model, units):
        self.marks, self.is_on, self.hooked = [], False, set()
        self.names, self.running = units, ""
        for name, module in model.named_modules():
            own = [key for key, _ in [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]]
            if own:
                module.register_forward_pre_hook(partial(self.before, own))
                module.register_forward_hook(partial(self.after, own))
            if name in units:
                module.register_forward_pre_hook(lambda module, inputs, name=name: self.enter(name, inputs))
                module.register_forward_hook(partial(self.leave, name))

    def mark(self, what, name, addresses=()):
        if self.is_on:
            torch.empty(MARK, dtype=torch.uint8, device="cuda")
            self.marks.append((what, name, list(addresses)))

    def see(self, kind, tensors):
        if self.is_on:
            self.mark("kind", kind, storages(tensors))

    def see_gradient(self, gradient):
        self.see("gradients", [gradient])

    def hook(self, tensor):
        """Sees its gradient in each backward pass: a leaf keeps its hooks, anything else is new in each forward."""
        if not torch.is_tensor(tensor) or not tensor.requires_grad or id(tensor) in self.hooked:
            return
        if tensor.is_leaf:
            self.hooked.add(id(tensor))
            tensor.register_post_accumulate_grad_hook(lambda leaf: self.see("gradients", [leaf.grad]))
        tensor.register_hook(self.see_gradient)

    def before(self, own, module, inputs):
        tensors = [getattr(module, key, None) for key in own]
        self.see("parameters", tensors)
        for tensor in tensors:
            self.hook(tensor)

    def after(self, own, module, inputs, output):
        """Before the backward pass of the module its parameters may have been gathered again."""
        def again(gradient):
            self.see("parameters", [getattr(module, key, None) for key in own])
        if torch.is_tensor(output) and output.requires_grad:
            output.register_hook(again)

    def switch(self, name):
        self.running = name
        self.mark("unit", name)

    def enter(self, name, inputs):
        self.switch(name)
        for tensor in inputs:
            if torch.is_tensor(tensor) and tensor.requires_grad:
                tensor.register_hook(partial(self.end, name))

    def end(self, name, gradient):
        """The same tensor may be the output of the unit before, whose hook comes first."""
        if self.running == name:
            self.switch("")

    def leave(self, name, module, inputs, output):
        self.switch("")
        if torch.is_tensor(output) and output.requires_grad:
            output.register_hook(lambda gradient: self.switch(name))

    def begin(self, model, optimizer):
        """Between two steps."""
        self.model, self.optimizer = model, optimizer
        for module in model.modules():  # flat parameters of both libraries
            for tensor in [*module._parameters.values(), getattr(module, "_flat_param", None)]:
                self.hook(tensor)
        gc.collect()
        torch.cuda.memory._record_memory_history("all", context=None)
        self.first = torch.cuda.memory._snapshot()
        self.skipped = len(self.first["device_traces"][torch.cuda.current_device()])
        self.is_on = True
        self.see("parameters", [*model.parameters(), *model.buffers()])
        self.see_state()

    def see_state(self):
        self.see("state", [value for values in state_of(self.optimizer).values() for value in values])

    def before_update(self):
        self.switch("")  # a unit whose inputs need no gradient has no hook at its end
        self.see("gradients", [p.grad for p in self.model.parameters()])

    def after_update(self):
        self.see_state()

    def finish(self):
        self.is_on = False
        last = torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]
        torch.cuda.memory._record_memory_history(None)
        return Replay(self.first, self.marks).run(last[self.skipped:])


class Replay:
    """Follows the allocator's history, from what it has at first."""
    def __init__(self, snapshot, marks):
        self.marks, self.next = marks, 0
        self.live, self.blocks, self.unit = {}, [], ""
        self.total, self.highest, self.at_peak, self.units = 0, 0, [], {}
        for segment in snapshot["segments"]:
            for block in segment["blocks"]:
                if block["state"].startswith("active"):
                    self.add(block["address"], block["requested_size"])

    def add(self, address, size):
        self.live[address] = len(self.blocks)
        self.blocks.append([size, "rest"])
        self.total += size
        if self.total > self.highest:
            self.highest, self.at_peak = self.total, list(self.live.values())
        self.units[self.unit] = max(self.total, self.units.get(self.unit, 0))

    def remove(self, address):
        at = self.live.pop(address, None)
        self.total -= self.blocks[at][0] if at is not None else 0

    def read_mark(self):
        what, name, addresses = self.marks[self.next]
        self.next += 1
        if what == "unit":
            self.unit = name
            self.units[name] = max(self.total, self.units.get(name, 0))
        for address in addresses:
            if address in self.live:
                self.blocks[self.live[address]][1] = name

    def run(self, events):
        for event in events:
            if event["action"] == "alloc" and event["size"] == MARK and self.next < len(self.marks):
                self.read_mark()
            if event["action"] == "alloc":
                self.add(event["addr"], event["size"])
            elif event["action"] == "free_completed":
                self.remove(event["addr"])
        kinds = dict.fromkeys(KINDS, 0)
        for at in self.at_peak:
            kinds[self.blocks[at][1]] += self.blocks[at][0]
        return {"peak": self.highest, "kinds": kinds, "units": self.units, "unread": len(self.marks) - self.next}
