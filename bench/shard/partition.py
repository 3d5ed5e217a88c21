#!/usr/bin/env python3
"""Compares the owners of tensors, rank for rank, with the routines of FairScale and PyTorch: partition.py [MEMSNAP]

Runs FairScale's OSS.partition_parameters() and ZeroRedundancyOptimizer._partition_parameters() on random lists of
parameters, and memsnap shard on layer traces of the same. Needs torch and fairscale.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import torch
from fairscale.optim.oss import OSS
from torch.distributed.optim import ZeroRedundancyOptimizer

LISTS = 200
MEMSNAP = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("MEMSNAP", "memsnap")


class Fake:
    """What the routines read of an optimizer."""
    _get_min_index = ZeroRedundancyOptimizer._get_min_index
    _partition_param_group = ZeroRedundancyOptimizer._partition_param_group

    def __init__(self, parameters, world):
        self.param_groups = [{"params": parameters}]
        self.world_size = world
        self._partition_parameters_cache = []


def sizes_by(partition):
    """Elements with optimizer state of each rank."""
    return [sum(parameter.numel() for group in groups for parameter in group["params"] if parameter.requires_grad)
            for groups in partition]


def expected(parameters, world):
    fake = Fake(parameters, world)
    fake._partition_parameters = []
    oss = sizes_by(OSS.partition_parameters(fake))
    del fake._partition_parameters
    zero = sizes_by(ZeroRedundancyOptimizer._partition_parameters(fake))
    return {"oss": oss, "zero": zero}


def row(index, parameter):
    size = 4 * parameter.numel()
    return {"module_name": "m%d" % index, "module_params": size, "allocated": 0, "reserved": 0, "is_forward": True,
            "all_gathered": 0, "cumul_all_gathered": 0, "dtype": "float32",
            "gradient_bytes": size if parameter.requires_grad else 0, "event": {"memory_diff": 0, "memory_activations": 0}}


def predicted(parameters, world):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"traces": [row(*pair) for pair in enumerate(parameters)]}, file)
        file.flush()
        out = subprocess.run([MEMSNAP, "shard", "--optimizer", "momentum", "--world", str(world), "--format", "json",
                              file.name], check=True, capture_output=True, text=True).stdout
    return {found["name"]: [rank["optimizer_state_bytes"] // 4 for rank in found["ranks"]]
            for found in json.loads(out)["strategies"]}


def random_list(generator):
    kind = generator.randrange(3)
    count = generator.randint(1, 300)
    sizes = [generator.choice((1, 64, 256, 65536)) if kind == 0 else generator.randint(1, 10 ** generator.randint(1, 6))
             for _ in range(count)]
    if kind == 2:
        sizes[generator.randrange(count)] = 10 ** 8
    frozen = generator.random() < 0.3
    parameters = [torch.nn.Parameter(torch.empty(size, device="meta"), requires_grad=not (frozen and generator.random() < 0.3))
                  for size in sizes]
    parameters[0].requires_grad_(True)
    return parameters


def main():
    generator = random.Random(0)
    wrong = ranks = 0
    for _ in range(LISTS):
        parameters, world = random_list(generator), generator.choice((1, 2, 3, 8, 64))
        found, wanted = predicted(parameters, world), expected(parameters, world)
        for strategy, sizes in wanted.items():
            ranks += world
            wrong += sum(a != b for a, b in zip(found[strategy], sizes, strict=True))
    print("%d lists, %d ranks, %d of them with other parameters than FairScale's OSS and PyTorch's "
          "ZeroRedundancyOptimizer" % (LISTS, ranks, wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
