"""Captures with labelled allocations, the input that memsnap gets from them, and its score.

Every allocation weighs its bytes times its lifetime in the trace, in microseconds; one that lived before the trace
counts from the first event, one that outlives it up to the last. An allocation without a label weighs nothing.
"""
import gzip
import json
import pickle
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

MODES = ("full", "python", "none")
LABELLED = ("alloc", "free_requested", "free_completed")
NO_FRAMES = []
# torch.profiler has no name for these, and labels what an operator puts out in the forward pass
SAME = {"kv_cache": "activation", "cast_cache": "activation"}


@dataclass
class Allocation:
    address: int
    bytes: int
    born: int            # index of the alloc event; -1: before the trace
    freed: int           # index of the free_completed event; -1: never
    label: "str | None"
    weight: int = 0
    recomputed: bool = False  # by torch.utils.checkpoint, in the backward pass

    @property
    def key(self):
        return self.address, self.born, self.freed


@dataclass
class Score:
    correct: int         # byte-microseconds, as all of these
    recomputed: int      # incorrect, but recomputed and labelled as activation
    labelled: int
    unlabelled: int
    confusion: dict      # (label, memsnap's category) -> weight

    @property
    def share(self):
        return self.correct / self.labelled

    @property
    def share_with_recomputed(self):
        return (self.correct + self.recomputed) / self.labelled

    @property
    def unlabelled_share(self):
        return self.unlabelled / (self.labelled + self.unlabelled)


def load(path):
    with gzip.open(path, "rb") as file:
        return pickle.load(file)


def only_trace(capture):
    """(device, events) of the only device in a labelled capture."""
    traced = [(device, trace) for device, trace in enumerate(capture["device_traces"]) if trace]
    if len(traced) != 1:
        raise ValueError(f"{len(traced)} devices have a trace, not one")
    return traced[0]


def is_recomputation(frames):
    """True if torch.utils.checkpoint is recomputing a part of the forward pass."""
    return any(frame["filename"].endswith("torch/utils/checkpoint.py") and frame["name"] in ("recompute_fn", "backward")
               for frame in frames)


def truth(capture):
    """All allocations: those from before the trace, then in order of allocation."""
    device, trace = only_trace(capture)
    live, carried, born = {}, [], []
    for index, event in enumerate(trace):
        if event["action"] == "alloc":
            live[event["addr"]] = Allocation(event["addr"], event["size"], index, -1, event.get("category"),
                                             recomputed=is_recomputation(event.get("frames", ())))
            born.append(live[event["addr"]])
        elif event["action"] == "free_completed":
            allocation = live.pop(event["addr"], None)
            if allocation is None:
                allocation = Allocation(event["addr"], event["size"], -1, -1, event.get("category"))
                carried.append(allocation)
            allocation.freed = index
    for segment in capture["segments"]:
        for block in segment["blocks"]:
            if segment["device"] == device and block["state"] != "inactive" and block["address"] not in live:
                carried.append(Allocation(block["address"], block["requested_size"], -1, -1, block.get("category")))
    for allocation in carried + born:
        begin = trace[max(allocation.born, 0)]["time_us"]
        allocation.weight = allocation.bytes * max(trace[allocation.freed]["time_us"] - begin, 1)
    return carried + born


def is_python(frame):
    return frame["line"] > 0


def stripped(capture, mode):
    """The capture without its labels, and with the frames that a recording of this mode has."""
    kept = {}

    def frames_of(frames):
        if mode == "full":
            return frames
        # Stacks stay shared, as they are in the file.
        if id(frames) not in kept:
            kept[id(frames)] = [frame for frame in frames if is_python(frame)] if mode == "python" else NO_FRAMES
        return kept[id(frames)]

    def bare(row, forget):
        new = {key: value for key, value in row.items() if key not in forget}
        if "frames" in new:
            new["frames"] = frames_of(row["frames"])
        return new

    forgotten = ("category", "frames") if mode == "none" else ("category",)
    segments = [bare(segment, ()) | {"blocks": [bare(block, ("category",)) for block in segment["blocks"]]}
                for segment in capture["segments"]]
    traces = [[bare(event, forgotten) for event in trace] for trace in capture["device_traces"]]
    return capture | {"segments": segments, "device_traces": traces}


def packed(capture, mode):
    data = pickle.dumps(stripped(capture, mode), protocol=4)
    if b"category" in data:
        raise ValueError("a label is left in what memsnap is to label")
    return data


def ask(program, data):
    """memsnap's own list of the allocations of the capture."""
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        file.write(data)
        file.flush()
        done = subprocess.run([program, "analyze", "--format", "json", "--allocations", file.name],
                              capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{program}: exit status {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
    return json.loads(done.stdout)


def answers(report, device):
    """(address, born, freed) -> (bytes, category)."""
    for entry in report["devices"]:
        if entry["device"] == device:
            return {(row["address"], row["born_event"], row["freed_event"]): (row["bytes"], row["category"])
                    for row in entry["allocations"]}
    raise ValueError(f"device {device} is missing")


def score(allocations, answered):
    """Fails unless memsnap lists exactly the allocations of the capture."""
    expected = {allocation.key: allocation.bytes for allocation in allocations}
    listed = {key: size for key, (size, _) in answered.items()}
    if expected != listed:
        odd = sorted(expected.items() ^ listed.items())[0]
        raise ValueError(f"memsnap lists {len(listed)} allocations, the trace has {len(expected)}; "
                         f"one that differs: {odd}")
    result = Score(0, 0, 0, 0, defaultdict(int))
    for allocation in allocations:
        if allocation.label is None:
            result.unlabelled += allocation.weight
            continue
        category = answered[allocation.key][1]
        category = SAME.get(category, category)
        result.labelled += allocation.weight
        result.correct += allocation.weight * (category == allocation.label)
        result.recomputed += allocation.weight * (
            allocation.recomputed and category == "activation" and allocation.label in ("autograd_detail", "temporary"))
        result.confusion[allocation.label, category] += allocation.weight
    return result


def measure(program, paths, modes=MODES):
    """{(capture's name, mode): Score}"""
    scores = {}
    for path in paths:
        capture = load(path)
        allocations = truth(capture)
        device, _ = only_trace(capture)
        name = Path(path).name.removesuffix(".pickle.gz")
        for mode in modes:
            scores[name, mode] = score(allocations, answers(ask(program, packed(capture, mode)), device))
    return scores
