"""Stands in for PyTorch in the test of memsnap dryrun: an allocator that calls the CUDA runtime, its
history, and an optimizer that does nothing."""
import ctypes
import os
import pickle
import sys
import types

from torch.version import __version__

_native = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "lib", "libtorch_cuda.so"))
_native.take.restype = ctypes.c_void_p
_native.take.argtypes = (ctypes.c_size_t,)
_native.give_back.argtypes = (ctypes.c_void_p,)


FRAMES = [dict(filename="train.py", line=7, name="main")]


class Tensor:
    def __bool__(self):
        return False

    def item(self):
        return False

    def __float__(self):
        return 0.0


class OutOfMemoryError(RuntimeError):
    pass


class _State:
    queued, observers, events, host_events, hooks = [], [], None, [], []
    is_initialized = False
    live = {}  # sizes by address
    context = "all"


def _note(action, address, size, **more):
    if _State.events is not None:
        _State.events.append(dict(action=action, addr=address, size=size, stream=0, time_us=1000 + len(_State.events),
                                  frames=FRAMES if _State.context == "all" else [], **more))


def _lazy_call(call):
    if _State.is_initialized:
        call()
    else:
        _State.queued.append(call)


def empty(size):
    """Takes memory of the GPU, and returns its address."""
    if not _State.is_initialized:
        _State.is_initialized = True
        for call in _State.queued:
            call()
    address = _native.take(size)
    if not address:
        _note("oom", 0, size, device_free=_native.unused_mib() << 20)
        for observer in _State.observers:
            observer(0, size, 0, 0)
        raise OutOfMemoryError("CUDA out of memory")
    _State.live[address] = size
    _note("segment_alloc", address, size)
    _note("alloc", address, size)
    return address


def delete(address, size):
    _note("free_requested", address, size)
    _note("free_completed", address, size)
    _note("segment_free", address, size)
    del _State.live[address]
    _native.give_back(address)


def _record_memory_history(enabled="all", context="all", stacks="all", record_pinned_host_memory=False):
    _State.events = (_State.events or []) if enabled else None
    _State.context = context
    # $PINNED bytes of the host
    pinned = int(os.environ.get("PINNED", 0)) if enabled and record_pinned_host_memory else 0
    _State.host_events = [dict(action="alloc", addr=4096, size=pinned, stream=0, time_us=1, frames=[])] if pinned else []


def _segment(address, size):
    block = dict(address=address, size=size, requested_size=size, state="active_allocated", frames=[])
    return dict(device=0, address=address, total_size=size, allocated_size=size, active_size=size, requested_size=size, stream=0,
                segment_type="large", segment_pool_id=(0, 0), is_expandable=False, frames=[], blocks=[block])


def _dump_snapshot(path):
    segments = [_segment(*one) for one in sorted(_State.live.items())]
    with open(path, "wb") as file:
        pickle.dump({"segments": segments, "device_traces": [_State.events], "host_segments": [],
                     "host_traces": _State.host_events, "allocator_settings": {}}, file, 4)


class Optimizer:
    def step(self):
        for hook in _State.hooks:
            hook(self, (), {})


def _module(name, **members):
    module = types.ModuleType("torch." + name)
    module.__dict__.update(members)
    sys.modules["torch." + name] = module
    return module


_C = _module("_C", _cuda_attach_out_of_memory_observer=_State.observers.append)
cuda = _module("cuda", _lazy_call=_lazy_call, device_count=_native.devices,
               get_allocator_backend=lambda: os.environ.get("BACKEND", "native"),
               memory=_module("cuda.memory", _record_memory_history=_record_memory_history, _dump_snapshot=_dump_snapshot))
optim = _module("optim", Optimizer=Optimizer,
                optimizer=_module("optim.optimizer", register_optimizer_step_post_hook=_State.hooks.append))
call = _native.call
read_value, write_value, launch = _native.read_value, _native.write_value, _native.launch
read_value.argtypes = (ctypes.c_void_p,)
write_value.argtypes = (ctypes.c_void_p, ctypes.c_int)
