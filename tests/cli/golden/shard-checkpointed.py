from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
import torch
from torch.utils.checkpoint import checkpoint


def is_backward():
    """Autograd runs; a checkpoint then runs modules again."""
    return torch._C._current_graph_task_id() != -1


def count_once(module):
    """Batch norm must not update its statistics again when a checkpoint runs it again."""
    forward = module.forward
    spare = module.num_batches_tracked.clone()

    def run(*args, **kwargs):
        if not (is_backward() and module.training):
            return forward(*args, **kwargs)
        before = module.momentum, module.num_batches_tracked
        module.momentum, module.num_batches_tracked = 0.0, spare
        try:
            return forward(*args, **kwargs)
        finally:
            module.momentum, module.num_batches_tracked = before

    module.forward = run


def fresh(value):
    """A program may change a list or a dictionary before the backward pass: a checkpoint needs its own."""
    return type(value)(value) if type(value) in (dict, list, set) else value


def checkpointed(forward, **options):
    """The function in a checkpoint. One tensor that is several arguments stays one when it runs again: attention asks
    if its query is its key."""
    def start(*args, **kwargs):
        values = {id(value): value for value in [*args, *kwargs.values()]}
        at = {key: k for k, key in enumerate(values)}
        order, named = [at[id(value)] for value in args], {name: at[id(value)] for name, value in kwargs.items()}
        spare = {at[id(value)]: fresh(value) for value in values.values() if fresh(value) is not value}

        def run(*given):
            if is_backward():
                given = [fresh(spare.get(k, value)) for k, value in enumerate(given)]
            return forward(*(given[k] for k in order), **{name: given[k] for name, k in named.items()})

        return checkpoint(run, *values.values(), use_reentrant=False, **options)

    return start


def inside(module):
    """A checkpoint goes inside FSDP, so that parameters are gathered before the module runs again."""
    return getattr(module, "_fsdp_wrapped_module", module)


def prepare(model, modules):
    """Makes it safe to run the modules twice."""
    for module in {inner for outer in modules for inner in outer.modules()}:
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.track_running_stats:
            count_once(module)
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
        module.forward = checkpointed(module.forward)
    options = {}
    units = UNITS
    for name, module in reversed(list(model.named_modules())):
        if name in units:
            fully_shard(module, reshard_after_forward=True, **options)
    fully_shard(model, **options)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    return model, optimizer
