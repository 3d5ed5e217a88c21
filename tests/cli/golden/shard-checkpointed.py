from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def storage_ids(value):
    values = value if isinstance(value, (list, tuple)) else [value]
    return [item.untyped_storage()._cdata for item in values if isinstance(item, torch.Tensor)]


def written_by(function, args, kwargs):
    """The storages that an operator changes."""
    arguments = function._schema.arguments
    given = {**{argument.name: value for argument, value in zip(arguments, args)}, **kwargs}
    return [storage for argument in arguments if argument.alias_info is not None and argument.alias_info.is_write
            for storage in storage_ids(given.get(argument.name))]


from contextlib import nullcontext
from functools import partial

from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop


def is_backward():
    """Autograd runs; a checkpoint then runs modules again."""
    return torch._C._current_graph_task_id() != -1


def is_compiling():
    return hasattr(torch.compiler, "is_compiling") and torch.compiler.is_compiling()


def is_batch_norm(module):
    return isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.track_running_stats


class CountOnce:
    """The forward of a batch norm. It must not update its statistics again when a checkpoint runs it again."""

    def __init__(self, module):
        self.module, self.forward, self.spare = module, module.forward, module.num_batches_tracked.clone()

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
    """A program may change a list or a dictionary before the backward pass: a checkpoint needs its own."""
    return type(value)(value) if type(value) in (dict, list, set) else value


def is_plain(value):
    return value is None or type(value) in (bool, int, float, str)


def set_attributes(module, wanted):
    for name in vars(module).keys() - wanted.keys():
        del vars(module)[name]
    vars(module).update(wanted)


HOOKS = "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"


def hooks_of(modules):
    return [getattr(module, name) for module in modules for name in HOOKS if isinstance(getattr(module, name, None), dict)]


class Watched:
    """A forward hook in the first run of a checkpoint. A hook that only looks at results may store them, for the module
    or for others. When it runs again, it gets them without a graph, which would keep all that is computed again."""

    def __init__(self, hook):
        while isinstance(hook, Watched) and hook.is_over:  # of another thread
            hook = hook.hook
        self.hook, self.only_looks, self.is_over = hook, None, False

    def __call__(self, *given):
        before = self.state(given[-1])
        result = self.hook(*given)
        only_looks = result is None and before is not None and self.state(given[-1]) == before
        self.only_looks = only_looks and self.only_looks is not False
        return result

    def state(self, result):
        """Changes with the result, and with every random number; None if it is not known whether the result changes."""
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
    """Notes the storages that operators change. A buffer that a module changes through .data has the same version then."""

    def __init__(self):
        super().__init__()
        self.storages = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.storages.update(written_by(function, args, kwargs or {}))
        return function(*args, **(kwargs or {}))


def runs_compiled(modules):
    """A checkpoint of the modules has compiled code in it, which shows it no operators, or runs otherwise when watched."""
    return any("_orig_mod" in inner._modules or (inner is not module and vars(inner).get("_compiled_call_impl"))
               for module in modules for inner in module.modules())


def copy_of(tensor):
    """Not clone(), which a checkpoint may count as an operator of the module whose results it keeps."""
    return torch.empty_like(tensor).copy_(tensor)


class Before:
    """What modules are like when a checkpoint first runs them. They must be so when it runs them again, and then as
    they were: some count their calls, average what they see in a buffer, or hook others when they first run."""

    def __init__(self, modules, modules_with_buffers, mode=None):
        self.hooks = [(hooks, set(hooks)) for hooks in hooks_of(modules)]
        self.watched = [(hooks, number, Watched(hook)) for hooks in (module._forward_hooks for module in modules)
                        for number, hook in hooks.items()]
        self.attributes = [(module, set(vars(module)), {name: value for name, value in vars(module).items() if is_plain(value)})
                           for module in modules]
        self.buffers = [(module, name, buffer, None if buffer is None else (buffer._version, copy_of(buffer.detach())))
                        for module in modules_with_buffers for name, buffer in module._buffers.items()
                        if buffer is None or not buffer.is_inference()]
        self.mode = mode if mode is not None and self.buffers else nullcontext()  # in both runs, so that they are alike

    def written(self):
        """The buffers that the first run changed, where its mode is Written."""
        return {(module, name) for module, name, buffer, _ in self.buffers
                if buffer is not None and not self.mode.storages.isdisjoint(storage_ids(buffer))}

    def keep_changes(self, written):
        """After the first run: forgets the buffers that it left alone, but for those that it is known to change."""
        self.buffers = [
            (module, name, buffer, known) for module, name, buffer, known in self.buffers
            if getattr(module, name, None) is not buffer or (buffer is not None and buffer._version != known[0])
            or (module, name) in written]

    @contextmanager
    def watching(self):
        """Around the first run."""
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
        attributes = [(module, dict(vars(module))) for module, _, _ in self.attributes]
        buffers = [(module, name, getattr(module, name, None)) for module, name, _, _ in self.buffers]
        every_hook = [(hooks, dict(hooks)) for hooks, _ in self.hooks]
        for hooks, known in self.hooks:
            for number in hooks.keys() - known:
                del hooks[number]
        for hooks, number, watched in self.watched:
            if watched.only_looks and number in hooks:
                hooks[number] = watched.show
        for module, names, values in self.attributes:
            set_attributes(module, {**{name: value for name, value in vars(module).items() if name in names}, **values})
        for module, name, _, known in self.buffers:
            setattr(module, name, known and copy_of(known[1]))
        try:
            with self.mode:
                yield
        finally:
            for module, values in attributes:
                set_attributes(module, values)
            for module, name, buffer in buffers:
                setattr(module, name, buffer)
            for hooks, values in every_hook:
                hooks.clear()
                hooks.update(values)


def is_sharded(module):
    """FSDP changes such modules between the passes."""
    return hasattr(module, "_fsdp_wrapped_module") or any(kind.__name__ == "FSDPModule" for kind in type(module).__mro__)


def have_attributes(modules):
    return [module for module in modules if not is_sharded(module) and not isinstance(module, torch.jit.ScriptModule)]


def stopped_by(error):
    """What PyTorch ends the second run of a checkpoint with, if a library within the modules made another error of it."""
    seen = []
    while error is not None and error not in seen and not (
            type(error).__name__ == "_StopRecomputationError" and type(error).__module__ == checkpoint.__module__):
        seen.append(error)
        error = error.__cause__ or error.__context__
    return error if error not in seen else None


class Checkpointed:
    """A function that runs modules, in a checkpoint. One tensor that is several arguments stays one when it runs again:
    attention asks if its query is its key."""

    def __init__(self, forward, modules, options):
        self.forward, self.options = forward, options
        inner = list(dict.fromkeys(inner for module in modules for inner in module.modules()))
        self.modules = have_attributes(inner), [module for module in inner if not is_batch_norm(module)]
        self.has_script = any(isinstance(module, torch.jit.ScriptModule) for module in inner)
        self.written = set() if runs_compiled(modules) else None  # buffers that they change; not known before the first run

    def __call__(self, *args, **kwargs):
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
        with set_checkpoint_early_stop(False):  # TorchScript makes another error of the one that stops it
            return start()


WRAPPERS = "module", "_orig_mod", "_fsdp_wrapped_module"  # DataParallel and DDP, torch.compile(), FSDP


def find_module(model, name):
    """The module of that name, in a model that may be wrapped otherwise than the recorded one."""
    module = model
    for word in name.split(".") if name else []:
        wrapped = module
        while wrapped is not None and word not in wrapped._modules:
            wrapped = next((wrapped._modules[key] for key in WRAPPERS if key in wrapped._modules), None)
        if wrapped is not None:
            module = wrapped._modules[word]
        elif word not in WRAPPERS:
            raise ValueError(f"the model has no module {name}")
    return module


def inside(module):
    """A checkpoint goes inside FSDP, so that parameters are gathered before the module runs again."""
    return getattr(module, "_fsdp_wrapped_module", module)


def prepare(model, modules):
    """Makes it safe to run the modules twice."""
    for module in {inner for outer in modules for inner in outer.modules()}:
        if is_batch_norm(module):
            module.forward = CountOnce(module)
    for module in model.modules():
        if getattr(getattr(module, "config", None), "use_cache", False):
            module.config.use_cache = False  # else recomputation adds to the cache again


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
