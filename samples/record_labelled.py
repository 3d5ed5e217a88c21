#!/usr/bin/env python3
"""Record small training runs, every allocation labelled by torch's own profiler: record_labelled.py OUTDIR [NAME...]

Needs PyTorch; memsnap itself does not. See README.md for what is real in the captures and what is made up.
"""
import argparse
import gzip
import pickle
import sys
import tempfile
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from recording.allocations import BEGIN_MARK, END_MARK, memory_uses
from recording.capture import add_labels, snapshot
from recording.frames import FrameMaker
from recording.loops import PROGRAMS
from recording.optimizers import BY_HAND

STEPS, LATE = 4, 2
MODES = ("full", "python", "none")


def numbered(at_begin, at_end):
    """Step numbers; marks the start of a recording that begins late, and the end of every recording."""
    for step in range(STEPS):
        if step == LATE:
            with record_function(BEGIN_MARK):
                at_begin()
        yield step
    with record_function(END_MARK):
        at_end()


def nothing():
    pass


def profiled(name, device, activities, at_begin=nothing, at_end=nothing):
    """The profile of one program's run."""
    prepare, run = PROGRAMS[name]
    torch.manual_seed(0)
    host = prepare()
    # The host's copy of the model stays alive, so that giving it up does not look like a free on the device.
    kept = [p.data for model in host if isinstance(model, torch.nn.Module) for p in model.parameters()]
    with profile(activities=activities, profile_memory=True, record_shapes=True, with_stack=True) as profiler:
        run(host, device, numbered(at_begin, at_end))
    del kept
    return profiler


def write(path, capture):
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        packed.write(pickle.dumps(capture, protocol=4))


def record_on_cpu(name, folder, modes):
    """One run; the allocator and the C++ frames between the operators are made up."""
    profiler = profiled(name, {"dtype": torch.float32}, [ProfilerActivity.CPU])
    uses, annotations, late = memory_uses(profiler, "cpu", BY_HAND)
    for suffix, begin in (("", 0), ("-late", late)):
        for mode in modes:
            stem = name + suffix + ("" if mode == "full" else f".{mode}")
            write(folder / f"{stem}.pickle.gz", snapshot(uses, annotations, FrameMaker(mode), begin))
    return uses


def record_on_cuda(name, folder):
    """Two runs, each with torch's own snapshot beside the profile, which gives the labels."""
    for suffix in ("", "-late"):
        with tempfile.NamedTemporaryFile(suffix=".pickle") as dump:
            start = torch.cuda.memory._record_memory_history
            torch.cuda.empty_cache()
            if not suffix:
                start(max_entries=1_000_000)
            profiler = profiled(name, {"device": "cuda"}, [ProfilerActivity.CPU, ProfilerActivity.CUDA],
                                at_begin=(lambda: start(max_entries=1_000_000)) if suffix else nothing,
                                at_end=lambda: torch.cuda.memory._dump_snapshot(dump.name))
            start(enabled=None)
            capture = pickle.loads(Path(dump.name).read_bytes())
        uses, _, _ = memory_uses(profiler, "cuda", BY_HAND)
        add_labels(capture, torch.cuda.current_device(), uses)
        write(folder / f"{name}{suffix}.cuda.pickle.gz", capture)
    return uses


def share(uses, test):
    births = [use for use in uses if use.bytes > 0]
    return sum(use.bytes for use in births if test(use)) / sum(use.bytes for use in births)


def main():
    parser = argparse.ArgumentParser(description="Record small training runs, every allocation labelled.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROGRAMS)}; default: all")
    parser.add_argument("--mode", action="append", choices=MODES,
                        help="which frames, without an accelerator (default: full); may be repeated")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.names or PROGRAMS:
        if torch.cuda.is_available():
            uses = record_on_cuda(name, args.folder)
        else:
            uses = record_on_cpu(name, args.folder, args.mode or ["full"])
        print(f"{name}: {len(uses)} allocations and frees; of the bytes, {share(uses, lambda use: not use.label):.1%} "
              f"have no label and {share(uses, lambda use: use.changing):.1%} one that changes")


if __name__ == "__main__":
    sys.exit(main())
