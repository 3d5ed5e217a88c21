#!/usr/bin/env python3
"""Records what one rank of a data-parallel run leaves beside a snapshot: record_artifacts.py OUT

Writes OUT.pt.trace.json.gz, which names the rank, OUT.execution.json.gz, which ExecutionTraceObserver writes, and
OUT.segments.pickle.gz, the list of torch.cuda.memory_snapshot(). Needs PyTorch, and a GPU or
`memsnap dryrun --world 2 --rank 1 --steps 0`. Names of the host and of folders are removed."""
import gzip
import json
import os
import pickle
import sys
import tempfile

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

from record_profile import Model, read, rewrite, scrubbed


def bare(segments):
    for segment in segments:
        for holder in (segment, *segment["blocks"]):
            for frame in holder.get("frames", ()):
                frame["filename"] = os.path.basename(frame["filename"])
    return segments


def write_segments(path, segments):
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        pickle.dump(bare(segments), file, 2)


def main(out):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl")
    model = DistributedDataParallel(Model(width=64, classes=100, blocks=2).cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    with tempfile.TemporaryDirectory() as folder:
        execution = os.path.join(folder, "execution.json")
        observer = ExecutionTraceObserver().register_callback(execution)
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True, with_stack=True,
                     with_modules=True, execution_trace_observer=observer) as profiler:
            x = torch.randn(32, 64, device="cuda")
            y = torch.zeros(32, dtype=torch.long, device="cuda")
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
        with open(execution, encoding="utf-8") as file:
            trace = json.load(file)
    rewrite(f"{out}.execution.json.gz", dict(trace, pid=1, time="2026-01-01 00:00:00"), indent=1)
    write_segments(f"{out}.segments.pickle.gz", torch.cuda.memory_snapshot())
    profiler.export_chrome_trace(f"{out}.pt.trace.json.gz")
    rewrite(f"{out}.pt.trace.json.gz", scrubbed(read(f"{out}.pt.trace.json.gz")), indent=0)


if __name__ == "__main__":
    main(sys.argv[1])
