#!/usr/bin/env python3
"""Write the sample captures: make_samples.py OUTDIR

The captures come from a simulated training run on a model of PyTorch's allocator, so that making them needs
neither PyTorch nor a GPU. The result is deterministic, byte for byte.
"""
import gzip
import json
import pickle
import sys
from pathlib import Path

import newest
from allocator import Clock, DeviceAllocator, OutOfMemory, settings
from autograd import Runtime
from serving import Server
from stacks import EMPTY_CACHE, TORCH, Stacks
from training import Shape, Trainer

GIB = 1 << 30


class Capture:
    """One simulated process, and the snapshot it dumps."""

    def __init__(self, shape=None, devices=1, cpp=True, limit=8 * GIB, expandable=False, record=True,
                 max_entries=None, **habits):
        self.expandable, self.record, self.max_entries = expandable, record, max_entries
        clock = Clock()
        self.allocators = [DeviceAllocator(index, clock, limit, expandable, record, max_entries)
                           for index in range(devices)]
        self.run = Runtime(clock, Stacks(cpp), self.allocators)
        self.trainer = Trainer(self.run, shape or Shape(), **habits)

    def dump(self):
        traces = [allocator.trace() for allocator in self.allocators]
        overflowed = any(allocator.lost_events for allocator in self.allocators)
        return {"segments": [s for allocator in self.allocators for s in allocator.snapshot()],
                "device_traces": traces,
                "allocator_settings": settings(self.expandable, self.max_entries, overflowed, self.record),
                "external_annotations": list(self.run.annotations) if self.record else []}

    def empty_cache(self):
        with self.run.stacks.call("empty_cache", TORCH + "cuda/memory.py", 222):
            frames = self.run.stacks.from_python(EMPTY_CACHE)
            for allocator in self.allocators:
                allocator.empty_cache(frames)


def train_loop():
    capture = Capture(Shape(layers=3))
    capture.trainer.train(3, leaky=False)
    return capture.dump()


def leak():
    capture = Capture(Shape(layers=2))
    # A dump after every step, of which the last is kept: each leaves a "snapshot" event in the later ones.
    dumps = []
    capture.trainer.train(5, leaky=True, between=lambda step: dumps.append(capture.dump()))
    return dumps[-1]


def kept_gradients():
    capture = Capture(Shape(layers=2), keep_gradients=True)
    capture.trainer.train(4)
    return capture.dump()


def cache():
    capture = Capture(Shape(layers=1), cache_bias=True)
    capture.trainer.train(8, lengths=(90, 120, 60, 105))
    return capture.dump()


def pending_frees():
    capture = Capture(Shape(layers=2), log_logits=True)
    capture.trainer.train(4)
    return capture.dump()


def out_of_memory():
    # The last batch is padded to a far longer sequence: it gets through forward, but not through backward.
    capture = Capture(limit=768 << 20)
    try:
        capture.trainer.train(3, lengths=(120, 150, 330))
    except OutOfMemory:
        return capture.dump()  # what an observer attached for this purpose does, before anything is unwound
    raise AssertionError("the run was meant to fail")


def serving(body, limit=3 * GIB, fails=True):
    """A server on a small device, dumped when it runs out of memory, or at its end."""
    def make():
        capture = Capture(limit=limit)
        try:
            Server(capture.run).main(body)
        except OutOfMemory:
            assert fails
            return capture.dump()
        assert not fails
        return capture.dump()
    return make


def two_devices():
    capture = Capture(Shape(halves=True), devices=2, cpp=False)
    capture.trainer.train(3)
    return capture.dump()


def expandable():
    capture = Capture(Shape(layers=3), expandable=True)
    capture.trainer.train(4, lengths=(90, 150, 120, 60),
                          between=lambda step: capture.empty_cache() if step == 1 else None)
    return capture.dump()


def ring_overflow():
    capture = Capture(Shape(layers=3), max_entries=1500)
    capture.trainer.train(4)
    return capture.dump()


def history_off():
    capture = Capture(Shape(layers=2), record=False)
    capture.trainer.train(2)
    return capture.dump()


def anomaly():
    """What torch 2.15 writes in autograd's anomaly mode, with annotated tensors and pinned host memory."""
    capture = Capture(Shape(layers=1))
    capture.trainer.train(3)
    data = capture.dump()
    newest.add_forward_frames(data)
    newest.annotate_parameters(data)
    newest.add_host_memory(data)
    return data


def skipping(action):
    """A recording with skip_actions=[action]."""
    def make():
        capture = Capture(Shape(layers=1))
        capture.trainer.train(4)
        data = capture.dump()
        data["device_traces"] = [[event for event in trace if event["action"] != action]
                                 for trace in data["device_traces"]]
        return data
    return make


def check(data):
    """Replay the traces and compare with the segments: both must agree."""
    overflowed = data["allocator_settings"].get("trace_alloc_overflowed", False)
    traces = list(enumerate(data["device_traces"]))
    if "host_traces" in data:
        traces.append((-1, data["host_traces"]))
    for device, trace in traces:
        segments = [s for s in data["segments"] + data.get("host_segments", []) if s["device"] == device]
        for segment in segments:
            end = segment["address"]
            for block in segment["blocks"]:
                assert block["address"] == end
                end += block["size"]
            assert end == segment["address"] + segment["total_size"]
        if {"alloc", "free_completed"} <= {event["action"] for event in trace}:
            check_trace(trace, segments, overflowed)


def check_trace(trace, segments, overflowed):
    allocated, pending = {}, {}
    signs = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
    reserved = sum(s["total_size"] for s in segments) - sum(signs.get(e["action"], 0) * e["size"] for e in trace)
    assert reserved == 0 or overflowed and reserved > 0
    before = 0
    for event in trace:
        action, size = event["action"], event["size"]
        reserved += signs.get(action, 0) * size
        if action == "alloc":
            assert event["addr"] not in allocated and event["addr"] not in pending
            allocated[event["addr"]] = size
        elif action == "free_requested":
            pending[event["addr"]] = size
            before += allocated.pop(event["addr"], None) is None
        elif action == "free_completed":
            before += pending.pop(event["addr"], None) is None
        assert sum(allocated.values()) + sum(pending.values()) <= reserved
    assert before == 0 or overflowed
    blocks = [b for s in segments for b in s["blocks"]]
    for state, replayed in ("active_allocated", allocated), ("active_pending_free", pending):
        dumped = {b["address"]: b["requested_size"] for b in blocks if b["state"] == state}
        assert replayed.items() <= dumped.items() if overflowed else replayed == dumped


def write(path, raw):
    if path.suffix == ".gz":
        with open(path, "wb") as file:
            # neither a time nor a name in the header, so that the same content makes the same file
            with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
                packed.write(raw)
    else:
        path.write_bytes(raw)


def main(arguments):
    if len(arguments) != 1:
        sys.exit("usage: make_samples.py OUTDIR")
    directory = Path(arguments[0])
    (directory / "newest").mkdir(parents=True, exist_ok=True)
    for name, make in {"train-loop.pickle.gz": train_loop, "leak.pickle.gz": leak, "oom.pickle.gz": out_of_memory,
                       "kept-gradients.pickle.gz": kept_gradients,
                       "cache.pickle.gz": cache, "pending-frees.pickle.gz": pending_frees,
                       "two-devices.pickle.gz": two_devices, "expandable.pickle.gz": expandable,
                       "ring-overflow.pickle.gz": ring_overflow, "history-off.pickle": history_off,
                       "newest/anomaly.pickle.gz": anomaly, "newest/skip-alloc.pickle.gz": skipping("alloc"),
                       "newest/skip-free-completed.pickle.gz": skipping("free_completed"),
                       "oom-fragmented.pickle.gz": serving(Server.fragmented, 2304 << 20),
                       "oom-other-process.pickle.gz": serving(Server.crowded_out),
                       "pinned.pickle.gz": serving(Server.pinned, fails=False)}.items():
        data = make()
        check(data)
        write(directory / name, pickle.dumps(data, protocol=4))
        if make is train_loop:
            write(directory / "train-loop.json.gz", json.dumps(data, separators=(",", ":")).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
