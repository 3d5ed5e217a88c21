"""Notes what a sample program knows of its own tensors, without allocating memory on the device.

A note is a tensor's kind, its address, and the number of allocations on its device so far. The latest allocation at
that address is the tensor's. ../recording/labels.py turns the notes into a label for every allocation of the capture.
"""
import atexit
import contextlib
import json
import os
import sys
import sysconfig

import torch

_notes = {}      # (device, address, allocations so far) -> kinds
_phases = []     # (name, {device: [allocations, frees] so far})
_watched = []    # (kind, function that returns tensors)
_sizes = set()   # elements of parameters


def _count(device):
    stats = torch._C._cuda_memoryStats(device)["allocation"]["all"]
    return stats["allocated"], stats["freed"]


def note(kind, *things):
    """Tensors, also in lists, tuples and dicts. "a|b": both kinds are right."""
    for thing in things:
        if isinstance(thing, dict):
            note(kind, *thing.values())
        elif isinstance(thing, (list, tuple)):
            note(kind, *thing)
        elif isinstance(thing, torch.Tensor) and thing.is_sparse:
            note(kind, thing._indices(), thing._values())
        elif hasattr(thing, "to_local"):  # a tensor that is distributed over ranks
            note(kind, thing.to_local())
        elif isinstance(thing, torch.Tensor) and thing.is_cuda:
            while torch._C._functorch.is_functorch_wrapped_tensor(thing):
                thing = torch._C._functorch.get_unwrapped(thing)
            storage = thing.untyped_storage()
            if storage.nbytes():
                place = thing.device.index, storage.data_ptr(), _count(thing.device.index)[0]
                _notes.setdefault(place, set()).add(kind)


def watch(kind, get):
    """get() returns tensors of this kind at any time."""
    _watched.append((kind, get))
    _look()


def model(*modules):
    for module in modules:
        watch("parameter", lambda module=module: [*module.parameters(), *module.buffers()])
        parameters(*module.parameters())


def parameters(*leaves):
    """The parameters of models; also those that are in no module."""
    watch("parameter", lambda: leaves)
    watch("gradient", lambda: [leaf.grad for leaf in leaves])
    for leaf in leaves:
        _sizes.add(leaf.numel())
        if leaf.requires_grad:
            leaf.register_post_accumulate_grad_hook(lambda leaf: note("gradient", leaf.grad))


def optimizer(*optimizers):
    for one in optimizers:
        watch("optimizer_state", lambda one=one: list(one.state.values()))
        one.register_step_post_hook(lambda *ignored: _look())


def batch(*tensors):
    note("input", *tensors)


@contextlib.contextmanager
def saving():
    """Whatever autograd saves for the backward pass in here is an activation, if it is nothing else."""
    def pack(tensor):
        note("activation", tensor)
        return tensor.detach() if tensor.is_cuda and not isinstance(tensor, torch.nn.Parameter) else tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield


def phase(name):
    """From here on: model, data, forward, backward, optimizer_step, eval (also generation), other (nothing is known)."""
    _look()
    _phases.append((name, {device: _count(device) for device in range(torch.cuda.device_count())}))


def _look():
    for kind, get in _watched:
        note(kind, get())


def _write():
    path = os.environ.get("MEMSNAP_TRUTH")
    if path:
        _look()
        notes = [[*place, sorted(kinds)] for place, kinds in _notes.items()]
        with open(path, "w") as file:
            json.dump({"torch": torch.__version__, "notes": notes, "phases": _phases, "sizes": sorted(_sizes),
                       "packages": sysconfig.get_paths()["purelib"], "library": sysconfig.get_paths()["stdlib"],
                       "prefixes": [sys.prefix, sys.base_prefix],
                       "compiled": os.environ["TORCHINDUCTOR_CACHE_DIR"]}, file)


torch.cuda.init()
atexit.register(_write)
