import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard

UNITS = [  # modules that are gathered one after another
    "blocks.0",
    "blocks.1",
    "blocks.2",
    "blocks.3",
    "blocks.4",
    "blocks.5",
]


def shard(model, lr):
    """The model, which must be on this rank's GPU, and its optimizer for training."""
    options = {}
    units = UNITS
    for name, module in reversed(list(model.named_modules())):
        if name in units:
            fully_shard(module, reshard_after_forward=True, **options)
    fully_shard(model, **options)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    return model, optimizer
