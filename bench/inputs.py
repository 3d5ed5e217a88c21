#!/usr/bin/env python3
"""Make the files that the benchmark reads: inputs.py [--large] OUTDIR [CAPTURE]

All come from one real or simulated capture, by repeating the allocations that its longest trace opens and closes.
A file that is there already is kept. OUTDIR/inputs.json says what each holds.
"""
import argparse
import gzip
import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

from cpp_pickle import CppPickler

DEFAULT_CAPTURE = Path(__file__).resolve().parent.parent / "samples" / "train-loop.pickle.gz"
PICKLE_BYTES = 203_000_000
JSON_BYTES = 400_000_000
DISTINCT_EVENTS = 600_000
LARGE_FACTOR = 10

COUNT_EVENTS = """
import gc, json, pickle, sys
gc.disable()
with open(sys.argv[1], "rb") as file:
    data = json.load(file) if sys.argv[1].endswith(".json") else pickle.load(file)
print(max(map(len, data["device_traces"])))
"""


def closed_events(trace):
    """The events of the allocations that are both made and freed in the trace, in order."""
    open_at, closed = {}, set()
    for index, event in enumerate(trace):
        action = event["action"]
        if action == "alloc":
            open_at[event["addr"]] = [index]
        elif action in ("free_requested", "free_completed") and event["addr"] in open_at:
            open_at[event["addr"]].append(index)
            if action == "free_completed":
                closed.update(open_at.pop(event["addr"]))
    return [trace[index] for index in sorted(closed)]


class Capture:
    """A snapshot whose longest trace can be extended to any length."""

    def __init__(self, path):
        raw = path.read_bytes()
        self.name = path.name
        self.sha256 = hashlib.sha256(raw).hexdigest()
        self.data = pickle.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        self.trace = max(self.data["device_traces"], key=len)
        self.tile = closed_events(self.trace)
        if not self.tile:
            raise SystemExit(f"{path}: no allocation is both made and freed in its trace")
        self.timed = "time_us" in self.trace[0]
        self.period = self.trace[-1]["time_us"] - self.trace[0]["time_us"] + 1000 if self.timed else 0

    def events(self, tiles):
        """The trace, then its freed allocations tiles - 1 more times. Every event and stack is a new object."""
        yield from self.trace
        for repeat in range(1, tiles):
            shift = repeat * self.period
            for event in self.tile:
                event = dict(event)
                if self.timed:
                    event["time_us"] += shift
                if "frames" in event:
                    event["frames"] = list(event["frames"])
                yield event

    def with_trace(self, events):
        traces = [events if trace is self.trace else trace for trace in self.data["device_traces"]]
        return dict(self.data, device_traces=traces)

    def tiles_for(self, target, size_of):
        """The number of tiles for a file of about this size; size_of(tiles) is exact."""
        first, second, third = (size_of(tiles) for tiles in (1, 2, 3))
        return max(1, 2 + round((target - second) / max(1, third - second))) if target > first else 1

    def tiles_for_events(self, count):
        return 1 + max(0, -(-(count - len(self.trace)) // len(self.tile)))


def fresh_strings(events):
    """Gives each event its own copy of a string, so that pickle writes it each time."""
    for event in events:
        yield dict(event, compile_context="".join(("N", "/A")))


def distinct_stacks(events, pool):
    """Makes all stacks distinct: three frames encode the event's number in base len(pool)."""
    for index, event in enumerate(events):
        frames = list(event.get("frames", ()))
        frames += pool[:max(0, 3 - len(frames))]
        first, middle, last = len(frames) // 4, len(frames) // 2, len(frames) - 1 - len(frames) // 4
        frames[first] = pool[index % len(pool)]
        frames[middle] = pool[index // len(pool) % len(pool)]
        frames[last] = pool[index // len(pool) ** 2 % len(pool)]
        yield dict(event, frames=frames)


def frame_pool(trace):
    frames = {tuple(frame.values()): frame for event in trace for frame in event.get("frames", ())}
    if len(frames) < 100:
        raise SystemExit("the capture has too few frames to make distinct stacks of")
    return list(frames.values())


def write_pickle(data, file):
    pickle.dump(data, file, protocol=4)


def write_cpp(data, file):
    CppPickler(file).dump(data)


def write_json(data, file):
    """The bytes of json.dump(data, file), encoded event by event to use the fast encoder."""
    between = b"{"
    for key, value in data.items():
        file.write(between + json.dumps(key).encode() + b": ")
        between = b", "
        if key == "device_traces":
            file.write(b"[" + b", ".join(json_trace(trace) for trace in value) + b"]")
        else:
            file.write(json.dumps(value).encode())
    file.write(b"}")


def json_trace(trace):
    return b"[" + b", ".join(json.dumps(event).encode() for event in trace) + b"]"


class Folder:
    """OUTDIR: its files, and a record of their content."""

    def __init__(self, path, capture):
        self.path, self.note_path = path, path / "inputs.json"
        path.mkdir(parents=True, exist_ok=True)
        self.note = {"capture": capture.name, "sha256": capture.sha256, "files": {}}
        if self.note_path.exists():
            note = json.loads(self.note_path.read_text())
            if note["sha256"] != capture.sha256:
                raise SystemExit(f"{path}: holds the inputs made of another capture, {note['capture']}")
            self.note = note

    def missing(self, *names):
        return [name for name in names if name not in self.note["files"] or not (self.path / name).exists()]

    def make(self, name, write, events, tiles, check=True):
        """Writes to a temporary name first, so that a file with the final name is always complete."""
        part = self.path / (name + ".part")
        print(f"making {name}", file=sys.stderr, flush=True)
        with open(part, "wb") as file:
            write(file)
        final = self.path / name
        os.replace(part, final)
        if check:
            count = int(subprocess.check_output([sys.executable, "-c", COUNT_EVENTS, str(final)]))
            if count != events:
                raise SystemExit(f"{final}: CPython reads {count} events, not {events}")
        self.note["files"][name] = {"bytes": final.stat().st_size, "events": events, "tiles": tiles,
                                    "checked": check}
        self.note_path.write_text(json.dumps(self.note, indent=1) + "\n")


def gzip_file(source, target):
    subprocess.run(["gzip", "-6", "-n", "-c", str(source)], stdout=target, check=True)


def make_pickles(folder, capture, large):
    tiles = capture.tiles_for(
        PICKLE_BYTES, lambda tiles: len(pickle.dumps(capture.with_trace(list(capture.events(tiles))), protocol=4)))
    if folder.missing("tiled.pickle", "cpp.pickle"):
        events = list(capture.events(tiles))
        data = capture.with_trace(events)
        if folder.missing("tiled.pickle"):
            folder.make("tiled.pickle", lambda file: write_pickle(data, file), len(events), tiles)
        if folder.missing("cpp.pickle"):
            folder.make("cpp.pickle", lambda file: write_cpp(data, file), len(events), tiles)
        del data, events
    if folder.missing("tiled.pickle.gz"):
        known = folder.note["files"]["tiled.pickle"]
        folder.make("tiled.pickle.gz", lambda file: gzip_file(folder.path / "tiled.pickle", file),
                    known["events"], tiles, check=False)
    if folder.missing("fresh.pickle"):
        events = list(fresh_strings(capture.events(tiles)))
        folder.make("fresh.pickle", lambda file: write_pickle(capture.with_trace(events), file), len(events), tiles)
        del events
    if large and folder.missing("large.pickle"):
        tiles *= LARGE_FACTOR
        events = list(capture.events(tiles))
        folder.make("large.pickle", lambda file: write_pickle(capture.with_trace(events), file), len(events), tiles,
                    check=False)


def make_distinct(folder, capture):
    if folder.missing("distinct.pickle"):
        tiles = capture.tiles_for_events(DISTINCT_EVENTS)
        events = list(distinct_stacks(capture.events(tiles), frame_pool(capture.trace)))
        folder.make("distinct.pickle", lambda file: write_pickle(capture.with_trace(events), file), len(events), tiles)


def make_json(folder, capture):
    if folder.missing("tiled.json"):
        rest = len(json.dumps(capture.with_trace([])))
        first, more = (sum(len(json.dumps(event)) + 2 for event in events) for events in (capture.trace, capture.tile))
        tiles = capture.tiles_for(JSON_BYTES, lambda tiles: rest + first + (tiles - 1) * more)
        events = list(capture.events(tiles))
        folder.make("tiled.json", lambda file: write_json(capture.with_trace(events), file), len(events), tiles)


def main():
    parser = argparse.ArgumentParser(description="Make the files that the benchmark reads.")
    parser.add_argument("--large", action="store_true", help="also large.pickle: 2 GB, and 10 GB of memory to make it")
    parser.add_argument("outdir", type=Path)
    parser.add_argument("capture", type=Path, nargs="?", default=DEFAULT_CAPTURE, help="a pickle, gzip or not")
    args = parser.parse_args()
    capture = Capture(args.capture)
    folder = Folder(args.outdir, capture)
    make_pickles(folder, capture, args.large)
    make_distinct(folder, capture)
    make_json(folder, capture)


if __name__ == "__main__":
    main()
