from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
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


UNITS = [  # modules that are gathered one after another
    "blocks.0",
    "blocks.1",
    "blocks.2",
    "blocks.3",
    "blocks.4",
    "blocks.5",
]

CHECKPOINTS = [  # modules that run again in the backward pass
    "blocks.0",
    "blocks.1",
    "blocks.2",
    "blocks.3",
    "blocks.4",
    "blocks.5",
]


def shard(model, lr):
    """The model, which must be on this rank's GPU, and its optimizer for training."""
    modules = [model.get_submodule(name) for name in CHECKPOINTS]
    prepare(model, modules)
    for module in modules:
        module.forward = Checkpointed(module.forward, [module], {})
    options = {}
    units = UNITS
    for name, module in reversed(list(model.named_modules())):
        if name in units:
            fully_shard(module, reshard_after_forward=True, **options)
    fully_shard(model, **options)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    return model, optimizer
