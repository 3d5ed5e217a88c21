from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from functools import partial

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
        module.forward = partial(checkpoint, module.forward, use_reentrant=False)
    options = {}
    units = UNITS
    for name, module in reversed(list(model.named_modules())):
        if name in units:
            fully_shard(module, reshard_after_forward=True, **options)
    fully_shard(model, **options)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    return model, optimizer
