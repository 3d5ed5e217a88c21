#!/usr/bin/env python3
"""Profiles two training steps of a small model: record_profile.py OUT

Writes OUT.pt.trace.json.gz, OUT.timeline.json.gz, OUT.timeline.raw.json.gz, OUT.averages.txt, OUT.stats.json.gz and
OUT.summary.log. Needs PyTorch and a GPU. The names of the host and of folders are removed."""
import gzip
import json
import re
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, width, classes, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def rewrite(path, value, **options):
    """Compresses without the time of day, so that equal runs make equal files."""
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write(json.dumps(value, **options).encode())


def read(path):
    with gzip.open(path, "rt") as file:
        return json.load(file)


def scrubbed(trace):
    for key in "host_name", "traceName", "trace_id":
        trace.pop(key, None)
    for event in trace["traceEvents"]:
        event["name"] = re.sub(r"^/\S*/", "", event["name"])
    return trace


def main(out):
    model = Model(width=256, classes=1000, blocks=3).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True, record_shapes=True,
                 with_stack=True) as profiler:
        for _ in range(2):
            x = torch.randn(512, 256, device="cuda")
            y = torch.zeros(512, dtype=torch.long, device="cuda")
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    rewrite(f"{out}.stats.json.gz", torch.cuda.memory_stats(), indent=0)
    with open(f"{out}.summary.log", "w", encoding="ascii") as log:
        print("two steps done", torch.cuda.memory_summary(), sep="\n", file=log)
    with open(f"{out}.averages.txt", "w", encoding="ascii") as table:
        table.write(profiler.key_averages().table(sort_by="self_cuda_memory_usage", row_limit=20))
    profiler.export_chrome_trace(f"{out}.pt.trace.json.gz")
    rewrite(f"{out}.pt.trace.json.gz", scrubbed(read(f"{out}.pt.trace.json.gz")), indent=0)
    for kind in "timeline", "timeline.raw":
        profiler.export_memory_timeline(f"{out}.{kind}.json.gz", device="cuda:0")
        rewrite(f"{out}.{kind}.json.gz", read(f"{out}.{kind}.json.gz"))


if __name__ == "__main__":
    main(sys.argv[1])
