#!/usr/bin/env python3
"""Records what memsnap reads from a PyTorch program. Needs only torch, 2.1 or newer.

    import memsnap_record

    with memsnap_record.layers(model, "run.layers.json"):
        loss_of(model(batch)).backward()

    with memsnap_record.snapshots("snapshots", steps=(0, 3)):
        train()

Both also work as decorators. Without a change to the program:

    python memsnap_record.py --layers run.layers.json --snapshots DIR train.py ARGUMENT...

layers() records one training step of a model: what each module kept for the backward pass, how long it ran, and
which storages it read. `memsnap suggest` plans checkpoints from that. It works on CUDA, on the CPU, and in
FakeTensorMode for a model that fits on no device. snapshots() records the CUDA allocator's history.
"""
import argparse
import contextlib
import dataclasses
import errno
import functools
import gc
import inspect
import itertools
import json
import os
import re
import resource
import runpy
import signal
import subprocess
import threading
import traceback
from collections.abc import Mapping

from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils import flop_counter
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack, _pop_mode, _push_mode

# memsnap suggest prints what follows, up to the next such line, for every plan.
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def storage_ids(value):
    values = value if isinstance(value, (list, tuple)) else [value]
    return [item.untyped_storage()._cdata for item in values if isinstance(item, torch.Tensor)]


def written_by(function, args, kwargs):
    """The storages that an operator writes to."""
    arguments = function._schema.arguments
    given = {**{argument.name: value for argument, value in zip(arguments, args)}, **kwargs}
    return [storage for argument in arguments if argument.alias_info is not None and argument.alias_info.is_write
            for storage in storage_ids(given.get(argument.name))]


without_cache = set()  # the classes of modules whose config.use_cache a plan turned off


# memsnap suggest prints what follows for plans of modules.
import sys
from contextlib import nullcontext
from functools import partial
from types import MethodType

from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop


def is_backward():
    """True while autograd runs. A module that runs then is being recomputed by a checkpoint."""
    return torch._C._current_graph_task_id() != -1


def knows_transforms():
    return hasattr(getattr(torch._C, "_functorch", None), "maybe_current_level")


def in_transform():
    """True within torch.func.vmap(), torch.func.grad() and the like, which a checkpoint does not support."""
    return knows_transforms() and torch._C._functorch.maybe_current_level() is not None


def is_compiling():
    return hasattr(torch.compiler, "is_compiling") and torch.compiler.is_compiling()


def is_batch_norm(module):
    return isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.track_running_stats


class OwnForward:
    """The forward of a module's class. The method itself would be pickled as the name "forward", which a plan replaces."""

    def __init__(self, module):
        self.module = module

    def __call__(self, /, *args, **kwargs):
        return type(self.module).forward(self.module, *args, **kwargs)


def forward_of(module):
    """The forward of a module, in a form that is copied and pickled with the module."""
    is_method = isinstance(module.forward, MethodType) and "forward" not in vars(module)
    return OwnForward(module) if is_method else module.forward


def refuse_replicas():
    raise RuntimeError("torch.nn.DataParallel copies what a plan put into the model, which would run the modules of the first "
                       "GPU on all of them: use torch.nn.parallel.DistributedDataParallel")


def replace_forward(module, forward):
    module.forward = forward
    module._replicate_for_data_parallel = refuse_replicas  # called if there are several GPUs


class CountOnce:
    """The forward of a batch norm whose running statistics are updated only once, and not again when a checkpoint
    recomputes it."""

    def __init__(self, module):
        self.module, self.forward, self.spare = module, forward_of(module), module.num_batches_tracked.clone()

    def __call__(self, *args, **kwargs):
        module = self.module
        if not (is_backward() and module.training):
            return self.forward(*args, **kwargs)
        before = module.momentum, module.num_batches_tracked
        module.momentum, module.num_batches_tracked = 0.0, self.spare
        try:
            return self.forward(*args, **kwargs)
        finally:
            module.momentum, module.num_batches_tracked = before


def fresh(value):
    """A copy of a list, dict or set. A checkpoint needs its own, because the program may change it before the backward
    pass."""
    return type(value)(value) if type(value) in (dict, list, set) else value


def is_plain(value):
    return value is None or type(value) in (bool, int, float, str)


def set_attributes(module, wanted, parameters):
    """Sets all attributes except parameters: FSDP makes an attribute of a parameter while it is gathered."""
    parameters = parameters | module._parameters.keys()
    for name in vars(module).keys() - wanted.keys() - parameters:
        del vars(module)[name]
    vars(module).update({name: value for name, value in wanted.items() if name not in parameters})


HOOKS = "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"


def hooks_of(modules):
    return [getattr(module, name) for module in modules for name in HOOKS if isinstance(getattr(module, name, None), dict)]


def has_hooks(module):
    """True if a module has hooks that need to see its own result. Those of memsnap's recorder do not."""
    return any(not getattr(hook, "is_of_recorder", False) for hooks in hooks_of([module]) for hook in hooks.values())


class Watched:
    """Wraps a forward hook while a checkpoint first runs its modules. A hook that only looks at results may store them.
    When the modules are recomputed, such a hook gets the results without their graph, which would keep all that is
    recomputed."""

    def __init__(self, hook):
        while isinstance(hook, Watched) and hook.is_over:  # the hook of another thread
            hook = hook.hook
        self.hook, self.only_looks, self.is_over = hook, None, False

    def __call__(self, *given):
        before = self.state(given[-1])
        result = self.hook(*given)
        only_looks = result is None and before is not None and self.state(given[-1]) == before
        self.only_looks = only_looks and self.only_looks is not False
        return result

    def state(self, result):
        """A value that changes if the result is changed or a random number is drawn. None if changes of the result
        cannot be detected."""
        values = tree_flatten(result)[0]
        if not all(is_plain(value) or (isinstance(value, torch.Tensor) and not value.is_inference()) for value in values):
            return None
        numbers = [torch.get_rng_state()] + ([torch.cuda.get_rng_state()] if torch.cuda.is_initialized() else [])
        versions = [value._version for value in values if isinstance(value, torch.Tensor)]
        return versions, [state.numpy().tobytes() for state in numbers]

    def show(self, *given):
        return self.hook(*given[:-1], tree_map(without_graph, given[-1]))


def without_graph(value):
    return value.detach().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value


class Written(TorchDispatchMode):
    """Notes the storages that operators write to. A change through .data does not change a buffer's version."""

    def __init__(self):
        super().__init__()
        self.storages = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.storages.update(written_by(function, args, kwargs or {}))
        return function(*args, **(kwargs or {}))


def runs_compiled(modules):
    """True if a module has compiled code. Such code does not show its operators to a mode, or runs differently under
    one."""
    return any("_orig_mod" in inner._modules or (inner is not module and vars(inner).get("_compiled_call_impl"))
               for module in modules for inner in module.modules())


def copy_of(tensor):
    """A copy of a tensor. It is not made by clone(), which a checkpoint may take for an operator whose result the
    module keeps."""
    return torch.empty_like(tensor).copy_(tensor)


class Before:
    """The state of modules when a checkpoint first runs them: counters, averages in buffers, hooks added in the first
    run. restored() gives them this state again while they are recomputed, and then the state that they had before."""

    def __init__(self, modules, modules_with_buffers, mode=None):
        self.hooks = [(hooks, set(hooks)) for hooks in hooks_of(modules)]
        self.watched = [(hooks, number, Watched(hook)) for hooks in (module._forward_hooks for module in modules)
                        for number, hook in hooks.items()]
        self.attributes = [(module, set(vars(module)), {name: value for name, value in vars(module).items() if is_plain(value)},
                            set(module._parameters)) for module in modules]
        self.buffers = [(module, name, buffer, None if buffer is None else (buffer._version, copy_of(buffer.detach())))
                        for module in modules_with_buffers for name, buffer in module._buffers.items()
                        if buffer is None or not buffer.is_inference()]
        self.mode = mode if mode is not None and self.buffers else nullcontext()  # in both runs

    def written(self):
        """The buffers that the first run changed, in case its mode is Written."""
        return {(module, name) for module, name, buffer, _ in self.buffers
                if buffer is not None and not self.mode.storages.isdisjoint(storage_ids(buffer))}

    def keep_changes(self, written):
        """Called after the first run: forgets the buffers that it did not change, except those known to change."""
        self.buffers = [
            (module, name, buffer, known) for module, name, buffer, known in self.buffers
            if getattr(module, name, None) is not buffer or (buffer is not None and buffer._version != known[0])
            or (module, name) in written]

    @contextmanager
    def watching(self):
        """Active during the first run."""
        for hooks, number, watched in self.watched:
            hooks[number] = watched
        try:
            with self.mode:
                yield
        finally:
            for hooks, number, watched in self.watched:
                watched.is_over = True
                if hooks.get(number) is watched:
                    hooks[number] = watched.hook

    @contextmanager
    def restored(self):
        attributes = [(module, dict(vars(module)), parameters) for module, _, _, parameters in self.attributes]
        buffers = [(module, name, getattr(module, name, None)) for module, name, _, _ in self.buffers]
        every_hook = [(hooks, dict(hooks)) for hooks, _ in self.hooks]
        for hooks, known in self.hooks:
            for number in hooks.keys() - known:
                del hooks[number]
        for hooks, number, watched in self.watched:
            if watched.only_looks and number in hooks:
                hooks[number] = watched.show
        for module, names, values, parameters in self.attributes:
            known = {name: value for name, value in vars(module).items() if name in names}
            set_attributes(module, {**known, **values}, parameters)
        for module, name, _, known in self.buffers:
            setattr(module, name, known and copy_of(known[1]))
        try:
            with self.mode:
                yield
        finally:
            for module, values, parameters in attributes:
                set_attributes(module, values, parameters)
            for module, name, buffer in buffers:
                setattr(module, name, buffer)
            for hooks, values in every_hook:
                hooks.clear()
                hooks.update(values)


def is_sharded(module):
    """True if FSDP shards a module, and so changes it between the passes."""
    return hasattr(module, "_fsdp_wrapped_module") or any(kind.__name__ == "FSDPModule" for kind in type(module).__mro__)


def have_attributes(modules):
    return [module for module in modules if not is_sharded(module) and not isinstance(module, torch.jit.ScriptModule)]


def stopped_by(error):
    """The exception with which PyTorch stops a recomputation, if a library within the modules replaced it by another
    one."""
    seen = []
    while error is not None and error not in seen and not (
            type(error).__name__ == "_StopRecomputationError" and type(error).__module__ == checkpoint.__module__):
        seen.append(error)
        error = error.__cause__ or error.__context__
    return error if error not in seen else None


class Checkpointed:
    """Runs modules in a checkpoint. If one tensor is passed as several arguments, it stays one tensor when it is
    recomputed, because attention compares its query with its key."""

    def __init__(self, forward, modules, options):
        self.forward, self.options = forward, options
        inner = list(dict.fromkeys(inner for module in modules for inner in module.modules()))
        self.modules = have_attributes(inner), [module for module in inner if not is_batch_norm(module)]
        self.has_script = any(isinstance(module, torch.jit.ScriptModule) for module in inner)
        self.written = set() if runs_compiled(modules) else None  # buffers that they change; unknown before the first run

    def __call__(self, *args, **kwargs):
        if in_transform():
            return self.forward(*args, **kwargs)
        values = {id(value): value for value in [*args, *kwargs.values()]}
        at = {key: k for k, key in enumerate(values)}
        order, named = [at[id(value)] for value in args], {name: at[id(value)] for name, value in kwargs.items()}
        spare = {at[id(value)]: fresh(value) for value in values.values() if fresh(value) is not value}
        runs = []

        def run(*given):
            if is_backward():
                given = [fresh(spare.get(k, value)) for k, value in enumerate(given)]
            return self.forward(*(given[k] for k in order), **{name: given[k] for name, k in named.items()})

        def run_alike(*given):
            if runs:
                with runs[0].restored():
                    try:
                        return run(*given)
                    except Exception as error:
                        raise stopped_by(error) or error
            runs.append(Before(*self.modules, mode=Written() if self.written is None else None))
            with runs[0].watching():
                result = run(*given)
            if self.written is None:
                self.written = runs[0].written()
            runs[0].keep_changes(self.written)
            return result

        is_once = is_compiling() or not torch.is_grad_enabled()
        start = partial(checkpoint, run if is_once else run_alike, *values.values(), use_reentrant=False, **self.options)
        if not self.has_script:
            return start()
        with set_checkpoint_early_stop(False):  # TorchScript replaces the exception that stops the recomputation
            return start()


WRAPPERS = "module", "_orig_mod", "_fsdp_wrapped_module"  # DataParallel and DDP, torch.compile(), FSDP


def wrapped_by(module):
    """The module that a wrapper wraps, or None. A module with only one within it, or only one that has parameters, is
    taken for a wrapper, as those of PEFT and a LightningModule with a network and a loss are."""
    known = [key for key in WRAPPERS if key in module._modules]
    trained = [key for key, child in module._modules.items() if child is not None and next(child.parameters(), None) is not None]
    only = known or trained or list(module._modules)
    return module._modules[only[0]] if known or len(only) == 1 else None


def module_at(model, name):
    """The module with a name, or None. The model may be wrapped in other modules than the recorded one was."""
    module = model
    for word in name.split(".") if name else []:
        wrapped = module
        while wrapped is not None and word not in wrapped._modules:
            wrapped = wrapped_by(wrapped)
        if wrapped is not None:
            module = wrapped._modules[word]
        elif word not in WRAPPERS:
            return None
    return module


def find_module(model, name):
    module = module_at(model, name)
    if module is None:
        within = [key for key, child in model.named_children() if module_at(child, name) is not None]
        raise ValueError(f"the model has no module {name}" + (
            f": apply the plan to the module within it that was recorded ({' or '.join(within)})" if within else ""))
    return module


def inside(module):
    """The module inside FSDP. The checkpoint goes there, so that FSDP gathers the parameters before each run."""
    return getattr(module, "_fsdp_wrapped_module", module)


def prepare(model, modules):
    """Prepares modules so that it is safe to run them twice."""
    for module in {inner for outer in modules for inner in outer.modules()}:
        if is_batch_norm(module):
            replace_forward(module, CountOnce(module))
    for module in model.modules():
        if getattr(getattr(module, "config", None), "use_cache", False):
            module.config.use_cache = False  # else recomputation adds to the cache again
            without_cache.add(type(module).__name__)
            print(f"config.use_cache of {type(module).__name__} is off now: what the plan counts of its cache is gone, too",
                  file=sys.stderr)


# memsnap suggest prints what follows for plans that keep results of operators.
import warnings


def name_of(function):
    return str(getattr(function, "overloadpacket", function))


def is_cast_of_weight(function, args):
    """True for what autocast may do only once for all modules that share a weight. A module that ran after another one
    then casts the weight in its second run only, so the result cannot be kept."""
    return function is torch.ops.aten._to_copy.default and args[0].is_leaf and args[0].requires_grad


class Watch(TorchDispatchMode):
    """Raises an error if a kept result is changed in place. The recomputation would use the changed result, and some
    operators change their arguments without a trace in PyTorch's version counters."""

    def __init__(self, is_kept, missing, is_last):
        super().__init__()
        self.is_kept, self.missing, self.is_last, self.kept = is_kept, missing, is_last, {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = name_of(function)
        for storage in written_by(function, args, kwargs or {}):
            if storage in self.kept:
                raise RuntimeError(f"{name} changes a result of {self.kept[storage]} in place: leave that operator "
                                   "out of the plan, or record the plan on this kind of device")
        result = function(*args, **(kwargs or {}))
        self.missing.discard(name)
        if not is_cast_of_weight(function, args) and self.is_kept(name):
            self.kept.update(dict.fromkeys(storage_ids(result), name))
        return result


@contextmanager
def both(outer, inner):
    with outer, inner:
        yield
    if inner.missing and inner.is_last:
        refuse(inner.missing)


def refuse(missing):
    """Raises an error for operators that did not run, unless they may be those of a cache that the plan turned off."""
    if not without_cache:
        raise RuntimeError(f"{min(missing)} does not run in a checkpoint that is to keep its results: record the plan with "
                           "this version of PyTorch, on this kind of device")
    warnings.warn(f"{min(missing)} does not run in a checkpoint that is to keep its results, probably because the plan turns "
                  f"off config.use_cache of {min(without_cache)}: for a more exact plan, turn it off before recording")
    missing.clear()


class Kept(TorchDispatchMode):
    """Shows only operators whose results are kept to PyTorch's mode, which raises an error if the second run of a module
    has others than the first. It may have others: see is_cast_of_weight()."""

    def __init__(self, mode, operators):
        super().__init__()
        self.mode, self.operators = mode, operators

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if name_of(function) in self.operators and not is_cast_of_weight(function, args):
            return self.mode.__torch_dispatch__(function, types, args, kwargs)
        return function(*args, **(kwargs or {}))


class Again:
    """Around the second run of a checkpoint, which takes the kept results out of their store. Where the graph goes backward
    once more, as for a penalty of gradients, another run has none: it computes all again."""

    def __init__(self, run):
        self.runs, self.open = [run], []

    def __enter__(self):
        self.open.append(self.runs.pop() if self.runs else nullcontext())
        self.open[-1].__enter__()

    def __exit__(self, *exception):
        return self.open.pop().__exit__(*exception)


class IsKept:
    """Tells whether the next result of an operator is kept. `changed` has a flag for each run of an operator: its
    result is changed in place, so it must be recomputed."""

    def __init__(self, operators, changed):
        self.operators, self.changed, self.ran = operators, changed, {}

    def __call__(self, name):
        if name not in self.operators:
            return False
        number = self.ran[name] = self.ran.get(name, -1) + 1
        return not any(self.changed.get(name, ())[number:number + 1])


def keep_results(operators, missing=None, is_last=True, changed=None):
    """The context argument of checkpoint() that keeps the results of operators such as "aten.mm". `missing` has the
    operators that have not run yet. It is shared by checkpoints that run in a row, and must be empty after the last of
    them."""
    if not hasattr(torch.utils.checkpoint, "create_selective_checkpoint_contexts"):  # before PyTorch 2.5
        warnings.warn("checkpoints of this PyTorch cannot keep results of operators (2.5 can): they compute all again")
        return {}
    missing = set(operators) if missing is None else missing
    return {"context_fn": partial(selective_contexts, operators, missing, is_last, changed or {})}


def selective_contexts(operators, missing, is_last, changed):
    """The modes of a checkpoint's first and second run. A partial function of this, unlike a function within another,
    can be pickled."""
    first, second, watched = (IsKept(operators, changed) for _ in range(3))

    def choose(context, function, *_args, **_kwargs):
        is_kept = second if context.is_recompute else first
        policy = torch.utils.checkpoint.CheckpointPolicy
        return policy.MUST_SAVE if is_kept(name_of(function)) else policy.PREFER_RECOMPUTE

    first_run, again = torch.utils.checkpoint.create_selective_checkpoint_contexts(choose)
    if torch.compiler.is_compiling():  # it changes nothing in place, and takes only modes
        return first_run, again
    return both(Kept(first_run, operators), Watch(watched, missing, is_last)), Again(Kept(again, operators))


# memsnap suggest prints what follows for plans that need more than one checkpoint per module.
import weakref

from torch.overrides import TorchFunctionMode


def names(part):
    return [part] if isinstance(part, str) else sum(map(names, part), [])


def first(result):
    """The argument of the next module of a chain: a result or, if the result is a tuple, as that of a recurrent layer,
    its first item."""
    return result[0] if type(result) is tuple and result else result


def rest(result):
    return result[1:] if type(result) is tuple else ()


def tensors_within(value):
    """The tensors in tuples and lists; None if they contain anything else."""
    if type(value) in (tuple, list):
        found = [tensors_within(item) for item in value]
        return None if None in found else sum(found, [])
    return [value] if isinstance(value, torch.Tensor) else [] if value is None else None


def without_tensors(value):
    return type(value)(map(without_tensors, value)) if type(value) in (tuple, list) else None


def is_one_operator(module):
    """True if a module is a single operator, so that a checkpoint of it alone would save nothing."""
    is_of_torch = type(module).__module__.startswith("torch.nn.") and not isinstance(module, torch.nn.RNNBase)
    return not any(module.children()) and (is_of_torch or not list(module.parameters(recurse=False)))


class InRow:
    """Runs each function on the result of the one before it. The other arguments of the first function are passed to
    all."""

    def __init__(self, calls):
        self.calls = calls

    def __call__(self, *args, **kwargs):
        result = self.calls[0](*args, **kwargs)
        for call in self.calls[1:]:
            result = call(first(result), *args[1:], **kwargs)
        return result


def recompute(calls, modules, operators=(), **more):
    keep = operators and not runs_compiled(modules)
    return Checkpointed(InRow(calls), modules, keep_results(operators, **more) if keep else {})


def build(part, modules, forwards, operators=(), **more):
    """`modules` are the modules of the part by name, and `forwards` the functions that run them."""
    if isinstance(part, str):
        return forwards[part]
    return recompute([build(inner, modules, forwards) for inner in part if names(inner)],
                     [modules[name] for name in names(part)], operators, **more)


def joined(changed):
    """The flags of modules that run in a row, as one list for each operator."""
    made = {}
    for of_module in changed:
        for name, flags in of_module.items():
            made[name] = made.get(name, []) + flags
    return made


def is_same(value, other):
    return value is other or (is_plain(value) and type(value) is type(other) and value == other)


class Part:
    """The modules of one checkpoint. The forward of the first module runs all of them, and those of the others return
    its result. Until it is proven that this changes nothing, each block has a checkpoint of its own. `changed` tells
    for each module which results it changes in place, if that is known."""

    def __init__(self, model, part, operators, changed=None):
        self.names = names(part)
        outer = [find_module(model, name) for name in self.names]
        self.modules = list(map(inside, outer))
        self.are_wrapped = self.modules != outer  # then each must gather its own parameters
        self.forwards = list(map(forward_of, self.modules))
        changed = changed or [{}] * len(self.names)
        self.together = build(part, dict(zip(self.names, self.modules)),
                              {name: partial(self.pick, k) for k, name in enumerate(self.names)}, operators, changed=joined(changed))
        missing = set(operators)
        self.alone = [
            recompute([forward], [module], operators, missing=missing, is_last=forward is self.forwards[-1], changed=flags)
            if len(self.names) == 1 or not is_one_operator(module) else forward
            for module, forward, flags in zip(self.modules, self.forwards, changed)
        ]
        self.is_chain, self.proof, self.asked = False, None, set()
        self.running, self.has_told = None, False
        self.between = []  # functions between modules that return their argument, such as a dropout with probability 0
        self.origins = [None] * len(self.names)  # of each module's other arguments, as the trial run shows
        self.rests = [None] * len(self.names)  # what each module returns in a tuple after its result, without tensors
        self.forget()
        if operators and runs_compiled(self.modules):
            print("compiled, so all of it runs again:", *self.names, file=sys.stderr)
        for k, module in enumerate(self.modules):
            replace_forward(module, partial(self.forward, k))

    def forget(self):
        self.next, self.result, self.others, self.is_open = 0, None, {}, False

    def can_begin(self):
        """True if the first module may run the others, too: in a run of the model, and while none of them has hooks,
        which need its own result."""
        if not self.is_chain or not (self.running.depth > 0 or is_backward()):
            return False
        without = not any(map(has_hooks, self.modules))
        if not without and len(self.modules) > 1 and not self.has_told:
            print("with hooks now, so checkpointed one by one:", *self.names, file=sys.stderr)
            self.has_told = True
        return without

    def take(self, k, args, kwargs):
        """True if this call is the next one of the chain, and its other arguments are constants or arguments of the
        first module."""
        others = {**dict(enumerate(args[1:])), **kwargs}
        if k == 0:
            self.next, self.others = 0, others
        is_next = k == self.next and (k == 0 or (len(args) > 0 and args[0] is first(self.result)))
        self.next = k + 1
        if not is_next or k == 0:
            return is_next
        if self.proof:
            self.origins[k] = {name: self.origin(name, value) for name, value in others.items()}
        origins = self.origins[k]
        return others.keys() == origins.keys() and all(
            origin is not None and is_same(value, self.value(origin)) for value, origin in
            ((others[name], origins[name]) for name in others))

    def origin(self, name, value):
        """Where an argument comes from: the name of an argument of the first module, or a constant after None. None if
        it is neither."""
        if name in self.others and self.others[name] is value:
            return name, None
        if is_plain(value):
            return None, value
        return next(((key, None) for key, given in self.others.items() if given is value), None)

    def value(self, origin):
        name, constant = origin
        return constant if name is None else self.others.get(name)

    def pick(self, k, /, *args, **kwargs):
        """Runs a module on the result of the one before it. Of the first module's other arguments, it gets those that
        belong to it."""
        if k > 0:
            given = {**dict(enumerate(args[1:])), **kwargs}
            kwargs = {name: constant if key is None else given[key] for name, (key, constant) in self.origins[k].items()}
            args = args[0], *(kwargs.pop(place) for place in range(sum(isinstance(name, int) for name in kwargs)))
        return self.forwards[k](*args, **kwargs)

    def forward(self, k, /, *args, **kwargs):
        if self.proof:
            return self.proof.run(self, k, args, kwargs)
        if k == 0:
            self.is_open = self.can_begin()
        if not self.is_open:
            return self.alone[k](*args, **kwargs)
        if not self.take(k, args, kwargs):
            raise RuntimeError(f"{self.names[k]} no longer follows on {self.names[0]}: apply the plan with one_by_one=True, "
                               "or leave it out")
        result = self.together(*args, **kwargs) if k == 0 else self.result
        self.result = result
        if self.next == len(self.modules):
            self.forget()
            return result
        return (first(result), *self.rests[k]) if self.rests[k] is not None else first(result)


ABOUT = {torch.Tensor.size, torch.Tensor.dim, *(
    getattr(torch.Tensor, name).__get__ for name in ("shape", "ndim", "dtype", "device"))}


def kind(tensor):
    return tensor.shape, tensor.dtype, tensor.device


def version_of(value):
    return value._version if isinstance(value, torch.Tensor) and not value.is_inference() else None


def passes_on(function, args, kwargs, version):
    """True if a function returned its first argument unchanged and read no other tensor."""
    others = *args[1:], *kwargs.values()
    return version is not None and version_of(args[0]) == version and not getattr(function, "__name__", "_").endswith("_") and all(
        is_plain(value) or isinstance(value, (torch.dtype, torch.device, torch.memory_format)) for value in others)


def hand(function, args, kwargs, value):
    return function(value, *args, **kwargs)


class Proof(TorchFunctionMode):
    """Watches a forward pass and finds which parts are chains. The modules of a chain run once each, in order, each on
    the result of the one before it, and nothing else uses the results in between. Two uses are allowed: questions ABOUT
    a result, if the last result has the same answer, and functions that return their argument. Nothing may use what a
    module returns besides its result."""

    def __init__(self, parts):
        super().__init__()
        self.parts, self.between, self.beside, self.input = parts, [], [], None
        for part in parts:
            part.is_chain, part.proof = True, self

    def run(self, part, k, args, kwargs):
        module, outer = part.modules[k], self.input
        part.is_chain &= (k > 0 or part.next in (0, len(part.modules))) and not part.are_wrapped
        part.is_chain &= part.take(k, args, kwargs) and not (
            module._forward_hooks or module._forward_pre_hooks or module._backward_hooks)
        self.input = args[0] if k > 0 and args else outer
        part.result = part.forwards[k](*args, **kwargs)
        self.input, value = outer, first(part.result)
        self.between = [(of, tensor) for of, tensor in self.between if tensor() is not value]
        if isinstance(value, torch.Tensor):
            if k + 1 < len(part.modules):
                self.between.append((part, weakref.ref(value)))
                self.note_rest(part, k)
            else:
                part.is_chain &= part.asked <= {kind(value)} and all(function(value) is value for function in part.between)
        return part.result

    def note_rest(self, part, k):
        tensors = tensors_within(rest(part.result))
        part.is_chain &= tensors is not None
        part.rests[k] = without_tensors(rest(part.result)) if type(part.result) is tuple else None
        self.beside += [(part, weakref.ref(tensor)) for tensor in tensors or []]

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        version = version_of(args[0]) if args else None
        result = function(*args, **kwargs)
        for value in (*args, *kwargs.values()):
            for item in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(item, torch.Tensor):
                    for part, tensor in self.beside:
                        part.is_chain &= tensor() is not item
                if isinstance(item, torch.Tensor) and item is not self.input:
                    for part in [part for part, tensor in self.between if tensor() is item]:
                        if function in ABOUT:
                            part.asked.add(kind(item))
                        elif result is item and passes_on(function, args, kwargs, version):
                            part.between.append(partial(hand, function, args[1:], kwargs))
                        else:
                            part.is_chain = False
        return result

    def finish(self, results):  # results may hold tensors from between modules; it is empty if the pass failed
        """Returns the parts that did not run."""
        left = [part for part in self.parts if results and part.next == 0]
        for part in self.parts:
            part.is_chain &= len(results) > 0 and part.next == len(part.modules)
            part.proof = None
            part.forget()
        for part, tensor in self.between + self.beside:
            part.is_chain &= tensor() is None
        tell_refused([part for part in self.parts if part not in left])
        return left


def tell_refused(parts):
    for part in parts:
        if not part.is_chain and len(part.modules) > 1:
            print("not a chain, so checkpointed one by one:", *part.names, file=sys.stderr)


@contextmanager
def without_compiler(model):
    """Turns torch.compile off: a compiled module would also compile the mode that watches it."""
    is_compiled = "torch._dynamo" in sys.modules or any(vars(module).get("_compiled_call_impl") for module in model.modules())
    if is_compiled and hasattr(torch.compiler, "set_stance") and not is_compiling():  # since PyTorch 2.6
        with torch.compiler.set_stance("force_eager"):
            yield
    else:
        yield


def try_out(model, args, kwargs, mode=torch.no_grad):
    """Runs the model without gradients, and undoes all changes. Returns a list with its result, which is empty if it
    fails."""
    devices = {parameter.device for parameter in model.parameters()}
    before = Before(have_attributes(model.modules()), list(model.modules()))
    results = []
    with mode(), torch.random.fork_rng([d for d in devices if d.type == "cuda"]), before.restored(), \
            without_compiler(model):
        try:
            results.append(model(*args, **kwargs))
        except Exception as error:
            print("the trial run failed:", error, file=sys.stderr)
    torch.clear_autocast_cache()  # it has weights that were converted without gradients
    return results


def prove(parts, model, args, kwargs):
    """Finds which parts are chains. Returns the parts that did not run."""
    proof = Proof(parts)
    with proof:
        results = try_out(model, args, kwargs)
    left = proof.finish(results)
    running = Running(model, parts)
    for part in parts:
        part.running = running
    return left


class Running:
    """Counts the runs of a model that have not ended. A chain runs only in them: who calls one of its modules elsewhere
    wants the result of that module."""

    def __init__(self, model, parts):
        self.parts, self.depth = parts, 1  # prove() is called in a run
        model.register_forward_pre_hook(self.begin)
        model.register_forward_hook(self.end, **({} if is_compiling() else {"always_call": True}))

    def begin(self, _model, _args):
        self.depth += 1

    def end(self, _model, _args, result):
        """Raises an error if a chain began in a run but not all of its modules ran."""
        self.depth -= 1
        has_failed = result is None and sys.exc_info()[0] is not None
        for part in self.parts:
            if part.is_open and not part.proof:
                left = part.names[part.next]
                part.forget()
                if not has_failed:
                    raise RuntimeError(f"{left} was skipped this time, but the checkpoint that begins at {part.names[0]} "
                                       "has run it: apply the plan with one_by_one=True")


class InNextRun:
    """Calls a function before the next run of a model that computes gradients, and never again. A class and functions of
    the module, since a function within another one could neither be pickled with the model nor copied with it: it would
    go on with what belongs to the model that was copied."""

    def __init__(self, model, function, *given):
        self.function, self.given = function, given
        self.handle = model.register_forward_pre_hook(self, with_kwargs=True)

    def __call__(self, model, args, kwargs):
        if torch.is_grad_enabled():
            self.handle.remove()
            uncompiled(self.function)(model, args, kwargs, *self.given)


def uncompiled(function):
    return torch.compiler.disable(function) if is_compiling() else function  # modes are not compiled


def holders_of(model, modules):
    """The modules that contain all of these, from the model inwards."""
    wanted, holders = set(modules), []
    while model is not None:
        holders.append(model)
        model = next((child for child in model.children() if wanted.issubset(child.modules())), None)
    return holders


class ProofInNextRun:
    """Proves parts before the next run, with gradients, of the model or of a module within it that contains them. A
    program may call that one instead: the training step of a LightningModule does."""

    def __init__(self, model, parts):
        self.parts = list(parts)
        holders = {holder for part in parts if len(part.modules) > 1 for holder in holders_of(model, part.modules)}
        self.handles = [holder.register_forward_pre_hook(self, with_kwargs=True) for holder in holders]

    def __call__(self, model, args, kwargs):
        if torch.is_grad_enabled():
            uncompiled(self.prove)(model, args, kwargs)

    def prove(self, model, args, kwargs):
        inside_it = set(model.modules())
        parts = [part for part in self.parts if inside_it.issuperset(part.modules)]
        self.parts = [part for part in self.parts if part not in parts]
        if not any(len(part.modules) > 1 for part in self.parts):
            for handle in self.handles:
                handle.remove()
        if parts:
            prove_and_tell(model, args, kwargs, parts)


def prove_and_tell(model, args, kwargs, parts):
    tell_refused(prove(parts, model, args, kwargs))


def replace_forwards(model, plan, keep=None):
    """Puts checkpoints into the model. A plan is a list of parts. A part lists the names of the modules that one
    checkpoint runs; a list within it is a checkpoint of its own. `keep` has the operators whose results a part keeps,
    by the name of the part's first module."""
    plan = [part for part in plan if names(part)]
    prepare(model, [find_module(model, name) for part in plan for name in names(part)])
    return [Part(model, part, (keep or {}).get(names(part)[0], ())) for part in plan]


def checkpoint_modules(model, plan, keep=None, one_by_one=False):
    """Puts the checkpoints of a plan into the model. With `one_by_one`, each block of a part gets its own checkpoint,
    for models that skip layers at random."""
    parts = replace_forwards(model, plan, keep)
    if any(len(part.modules) > 1 for part in parts) and not one_by_one:
        ProofInNextRun(model, parts)
    return parts


# memsnap suggest prints what follows for plans of modules that run several times.
import atexit


def has_forward(module):
    """True if a module has a forward() of its own. The base class LightningModule has one that only raises an error."""
    owner = next(base for base in type(module).__mro__ if "forward" in vars(base))
    return "forward" in vars(module) or not owner.__module__.startswith(
        ("torch.nn.modules.module", "lightning.", "pytorch_lightning."))


def model_that_runs(model):
    """The model, or what it wraps if it has no forward(), such as the network of a LightningModule. Warns at the end if
    that is never called, since the plan then has no effect."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError("the model of this plan is one module: the one whose call makes all calls of the plan")
    while not has_forward(model):
        within = wrapped_by(model)
        if within is None:
            raise TypeError(f"the model of a plan is a module whose forward() runs the others, and {type(model).__name__} "
                            "has no forward(): make a module that has one, and call that in the training step")
        model = within
    atexit.register(ExpectRun(model).tell)
    return model


class ExpectRun:
    def __init__(self, model):
        self.handle = model.register_forward_pre_hook(self)

    def __call__(self, _model, _args):
        self.handle.remove()
        atexit.unregister(self.tell)

    def tell(self):
        print("the model of the plan never ran, so there were no checkpoints: apply the plan to the module that the "
              "training step calls or, if it calls methods such as encode(), to a list of the modules that these call",
              file=sys.stderr)


class Step:
    """Whether a step goes on with the next run of a model: until a backward pass reaches what one of its modules made.
    The modules share it, because the results of some have no gradients, such as a padding of the input."""

    def __init__(self):
        self.goes_on = False

    def reach(self, _gradient):
        self.goes_on = False


class Turns:
    """The forward of a module that runs several times in a step, with checkpoints around some of its calls."""

    def __init__(self, model, forward, total, step):
        self.forward, self.total, self.step = forward, total, step
        self.parts = {}  # forwards of parts, by the number of the call
        self.turn, self.before = 0, []
        self.is_off = False  # True in trial runs that look for calls
        model.register_forward_pre_hook(self.begin)
        model.register_forward_hook(self.end, always_call=True)

    def begin(self, _model, _args):
        self.before.append(self.turn)
        if not self.step.goes_on:
            self.turn = 0

    def end(self, _model, _args, _result):
        before = self.before.pop()
        if not torch.is_grad_enabled():
            self.turn = before

    def __call__(self, *args, **kwargs):
        if self.is_off or not self.before or is_backward():
            return self.forward(*args, **kwargs)
        turn, self.turn = self.turn, self.turn + 1
        result = self.parts.get(turn % self.total, self.forward)(*args, **kwargs)
        if torch.is_grad_enabled() and not is_compiling():
            made = [value for value in tree_flatten(result)[0] if isinstance(value, torch.Tensor) and value.requires_grad]
            if made:
                self.step.goes_on = True
                made[0].register_hook(self.step.reach)
        return result


def replace_turns(model, plan, several=None):
    """Makes the parts of a plan, and replaces the forward of modules that run several times. A part has the names of
    its modules, each with its turn and the number of turns; the operators whose results it keeps; and the results that
    each call changes in place, if known. `several` has the replacements for other turns."""
    several = {} if several is None else several
    step = next((turns.step for turns in several.values()), None) or Step()
    for module, turns in several.items():
        module.forward = turns.forward
    prepare(model, [find_module(model, name) for calls, *_ in plan for name, _, _ in calls])
    parts = []
    for calls, operators, changed in plan:
        modules = [inside(find_module(model, name)) for name, _, _ in calls]
        forwards = list(map(forward_of, modules))
        parts.append(Part(model, [name for name, _, _ in calls], operators, changed))
        for k, (module, (_, turn, total)) in enumerate(zip(modules, calls)):
            if total > 1:
                if module not in several:
                    several[module] = Turns(model, forwards[k], total, step)
                several[module].parts[turn] = partial(parts[-1].forward, k)
                module.forward = forwards[k]
    for module, turns in several.items():
        module.forward = turns
    return parts, list(several.values())


def turn_of(name):
    """The module, the turn and the number of turns in a name such as "layer [2/12]". For "layer", the turn is 0 of 1.
    """
    module, _, numbers = name.partition(" [")
    turn, total = map(int, numbers.rstrip("]").split("/")) if numbers else (0, 1)
    return module, turn, total


def prove_in_next_run(model, parts, several, is_first=False, tries=100):
    """Proves the parts in a later run. A step may run the model several times, and the first runs may not belong to
    such a step, because some programs first compute gradients of an input."""
    InNextRun(model, prove_or_wait, parts, several, is_first, tries)


def prove_or_wait(model, args, kwargs, parts, several, is_first, tries):
    if is_first or any(turns.step.goes_on for turns in several):
        left = prove(parts, model, args, kwargs)
        if left:
            prove_in_next_run(model, left, several)
    elif tries > 0:
        prove_in_next_run(model, parts, several, tries=tries - 1)
    else:
        tell_refused(parts)


def checkpoint_turns(model, plan, keep=None, one_by_one=False):
    """The same as checkpoint_modules(), for modules that run several times."""
    model = model_that_runs(model)
    parts, several = replace_turns(
        model, [([turn_of(name) for name in part], (keep or {}).get(part[0], ()), None) for part in plan])
    if not one_by_one:
        prove_in_next_run(model, parts, several, is_first=True)
    return parts


# memsnap suggest prints what follows for plans of snapshots that keep results of operators.
from torch.multiprocessing.reductions import StorageWeakRef


class FindChanges(TorchDispatchMode):
    """Finds which results of operators are changed in place, in the order in which the operators run in each call of a
    module."""

    def __init__(self, operators):
        super().__init__()
        self.operators, self.call, self.made, self.changed = operators, None, {}, {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        for argument, value in zip(function._schema.arguments, args):
            if argument.alias_info is not None and argument.alias_info.is_write and isinstance(value, torch.Tensor):
                flags, number, _ = self.made.get(value.untyped_storage()._cdata, ([False], 0, None))
                flags[number] = True
        result, name = function(*args, **(kwargs or {})), name_of(function)
        if name in self.operators and not is_cast_of_weight(function, args):
            flags = self.changed.setdefault(self.call, {}).setdefault(name, [])
            flags.append(False)
            for item in result if isinstance(result, (list, tuple)) else [result]:
                if isinstance(item, torch.Tensor):
                    weak = StorageWeakRef(item.untyped_storage())  # so that no other storage takes the place
                    self.made[weak.cdata] = flags, len(flags) - 1, weak
        return result


def find_changes(model, args, kwargs, plan):
    """Finds for each part of a plan which results its calls change in place. A snapshot does not show that, and a
    checkpoint must not keep such results."""
    def run(module, forward, /, *args, **kwargs):
        outer, turns[module] = find.call, turns.get(module, -1) + 1
        find.call = module, turns[module]
        try:
            return forward(*args, **kwargs)
        finally:
            find.call = outer

    find, turns = FindChanges({name for _, operators in plan for name in operators}), {}
    forwards = [(module, module.forward, "forward" in vars(module))
                for module in {inside(module) for found, _ in plan for module, _ in found}]
    for module, forward, _ in forwards:
        module.forward = partial(run, module, forward)
    with find:
        try_out(model, args, kwargs)
    for module, forward, is_own in forwards:
        if is_own:
            module.forward = forward
        else:
            del module.forward
    made = []
    for found, operators in plan:
        calls = [(inside(module), turn) for module, turn in found]
        made.append([find.changed.get((module, turn % (turns.get(module, 0) + 1)), {}) for module, turn in calls])
        lost = [name for name, flags in joined(made[-1]).items() if name in operators and all(flags)]
        if lost:
            print("changed in place, so not kept: results of", *sorted(lost), file=sys.stderr)
    return made


# memsnap suggest prints what follows for plans of snapshots, which name calls by lines.
import os
from types import CodeType


def allocations():
    return sum(torch.cuda.memory_stats(device).get("allocation.all.allocated", 0) for device in range(torch.cuda.device_count()))


def is_of_torch(frame):
    return frame.f_code.co_filename.startswith(os.path.join(os.path.dirname(torch.__file__), ""))


def is_of_package(frame):
    """True for code of an installed package or of Python itself."""
    path = frame.f_code.co_filename
    return path.startswith(os.path.join(os.path.dirname(os.__file__), "")) or any(
        f"/{folder}/" in path for folder in ("site-packages", "dist-packages"))


def codes_of(*functions):
    """The code of functions, and of the functions within them."""
    return {code for function in functions for code in (function.__code__, *function.__code__.co_consts)
            if isinstance(code, CodeType)}


# what runs between a module's call and the forward of its class once a plan is in the model
PASS_ON = codes_of(OwnForward.__call__, CountOnce.__call__, InRow.__call__, Checkpointed.__call__, Part.pick, Part.forward,
                   Turns.__call__)


def line_at(frame):
    return os.path.basename(frame.f_code.co_filename) + ":" + str(frame.f_lineno)


def lines_of_call(call):
    """The lines of a call such as "run 1/2: model.py:50 [3/12] > block.py:12, allocations 60-71 of 310"."""
    return [step.partition(" [")[0] for step in call.rpartition(": ")[2].partition(", allocations ")[0].split(" > ")]


def has_moved(lines, to):
    """True if lines such as "model.py:50" are in the same files, and all lines of a file are as far from where they were.
    """
    places = [(*before.rpartition(":"), *after.rpartition(":")) for before, after in zip(lines, to)]
    moved = {(file, int(new) - int(old)) for file, colon, old, _, _, new in places if colon and new.isdigit()}
    return len(lines) == len(to) and len(moved) == len({file for file, _ in moved}) and all(
        file == other and (colon or old == new) for file, colon, old, other, _, new in places)


def counts_allocations(model):
    return any(parameter.is_cuda for parameter in model.parameters())


class Runs:
    """Watches a run of the model: which line, within which other calls, calls each module, and how often. If the model
    is one of several, the earlier runs of the others in the step count too."""

    def __init__(self, model, plan, earlier=None):
        self.model = model
        self.names = {module: name for name, module in model.named_modules()}
        self.wanted = {line for part in plan for call in part for line in lines_of_call(call)}
        self.found, self.times = {}, dict(earlier.times) if earlier else {}  # modules by call, with turns; number of calls by line
        self.rows, self.latest = {}, {}  # by line: its calls, as a snapshot tells them apart; by call around: the last line and kind
        self.lines = {}  # by module and turn: the lines of its call and of the calls around it
        self.turns = dict(earlier.turns) if earlier else {}  # number of runs of each module
        self.earlier = earlier
        self.is_strict = False  # True if "model", which is any container, is found only by its allocations
        self.model_runs = 1  # number of the model's runs in a step, according to the plan
        self.calls = []  # first and last allocation, depth and module of each call, outer calls first
        self.stack, self.caller = [], None
        self.counts = counts_allocations(model)
        self.handles = [handle for module in self.names for handle in (
            module.register_forward_pre_hook(self.before), module.register_forward_hook(self.after, always_call=True))]

    def allocations(self):
        return allocations() if self.counts else 0

    def caller_of(self, frame, container):
        """The frame that makes a call: the innermost one outside of torch, or the forward() of a module of torch that is
        not a container. Functions of packages that only pass the call on, such as a __call__() around that of the module,
        come after it: they are passed over if that leads to a line of the plan."""
        while frame.f_back is not None and (frame.f_code in PASS_ON or (is_of_torch(frame) and (
                frame.f_code.co_name != "forward" or frame.f_code is container))):
            frame = frame.f_back
        outer = frame
        while outer is not None and line_at(outer) not in self.wanted and outer.f_code.co_name != "forward" and (
                is_of_package(outer)):
            outer = outer.f_back
        return outer if outer is not None and line_at(outer) in self.wanted else frame

    def before(self, module, _args):
        container = torch.nn.Sequential.forward
        frame = self.caller_of(sys._getframe(1), container.__code__)
        line = call = made_by = around = ()
        name = None  # the model itself has no line
        if not self.stack:
            self.caller = frame.f_code  # the code, since a frame would hold results
            name = self.helper = self.earlier.helper if self.earlier else None
        else:
            _, around, *_ = self.stack[-1]
            name = line_at(frame) if frame.f_code is not self.caller else self.helper or "model"  # the model is a container
        if name is not None:
            line = made_by = (*around, name)
            call = (*around, (name, self.times.get(line, 0)))
            if type(module).forward is container:
                line, call = (), around
        turn = self.turns[module] = self.turns.get(module, -1) + 1
        self.lines[module, turn] = [step if isinstance(step, str) else step[0] for step in made_by]
        self.calls.append([self.allocations(), None, len(self.stack), (module, turn)])
        self.stack.append((line, call, self.calls[-1]))

    def after(self, _module, _args, _result):
        """Notes the end of a call. A call that allocates nothing, such as that of an in-place activation, joins the
        call before it."""
        line, call, made = self.stack.pop()
        before, made[1], _, module = made[0], self.allocations(), *made[2:]
        if line and (made[1] > before or not self.counts):
            self.found[call] = [module]
            self.times[line] = self.times.get(line, 0) + 1
            self.add_to_row(line, module)
        elif line in self.rows:
            self.found[(*line[:-1], (line[-1], self.times[line] - 1))].append(module)
            self.rows[line][-1].append(module)

    def add_to_row(self, line, module):
        """A snapshot does not tell two calls in a row from one if they are of one class, such as two convolutions of a
        Sequential, and allocate at one line."""
        kind = line, type(module[0]).forward
        if self.latest.get(line[:-1]) == kind:
            self.rows[line][-1].append(module)
        else:
            self.rows.setdefault(line, []).append([module])
        self.latest[line[:-1]] = kind

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def between(self, first, end):
        """The outermost modules that make no allocations outside of [first, end], and those after them that allocate
        nothing."""
        found, within, last = [], None, None  # depths of found modules: around the call, and the last
        for begins, ends, depth, module in self.calls[1:]:
            if within is not None and depth > within:
                continue
            within = None
            if first <= begins <= ends <= end and (ends > begins or depth == last):
                found.append(module)
                within = last = depth
        return found

    def exactly(self, first, end):
        """The same if they make all of these allocations, otherwise none."""
        found = self.between(first, end)
        edges = [edge for begins, ends, _, module in self.calls if module in found for edge in (begins, ends)]
        return found if edges and (min(edges), max(edges)) == (first, end) else []

    def joined(self, found):
        """The same calls. But if several of them are all that allocates in a call around them, as the lines of a block
        are, that call takes their place, because a checkpoint around it is right whatever it does between them. It does
        not if it allocates more itself."""
        if len(found) < 2 or not self.counts:
            return found
        wanted, path, inner = set(found), [], [[] for _ in self.calls]
        for k, (begins, ends, depth, call) in enumerate(self.calls):
            del path[depth:]
            if path and (ends > begins or call in wanted):
                inner[path[-1]].append(k)
            path.append(k)
        whole, outer, within = {}, [], None  # whole: number of found calls in a call, and their allocations
        for k, (begins, ends, _, call) in reversed(list(enumerate(self.calls))[1:]):
            if call in wanted:
                whole[k] = int(ends > begins), ends - begins
            elif inner[k] and all(part in whole for part in inner[k]):
                count, made = map(sum, zip(*(whole[part] for part in inner[k])))
                if ends - begins < 2 * made:
                    whole[k] = count, made
        for k, (_, _, depth, call) in enumerate(self.calls):
            within = within if within is not None and depth > within else None
            if within is None and k in whole and (call in wanted or whole[k][0] > 1):
                outer.append(call)
                within = depth
        return outer

    def modules(self, written):
        """The modules, with their turns, of a call such as "model.py:50 [3/12] > block.py:12". None if the lines make
        another number of calls."""
        call = ()
        for step in written.split(" > "):
            line, _, number = step.partition(" [")
            number, total = map(int, number.rstrip("]").split("/")) if number else (0, 1)
            times = self.times.get((*call, line), 0)
            row = self.rows.get((*call, line), [])
            if times > total == len(row) and written.endswith(step):
                return row[number]
            if times > total or (times < total and (call or not self.earlier)):
                return []
            call += ((line, number),)
        return self.found.get(call, [])

    def by_runs(self, part):
        """The same calls as "run 1/2: model.py:50 [3/12]", if the plan counts the calls of several runs of the model
        together: a snapshot does not tell apart runs that one line of the program makes."""
        begins, ends, *_ = self.calls[0]
        made = []
        for call in part:
            written, _, numbers = call.partition(", allocations ")
            first, *inner = written.split(" > ")
            line, _, number = first.partition(" [")
            turn, total = map(int, number.rstrip("]").split("/")) if number else (0, 1)
            times = self.times.get((line,), 0)
            if ": " in written or times == 0 or total == times or total % times != 0:
                return []
            run, turn = divmod(turn, times)
            made.append(f"run {run}/{total // times}: " + " > ".join([f"{line} [{turn}/{times}]", *inner]))
            if numbers:
                low, high, allocated = map(int, numbers.replace(" of ", "-").split("-"))
                if allocated == total // times * (ends - begins):
                    low, high = low - run * (ends - begins), high - run * (ends - begins)
                    made[-1] += f", allocations {low}-{high} of {ends - begins}"
        return made

    def modules_of(self, part):
        """The modules of calls in a row, such as "run 1/2: model.py:50 [3/12]", which is in the second of two runs of
        the model."""
        runs = {}
        for call in part:
            run, _, written = call.rpartition(": ")
            runs.setdefault(run, []).append(written)
        made = []
        for run, written in runs.items():
            number, total = map(int, run.removeprefix("run ").split("/")) if run else (0, 1)
            self.model_runs = max(self.model_runs, total)
            found = self.modules_of_run(written)
            if not found:
                return []
            made += [(module, turn + number * (self.turns[module] + 1)) for module, turn in found]
        return made

    def modules_of_run(self, part):
        """The modules of calls in one run: by numbers of allocations, as in "model.py:50 [3/12], allocations 60-71 of
        310". If the model makes more or fewer allocations, by numbers of calls."""
        return self.joined(self.calls_of(part))

    def calls_of(self, part):
        written = [call.partition(", allocations ") for call in part]
        numbers = [list(map(int, allocations.replace(" of ", "-").split("-"))) for _, _, allocations in written if allocations]
        begins, ends, *_ = self.calls[0]
        if self.earlier and self.counts and all(numbers):
            begins -= self.earlier.allocations
            found = self.exactly(begins + numbers[0][0] - 1, begins + numbers[-1][1]) if numbers else []
            if found and all(self.is_within(call, part) for call in found):
                return found
            if self.is_strict and numbers and part[0].rpartition(": ")[2].startswith("model"):
                return []
        elif self.counts and numbers and all(total == ends - begins for _, _, total in numbers):
            return self.between(begins + numbers[0][0] - 1, begins + numbers[-1][1])
        found = [self.modules(call) for call, *_ in written]
        if [] not in found:
            return sum(found, [])
        exact = []
        if self.counts and len(numbers) == len(part):
            exact = self.exactly(begins + numbers[0][0] - 1, begins + numbers[-1][1])
        return exact if all(self.is_within(call, part) for call in exact) else []  # else other lines call them

    def difference(self, part):
        """In words: where the calls of a part differ from those of this run."""
        begins, ends, *_ = self.calls[0]
        for written in part:
            path, _, numbers = written.rpartition(": ")[2].partition(", allocations ")
            call = ()
            for step in path.split(" > "):
                line, _, number = step.partition(" [")
                number, total = map(int, number.rstrip("]").split("/")) if number else (0, 1)
                times = self.times.get((*call, line), 0)
                if times != total:
                    others = [f"{made[-1]} ({count})" for made, count in self.times.items() if made[:-1] == call and made[-1] != line]
                    return f"in {type(self.model).__name__}, {line} makes {times} calls here, and {total} in the plan" + (
                        f"; calls here: {', '.join(others[:4])}{', ...' if len(others) > 4 else ''}" if others and not times else "")
                call += ((line, number),)
        return f"{type(self.model).__name__} makes {ends - begins} allocations here; the plan counts {numbers.rpartition(' of ')[2] or 'none'}"

    def is_within(self, module, part):
        """True if the lines of a call of the part make this call of a module, or a call around it. They may have moved
        since the recording, as by the import that applies the plan."""
        lines = self.lines[module]
        return any(has_moved(of_call, lines[:len(of_call)]) for of_call in map(lines_of_call, part))


def tell_missing(part, difference):
    print("this program makes other calls, so they have no checkpoint:", *part, f"({difference})", sep="\n    ", file=sys.stderr)


def saves_nothing(model):
    """A mode in which the model runs as in training but saves nothing. Some wrappers wait for a backward pass
    afterwards."""
    if any(is_sharded(module) or isinstance(module, torch.nn.parallel.DistributedDataParallel) for module in model.modules()):
        return torch.no_grad()
    return torch.autograd.graph.saved_tensors_hooks(lambda _tensor: None, lambda _nothing: None)


def replace_calls(model, runs, plan, changed):
    """The parts of a plan, by modules and their turns."""
    return replace_turns(model, [
        ([(runs.names[module], turn, (runs.turns[module] + 1) * runs.model_runs) for module, turn in found], operators, flags)
        for (found, operators), flags in zip(plan, changed)])


def checkpoint_calls(model, plan, keep=None, one_by_one=False):
    """Puts the checkpoints of a plan into the model. A plan is a list of parts, and a part is a list of calls. Their
    modules are found when the model first runs."""
    InNextRun(model_that_runs(model), find_calls, plan, keep or {}, one_by_one)


def find_calls(model, args, kwargs, plan, keep, one_by_one):
    """Finds the modules of the calls, and puts checkpoints around them."""
    try_out(model, args, kwargs)  # libraries allocate workspaces when they first run
    runs = Runs(model, plan)
    try_out(model, args, kwargs, partial(saves_nothing, model))
    runs.remove()
    parts = []
    for part in plan:
        found = runs.modules_of(part) or runs.modules_of(runs.by_runs(part))
        if not found:
            tell_missing(part, runs.difference(part))
            continue
        parts.append((list(dict.fromkeys(found)), keep.get(part[0], ())))
    changed = [None] * len(parts)
    if any(operators for _, operators in parts):
        changed = find_changes(model, args, kwargs, parts)
    made, turns = replace_calls(model, runs, parts, changed)
    for several in turns:
        several.begin(model, args)  # a hook that is added during a run is not called in it
    if not one_by_one:
        left = prove(made, model, args, kwargs)
        if left and runs.model_runs > 1:
            prove_in_next_run(model, left, turns)
        else:
            tell_refused(left)


# memsnap suggest prints what follows for plans of snapshots whose steps may call several modules for one loss.
def models_of(model):
    """The modules that the training step calls: `model` if it is a list, or what a module without forward() contains.
    """
    if isinstance(model, (list, tuple)):
        return list(dict.fromkeys(part for item in model for part in models_of(item)))
    if not has_forward(model):
        return [part for child in model.children() for part in models_of(child)]
    return [model]


def place_of(code):
    """What tells the code of a function from others. Code itself cannot be pickled with the model."""
    return code and (code.co_filename, code.co_firstlineno, code.co_name)


class Earlier:
    """What ran in a pass before a module: numbers of calls by line, turns of modules, and allocations."""

    def __init__(self):
        self.times, self.turns, self.allocations, self.end = {}, {}, 0, None  # when the last run ended
        self.caller = self.helper = None  # the place of the code that called the first model; see note_caller()

    def note_caller(self, frame):
        """Sets `helper` to the line that calls a model, if that is in a function that the caller of the first model
        calls. A snapshot takes such a function for a part of the model."""
        while frame.f_back is not None and is_of_torch(frame):
            frame = frame.f_back
        self.caller = self.caller or place_of(frame.f_code)
        outer = frame
        while outer is not None and place_of(outer.f_code) != self.caller:
            outer = outer.f_back
        self.helper = None if outer is None or outer is frame else line_at(frame)


@contextmanager
def without_turns(turns):
    """Modules run here without the checkpoints of these turns, and are not counted."""
    for several in turns:
        several.is_off = True
    try:
        yield
    finally:
        for several in turns:
            several.is_off = False


class Weakly:
    """Calls a method of an object without keeping the object."""

    def __init__(self, method):
        self.method = weakref.WeakMethod(method)

    def __call__(self, *given):
        method = self.method()
        return None if method is None else method(*given)


class Outermost:
    """Watches the modules that a step calls, apart from those that run within them, and numbers them as a snapshot
    shows them: a stretch has successive calls of one line with no allocation between them. Without a model on the GPU,
    each call is a stretch."""

    def __init__(self, models):
        self.models = models
        self.depth, self.stretch, self.line, self.end = 0, 0, None, 0  # end: allocations up to the end of the last call
        module = torch.nn.modules.module
        self.handles = [module.register_module_forward_pre_hook(Weakly(self.before)),
                        module.register_module_forward_hook(Weakly(self.after), always_call=True)]
        for handle in self.handles:
            weakref.finalize(self, handle.remove)

    def __reduce__(self):
        return Outermost, (self.models,)  # a copy watches, too

    def before(self, _module, _args):
        if is_compiling():
            return
        self.depth += 1
        if self.depth == 1 and not is_backward():
            frame = sys._getframe(2)
            while frame.f_back is not None and is_of_torch(frame):
                frame = frame.f_back
            line = frame.f_code.co_filename, frame.f_lineno
            self.stretch += line != self.line or allocations() != self.end or not any(map(counts_allocations, self.models))
            self.line = line

    def after(self, _module, _args, _result):
        if not is_compiling():
            self.depth = max(self.depth - 1, 0)
            self.end = allocations() if self.depth == 0 else self.end

    def remove(self):
        for handle in self.handles:
            handle.remove()


class Several:
    """Several modules that a step calls for one loss, or one that several lines call. Each module finds its calls of the
    plan when it runs and it is its turn. Parts that are not found in one pass may be in the next, such as those of a
    generator after a discriminator's pass."""

    def __init__(self, models, plan, keep, one_by_one):
        self.left, self.keep, self.one_by_one = list(plan), keep or {}, one_by_one
        self.has_runs = any(part[0].startswith("run ") for part in plan)
        self.turns = {model: {} for model in models}
        self.depth, self.passes, self.ran = 0, 4, False
        self.called, self.differences = set(), {}  # models; by first call of a part
        self.outermost = Outermost(models)
        self.begin_pass()
        for model in models:
            model.register_forward_pre_hook(self.before, with_kwargs=True)
            model.register_forward_hook(self.after, always_call=True)
        atexit.register(self.tell)

    def begin_pass(self):
        self.earlier, self.first, self.is_over = Earlier(), None, False
        self.number, self.stretch = 0, None  # of the run, and its stretch of calls
        for several in self.turns.values():
            for turns in several.values():
                turns.step.goes_on = False  # also if its results are detached, such as those of a generator

    def reach(self, _gradient):
        self.is_over = True

    def before(self, model, args, kwargs):
        self.depth += 1
        if self.depth > 1 or not torch.is_grad_enabled() or is_backward():
            return
        self.ran = True
        self.called.add(model)
        if self.is_over:
            self.passes -= 1
            self.begin_pass()
        if self.passes == 0 or not self.left:
            return self.finish()
        self.number_run(model)
        self.earlier.note_caller(sys._getframe(1))
        if self.earlier.end is not None:
            self.earlier.allocations += allocations() - self.earlier.end
        self.put(model, args, kwargs)

    def number_run(self, model):
        """The next run begins with the first stretch of calls after that of the last run in which the forward of the
        first model is called again."""
        forward = place_of(getattr(type(model).forward, "__code__", None))
        if self.first is None:
            self.first = forward
        elif forward != self.first or self.outermost.stretch == self.stretch:
            return
        elif self.has_runs:
            self.earlier.times, self.earlier.allocations, self.earlier.end = {}, 0, None
            self.number += 1
        self.stretch = self.outermost.stretch

    def after(self, _model, _args, result):
        self.depth -= 1
        if self.depth == 0 and torch.is_grad_enabled():
            self.earlier.end = allocations()
            for value in tree_flatten(result)[0]:
                if isinstance(value, torch.Tensor) and value.requires_grad and not is_backward():
                    value.register_hook(self.reach)

    def put(self, model, args, kwargs):
        """Puts the checkpoints that belong to this run into the model."""
        with without_turns(self.turns[model].values()):
            try_out(model, args, kwargs)  # libraries allocate workspaces when they first run
            runs = Runs(model, self.left, self.earlier)
            runs.is_strict = self.passes > 2  # the pass of another model may come first
            try_out(model, args, kwargs, partial(saves_nothing, model))
        runs.remove()
        found = [(part, list(dict.fromkeys(self.modules_of(runs, part)))) for part in self.left]
        self.left = [part for part, modules in found if not modules]
        for part in self.left:  # the last module that runs
            self.differences[part[0]] = runs.difference(part)
        parts = [(modules, self.keep.get(part[0], ())) for part, modules in found if modules]
        if parts:
            self.replace(model, args, kwargs, runs, parts)
        begins, ends, *_ = runs.calls[0]
        self.earlier.times, self.earlier.turns = runs.times, runs.turns
        self.earlier.allocations += ends - begins

    def modules_of(self, runs, part):
        calls = [call.rpartition(": ") for call in part]
        if any(run and int(run.removeprefix("run ").split("/")[0]) != self.number for run, _, _ in calls):
            return []
        return [(module, turn) for module, turn in runs.modules_of_run([call for _, _, call in calls]) if module in runs.names]

    def replace(self, model, args, kwargs, runs, parts):
        changed = [None] * len(parts)
        if any(operators for _, operators in parts):
            changed = find_changes(model, args, kwargs, parts)
        known = set(self.turns[model])
        made = replace_turns(model, [
            ([(runs.names[module], turn, sys.maxsize) for module, turn in modules], operators, flags)
            for (modules, operators), flags in zip(parts, changed)], self.turns[model])[0]
        for module, turns in self.turns[model].items():
            if module not in known:
                turns.turn = self.earlier.turns.get(module, -1) + 1  # earlier runs in this step had no checkpoints
                turns.step.goes_on |= turns.turn > 0
                turns.begin(model, args)  # a hook that is added during a run is not called in it
        if not self.one_by_one:
            tell_refused(prove(made, model, args, kwargs))

    def finish(self):
        """Stops looking for calls."""
        atexit.unregister(self.tell)
        self.outermost = self.outermost and self.outermost.remove()
        self.tell()
        self.left = []

    def tell(self):
        """Tells what was not found: calls, or a model that the step does not call."""
        for part in self.left if self.ran else []:
            tell_missing(part, self.differences.get(part[0], "their run of the models did not come"))
        idle = [type(model).__name__ for model in self.turns if model not in self.called]
        if not self.ran:
            print("none of the models of the plan ran, so there were no checkpoints", file=sys.stderr)
        if idle and self.left:
            print("the step did not call", *idle, "but perhaps methods such as encode(): give the modules that these call "
                  "instead", file=sys.stderr)


def checkpoint_calls_of_several(model, plan, keep=None, one_by_one=False):
    """The same as checkpoint_calls(), also for a list of modules or for a module without forward() that contains them.
    """
    models = models_of(model)
    is_one = models == [model] or (isinstance(model, (list, tuple)) and len(models) == 1)  # [net, net] is one, too
    if is_one and not any(call.startswith("run ") for part in plan for call in part):
        checkpoint_calls(models[0], plan, keep, one_by_one)
    else:
        Several(models, plan, keep, one_by_one)


# memsnap suggest prints nothing of what follows.
__all__ = ["apply", "layers", "snapshots"]

SCHEMA = "memsnap.layer-trace/1"
VERSION = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2] if part.isdigit())

# The roofline of a GPU: operations and bytes per microsecond. Only ratios between layers matter.
FLOPS_PER_US = {torch.float64: 2e7, torch.float32: 5e7}
SHORT_FLOPS_PER_US = 4e8
BYTES_PER_US = 2e6

GATHERS = {"all_gather_into_tensor", "all_gather_into_tensor_coalesced", "allgather_", "_allgather_base_",
           "allgather_coalesced_", "allgather_into_tensor_coalesced_"}
# backward formulas that work in place unless a mode watches
FILLS_IN_PLACE = {"aten.index_put", "aten.index_add", "aten.scatter", "aten.scatter_add", "aten.masked_scatter"}
# CUDA allocator: the unit of blocks, and the largest rest of a larger block that is not split off
BLOCK_BYTES, MOST_REST_BYTES = 512, 1 << 20
MOST_MISSED = 3  # steps that are recorded or measured once more
MOST_WAITING = 100  # runs of other models
MOST_PASSES = 1000  # runs of the model that are skipped to wait for one of a training step
MOST_OOM_DUMPS = 10  # a program that searches for its largest batch may run out of memory often


@contextlib.contextmanager
def takes_lengths():
    """True for ctc_loss() with lengths on the CPU and results on a GPU. It fails under a mode, unless lengths are
    numbers."""
    function = torch.ctc_loss

    @functools.wraps(function)
    def call(log_probs, targets, *lengths, **named):
        if any(isinstance(length, torch.Tensor) and not length.is_cuda for length in lengths[:2]) and log_probs.is_cuda:
            lengths = [length.tolist() if isinstance(length, torch.Tensor) else length for length in lengths]
        return function(log_probs, targets, *lengths, **named)

    torch.ctc_loss = call
    try:
        yield
    finally:
        if torch.ctc_loss is call:
            torch.ctc_loss = function


def bytes_of_block(storage):
    """The bytes that a storage takes of the CUDA allocator, or slightly less: see Storages.enlarge()."""
    return rounded_to_block(storage.nbytes()) if storage.device.type == "cuda" else storage.nbytes()


def rounded_to_block(size):
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES


def rank():
    """The rank of this process, and the number of ranks."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def path_of_rank(path):
    """The path with {rank} replaced. Without {rank}, the rank is put before the suffix if there are several ranks."""
    number, ranks = rank()
    if "{rank}" in path:
        return path.replace("{rank}", str(number))
    stem, suffix = os.path.splitext(path)
    return "%s.rank%d%s" % (stem, number, suffix) if ranks > 1 else path


def is_device(path):
    """True for a device or a pipe. Such a file is never replaced, and is written only once."""
    return os.path.exists(path) and not os.path.isfile(path)


def tensors_in(value, depth=8):
    """The tensors in nested containers and dataclasses."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth == 0:
        return
    else:
        for item in items_of(value):
            yield from tensors_in(item, depth - 1)


def items_of(value):
    """What a container or a dataclass holds. Classes of the program may compute that on access, and may fail."""
    if isinstance(value, dict):
        return list(dict.values(value))
    try:
        if isinstance(value, Mapping):
            return list(value.values())
        if isinstance(value, (tuple, list)):
            return list(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    except Exception:  # of the program
        pass
    return []


def plain_parts(tensor):
    """The tensors with storage of which a tensor consists: itself, or the parts of a subclass such as DTensor."""
    if hasattr(tensor, "__tensor_flatten__"):
        for name in tensor.__tensor_flatten__()[0]:
            part = getattr(tensor, name, None)
            if isinstance(part, torch.Tensor) and part is not tensor:
                yield from plain_parts(part)
    elif tensor.layout == torch.strided:
        yield tensor
    elif tensor.layout == torch.sparse_coo:
        yield from (tensor._indices(), tensor._values())


def storages_of(value):
    """The storages of all tensors in a value, each once."""
    found = {}
    for tensor in tensors_in(value):
        for part in plain_parts(tensor):
            try:
                storage = part.untyped_storage()
            except (NotImplementedError, RuntimeError):  # a tensor without storage
                continue
            found[storage._cdata] = storage
    return found


def bytes_of(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def bytes_beside(model):
    """The bytes, on the model's device, of parameters and buffers of modules outside of the model, such as a teacher.
    """
    own = storages_of([tensor for module in model.modules() for tensor in own_tensors(module)])
    own.update(storages_of([*model.parameters(), *model.buffers()]))
    devices = {storage.device for storage in own.values()}
    found = {}
    for thing in gc.get_objects():
        if not issubclass(type(thing), torch.nn.Module):
            continue
        held = [table for table in (vars(thing).get("_parameters"), vars(thing).get("_buffers")) if isinstance(table, dict)]
        found.update(storages_of([list(table.values()) for table in held]))
    return sum(bytes_of_block(storage) for key, storage in found.items() if key not in own and storage.device in devices)


def has_cache(module):
    try:
        return bool(getattr(getattr(module, "config", None), "use_cache", False))
    except Exception:  # an object of the program that is no configuration
        return False


def guarded(method):
    """Makes a method of a recorder stop recording at an error and report it at the end. The program must continue as if
    it were not recorded."""
    @functools.wraps(method)
    def run(self, *args, **kwargs):
        if self.error is not None:
            return None
        try:
            return method(self, *args, **kwargs)
        except Exception as error:  # itself it would keep tensors alive
            at = traceback.extract_tb(error.__traceback__)[-1]
            self.error = "%s: %s (%s:%s)" % (type(error).__name__, error, os.path.basename(at.filename), at.lineno)
            return None
    return run


class Termination:
    """Calls `save` when SIGTERM is about to end the program, unless the program has a handler of its own."""

    def __init__(self, save):
        self.save, self.process, self.before, self.is_over = save, None, signal.SIG_DFL, True

    def __enter__(self):
        self.process = os.getpid()
        self.before = signal.getsignal(signal.SIGTERM)
        is_free = self.before == signal.SIG_DFL or isinstance(self.before, Termination)
        self.is_over = not is_free or threading.current_thread() is not threading.main_thread()
        if not self.is_over:
            signal.signal(signal.SIGTERM, self)
        return self

    def __call__(self, number, frame):
        try:
            if not self.is_over and os.getpid() == self.process:  # not a child that the program has forked
                self.is_over = True
                self.save()
        finally:
            signal.signal(number, self.before)
            if callable(self.before):
                self.before(number, frame)
            else:
                os.kill(os.getpid(), number)

    def __exit__(self, *_exception):
        is_last = signal.getsignal(signal.SIGTERM) is self
        if is_last and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self.handler_below())
        self.is_over = True

    def handler_below(self):
        """The handler to restore: the one before this, unless that has ended, too."""
        below, seen = self.before, {self}
        while isinstance(below, Termination) and below not in seen and below.is_over:
            seen.add(below)
            below = below.before
        return signal.SIG_DFL if below in seen else below  # one that began again is below itself


class Hook:
    """A hook of a module. In a copy of the module, such as one that the program saves, the hook does nothing. The compiler
    compiles neither the hook nor what it calls."""

    is_of_recorder = True  # for the checkpoints of plans

    def __init__(self, call):
        self.call = torch.compiler.disable(call)  # imports the compiler, as any optimizer does

    def __call__(self, *arguments):
        if torch._C._get_tracing_state() is None:  # torch.jit.trace() would have the recorder in its graph
            return self.call(*arguments)

    def __reduce__(self):
        return getattr, (contextlib.nullcontext(), "__exit__")


def is_leaf(module):
    return not any(True for _ in module.children())


def own_tensors(module):
    """A module's own parameters and buffers. FSDP replaces parameters by attributes."""
    yield from (tensor for tensor in module._parameters.values() if tensor is not None)
    yield from (tensor for tensor in module._buffers.values() if tensor is not None)
    yield from (value for value in vars(module).values() if isinstance(value, torch.Tensor))


class Storage:
    """A storage and the row that made it. `row` is None if it existed before the step."""

    def __init__(self, size, row):
        self.bytes, self.row = size, row
        self.counted = 0  # part of the sum of bytes that are alive
        self.operator = None  # the Operator that made it, if it is known
        self.held = 0  # of HeldResults: how many there are
        self.held_until = None  # the row in which the program dropped the last of them
        self.weak = None  # must stay alive

    def is_alive(self):
        return self.weak() is not None if VERSION >= (2, 2) else not self.weak.expired()


class Operator:
    """All calls of an operator in a row. A checkpoint may keep its results if nothing changes them in place and the
    operator draws no random numbers. Otherwise later operators would draw those numbers in the recomputation."""

    def __init__(self):
        self.us = self.saved_us = 0.0
        self.flops = self.saved_flops = 0
        self.is_keepable = True
        self.made = []


class OperatorCall:
    """The state before a call of an operator, and the storage that it would reuse for its result if no mode watched it.
    """

    def __init__(self, row, reused):
        self.row, self.reused = row, reused


PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "addbmm", "_addmm_activation")
# The sizes of workspaces of cuBLAS and cuBLASLt that PyTorch chooses, which do not depend on the shapes; the largest first.
BLAS_WORKSPACES = (4096 * 8 << 10, (4096 * 2 + 16 * 8) << 10, 1 << 20)


REDUCTIONS = ("sum", "nansum", "mean", "linalg_vector_norm", "amax", "amin", "any", "all")
TABLE_GRADIENTS = ("embedding_dense_backward", "_embedding_bag_backward", "_embedding_bag_dense_backward")
WARP, BLOCK = 32, 128


class Workspace:
    """The memory that an operator used besides its results. With a larger batch, `fixed` bytes of it stay as they are, and
    `limited` bytes grow until they are `limit`."""

    def __init__(self, size=0, fixed=0, limited=0, limit=0):
        self.size, self.fixed, self.limited, self.limit = size, fixed, limited, limit


NOTHING = Workspace()


def workspace_of(func, args, out, size):
    name = func._schema.name.split("::")[-1]
    if name in PRODUCTS:
        return Workspace(size, fixed=next((fixed for fixed in BLAS_WORKSPACES if fixed <= size), 0))
    if not size or not isinstance(out, torch.Tensor) or not out.is_cuda:
        return Workspace(size)
    if name in REDUCTIONS:
        return Workspace(size, limited=size, limit=most_of_reduction(out))
    if name in TABLE_GRADIENTS:
        # A partial sum begins at each tenth of the sorted indices, and at each row of the table that they name.
        row_bytes = -(-out[0].numel() // WARP) * WARP * 4
        limited, limit = row_bytes * min(args[1].numel(), out.shape[0]), row_bytes * out.shape[0]
        return Workspace(size, limited=limited if limited <= size else 0, limit=limit)
    return Workspace(size)


def most_of_reduction(out):
    """The most bytes of partial results of a reduction, by the rules of PyTorch's ATen/native/cuda/Reduce.cuh: there are
    about as many blocks as run at once. A block has up to 128 threads, which work at 128 results, and has room for 128
    values of each."""
    device = torch.cuda.get_device_properties(out.device)
    at_once = device.multi_processor_count * device.max_threads_per_multi_processor // BLOCK
    blocks = -(-at_once // -(-out.numel() // BLOCK))  # of each result
    return out.numel() * BLOCK * blocks * max(out.element_size(), 4)


class Storages:
    """The live storages by key, and the bytes of those that the step made."""

    def __init__(self, storages):
        self.by_key = {}
        self.bytes = self.peak = 0
        self.growing = 0  # as peak, without what a larger batch would not enlarge
        self.unlimited = 0  # as growing, without what a larger batch would enlarge only to a limit
        self.limit = 0
        self.unseen = 0  # bytes that are allocated at the peak, but of no tensor
        self.swept = []  # storages of PyTorch 2.1, which cannot be watched
        for storage in storages:
            self.add(storage, None, False)

    def add(self, storage, row, counted=True):
        key = storage._cdata
        made = self.by_key[key] = Storage(bytes_of_block(storage), row)
        made.counted = made.bytes if counted else 0
        self.bytes += made.counted
        if VERSION >= (2, 2):
            made.weak = weakref.ref(storage, partial(self.on_free, key, made))
        else:
            made.weak = StorageWeakRef(storage)  # keeps the key from being used again
            self.swept.append(made)
        if self.bytes > self.unlimited:
            self.sweep()
            self.use(NOTHING)
        return made

    def enlarge(self, new, rest):
        """Adds `rest` bytes that were allocated with new storages because blocks were not split."""
        large = [made for made in new if made.bytes > MOST_REST_BYTES]
        if 0 < rest <= len(large) * MOST_REST_BYTES:
            for made in large:
                made.bytes += rest // len(large)
                if made.counted:
                    made.counted += rest // len(large)
                    self.bytes += rest // len(large)
            self.use(NOTHING)

    def on_free(self, key, made, _reference):
        self.uncount(made)
        if self.by_key.get(key) is made:
            del self.by_key[key]

    def uncount(self, made):
        self.bytes -= made.counted
        made.counted = 0

    def sweep(self):
        if self.swept:
            for made in self.swept:
                if made.weak.expired():
                    self.uncount(made)
            self.swept = [made for made in self.swept if not made.weak.expired()]

    def use(self, workspace):
        """Notes the bytes that an operator used only while it ran."""
        growing = self.bytes + workspace.size - workspace.fixed
        self.peak = max(self.peak, self.bytes + workspace.size)
        self.growing = max(self.growing, growing)
        self.unlimited = max(self.unlimited, growing - workspace.limited)
        if workspace.limited:
            self.limit = max(self.limit, workspace.limit)

    def take_peak(self):
        """The highest value since the last call. The workspace tells how much lower it is without fixed ones, and how much
        lower that is without limited ones."""
        self.sweep()
        self.use(NOTHING)
        limited = self.growing - self.unlimited
        peak, found = self.peak, Workspace(0, self.peak - self.growing, limited, max(self.limit, limited))
        self.peak = self.growing = self.unlimited = self.bytes
        self.limit = 0
        return peak, found


class HeldResults:
    """Tensors that modules return after the first one, such as attention weights. If the program holds them while the
    model runs on, a checkpoint of the module does not free them."""

    def __init__(self, rows):
        self.rows = rows
        self.weak = {}  # by the id of the tensor

    def add(self, tensor, made):
        if id(tensor) not in self.weak:
            self.weak[id(tensor)] = weakref.ref(tensor, partial(self.on_drop, id(tensor), made))
            made.held += 1

    def on_drop(self, key, made, _reference):
        self.weak.pop(key, None)
        made.held -= 1
        made.held_until = len(self.rows)


class Argument:
    """An argument of a module, described without keeping it alive."""

    def __init__(self, value):
        self.id, self.tensors = id(value), [weakref.ref(tensor) for tensor in tensors_in(value)]

    def is_value(self, value):
        return self.id == id(value) and all(tensor() is not None for tensor in self.tensors)


def traits_of(module):
    """The properties of a module that matter to a checkpoint."""
    traits = set()
    if is_batch_norm(module) and module.training:
        traits.add("batch_norm")
    if is_sharded(module):
        traits.add("fsdp")
    return traits


class Result:
    """The result of the module that ran last, and by depth, the other arguments of all modules that returned it: of a
    container and of the last module in it."""

    def __init__(self, tensor=None):
        self.tensor = (lambda: None) if tensor is None else weakref.ref(tensor)
        self.others = {}

    def at(self, depth):
        """The result that a module of this depth can take in a checkpoint; that of all modules if none has this depth.
        """
        return [self.others[depth]] if depth in self.others else list(self.others.values()) or [{}]


def is_within(name, container):
    return not container or name.startswith(container + ".")


class Frame:
    """A module that is running. `first_name` is its name in named_modules()."""

    def __init__(self, name, first_name, module, args, kwargs, result):
        self.name, self.first_name = name, first_name
        self.module, self.inputs, self.is_leaf = module, [args, kwargs], is_leaf(module)
        others = {**dict(enumerate(args[1:])), **kwargs}
        self.others = {key: Argument(value) for key, value in others.items()}
        # one checkpoint can run modules in a row, each on the result of the one before and the same other arguments
        value = args[0] if args else None
        self.follows = isinstance(value, torch.Tensor) and value is result.tensor()
        self.is_plain = isinstance(value, torch.Tensor) and all(
            others.keys() == before.keys() and all(before[key].is_value(others[key]) for key in others)
            for before in result.at(self.depth))

    @property
    def depth(self):
        return self.name.count(".")


def free_workspaces():
    """Frees the workspaces of cuBLAS, so that the allocator's peak tells those that the step needs. Returns their bytes.

    PyTorch keeps them for each stream, except where CUDA graphs may still use them."""
    clear = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
    if clear is None or any(tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0) for segment in torch.cuda.memory_snapshot()):
        return 0
    before = torch.cuda.memory_allocated()
    clear()
    return before - torch.cuda.memory_allocated()


class Meter(TorchDispatchMode):
    """Counts the references to a gradient that only autograd holds, where autograd adds another gradient to it."""

    def __init__(self):
        super().__init__()
        self.count = None
        self.weak = []  # Structure has weak references to storages, too

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.add.Tensor and is_backward():
            self.count = references(args[0])
        result = function(*args, **(kwargs or {}))
        self.weak += [weakref.ref(storage) for storage in storages_of(result).values()]
        return result


def references(tensor):
    """The number of references to a tensor and to its storage."""
    return tensor._use_count(), torch._C._storage_Use_Count(tensor.untyped_storage()._cdata)


def fewest_references():
    """The result of references() in __torch_dispatch__ for a gradient that only autograd holds; None if not known."""
    if not hasattr(torch.Tensor, "_use_count"):
        return None
    with Meter() as meter:
        twice = torch.ones(1, device="cpu", requires_grad=True) * 1
        (twice.sin() + twice.cos()).sum().backward()
    return meter.count


class Passing(TorchDispatchMode):
    """Adds up the live storages that operators make on no device."""

    def __init__(self):
        super().__init__()
        self.made, self.peak, self.total = {}, 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        given = storages_of([args, kwargs])
        for key, storage in storages_of(result).items():
            if key not in given:
                size = rounded_to_block(storage.nbytes())
                self.made[key] = StorageWeakRef(storage), size
                self.total += size
        self.made = {key: (weak, size) for key, (weak, size) in self.made.items() if not weak.expired()}
        self.peak = max(self.peak, sum(size for _, size in self.made.values()))
        return result


def without_memory(value):
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")


def peak_of_parts(func, args, kwargs, allocations):
    """The highest memory, results included, of an operator that only calls other operators; None for other operators.
    Workspaces of libraries are known only as allocations that the called operators do not explain."""
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    if not has_kernel(func.name(), "CompositeExplicitAutograd") or has_kernel(func.name(), "CUDA"):
        return None
    try:
        with _disable_current_modes():
            args, kwargs = tree_map(without_memory, (args, kwargs))
            with Passing() as passing:
                func._op_dk(torch._C.DispatchKey.CompositeExplicitAutograd, *args, **kwargs)
    except Exception:  # not every operator runs so
        return None
    return passing.peak + max(allocations - passing.total, 0)


def calls_within(func, args, kwargs):
    """The arguments of two calls that do what a call of a convolution's backward pass does: the gradient of the input, then
    those of weight and bias. Each part has a workspace, of which the allocator tells the sum only. None for other calls."""
    if func is not torch.ops.aten.convolution_backward.default or kwargs or not args[-1][0] or not args[-1][1]:
        return None
    mask = list(args[-1])
    return (*args[:-1], [True, False, False]), (*args[:-1], [False, *mask[1:]])


class Device:
    """The allocator whose state the rows show: that of CUDA or, without CUDA, the sum of live tensors."""

    def __init__(self, model):
        tensors = [*model.parameters(), *model.buffers()]
        fake = getattr(torch._subclasses, "FakeTensor", ())
        self.cuda = next((tensor.device for tensor in tensors
                          if tensor.is_cuda and not isinstance(tensor, fake)), None)
        self.name = str(tensors[0].device) if tensors else "cpu"
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        self.before = sum(storage.nbytes() for storage in storages_of([tensors, gradients]).values())
        self.peak_before = 0
        self.workspaces = {}  # bytes by operator, shapes and numbers
        self.unseen = self.now_unseen = 0  # bytes that are allocated, but of no tensor: at the peak, and now
        self.dropped = 0  # bytes from before the step that were freed before its peak
        self.raised = None  # the peak of the allocator if it is due to the recorder, and the one before
        self.cleared = 0  # bytes of workspaces from before the step
        if self.cuda is not None:
            self.cleared = free_workspaces()
            self.before = torch.cuda.memory_allocated(self.cuda)
            self.peak_before = torch.cuda.max_memory_allocated(self.cuda)

    def allocated(self, live):
        if self.cuda is None:
            return self.before + live
        allocated = torch.cuda.memory_allocated(self.cuda)
        self.now_unseen = allocated - self.before - live
        return allocated

    def allocator_peak(self):
        return 0 if self.cuda is None else torch.cuda.max_memory_allocated(self.cuda)

    def note_copy(self, before):
        """Called after an operator that copies only because the recorder watches. `before` was the allocator's peak."""
        peak = self.allocator_peak()
        if peak > before:
            was_raised = self.raised is not None and self.raised[0] == before
            self.raised = peak, self.raised[1] if was_raised else before

    def reserved(self, live):
        return torch.cuda.memory_reserved(self.cuda) if self.cuda else self.before + live

    def kept(self, live, unseen):
        """The allocated bytes that belong to no tensor, beyond `unseen`. A library keeps them from now on, such as a
        workspace."""
        if self.cuda is None:
            return 0
        self.allocated(live)
        return max(self.now_unseen - unseen, 0)

    def workspace(self, func, args, kwargs, made, allocations, before):
        """An upper bound of the memory that an operator used besides its results, where `before` bytes were allocated
        or reused.

        Memory that it keeps is left out, since peak() adds that to the whole step. It may have freed some of its
        allocations before it made others, but the allocator knows its highest memory ever. If that is lower, it is the
        bound for all calls with these arguments.
        """
        if allocations <= made:
            return 0
        key = (func, *((value.shape, value.dtype) if isinstance(value, torch.Tensor) else value for value in tree_flatten(args)[0]
                       if isinstance(value, (torch.Tensor, int, float))))
        most = torch.cuda.max_memory_allocated(self.cuda) - before
        if most + before == self.peak_before:  # with the workspaces that are not there yet
            most += min(self.now_unseen - self.cleared, 0)
        if key not in self.workspaces:
            parts = peak_of_parts(func, args, kwargs, allocations)
            self.workspaces[key] = allocations if parts is None else max(parts - made, 0)
        least = min(allocations - made, max(most, 0), self.workspaces[key])
        self.workspaces[key] = least
        return least

    def allocations(self):
        """The bytes of all allocations so far, freed or not."""
        if self.cuda is None:
            return 0
        return torch.cuda.memory_stats_as_nested_dict(self.cuda)["allocated_bytes"]["all"]["allocated"]

    def peak(self, live):
        """The peak of the step, in which at most `live` bytes of tensors were live at once. Removes from `before` what
        was freed until then: garbage, or gradients of the previous step."""
        if self.cuda is None:
            return self.before + live
        peak = torch.cuda.max_memory_allocated(self.cuda)
        freed = free_workspaces()  # they stay from step to step
        self.dropped = max(-self.unseen, 0)
        self.before -= self.dropped
        self.unseen += self.dropped
        if self.raised is not None and self.raised[0] == peak:
            return max(self.raised[1], self.before + live + max(freed, self.unseen))
        if peak > self.peak_before:
            return max(peak, self.before + live + freed)
        return self.before + live + max(freed, self.unseen)


def before_call(module, hook, **options):
    """Calls `hook` with module, args and kwargs. A scripted module has no hooks of its own, and does not pass on
    kwargs."""
    if not isinstance(module, torch.jit.ScriptModule):
        return module.register_forward_pre_hook(Hook(hook), with_kwargs=True, **options)
    return torch.nn.modules.module.register_module_forward_pre_hook(
        lambda called, args: hook(called, args, {}) if called is module else None)


def after_call(module, hook, **options):
    if not isinstance(module, torch.jit.ScriptModule):
        return module.register_forward_hook(Hook(hook), **options)
    return torch.nn.modules.module.register_module_forward_hook(
        lambda called, args, output: hook(called, args, output) if called is module else None)


def pack(tensor):
    """What the saved-tensor hook saves."""
    return tensor.detach(), None if tensor.is_inference() else tensor._version


def unpack(saved):
    """Unpacks a saved tensor. With hooks, autograd leaves it to them to detect changes in place."""
    tensor, version = saved
    if version is not None and tensor._version != version:
        raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace operation: "
                           "[%s %s] is at version %d; expected version %d instead" % (
                               tensor.type(), list(tensor.shape), tensor._version, version))
    return tensor


class SavedTensors(torch.autograd.graph.saved_tensors_hooks):
    """Hooks of saved tensors. They are off where PyTorch does not allow them, which is in transforms of torch.func."""

    def __init__(self, pack, unpack):
        super().__init__(pack, unpack)
        self.disable, self.is_on = None, False

    def __enter__(self):
        super().__enter__()
        self.is_on = True
        if hasattr(torch._C._autograd, "_top_saved_tensors_default_hooks"):
            self.disable = torch.autograd.graph.disable_saved_tensors_hooks
            torch.autograd.graph.disable_saved_tensors_hooks = self.run_without

    def __exit__(self, *exception):
        self.is_on = False
        if self.disable is None:
            super().__exit__(*exception)
            return
        torch.autograd.graph.disable_saved_tensors_hooks = self.disable
        hooks, above = torch._C._autograd, []
        while (top := hooks._top_saved_tensors_default_hooks(False)) is not None and top[0] != self.pack_hook:
            above.append(top)
            hooks._pop_saved_tensors_default_hooks()
        if top is not None:
            super().__exit__(*exception)
        for other in reversed(above if top is not None else above[1:]):  # else the program has removed these, not its own
            hooks._push_saved_tensors_default_hooks(*other)

    @contextmanager
    def run_without(self, message):
        top = torch._C._autograd._top_saved_tensors_default_hooks(False)
        is_ours = top is not None and top[0] == self.pack_hook
        if is_ours:
            super().__exit__()
        try:
            with self.disable(message):
                yield
        finally:
            if is_ours and self.is_on:
                super().__enter__()


def is_in_compiled_code():
    """For a hook: whether compiled code calls the module. A mode that begins in the hook would end with that code. The
    compiler also has a frame below the call of the module where it is switched off for the hook."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != torch.nn.modules.module.__file__:
        frame = frame.f_back
    while frame is not None:
        if frame.f_code.co_filename.endswith(os.path.join("_dynamo", "eval_frame.py")):
            return True
        frame = frame.f_back
    return False


@contextmanager
def without_compiler_errors():
    """Before PyTorch 2.4 the compiler fails under a dispatch mode. It is told to run that code as it is instead."""
    dynamo = sys.modules.get("torch._dynamo") if VERSION < (2, 4) else None
    before = dynamo and dynamo.config.suppress_errors
    if dynamo:
        dynamo.config.suppress_errors = True
    try:
        yield
    finally:
        if dynamo:
            dynamo.config.suppress_errors = before


@contextmanager
def without_modes_above(mode):
    """Leaves the dispatch modes that the program entered after `mode` and has not left."""
    above = []
    if mode in _get_current_dispatch_mode_stack():
        while _get_current_dispatch_mode_stack()[-1] is not mode:
            above.append(_pop_mode())
    try:
        yield
    finally:
        for other in reversed(above):
            _push_mode(other)


class Hooks:
    """Hooks on the modules of a model, and on the autograd nodes of their outputs."""

    def __init__(self, model):
        self.model, self.handles = model, []
        self.thread, self.has_other_threads = None, False  # that run modules
        self.mark = object()  # in the metadata of the nodes of inputs and outputs so far: references would keep graphs alive
        self.error = None

    def attach(self):
        for name, module in self.model.named_modules():
            self.handles.append(before_call(module, partial(self.before_module, name)))
            self.handles.append(after_call(module, partial(self.after_module, name)))

    def remove(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    @guarded
    def before_module(self, name, module, args, kwargs=None):
        # a checkpoint runs modules again; a hook that another hook of this call removed is called without kwargs
        if self.handles and not is_backward() and self.is_own_thread():
            for tensor in tensors_in([args, kwargs]):
                if tensor.grad_fn is not None:
                    tensor.grad_fn.metadata[self.mark] = True
            self.enter(name, module, args, kwargs or {})

    @guarded
    def after_module(self, name, module, _args, output):
        if self.handles and not is_backward() and self.is_own_thread():
            self.leave(name, module, output)

    def is_own_thread(self):
        is_own = threading.get_ident() == self.thread
        self.has_other_threads |= not is_own
        return is_own

    def watch_backward(self, output, start):
        """Calls `start` with the gradients when the backward pass reaches the outputs of a module."""
        for tensor in tensors_in(output):
            node = tensor.grad_fn
            if node is not None and self.mark not in node.metadata:
                node.metadata[self.mark] = True
                self.handles.append(node.register_prehook(start))


class OldGradients:
    """Gradients that exist when a step begins. Many programs free those of the previous step between the forward and
    the backward pass, which then makes new ones."""

    def __init__(self, model):
        self.parameters = [parameter for parameter in model.parameters() if parameter.grad is not None]
        self.storages = [(StorageWeakRef(storage), bytes_of_block(storage))
                         for storage in storages_of([parameter.grad for parameter in self.parameters]).values()]
        self.rows = {}  # by parameter: of the last call of its module

    def are_there(self):
        return bool(self.parameters) and self.parameters[0].grad is not None

    def take_freed(self):
        """The parameters whose gradients were freed, and the bytes of these gradients."""
        freed = sum(size for weak, size in self.storages if weak.expired())
        gone = [parameter for parameter in self.parameters if parameter.grad is None] if freed else []
        self.parameters = [parameter for parameter in self.parameters if parameter.grad is not None]
        self.storages = [(weak, size) for weak, size in self.storages if not weak.expired()]
        return gone, freed


class Structure(Hooks, TorchDispatchMode):
    """Records one step: its rows; the storages that they make, read and save; and times by the roofline model."""

    def __init__(self, model):
        TorchDispatchMode.__init__(self)
        Hooks.__init__(self, model)
        self.device = Device(model)
        self.rows = []       # finished, of the forward pass and of the backward pass
        self.order = []      # the modules that the backward pass reached, as numbers of calls
        self.stack = []
        self.counted = {}    # the row that has the gradient of a parameter
        self.boundaries = 0  # where modules begin and end in the forward pass, as in Times
        self.highest = self.peak_bytes = 0
        self.backward = None  # the row of the backward pass that is running
        self.row = None      # the row that is running
        self.calls = 0
        self.recursive = set()  # names of modules that call themselves
        self.batch_bytes = 0
        self.is_done = False
        self.failed_in = None
        self.gathered = {}  # storages
        self.result = Result()
        self.held = HeldResults(self.rows)
        self.storages = Storages(storages_of([*model.parameters(), *model.buffers()]).values())
        self.uncalled = dict(model.named_modules())
        self.other_names = {}  # of modules that have several
        first_names = {module: name for name, module in self.uncalled.items()}
        for container, module in self.uncalled.items():
            for key, inner in module.named_children():
                name = container + "." + key if container else key
                if name != first_names[inner]:
                    self.other_names.setdefault(first_names[inner], []).append(name)
        self.unlisted = {id(parameter): place for place, parameter in enumerate(model.parameters())}  # places in the model
        self.without_gradient = [parameter for parameter in model.parameters() if parameter.grad is None]
        self.old_gradients = OldGradients(model)
        self.trained = set()  # parameters of which the backward pass made gradients; empty if only of the input
        self.freed = set()  # parameters whose gradients of the step before were freed before the backward pass
        self.is_highest_with_old = False  # the highest peak so far was with the gradients of the step before
        self.parameter_bytes = bytes_of(model.parameters())
        self.buffer_bytes = bytes_of(model.buffers())
        self.beside_bytes = bytes_beside(model)
        self.watching = contextlib.ExitStack()

    @guarded
    def start(self):
        self.thread = threading.get_ident()
        self.fewest = fewest_references()
        self.attach()
        self.handles += [parameter.register_post_accumulate_grad_hook(Hook(self.note_trained))
                         for parameter in self.model.parameters() if parameter.requires_grad and parameter.is_leaf]
        with contextlib.ExitStack() as stack:
            stack.enter_context(SavedTensors(self.pack, unpack))
            stack.enter_context(takes_lengths())
            stack.enter_context(without_compiler_errors())
            stack.enter_context(self)
            self.watching = stack.pop_all()
        self.row = self.new_row("", 0, False)

    def finish(self):
        """May be called twice."""
        if self.is_done:
            return
        self.is_done = True
        self.close()
        if self.thread == threading.get_ident():  # what it entered is of that thread
            self.watching.close()
        self.remove()
        self.take_peak()

    def stop(self):
        """Called instead of finish() if the process ends, possibly within an operator. Leaves all hooks in place."""
        if not self.is_done:
            self.is_done = True
            self.close()
            self.take_peak()

    @guarded
    def close(self):
        if self.stack or self.backward is not None:  # else these have ended
            name = self.stack[-1].name if self.stack else self.backward["of"]["module_name"]
            self.failed_in = "%s of %s" % ("forward" if self.stack else "backward", name or "the model")
        self.end_backward()
        self.close_row()
        self.add_uncalled()
        self.leave_out_unused()

    @guarded
    def take_peak(self):
        self.peak_bytes = self.device.peak(self.highest)  # before the optimizer's step, which may go higher

    def __exit__(self, *exception):
        with without_modes_above(self):
            super().__exit__(*exception)

    @property
    def has_failed(self):
        """True if an error ended the run of the model and no other run is in progress."""
        return bool(self.stack)

    def kept_by_model(self):
        """The bytes that the modules keep for the backward pass, as summed up by trace_of()."""
        return sum(row["kept"] for row in self.rows if row["is_forward"] and not row["is_outside"])

    def note_trained(self, parameter):
        self.trained.add(id(parameter))

    def made_gradients(self):
        """True if parameters that had no gradient before the step have one now."""
        return any(parameter.grad is not None for parameter in self.without_gradient)

    def allocated(self):
        return self.device.allocated(self.storages.bytes)

    def reserved(self):
        return self.device.reserved(self.storages.bytes)

    def raise_highest(self, peak):
        if peak > self.highest:
            self.highest, self.device.unseen = peak, self.storages.unseen
            self.is_highest_with_old = self.old_gradients.are_there()

    # rows

    def new_row(self, name, depth, leaf):
        self.storages.take_peak()
        return {"module_name": name, "module_params": 0, "is_forward": True, "is_leaf": leaf, "depth": depth,
                "before": self.allocated(), "us": 0.0, "saved_us": None, "flops": 0, "saved_flops": 0, "saved_peak": None, "memory_activations": 0,
                "output_bytes": None, "gradient_bytes": 0, "reads": {}, "saves": {}, "ops": 0, "gathered": 0,
                "casts_are_kept": casts_are_kept(), "cast_bytes": 0, "boundary": self.boundaries, "plain": None, "follows": None, "changes": [], "dtype": None, "tensors": "", "index": len(self.rows), "call": None, "first_name": None,
                "operators": {}, "traits": set(), "is_outside": not self.stack, "old": 0,
                "with_old": self.old_gradients.are_there()}

    def close_row(self, keep=False):
        """Closes the running row. The row of a container in which nothing ran is dropped, unless `keep` is set."""
        row, self.row = self.row, None
        peak, workspace = self.storages.take_peak()
        self.raise_highest(peak)
        if row is None or not (keep or row["ops"] or row["saves"] or row["module_params"]):
            return
        row["allocated"], row["reserved"] = self.allocated(), self.reserved()
        row["peak_bytes"], row["workspace"] = self.device.before + peak, workspace
        if row["saved_peak"] is not None:
            row["saved_peak"] += self.device.before
        row["cumul"] = self.held_by_gathers()
        self.rows.append(row)

    def add_parameters(self, row, module):
        parameters = [tensor for tensor in own_tensors(module) if isinstance(tensor, torch.nn.Parameter)]
        row["module_params"] = bytes_of(parameters)
        row["dtype"] = ",".join(sorted({str(parameter.dtype)[6:] for parameter in parameters})) or None
        self.list_tensors(row, parameters)
        for parameter in parameters:
            self.old_gradients.rows[id(parameter)] = row
            if parameter.requires_grad and parameter.grad is None:  # the last call is the first one in the backward pass
                size, before = bytes_of([parameter]), self.counted.get(id(parameter))
                if before is not None:
                    before["gradient_bytes"] -= size
                self.counted[id(parameter)] = row
                row["gradient_bytes"] += size

    def list_tensors(self, row, parameters):
        """Adds "PLACE:ROWSxCOLUMNS" for each parameter that no row has yet. The type is added if it differs from that
        of the row, ":strided" if the parameter is not contiguous, and ":frozen" if it gets no gradient."""
        for parameter in parameters:
            place = self.unlisted.pop(id(parameter), None)
            if place is not None:
                dtype = str(parameter.dtype)[6:]
                item = "%d:%s%s%s%s" % (place, "x".join(map(str, parameter.shape)) or "1", "" if dtype == row["dtype"] else ":" + dtype,
                                        "" if parameter.is_contiguous() else ":strided", "" if parameter.requires_grad else ":frozen")
                row["tensors"] += ("," if row["tensors"] else "") + item

    def add_uncalled(self):
        """Adds the parameters that a module takes from a module below without calling it, as MultiheadAttention does.
        """
        rows = {row["module_name"]: row for row in reversed(self.rows) if row["is_forward"]}
        had_none = set(map(id, self.without_gradient)) | self.freed
        for name, module in self.uncalled.items():
            parent = name
            while parent and parent not in rows:
                parent = parent.rpartition(".")[0]
            parameters = [tensor for tensor in own_tensors(module) if isinstance(tensor, torch.nn.Parameter)]
            if parent in rows:
                rows[parent]["module_params"] += bytes_of(parameters)
                self.list_tensors(rows[parent], parameters)
                rows[parent]["gradient_bytes"] += bytes_of(
                    parameter for parameter in parameters
                    if parameter.grad is not None and id(parameter) in had_none - self.counted.keys())

    def leave_out_unused(self):
        """Takes back the gradients that the backward pass did not make, of modules with children. A leaf that is not used
        has no backward row."""
        for parameter in self.model.parameters() if self.trained else ():
            row = self.counted.get(id(parameter))
            if row is not None and not row["is_leaf"] and id(parameter) not in self.trained:
                row["gradient_bytes"] -= bytes_of([parameter])

    def name_of_call(self, first_name, module):
        """The name of a module that is called. It is within that of the module that calls it, so that the rows of a call
        belong together: the module may have several names, as one that all layers share, or be in another module."""
        if not self.stack or any(frame.module is module for frame in self.stack):
            return first_name
        caller = self.stack[-1]
        for name in (first_name, *self.other_names.get(first_name, ())):
            if is_within(name, caller.first_name):
                return caller.name + name[len(caller.first_name):]
        return caller.name + "." + first_name

    def enter(self, first_name, module, args, kwargs):
        name = self.name_of_call(first_name, module)
        self.uncalled.pop(first_name, None)
        self.close_row()
        self.boundaries += 1
        if any(frame.module is module for frame in self.stack):
            self.recursive.add(first_name)
        if not self.stack:
            for key, storage in storages_of([args, kwargs]).items():
                if key not in self.storages.by_key:
                    self.add_batch(self.storages.add(storage, None, False).bytes)
        for key, storage in storages_of(list(own_tensors(module))).items():  # FSDP makes them in the step
            made = self.storages.by_key.get(key) or self.storages.add(storage, None, False)
            made.row = None
        self.stack.append(Frame(name, first_name, module, args, kwargs, self.result))
        self.row = self.new_row(name, name.count(".") + (name != ""), is_leaf(module))
        self.add_parameters(self.row, module)

    def add_batch(self, size):
        self.batch_bytes += size
        if self.device.cuda is None:  # the CUDA allocator has counted it
            self.device.before += size

    def leave(self, first_name, module, output):
        while self.stack and self.stack[-1].first_name != first_name:  # a module left by an exception has no hook
            self.stack.pop()
        if not self.stack:
            return
        frame = self.stack.pop()
        row = self.row
        row["first_name"] = None if frame.name == first_name else first_name
        seen = storages_of(frame.inputs)
        new = [tensor for tensor in tensors_in(output) if not seen.keys() & storages_of(tensor).keys()]
        row["output_bytes"] = sum(storage.nbytes() for storage in storages_of(output).values())
        row["memory_activations"] = bytes_of(new) if frame.is_leaf else 0
        self.note_held(output)
        result = first(output)
        row["plain"], row["follows"] = frame.is_plain and isinstance(result, torch.Tensor), frame.follows
        if not isinstance(result, torch.Tensor):
            self.result = Result()
        else:
            if result is not self.result.tensor():
                self.result = Result(result)
            self.result.others[frame.depth] = frame.others
        row["call"] = self.calls
        row["traits"] |= traits_of(module).union(["recursive"] if first_name in self.recursive else [])
        self.watch_backward(output, partial(self.reach, row, self.calls))
        self.calls += 1
        self.close_row(keep=True)
        self.boundaries += 1
        parent = self.stack[-1] if self.stack else None
        self.row = self.new_row(parent.name if parent else "", parent.name.count(".") + (parent.name != "")
                                if parent else 0, False)

    def note_held(self, output):
        for tensor in itertools.islice(tensors_in(output), 1, None):
            for key in storages_of(tensor):
                made = self.storages.by_key.get(key)
                if made is not None and made.row is not None:
                    self.held.add(tensor, made)

    # the backward pass

    def forget_freed(self):
        """Called before the backward pass: forgets what was saved for results that the program has dropped since."""
        for row in [*self.rows, *([self.row] if self.row else [])]:
            if row["is_forward"]:
                row["saves"] = {key: made for key, made in row["saves"].items() if made.is_alive()}

    def note_freed_gradients(self):
        """Called before the backward pass reaches the model. Counts the gradients of the previous step as memory that
        the forward pass did not make itself, and the gradients of this step as made by the backward pass."""
        gone, freed = self.old_gradients.take_freed()
        for parameter in gone:
            self.freed.add(id(parameter))
            row = self.old_gradients.rows.get(id(parameter))
            if row is not None and parameter.requires_grad:
                self.counted[id(parameter)] = row
                row["gradient_bytes"] += bytes_of([parameter])
        self.device.before -= freed
        if self.is_highest_with_old:
            self.highest += freed
        else:
            self.device.unseen += freed
        for row in self.rows:
            if row["is_forward"]:
                row["peak_bytes"] -= freed
                row["saved_peak"] = row["saved_peak"] and row["saved_peak"] - freed
                row["old"] += freed if row["with_old"] else 0

    def begin_backward(self, of, size):
        if not self.was_backward:
            self.forget_freed()
        if not self.order:
            self.note_freed_gradients()
        self.end_row_of_backward()
        self.storages.take_peak()
        self.backward = {"of": of, "start": self.storages.bytes, "us": 0.0, "flops": 0, "memory_activations": size,
                         "gathered": 0}

    def end_row_of_backward(self):
        row, self.backward = self.backward, None
        if row is None:
            return
        of = row["of"]
        peak, workspace = self.storages.take_peak()
        self.raise_highest(peak)
        row.update(module_name=of["module_name"], module_params=of["module_params"], is_forward=False,
                   is_leaf=of["is_leaf"], depth=of["depth"], allocated=self.allocated(),
                   reserved=self.reserved(), peak_bytes=self.device.before + peak, start=self.device.before + row["start"], workspace=workspace,
                   cumul=self.held_by_gathers(), call=of["call"])
        self.rows.append(row)

    @guarded
    def end_backward(self):
        self.end_row_of_backward()

    @guarded
    def reach(self, row, call, gradients):
        if self.is_done or self.stack:
            return
        if self.backward is None:
            torch.autograd.Variable._execution_engine.queue_callback(self.end_backward)
        self.begin_backward(row, bytes_of(tensor for tensor in gradients if tensor is not None))
        self.order.append(call)

    @property
    def was_backward(self):
        return any(not row["is_forward"] for row in self.rows) or self.backward is not None

    # operators and saved tensors

    def running(self):
        if not is_backward() or self.stack:  # a module may have a backward pass of its own
            return self.row
        if self.backward is None:  # until a module is reached, this is the backward pass of the loss
            self.close_row()
            last = next((row for row in reversed(self.rows) if row["is_forward"]), None)
            if last is None:
                return None
            self.begin_backward(last, 0)
            torch.autograd.Variable._execution_engine.queue_callback(self.end_backward)
        return self.backward

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        caller = sys._getframe().f_back
        within = calls_within(func, args, kwargs) if self.device.cuda is not None else None
        if within is None:
            return self.run_operator(func, args, kwargs, caller)
        first, rest = (self.run_operator(func, part, kwargs, caller) for part in within)
        return (first[0], *rest[1:])

    def run_operator(self, func, args, kwargs, caller):
        call = self.begin_operator(func, args, kwargs, caller)
        out = func(*args, **kwargs)
        if call is not None:
            self.end_operator(call, func, args, kwargs, out)
        return out

    @guarded
    def begin_operator(self, func, args, kwargs, caller):
        row = self.running()
        call = OperatorCall(row, self.reused(func, args, kwargs, caller))
        call.allocations, call.before = self.device.allocations(), self.device.allocated(self.storages.bytes)
        call.unseen, call.peak, call.live_peak = self.device.now_unseen, self.device.allocator_peak(), self.storages.peak
        return call

    @guarded
    def end_operator(self, call, func, args, kwargs, out):
        row = call.row
        if call.reused:
            self.device.note_copy(call.peak)
        allocations = self.device.allocations() - call.allocations
        if row is None or self.is_done or row is not (self.backward or self.row):
            return
        read, written = storages_of([args, kwargs]), storages_of(out)
        for key, storage in read.items():
            made = self.find(key, storage, args, row)
            if "reads" in row and made.row is not None and made.row is not row:
                row["reads"][id(made)] = made
        new = self.add_results(call, func, kwargs, written)
        if new and self.device.cuda is not None:
            self.allocated()
            self.storages.enlarge(new, self.device.now_unseen - call.unseen)
        made_bytes = sum(made.bytes for made in new)
        before = call.before + (0 if call.reused else made_bytes)
        kept = self.device.kept(self.storages.bytes, call.unseen) if allocations > made_bytes else 0
        workspace = self.device.workspace(func, args, kwargs, made_bytes + kept, allocations, before + kept)
        self.storages.use(workspace_of(func, args, out, workspace))
        if self.storages.peak > call.live_peak:
            self.allocated()
            self.storages.unseen = self.device.now_unseen
        is_gather = func._schema.name.split("::")[-1] in GATHERS
        # _unsafe_view() does not say that it is a view, nor gathers that they write
        is_view = not new and not is_write(func) and "out" not in kwargs and not is_gather
        if is_view or any(item.alias_info is not None and not item.alias_info.is_write
                          for item in func._schema.returns):
            return  # a question about a tensor, or a view
        flops = flops_of(func, args, kwargs, out)
        us = max(flops_us(flops, args), sum(storage.nbytes() for storage in {**read, **written}.values()) / BYTES_PER_US)
        row["us"] += us
        row["flops"] += flops
        if "ops" in row:
            self.note_operator(row, func, args, kwargs, (us, flops), new)
        if is_gather:
            self.gather(row, func, args, out)

    def add_results(self, call, func, kwargs, written):
        """Notes what an operator changed, and returns what it made."""
        row, new = call.row, []
        if call.reused:
            self.storages.uncount(call.reused)
        for key, storage in written.items():
            made = self.storages.by_key.get(key)
            if made is None:
                new.append(self.storages.add(storage, row))
                continue
            if made.operator is not None and is_write(func):
                made.operator.is_keepable = False
            if made.row is not None and "reads" in row and "out" not in kwargs and is_write(func):
                if made.row is not row:
                    row["changes"].append(made.row)
                made.row = row  # what is changed in place is the output of the last module that changes it
        return new

    def note_operator(self, row, func, args, kwargs, cost, new):
        row["ops"] += 1
        if row["casts_are_kept"] and func._overloadpacket is torch.ops.aten._to_copy and args[0].is_leaf and \
                args[0].requires_grad:
            row["cast_bytes"] += sum(made.bytes for made in new)
        draws = is_random(func, args, kwargs)
        row["traits"].update(["random"] if draws else [])
        self.add_operator(row, func, cost, new, is_write(func) or draws)

    def reused(self, func, args, kwargs, caller):
        """The storage that a backward pass would reuse for the result if no mode watched it; None if there is none.

        Autograd adds gradients in place if it has the only reference, and so do formulas that fill in zeros. Under a
        mode, both copy instead. Operators that Python calls are not affected.
        """
        if self.backward is None or self.fewest is None or not is_called_by_autograd(caller):
            return None
        name = str(func.overloadpacket)
        adds = name == "aten.add" and not kwargs and isinstance(args[1], torch.Tensor) and \
            (args[0].shape, args[0].dtype) == (args[1].shape, args[1].dtype)
        if not adds and name not in FILLS_IN_PLACE:
            return None
        held, stored = references(args[0])
        made = self.storages.by_key.get(args[0].untyped_storage()._cdata)
        is_whole = args[0].untyped_storage().nbytes() == bytes_of([args[0]])
        is_free = made is not None and is_whole and stored <= self.fewest[1] and \
            held <= self.fewest[0] + (0 if adds else 1)  # the formula has one
        return made if is_free else None

    @staticmethod
    def add_operator(row, func, cost, made, must_run):
        operator = row["operators"].setdefault(str(func.overloadpacket), Operator())
        operator.us += cost[0]
        operator.flops += cost[1]
        operator.is_keepable &= not must_run
        operator.made += made
        for storage in made:
            storage.operator = operator

    def find(self, key, storage, tensors, row):
        """The record of a storage. A storage that no operator made existed before the step, unless autograd knows it.
        """
        made = self.storages.by_key.get(key)
        if made is None:
            in_graph = any(tensor.grad_fn is not None for tensor in tensors_in(tensors))
            made = self.storages.add(storage, row if in_graph else None, in_graph)
        return made

    def gather(self, row, func, args, out):
        wanted = out if func._schema.name.startswith("_c10d_functional") else args[0]
        for storage in storages_of(wanted).values():
            row["gathered"] += storage.nbytes()
            self.gathered[storage._cdata] = StorageWeakRef(storage)

    def held_by_gathers(self):
        self.gathered = {key: weak for key, weak in self.gathered.items() if not weak.expired()}
        held = [torch.UntypedStorage._new_with_weak_ptr(weak.cdata) for weak in self.gathered.values()]
        return sum(storage.nbytes() for storage in held if storage is not None)

    def pack(self, tensor):
        if not is_backward():
            self.note_saved(tensor)
        return pack(tensor)

    @guarded
    def note_saved(self, tensor):
        row = self.row
        if row is None:
            return
        row["saved_us"], row["saved_flops"] = row["us"], row["flops"]
        self.storages.sweep()
        row["saved_peak"] = max(self.storages.peak, self.storages.bytes)
        for operator in row["operators"].values():
            operator.saved_us, operator.saved_flops = operator.us, operator.flops
        if not isinstance(tensor, torch.nn.Parameter):
            for key, storage in storages_of(tensor).items():
                made = self.find(key, storage, tensor, row)
                if made.row is not None:
                    row["saves"][id(made)] = made


@functools.lru_cache(maxsize=None)
def flop_formula(packet):
    table = getattr(flop_counter, "flop_registry", None)
    return (flop_counter.flop_mapping if table is None else table).get(packet)


def conv_flops(args):
    """The operations of a convolution's forward, from the arguments of its backward, for which PyTorch 2.1 counts too
    many."""
    gradient, inputs, weight = (list(tensor.shape) for tensor in args[:3])
    return flop_counter.conv_flop_count(inputs, weight, gradient, args[7])


@functools.lru_cache(maxsize=None)
def is_write(func):
    return any(item.alias_info is not None and item.alias_info.is_write for item in func._schema.returns)


def is_random(func, args, kwargs):
    """True if an operator draws random numbers. One with a dropout probability of 0 does not."""
    if torch.Tag.nondeterministic_seeded not in func.tags:
        return False
    for at, item in enumerate(func._schema.arguments):
        if item.name == "dropout_p":
            return (args[at] if at < len(args) else kwargs.get(item.name, item.default_value)) > 0
    return True


def casts_are_kept():
    """True if autocast keeps its copies of parameters until its region ends."""
    device = ("cuda",) if VERSION >= (2, 4) else ()
    return torch.is_autocast_enabled(*device) and torch.is_autocast_cache_enabled()


def flops_of(func, args, kwargs, out):
    """The operations that torch.utils.flop_counter counts: of matrix products, convolutions and attention."""
    formula = flop_formula(func._overloadpacket)
    if formula is None:
        return 0
    try:
        if hasattr(flop_counter, "flop_registry"):
            flops = formula(*args, **kwargs, out_val=out)
        else:  # PyTorch 2.1 passes shapes
            flat = flop_counter.tree_map(flop_counter.get_shape, (args, kwargs, out))
            flops = formula(*flat[0], **flat[1], out_shape=flat[2])
    except Exception:  # a formula that does not know these arguments
        return 0
    if VERSION < (2, 2) and "backward" in func._schema.name:
        flops = 2 * conv_flops(args) if "convolution" in func._schema.name else flops
    return int(flops)


def flops_us(flops, args):
    tensor = next(tensors_in(args), None)
    return flops / FLOPS_PER_US.get(tensor.dtype if tensor is not None else None, SHORT_FLOPS_PER_US)


def is_called_by_autograd(frame):
    """True if autograd made a call. On a device, autograd has its own thread. Some versions wrap a mode in
    torch.compiler.disable()."""
    folder = os.path.dirname(torch.__file__)
    wrappers = os.path.join(folder, "_compile.py"), os.path.join(folder, "_dynamo", "")
    while frame is not None and frame.f_code.co_filename.startswith(wrappers):
        frame = frame.f_back
    return frame is None or frame.f_code.co_filename == torch.autograd.graph.__file__


class Times(Hooks):
    """Measures the times of a step by CUDA events, at the same boundaries as Structure."""

    has_failed = False

    def __init__(self, model):
        super().__init__(model)
        self.forward, self.backward, self.order = [], [], []
        self.calls = 0
        self.was_backward = self.is_done = False

    @staticmethod
    def event():
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    @guarded
    def start(self):
        self.thread = threading.get_ident()
        self.attach()
        self.forward.append(self.event())

    def enter(self, _name, _module, _args, _kwargs):
        self.inputs = None
        self.forward.append(self.event())

    def leave(self, _name, module, output):
        self.forward.append(self.event())
        self.watch_backward(output, partial(self.reach, self.calls))
        self.calls += 1

    @guarded
    def reach(self, call, _gradients):
        if not self.was_backward:
            self.was_backward = True
            self.forward.append(self.event())
            torch.autograd.Variable._execution_engine.queue_callback(self.end_backward)
        self.order.append(call)
        self.backward.append(self.event())

    @guarded
    def end_backward(self):
        self.backward.append(self.event())

    def finish(self):
        if not self.is_done:
            self.is_done = True
            self.note_end()
            self.remove()

    def stop(self):
        """Called if the process ends in this step, which then is not measured."""
        self.is_done, self.forward = True, []

    @guarded
    def note_end(self):
        if not self.was_backward:
            self.forward.append(self.event())

    def is_like(self, structure):
        """True if both steps ran the same."""
        return len(self.forward) == structure.boundaries + 2 and self.order == structure.order and \
            len(self.backward) == len(self.order) + 1

    def apply(self, structure, rows):
        """Replaces the times of rows. Returns False if the steps did not run the same."""
        if self.error is not None or not self.is_like(structure):
            return False
        torch.cuda.synchronize()
        backward = {}
        for at, call in enumerate(self.order):
            backward[call] = backward.get(call, 0) + 1000 * self.backward[at].elapsed_time(self.backward[at + 1])
        forward = [1000 * before.elapsed_time(after) for before, after in zip(self.forward, self.forward[1:])]
        # the last one is that of the loss and of its own backward pass, which no module begins or ends
        loss = [source for _, source in rows if source["is_forward"] and source["boundary"] == structure.boundaries]
        loss += [source for _, source in rows if not source["is_forward"] and source["call"] is None][:1]
        loss_us = sum(source["us"] for source in loss)
        measured = {id(source): forward[source["boundary"]] for _, source in rows if source["is_forward"]}
        measured.update((id(source), forward[-1] * source["us"] / loss_us) for source in loss if loss_us > 0)
        for row, source in rows:
            us = measured.get(id(source))
            if source["is_forward"]:
                if "tail_us" in row:
                    row["tail_us"] = round(us * row["tail_us"] / row["forward_us"], 3) if row["forward_us"] else 0.0
                row["forward_us"] = round(us, 3)
            elif us is not None:
                row["backward_us"] = round(us, 3)
            elif source["call"] in backward:
                row["backward_us"] = round(backward[source["call"]], 3)
        return True


def written_row(source, keys, at, dropped):
    """A row as it is written to the file. `keys` numbers the storages to which rows refer, and `at` numbers the rows by
    id."""
    row = {name: source[name] for name in ("module_name", "module_params", "allocated", "reserved", "is_forward")}
    row.update(all_gathered=source["gathered"], cumul_all_gathered=source["cumul"] if source["is_forward"] else 0,
               is_leaf=source["is_leaf"], depth=source["depth"], peak_bytes=source["peak_bytes"] - dropped)
    workspace = source["workspace"]
    if workspace.fixed:
        row["workspace_bytes"] = workspace.fixed
    if workspace.limited:
        row.update(limited_bytes=workspace.limited, limit_bytes=workspace.limit)
    if source["flops"]:
        row["flops"] = source["flops"]
    if not source["is_forward"]:
        row["backward_us"] = round(source["us"], 3)
        row["start_bytes"] = source["start"] - dropped
        if id(source["of"]) in at:
            row["forward_row"] = at[id(source["of"])]
        row["event"] = {"memory_activations": source["memory_activations"]}
        return row
    row["forward_us"] = round(source["us"], 3)
    if source["saved_us"] is not None:
        row["tail_us"] = round(source["us"] - source["saved_us"], 3)
        row["saved_peak_bytes"] = source["saved_peak"] - dropped
        if source["flops"] > source["saved_flops"]:
            row["tail_flops"] = source["flops"] - source["saved_flops"]
    if source["old"]:
        row["old_gradient_bytes"] = source["old"]
    row["saved_activations"] = source["kept"]
    row["gradient_bytes"] = source["gradient_bytes"]
    for name in ("output_bytes", "plain", "follows", "dtype", "first_name"):
        if source[name] is not None:
            row[name] = source[name]
    if source["tensors"]:
        row["tensors"] = source["tensors"]
    if source["traits"]:
        row["traits"] = ",".join(sorted(source["traits"]))
    if source["cast_bytes"]:
        row["cast_bytes"] = source["cast_bytes"]
    changed = [at[id(made)] for made in source["changes"] if id(made) in at]
    if changed:
        row["changes"] = min(changed)
    row["reads"] = sorted(keys[key] for key, made in source["reads"].items() if key in keys and made.row is not source)
    row["saves"] = sorted(keys[key] for key in source["saves"])
    row["event"] = {"memory_diff": source["allocated"] - source["before"],
                    "memory_activations": source["memory_activations"]}
    return row


def number_storages(rows):
    """Numbers the storages that forward rows made and others read or save, and sums up the kept bytes that each row
    made."""
    made, kept = {}, set()
    for row in rows:
        if row["is_forward"]:
            row["kept"] = 0
            made.update(row["reads"])
            made.update(row["saves"])
            kept.update(row["saves"])
    at = {id(row): index for index, row in enumerate(rows)}
    keys, table = {}, []
    for key, storage in made.items():
        if storage.row is None or id(storage.row) not in at or not storage.row["is_forward"]:
            continue
        keys[key] = len(table)
        table.append([storage.bytes, at[id(storage.row)]])
        if storage.held or storage.held_until is not None:
            table[-1].append(len(rows) if storage.held else min(storage.held_until, len(rows)))
        if key in kept:
            storage.row["kept"] += storage.bytes
    return keys, table


def operators_of(pairs, keys):
    """What the operators of each row took and made. `pairs` has each row as written to the file, with its source."""
    table = []
    if VERSION < (2, 5):  # its checkpoints cannot keep results
        return table
    for index, (row, source) in enumerate(pairs):
        if not source["is_forward"]:
            continue
        scale = row["forward_us"] / source["us"] if source["us"] else 0.0
        for name, operator in source["operators"].items():
            table.append({"name": name, "row": index, "us": round(operator.us * scale, 3),
                          "tail_us": round((operator.us - operator.saved_us) * scale, 3),
                          "other_bytes": sum(made.bytes for made in operator.made if id(made) not in keys),
                          "keepable": operator.is_keepable,
                          "made": sorted(keys[id(made)] for made in operator.made if id(made) in keys),
                          **({"flops": operator.flops, "tail_flops": operator.flops - operator.saved_flops}
                             if operator.flops else {})})
    return table


def trace_of(structure, times):
    """The content of the file."""
    keys, table = number_storages(structure.rows)
    for row in structure.rows:
        if row["is_forward"]:
            row["saves"] = {key: made for key, made in row["saves"].items() if key in keys}
    at = {id(row): index for index, row in enumerate(structure.rows)}
    pairs = [(written_row(row, keys, at, structure.device.dropped), row) for row in structure.rows]
    measured = times is not None and times.apply(structure, pairs)
    operators = operators_of(pairs, keys)
    number, ranks = rank()
    return {"schema": SCHEMA, "torch": torch.__version__, "device": structure.device.name, "rank": number,
            "ranks": ranks, "time": "events" if measured else "roofline",
            "parameter_bytes": structure.parameter_bytes, "buffer_bytes": structure.buffer_bytes,
            "beside_bytes": structure.beside_bytes, "batch_bytes": structure.batch_bytes, "before_bytes": structure.device.before,
            "peak_bytes": structure.peak_bytes,
            "host_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            **({"failed_in": structure.failed_in} if structure.failed_in else {}),
            "traces": [row for row, _ in pairs], "storages": table,
            **({"operators": operators} if operators else {})}


class Line:
    """The name that memsnap gives a source line: "model.py:93-95 forward [2]", or "model.py:93 forward [2][0]" in a loop
    in a loop."""

    FORM = re.compile(r"(?P<file>.+):(?P<first>[0-9]+)(?:-(?P<last>[0-9]+))? \S+(?P<numbers>(?: (?:\[[0-9]+\])+)?)(?P<again> \([0-9]+\))?")

    def __init__(self, name):
        match = self.FORM.fullmatch(name)
        if match is None:
            raise ValueError("'%s' is not a source line" % name)
        self.file, self.first = match["file"], int(match["first"])
        self.last = int(match["last"] or self.first)
        self.place = self.file, self.first, self.last
        self.is_unsure = match["again"] is not None  # one of several layers with that name, such as "a.py:3 forward (2)"
        self.numbers = [int(number) for number in re.findall("[0-9]+", match["numbers"])]  # of the iteration

    def is_in(self, file, first, last):
        return (file == self.file or file.endswith("/" + self.file)) and first <= self.first and self.last <= last


class Calls:
    """Watches a run of the model: which modules run from which lines, and in which iteration of a loop."""

    def __init__(self, model, lines):
        self.names = {module: name for name, module in model.named_modules()}
        self.lines = {line.place: line for line in lines}
        self.from_line = {place: {} for place in self.lines}  # by call of a function, a list for each iteration
        self.around_line = {place: [] for place in self.lines}  # the modules whose forward has the line
        self.last = {}  # of each place, the call and the instruction
        self.stack, self.count = [], 0
        self.handles = [handle for module in self.names for handle in (
            before_call(module, self.before), after_call(module, self.after))]

    def before(self, module, _args, _kwargs=None):
        frame, is_direct = sys._getframe(1), True
        while frame is not None and (is_of_torch(frame) or frame.f_code is Hook.__call__.__code__):
            is_direct &= frame.f_code.co_name != "forward"  # a container runs its modules
            frame = frame.f_back
        forward = getattr(type(module).forward, "__code__", None)
        for place, line in self.lines.items():
            if frame is not None and is_direct and line.first <= frame.f_lineno <= line.last and line.is_in(
                    frame.f_code.co_filename, 0, line.last):
                self.add_call(place, frame.f_lasti, self.names[module])
            if forward is not None and line.is_in(forward.co_filename, *lines_of(forward)):
                self.around_line[place].append([self.names[module]])
        self.stack.append(self.count)
        self.count += 1

    def after(self, _module, _args, _output):
        self.stack.pop()

    def add_call(self, place, instruction, name):
        """Adds a call. If the function is at the same instruction as before or at an earlier one, a loop has begun its
        next iteration."""
        at = self.stack[-1] if self.stack else None
        iterations = self.from_line[place].setdefault(at, [])
        last = self.last.get(place)
        if last is None or last[0] != at or last[1] >= instruction:
            iterations.append([])
        iterations[-1].append(name)
        self.last[place] = at, instruction

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def modules_of(self, line):
        """The names of the modules that run at a line; none if that is not certain, or if it is the model itself."""
        calls = list(self.from_line[line.place].values())
        found = calls[0] if len(calls) == 1 else self.around_line[line.place]
        if line.is_unsure or len(line.numbers) > 1 or (not line.numbers and len(found) != 1):
            return []
        number = line.numbers[0] if line.numbers else 0
        return found[number] if number < len(found) and "" not in found[number] else []

    def replace(self, part):
        """The part with modules in place of lines."""
        replaced = []
        for item in part:
            replaced += [self.replace(item)] if isinstance(item, list) else self.modules_of(Line(item))
        return replaced


def lines_of(code):
    lines = [line for _, _, line in code.co_lines() if line is not None]
    return min(lines), max(lines)


def plan_of(content):
    """The part of `memsnap suggest --format json` that describes how to apply a plan."""
    if not isinstance(content, dict) or not str(content.get("schema")).startswith("memsnap.suggest/"):
        raise ValueError("not a file of memsnap suggest --format json")
    for plan in [content, *content.get("plans", [])]:
        if "apply" in plan:
            return plan["apply"]
    if content.get("compiled"):
        raise ValueError("no plan, because torch.compile compiled the recorded model as a whole; record a step without it")
    raise ValueError("no plan, but a curve, or one that fits no budget; "
                     "use memsnap suggest with --budget or --checkpoints")


def part_of(written):
    """A part in the form that checkpoint_modules() takes."""
    return [item if isinstance(item, str) else part_of(item) for item in written["modules"]]


def apply_lines(model, plan, keep, one_by_one):
    """Applies a plan that names lines: the modules are found when the model first runs. `keep` has the operators whose
    results a part keeps, by the first line of the part."""
    InNextRun(model_that_runs(model), find_lines, plan, keep, one_by_one)


def find_lines(model, args, kwargs, plan, keep, one_by_one):
    """Finds the modules that run at the lines, and puts checkpoints around them."""
    calls = Calls(model, [Line(name) for part in plan for name in names(part)])
    try_out(model, args, kwargs)
    calls.remove()
    parts, kept = [], {}
    for part in plan:
        without = [name for name in names(part) if not calls.modules_of(Line(name))]
        if without:
            print("no module runs at each of these lines, so they have no checkpoint:", *without, sep="\n    ",
                  file=sys.stderr)
        replaced = calls.replace(part)
        if names(replaced):
            parts.append(replaced)
            kept[names(replaced)[0]] = keep.get(names(part)[0], ())
    made = replace_forwards(model, parts, kept)
    if not one_by_one:
        prove_and_tell(model, args, kwargs, made)


LEFT_OUT = {"repeated": "runs several times in a step", "root": "holds all other modules"}


def apply(model, plan, one_by_one=False):
    """Puts the checkpoints of a plan into the model, as the Python that memsnap suggest prints does.

    `plan` is the output of `memsnap suggest --format json`, or the path of a file with it. A plan from a snapshot names
    lines; the modules that run there are found when the model first runs. For a step that calls several models, `model`
    is a list of them. With `one_by_one`, each block has a checkpoint of its own, for models that skip layers at random.
    """
    if not isinstance(plan, dict):
        with open(plan, errors="replace") as file:
            try:
                plan = json.load(file)
            except ValueError:
                plan = None
    wanted = plan_of(plan)
    for item in wanted.get("left_out", ()):
        print("without a checkpoint, since it %s: %s" % (LEFT_OUT.get(item["reason"], item["reason"]), item["module"]),
              file=sys.stderr)
    parts = [part_of(part) for part in wanted["parts"]]
    keep = {names(part)[0]: written["keep_operators"]
            for part, written in zip(parts, wanted["parts"]) if "keep_operators" in written}
    if wanted["target"] == "lines":
        return apply_lines(model, parts, keep, one_by_one)
    if wanted["target"] == "calls":
        return checkpoint_calls_of_several(model, parts, keep, one_by_one)
    if any(turn_of(name)[2] > 1 for part in parts for name in names(part)):
        return checkpoint_turns(model, parts, keep, one_by_one)
    return checkpoint_modules(model, parts, keep, one_by_one)


def write_trace(trace, path):
    text = json.dumps(trace)  # no file if this fails
    with open(path if is_device(path) else path + "-new", "w") as file:
        file.write(text)
    if not is_device(path):
        os.replace(path + "-new", path)


class layers(contextlib.ContextDecorator):
    """Records the layers of one step of `model` to `path`: a JSON file that memsnap reads.

    Skips `warmup` steps first. Then records `iterations` steps, and writes the one with the highest peak, since batches
    may differ in size. A step begins when the model runs with gradients after a backward pass. It ends with an
    optimizer's step, or where the next step begins. A later step is recorded instead if gradients accumulate over
    several runs, so that they exist when it begins, or if an optimizer made its states in the step before it. A later
    step is also recorded if the backward pass did not reach the model, such as that of a discriminator which gets
    copies of a generator's results, or if it only made gradients of the input, as samplers do.

    On CUDA, another step is measured, with hooks for times only. If there is none, times are estimated from operations
    and bytes, as on the CPU. The file is written as soon as a step is recorded, and when SIGTERM ends the program.
    """

    def __init__(self, model, path=None, *, warmup=0, iterations=1):
        if iterations < 1:
            raise ValueError("layers(model, path): iterations is %r, but at least one step is recorded" % (iterations,))
        self.model, self.path, self.warmup, self.iterations = model, path, warmup, iterations
        self.trace = None
        self.earlier = None  # of the steps recorded before the one of `structure`, the one with the highest peak
        self.recorded = 0  # those steps
        self.handles = []
        self.structure = self.times = self.running = self.error = None
        self.begun = self.depth = 0  # steps, and runs of the model that have not ended
        self.missed = self.unlike = 0  # recorded steps that did not reach the model, measured ones that were not like it
        self.untrained = 0  # recorded passes that made no gradients of parameters
        self.passes = 0  # of the model since an optimizer's step
        self.passes_of_step = None  # from one optimizer's step to the next
        self.goes_on = False  # no backward pass has reached the last run of a pass that is not recorded
        self.stateless = weakref.WeakSet()  # optimizers that are about to make their first step
        self.has_stepped = self.lacks_state = False  # since a step was recorded: an optimizer, which then made its state
        self.without_state = 0  # recorded steps that lacked it
        self.is_saved = False
        self.entered, self.is_refused = 0, False
        self.was_called = self.was_compiled = self.has_told_of_cache = False
        self.beginning = threading.Lock()
        self.termination = Termination(self.terminate)

    def __enter__(self):
        if not isinstance(self.model, torch.nn.Module):
            raise TypeError("layers(model, path): model is no torch.nn.Module, but %r" % type(self.model).__name__)
        self.entered += 1
        if self.entered > 1:
            return self  # within itself, such as a function that calls itself and has it as a decorator
        self.begun = self.depth = self.missed = self.unlike = 0
        self.untrained = self.passes = 0
        self.passes_of_step, self.goes_on = None, False
        self.without_state, self.has_stepped, self.lacks_state = 0, False, False
        self.trace = self.error = None
        self.earlier, self.recorded = None, 0
        self.was_called = self.was_compiled = False
        self.path = self.path and os.path.abspath(self.path)  # the program may change its folder
        if not self.can_write():
            return self
        self.termination.__enter__()
        self.handles = [before_call(self.model, self.before_model, prepend=True),
                        after_call(self.model, self.after_model, always_call=True),
                        register_optimizer_step_pre_hook(self.before_step),
                        register_optimizer_step_post_hook(self.after_step)]
        return self

    def can_write(self):
        """Tells now what would be an error after hours; the program must go on."""
        try:
            if self.path and os.path.isdir(self.path):
                raise IsADirectoryError(errno.EISDIR, "Is a directory", self.path)
            if self.path:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
        except OSError as error:
            print("memsnap_record: no layers, since their file cannot be written: %s" % error, file=sys.stderr)
            self.is_refused = True
            return False
        self.is_refused = False
        return True

    def __exit__(self, *_exception):
        self.entered -= 1
        if self.entered > 0 or self.is_refused:
            return False
        for handle in self.handles:
            handle.remove()
        self.handles = []
        self.termination.__exit__()
        self.end()
        if not self.is_saved:
            self.save_step()
        error = self.error or (self.structure and self.highest.error)
        if error:
            print("memsnap_record: no layers, since the recorder failed, not the program: %s" % error, file=sys.stderr)
        elif self.path and self.trace is None:
            print("memsnap_record: no layers, since " + (
                "the model ran within code of torch.compile(): record the program without it, or give the compiled module"
                if self.was_compiled else "the model did not run with gradients" if self.was_called else
                "the program never called the model itself: give the module that it calls, maybe one within the model"),
                file=sys.stderr)
        if self.structure is not None and self.structure.has_other_threads:
            print("memsnap_record: other threads ran modules of the model in the same step; the layers are those of one "
                  "thread", file=sys.stderr)
        self.structure = self.times = self.earlier = None
        return False

    @property
    def highest(self):
        """Of the recorded steps, the one with the highest peak."""
        structure, earlier = self.structure, self.earlier
        is_earlier = earlier is not None and (
            structure.error is not None or not structure.rows or earlier.peak_bytes > structure.peak_bytes)
        return earlier if is_earlier else structure

    @guarded
    def save_step(self):
        if self.structure and self.highest.rows and self.highest.error is None:
            self.trace = trace_of(self.highest, self.times)
            self.write()
            self.is_saved = True

    def save_early(self):
        """Saves what is complete so far, since the program may be killed or may never end. The rest is written at the
        end."""
        if self.error is None and (self.path is None or not is_device(path_of_rank(self.path))):
            self.save_step()
            self.error = None

    def terminate(self):
        if self.running is not None:
            self.running.stop()
            self.is_saved = False
        if not self.is_saved:
            self.save_step()

    def write(self):
        if self.path:
            self.save(self.path)

    def wants_again(self):
        """True if the recorded step did not train the model, or did not train it alone."""
        if self.structure is None or not self.structure.is_done or self.structure.error is not None:
            return False
        if self.structure.made_gradients():
            return True  # they pile up over several runs: the first has none yet
        if self.lacks_state:
            self.lacks_state = False
            return True
        if self.structure.order or self.structure.has_failed or self.missed == MOST_MISSED:
            return False
        self.missed += 1
        return True

    def wants_more(self):
        """True if more steps are to be recorded, after one that needs not be recorded again."""
        if self.structure is None or not self.structure.is_done or self.recorded + 1 >= self.iterations:
            return False
        self.recorded, self.earlier = self.recorded + 1, self.highest
        return True

    @property
    def is_untrained(self):
        """True if the recorded pass computed gradients of the input only, as samplers do."""
        structure = self.structure
        return structure is not None and structure.is_done and structure.error is None and bool(structure.order) and \
            not structure.has_failed and not structure.trained

    def waits(self):
        """True if the recorder waits for the pass of a training step, which is the last one before an optimizer's step.
        """
        return self.untrained > MOST_MISSED and self.passes != self.passes_of_step and self.passes_of_step != 0

    def measures_again(self):
        if self.times is None or not self.times.is_done or self.times.is_like(self.highest) or self.unlike == MOST_MISSED:
            return False
        self.unlike += 1
        return True

    @property
    def is_missed(self):
        """True if a backward pass ran in the step that is being recorded but did not reach the model."""
        return self.running is not None and self.running is self.structure and self.running.was_backward and \
            not self.running.order

    @property
    def is_complete(self):
        """True if nothing of a later step needs to be recorded, as far as is known."""
        return self.structure is not None and self.running is None and not self.structure.made_gradients() and \
            not self.lacks_state and self.recorded + 1 >= self.iterations and (
            not self.is_untrained or self.passes_of_step == 0) and (
            not self.measures_time() or self.times is not None)

    def measures_time(self):
        return self.structure.device.cuda and "MEMSNAP_DRYRUN" not in os.environ

    @guarded
    def before_model(self, module, args, kwargs):
        self.was_called = True
        if not self.beginning.acquire(blocking=False):
            return  # another thread runs the model, too
        try:
            self.begin_run(module, args, kwargs)
        finally:
            self.beginning.release()

    def begin_run(self, module, args, kwargs):
        self.depth += 1
        if not torch.is_grad_enabled() or is_backward() or torch._C._functorch.peek_interpreter_stack() is not None:
            return  # transforms of torch.func allow no hooks of saved tensors
        if any(map(torch.nn.parameter.is_lazy, module.parameters())):
            return  # its first run makes the parameters
        if self.running is None and self.depth == 1 and is_in_compiled_code():
            self.was_compiled = True
            return
        if self.depth == 1 and self.running is not None and self.running.has_failed:
            self.begun -= 1  # an error ended the run before, so the program tries again
            self.end()
        if self.running is not None and not self.running.was_backward:
            return  # the model runs several times in this step
        if self.running is None and self.goes_on:
            return  # so it does in a step that is not recorded
        self.end()
        self.begun += 1
        self.passes += 1
        if self.is_untrained or self.untrained > MOST_MISSED:
            self.untrained += self.is_untrained
            if self.untrained > MOST_MISSED and self.passes > MOST_PASSES:
                self.passes_of_step = 0  # there is none
            if self.waits():
                self.begun -= 1
                return
        if self.is_untrained and self.passes_of_step != 0:
            self.begun, self.times = self.warmup + 1, None
        elif self.wants_again() or self.wants_more():
            self.begun, self.times = self.warmup + 1, None
        elif self.measures_again():
            self.begun, self.times = self.warmup + 2, None
        if self.begun == self.warmup + 1:
            if has_cache(module) and not self.has_told_of_cache:
                self.has_told_of_cache = True
                print("memsnap_record: config.use_cache is on. Plans turn it off, and some models then take another "
                      "path through attention: turn it off before recording, or by --no-cache", file=sys.stderr)
            self.structure = self.running = Structure(self.model)
        elif self.begun == self.warmup + 2 and self.measures_time():
            self.times = self.running = Times(self.model)
        if self.running:
            self.running.start()
            self.running.before_module("", module, args, kwargs)  # this call does not see its new hook

    @guarded
    def after_model(self, _module, _args, output):
        self.depth = max(self.depth - 1, 0)
        self.goes_on = False
        if self.depth == 0 and self.running is None and self.untrained > MOST_MISSED and not is_backward():
            for tensor in tensors_in(output):
                if tensor.requires_grad:
                    self.goes_on = True
                    tensor.register_hook(Hook(self.reach))
                    break

    def reach(self, _gradient):
        self.goes_on = False

    @guarded
    def before_step(self, optimizer, *_arguments):
        if not getattr(optimizer, "state", True):
            self.stateless.add(optimizer)
        if not is_backward():
            self.passes_of_step, self.passes = self.passes or self.passes_of_step, 0
        # some programs step each parameter as soon as it has its gradient; others step a discriminator, whose backward pass
        # does not reach this model, before their backward pass through it
        if self.running is not None and self.running.order and not is_backward():
            self.end()

    @guarded
    def after_step(self, optimizer, *_arguments):
        if self.structure is None:
            return
        self.has_stepped = True
        if optimizer in self.stateless and self.without_state < MOST_MISSED and any(
                True for _ in tensors_in(list(optimizer.state.values()))):
            self.lacks_state = True
            self.without_state += 1
        self.stateless.discard(optimizer)

    def end(self):
        running, self.running = self.running, None
        if running is not None:
            running.finish()
            self.is_saved = False
            self.save_early()

    # what FairScale's LayerwiseMemoryTracker has

    def save(self, path):
        if self.trace is None:
            raise ValueError("no step of the model is recorded yet")
        write_trace(self.trace, path_of_rank(path))

    save_traces = save

    @property
    def traces(self):
        return self.trace["traces"] if self.trace else []

    @property
    def forward_traces(self):
        return [row for row in self.traces if row["is_forward"]]

    @property
    def backward_traces(self):
        return [row for row in self.traces if not row["is_forward"]]

    @property
    def summary(self):
        forward = [row for row in self.forward_traces if row["is_leaf"]]
        producers = sorted(forward, key=lambda row: row["event"]["memory_activations"], reverse=True)
        return {"max_memory_allocated": max((row["allocated"] for row in self.traces), default=0),
                "max_memory_cached": max((row["reserved"] for row in self.traces), default=0),
                "total_activation_allocations": sum(row["event"]["memory_activations"] for row in forward),
                "total_forward_allocations": sum(row["event"]["memory_diff"] for row in forward),
                "top_forward_activation_producers": producers[:10]}

    def show_plots(self, *arguments):
        """Draws the saved file with memsnap plot."""
        subprocess.run(["memsnap", "plot", *arguments, path_of_rank(self.path)], check=True)


def host_bytes():
    """The resident memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Driver:
    """What NVIDIA's driver reports about the device: by pynvml, or once by nvidia-smi, which is slow."""

    def __init__(self):
        self.nvml, self.once = None, {}
        try:
            import pynvml
            torch.cuda._get_pynvml_handler()  # starts it
            self.handle = pynvml.nvmlDeviceGetHandleByIndex(torch.cuda._get_nvml_device_index(None))
            self.nvml = pynvml
            self.figures()
        except Exception:  # there is no pynvml, or it does not work here
            self.nvml = None
            self.once = self.ask_program()

    @staticmethod
    def ask_program():
        try:
            index = torch.cuda._get_nvml_device_index(None)
            fields = "memory.used,memory.total,utilization.gpu"
            answer = subprocess.run(["nvidia-smi", "-i", str(index), "--query-gpu=" + fields,
                                     "--format=csv,noheader,nounits"], capture_output=True, text=True, timeout=10)
            used, total, utilization = (int(word) for word in answer.stdout.split(","))
        except Exception:  # there is no nvidia-smi either
            return {}
        return {"nvml_used": used << 20, "nvml_total": total << 20, "nvml_utilization": utilization}

    def figures(self):
        if self.nvml is None:
            return self.once
        memory = self.nvml.nvmlDeviceGetMemoryInfo(self.handle)
        found = {"nvml_used": memory.used, "nvml_total": memory.total,
                 "nvml_utilization": self.nvml.nvmlDeviceGetUtilizationRates(self.handle).gpu}
        for process in self.nvml.nvmlDeviceGetComputeRunningProcesses(self.handle):
            if process.pid == os.getpid() and process.usedGpuMemory is not None:
                found["nvml_process"] = process.usedGpuMemory
        return found


def pinned_option():
    """The option of PyTorch's history for pinned memory of the host."""
    record = getattr(torch.cuda.memory, "_record_memory_history_impl", torch.cuda.memory._record_memory_history)
    if "record_pinned_host_memory" in inspect.signature(record).parameters:
        return {"record_pinned_host_memory": True}
    print("memsnap_record: PyTorch %s does not record pinned memory (2.15 does)" % torch.__version__, file=sys.stderr)
    return {}


class snapshots(contextlib.ContextDecorator):
    """Records the history of the CUDA allocator, and writes snapshots to a folder.

    `steps` is a number or several, counted from 0. Writes step-N.pickle after each of these optimizer steps;
    end.pickle at the end, unless `steps` is given; and oom.pickle when memory runs out. With several ranks, file names
    have the number of the rank. The history is a ring of `max_entries` events. If it was on before, it is not changed.
    With PyTorch 2.15 or newer, also marks tensors with their category, and events with step, phase, and the memory of
    the device and of the host; `pinned` also records pinned memory of the host.
    """

    def __init__(self, folder, *, steps=None, on_oom=True, max_entries=200000, stacks="all", annotate=True, pinned=False):
        self.folder, self.on_oom = folder, on_oom
        self.history = {"max_entries": max_entries, "stacks": stacks}
        if pinned:
            self.history.update(pinned_option())
        self.steps = None if steps is None else {steps} if isinstance(steps, int) else set(map(int, steps))
        memory = torch.cuda.memory
        self.can_annotate = annotate and hasattr(memory, "_annotate_tensor")
        self.can_mark = annotate and hasattr(memory, "_set_memory_metadata")
        self.driver = None
        self.is_active, self.entered = False, 0
        self.is_own = True  # the history was off before
        self.done = {}     # steps of each optimizer
        self.ooms = self.depth = 0
        self.seen = {}     # storages that are marked, by key
        self.shapes = ()   # of the float32 parameters of the model that runs
        self.handles = []
        self.saving = self.error = None
        self.termination = Termination(self.dump_end)

    def __enter__(self):
        self.entered += 1
        if self.entered > 1:
            return self  # within itself
        self.error = None
        self.folder = os.path.abspath(self.folder)
        self.start()
        self.tell_error("no snapshots")
        return self

    @guarded
    def start(self):
        os.makedirs(self.folder, exist_ok=True)
        torch.cuda.init()
        self.is_own = not torch._C._cuda_isHistoryEnabled()
        if self.is_own:
            torch.cuda.memory._record_memory_history(**self.history)
        self.is_active = True
        self.termination.__enter__()
        if self.on_oom:
            torch._C._cuda_attach_out_of_memory_observer(self.on_out_of_memory)
        module = torch.nn.modules.module
        self.handles = [register_optimizer_step_pre_hook(self.before_step),
                        register_optimizer_step_post_hook(self.after_step)]
        if self.can_mark or self.can_annotate:
            self.handles += [module.register_module_forward_pre_hook(self.before_module),
                             module.register_module_forward_hook(self.after_module, always_call=True)]
            self.driver = Driver()
            self.mark("")
        if self.can_annotate:
            self.saving = SavedTensors(self.pack, unpack)
            self.saving.__enter__()

    def tell_error(self, lack):
        if self.error is not None:
            print("memsnap_record: %s, since the recorder failed, not the program: %s" % (lack, self.error), file=sys.stderr)

    def __exit__(self, *_exception):
        self.entered -= 1
        if self.entered > 0 or not self.is_active:
            return False
        self.tell_error("tensors and events are marked in part")
        if self.saving is not None:
            self.saving.__exit__()
        for handle in self.handles:
            handle.remove()
        self.saving, self.handles, self.seen = None, [], {}
        self.termination.__exit__()
        self.dump_end()
        self.tell_missing()
        self.is_active = False
        if self.can_mark:
            torch.cuda.memory._set_memory_metadata("")
        if self.is_own:
            torch.cuda.memory._record_memory_history(enabled=None)
        return False

    @property
    def step(self):
        return max(self.done.values(), default=0)

    def dump_end(self):
        if self.steps is None:
            self.dump("end")

    def tell_missing(self):
        missing = sorted(step for step in self.steps or () if not 0 <= step < self.step)
        if missing:
            print("memsnap_record: no snapshot after step %s: the optimizer made %d steps, counted from 0"
                  % (", ".join(map(str, missing)), self.step), file=sys.stderr)

    def dump(self, name):
        path = path_of_rank(os.path.join(self.folder, name + ".pickle"))
        try:
            torch.cuda.memory._dump_snapshot(path + "-new")
            os.replace(path + "-new", path)
        except Exception as error:  # the program must go on
            print("memsnap_record: no %s: %s" % (path, error), file=sys.stderr)

    def on_out_of_memory(self, *_sizes):
        if self.is_active and self.ooms < MOST_OOM_DUMPS:
            self.ooms += 1
            self.dump("oom" if self.ooms == 1 else "oom-%d" % self.ooms)

    @guarded
    def mark(self, phase):
        """Marks the events of this thread with the step, the phase, and the memory of the device and of the host."""
        if not self.can_mark:
            return
        free, total = torch.cuda.mem_get_info()
        torch.cuda.memory._set_memory_metadata({
            "step": self.step, "phase": phase, "device_free": free, "device_total": total,
            "host_rss": host_bytes(), **self.driver.figures()})

    @guarded
    def annotate(self, value, category):
        for key, storage in storages_of(value).items():
            known = self.seen.get(key)
            if storage.device.type == "cuda" and storage.nbytes() > 0 and (known is None or known.expired()):
                self.seen[key] = StorageWeakRef(storage)
                tensor = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
                with contextlib.suppress(RuntimeError):  # memory that PyTorch's allocator does not manage
                    torch.cuda.memory._annotate_tensor(tensor, "memsnap:" + category)

    @guarded
    def before_module(self, module, args):
        self.depth += 1
        if self.depth > 1 or is_backward():
            return
        self.mark("forward")
        if self.can_annotate:
            self.annotate([*module.parameters(), *module.buffers()], "parameter")
            self.annotate(args, "input")
            self.shapes = {tuple(sorted(parameter.shape)) for parameter in module.parameters()
                           if parameter.dtype == torch.float32}

    @guarded
    def after_module(self, _module, _args, output):
        self.depth = max(self.depth - 1, 0)
        if self.depth == 0 and not is_backward():
            self.mark("backward")
            node = next((tensor.grad_fn for tensor in tensors_in(output) if tensor.grad_fn is not None), None)
            if node is not None:  # runs on autograd's own thread, which has its own mark
                node.register_prehook(lambda _gradients: self.is_active and self.mark("backward") or None)

    def pack(self, tensor):
        if not isinstance(tensor, torch.nn.Parameter) and not self.may_be_cast(tensor):
            self.annotate(tensor, "activation")
        return pack(tensor)

    def may_be_cast(self, tensor):
        """True if a tensor may be autocast's copy of a weight, which is not an activation. memsnap recognises it by its
        stack."""
        return tensor.dtype in (torch.float16, torch.bfloat16) and tuple(sorted(tensor.shape)) in self.shapes

    @guarded
    def before_step(self, optimizer, *_arguments):
        self.mark("optimizer")
        if self.can_annotate:
            parameters = [item for group in optimizer.param_groups for item in group["params"]]
            self.annotate(parameters, "parameter")
            self.annotate([item.grad for item in parameters if item.grad is not None], "gradient")

    def after_step(self, optimizer, *_arguments):
        step = self.done.get(id(optimizer), 0)
        self.annotate_states(optimizer)
        if self.steps is not None and step in self.steps:
            self.dump("step-%d" % step)
        self.done[id(optimizer)] = step + 1
        self.mark("")

    @guarded
    def annotate_states(self, optimizer):
        if self.can_annotate:
            self.annotate(list(optimizer.state.values()), "optimizer_state")
            self.seen = {key: weak for key, weak in self.seen.items() if not weak.expired()}


class Candidate:
    """A model that the program trains. `worth` rates its best recording: whether it was of a step of its own, and the
    bytes that it keeps for the backward pass. None if there is no recording."""

    def __init__(self, module, label):
        self.weak, self.label = weakref.ref(module), label
        self.tries, self.worth = 0, None
        self.parameters = {id(parameter) for parameter in module.parameters()}


class LayersOfOne(layers):
    """Layers of one of several models. Its file is written if its recording is the best so far."""

    def __init__(self, module, warmup, iterations, offer):
        super().__init__(module, warmup=warmup, iterations=iterations)
        self.offer = offer

    def write(self):
        self.offer(self)


class Models:
    """Records the layers of the models that the program trains, each in another step, and writes those of the model
    that keeps the most. A module counts as a model if it runs with gradients while no other model does."""

    def __init__(self, path, warmup, iterations, wanted=None, has_cache=True):
        self.path, self.wanted, self.has_cache = os.path.abspath(path), wanted, has_cache
        self.warmup, self.iterations = warmup, iterations
        self.candidates = {}  # by id
        self.handles, self.running = [], []  # whether each module that is running is a model
        self.current = self.recording = None
        self.best = self.trace = None  # the candidate, and its file
        self.is_of_other = False  # the optimizer of another model ended the step
        self.waited = 0  # calls of models since the last one that was recorded
        self.error = None

    def __enter__(self):
        module = torch.nn.modules.module
        self.handles = [module.register_module_forward_pre_hook(self.before_module),
                        module.register_module_forward_hook(self.after_module, always_call=True),
                        register_optimizer_step_pre_hook(self.before_step)]
        return self

    @guarded
    def before_module(self, module, args):
        is_model = not any(self.running) and torch.is_grad_enabled() and not is_backward() and not is_compiling() and \
            is_trained(module)
        self.running.append(is_model)
        if is_model:
            candidate = self.candidate_of(module)
            self.waited = 0 if candidate is self.current else self.waited + 1
            self.end_complete(candidate)
            if self.recording is None and self.wants(candidate):
                self.start(candidate, module, args)
            elif self.recording is None and self.waited > MOST_WAITING:
                self.remove()

    @guarded
    def after_module(self, _module, _args, _output):
        if self.running:  # else it was running when the recording began
            self.running.pop()

    @guarded
    def before_step(self, optimizer, *_arguments):
        """Called before the hook of the recording, which ends the step."""
        if self.recording is not None and self.recording.running is not None:
            stepped = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
            self.is_of_other = not stepped & self.current.parameters and any(
                stepped & candidate.parameters for candidate in self.candidates.values())

    def candidate_of(self, module):
        candidate = self.candidates.get(id(module))
        if candidate is None or candidate.weak() is not module:
            name = type(module).__name__
            number = 1 + sum(other.label.partition(":")[0] == name for other in self.candidates.values())
            candidate = self.candidates[id(module)] = Candidate(module, name if number == 1 else "%s:%d" % (name, number))
            if not self.has_cache:
                for inner in filter(has_cache, module.modules()):
                    inner.config.use_cache = False  # as a plan does
        return candidate

    def is_wanted(self, candidate):
        return self.wanted in (None, candidate.label)

    def wants(self, candidate):
        """True if a model should be recorded. Each model is recorded once before another is recorded again, which
        happens if the step was not its own."""
        if not self.is_wanted(candidate):
            return False
        others = [other.tries for other in self.candidates.values() if self.is_wanted(other) and other.weak() is not None]
        is_done = candidate.worth is not None and candidate.worth[0]
        return candidate.tries == 0 or (not is_done and candidate.tries < MOST_MISSED and min(others) > 0)

    def start(self, candidate, module, args):
        candidate.tries += 1
        self.current, self.is_of_other = candidate, False
        warmup, self.warmup = self.warmup, 0
        self.recording = LayersOfOne(module, warmup, self.iterations, self.offer)
        self.recording.__enter__()
        self.recording.missed = MOST_MISSED  # instead, others have their turn
        self.recording.before_model(module, args, {})

    def end_complete(self, candidate):
        if self.recording is not None and (self.is_complete(candidate) or self.waited > MOST_WAITING or (
                candidate is self.current and self.recording.is_missed)):
            self.end_recording()
            self.waited = 0

    def is_complete(self, candidate):
        """True if the recording is complete. If the model runs again before an optimizer's step, the recorded step may
        lack optimizer states."""
        return self.recording.is_complete and (self.recording.has_stepped or candidate is not self.current)

    def end_recording(self):
        self.recording.__exit__(None, None, None)
        self.recording = self.current = None

    def offer(self, recording):
        structure = recording.highest
        before, worth = self.current.worth, (bool(structure.order) and not self.is_of_other, structure.kept_by_model())
        if before is not None and before[0] > worth[0]:
            return  # gradients pile up, but this step was not its own
        self.current.worth = worth
        if self.best is None or self.best is self.current or worth > self.best.worth:
            self.best, self.trace = self.current, recording.trace
            if not is_device(path_of_rank(self.path)):
                recording.save(self.path)

    def remove(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def __exit__(self, *_exception):
        self.remove()
        if self.recording is not None:
            self.end_recording()
        if self.trace is not None and is_device(path_of_rank(self.path)):
            write_trace(self.trace, path_of_rank(self.path))
        self.tell()
        return False

    def tell(self):
        others = [other for other in self.candidates.values() if other is not self.best]
        names = ", ".join(sorted(other.label + told_bytes(other.worth) for other in others))
        if self.error is not None:
            told = "no layers of more models, since the recorder failed, not the program: %s" % self.error
        elif self.best is not None and others:
            told = "%s has the layers of %s%s. There are also %s: option --model takes a name" % (
                path_of_rank(self.path), self.best.label, told_bytes(self.best.worth), names)
        elif self.best is None and self.wanted is not None:
            told = "no model %s ran with gradients in this process; there are %s" % (self.wanted, names or "none")
        elif self.best is None and not others:
            told = "no model ran with gradients in this process, so there are no layers. Processes that the program " \
                   "starts are recorded by layers() in its own code"
        else:
            return
        print("memsnap_record: " + told, file=sys.stderr)


def told_bytes(worth):
    """What a model keeps, as text for a message."""
    if worth is None:
        return " (not recorded)"
    return " (%.1f MiB kept for the backward pass%s)" % (worth[1] / 2 ** 20, "" if worth[0] else ", in a step of another model")


def is_trained(module):
    """True if a model has parameters that get gradients, and none that its first run makes."""
    parameters = list(module.parameters())
    return any(parameter.requires_grad for parameter in parameters) and not any(map(torch.nn.parameter.is_lazy, parameters))


def main():
    parser = argparse.ArgumentParser(description="Run a PyTorch program and record what memsnap reads.")
    parser.add_argument("--layers", metavar="FILE", help="record the layers of the trained model that keeps the most")
    parser.add_argument("--model", metavar="NAME", help="for --layers: record the model of that class (CLASS:2: the second)")
    parser.add_argument("--no-cache", action="store_true", help="for --layers: set config.use_cache to False, as plans do")
    parser.add_argument("--warmup", type=int, default=0, metavar="N", help="for --layers: skip the first N steps")
    parser.add_argument("--iterations", type=int, default=1, metavar="N",
                        help="for --layers: record N steps, and write the one with the highest peak")
    parser.add_argument("--snapshots", metavar="FOLDER", help="record snapshots of the CUDA allocator")
    parser.add_argument("--steps", metavar="N,...", help="for --snapshots: dump after these steps, from 0")
    parser.add_argument("--max-entries", type=int, default=200000, metavar="N", help="events that a snapshot holds")
    parser.add_argument("--stacks", choices=("python", "all"), default="all", help="frames to record")
    parser.add_argument("--pinned", action="store_true", help="for --snapshots: record pinned memory of the host, too")
    parser.add_argument("--no-annotations", action="store_true", help="do not mark the categories of tensors")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT")
    options = parser.parse_args()
    if not options.layers and not options.snapshots:
        parser.error("give --layers FILE, --snapshots FOLDER, or both")
    if options.iterations < 1:
        parser.error("invalid --iterations %d (at least 1)" % options.iterations)
    try:
        steps = None if options.steps is None else [int(step) for step in options.steps.split(",")]
    except ValueError:
        parser.error("invalid --steps '%s' (for example 0,3)" % options.steps)
    sys.argv = [options.program, *options.arguments]
    with contextlib.ExitStack() as stack:
        if options.snapshots:
            stack.enter_context(snapshots(options.snapshots, steps=steps, max_entries=options.max_entries,
                                          stacks=options.stacks, annotate=not options.no_annotations, pinned=options.pinned))
        if options.layers:
            stack.enter_context(Models(options.layers, options.warmup, options.iterations, options.model, not options.no_cache))
        if options.module:
            sys.path[0] = os.getcwd()
            runpy.run_module(options.program, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(options.program))
            runpy.run_path(options.program, run_name="__main__")


if __name__ == "__main__":
    main()
