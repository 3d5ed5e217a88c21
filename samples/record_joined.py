#!/usr/bin/env python3
"""Records a snapshot and a profiler trace of the same training steps: record_joined.py OUT

Writes OUT.pickle.gz and OUT.pt.trace.json.gz: the trace has one of the three steps of the snapshot. Needs PyTorch
and a GPU, or `memsnap dryrun --steps 0`, which has no kernels. Names of the host and of folders are removed."""
import gzip
import json
import os
import pickle
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from record_profile import Model, rewrite, scrubbed


def bare(frames):
    """Without folders, except those within packages, by which torch's own code is known."""
    names = [frame["filename"] for frame in frames]
    short = [name[name.rfind("site-packages/"):] if "site-packages/" in name else os.path.basename(name) for name in names]
    return [dict(frame, filename=name) for frame, name in zip(frames, short)]


def main(out):
    torch.cuda.memory._record_memory_history(max_entries=10000, stacks="python")
    model = Model(width=64, classes=100, blocks=2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    inputs = torch.zeros(32, 64, device="cuda")
    targets = torch.zeros(32, dtype=torch.long, device="cuda")

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    step()
    activities = [ProfilerActivity.CPU]
    if ProfilerActivity.CUDA in torch.profiler.supported_activities():
        activities.append(ProfilerActivity.CUDA)
    with profile(activities=activities, profile_memory=True, with_stack=True) as profiler:
        step()
    step()
    torch.cuda.memory._dump_snapshot(out + ".pickle")
    profiler.export_chrome_trace(out + ".pt.trace.json")
    with open(out + ".pt.trace.json") as file:
        trace = scrubbed(json.load(file))
    for event in trace["traceEvents"]:
        event.get("args", {}).pop("CallFrom", None)
    os.remove(out + ".pt.trace.json")
    rewrite(out + ".pt.trace.json.gz", trace)
    with open(out + ".pickle", "rb") as file:
        snapshot = pickle.load(file)
    os.remove(out + ".pickle")
    for trace in snapshot["device_traces"]:
        for event in trace:
            event["frames"] = bare(event.get("frames", []))
    for segment in snapshot["segments"]:
        segment["frames"] = bare(segment.get("frames", []))
        for block in segment["blocks"]:
            block["frames"] = bare(block.get("frames", []))
    with open(out + ".pickle.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        pickle.dump(snapshot, file)


if __name__ == "__main__":
    main(sys.argv[1])
