"""Labels for the allocations of a capture, from what the program noted of its own tensors (../programs/truth.py).

A label is a category, or several with "|" between where the notes do not decide, or "" where nothing is known.
"""
import bisect
import re
from collections import defaultdict
from dataclasses import dataclass, field

# What a tensor is if it was noted as several kinds: the first of these.
KINDS = ("kv_cache", "communication", "parameter", "gradient", "optimizer_state", "input", "activation")
WORKSPACE = re.compile(r"allocateCUDABlasWorkspace|getCUDABlasLtWorkspace|getChosenWorkspace|getNewWorkspace"
                       r"|getCurrentCUDABlasHandle")  # the last: PyTorch 2.7
COLLECTIVES = "/_fsdp_collectives.py"  # of FSDP2
BUCKETS = re.compile(r"c10d::Reducer::initialize_bucket")  # of DistributedDataParallel
RECOMPUTING = ("recompute_fn", "backward", "unpack_hook")
BACKWARD = ("backward", "grad", "_engine_run_backward")


@dataclass
class Allocation:
    address: int
    bytes: int
    born: int                  # index of its event
    frames: list
    freed: "int | None" = None  # index of the event that requests it
    kinds: set = field(default_factory=set)


def allocations_of(trace):
    """In order of birth."""
    live, all_of_them = {}, []
    for index, event in enumerate(trace):
        if event["action"] == "alloc":
            live[event["addr"]] = Allocation(event["addr"], event["size"], index, event.get("frames", []))
            all_of_them.append(live[event["addr"]])
        elif event["action"] == "free_requested" and event["addr"] in live:
            live[event["addr"]].freed = index
        elif event["action"] == "free_completed":
            live.pop(event["addr"], None)
    return all_of_them


def add_notes(allocations, notes):
    at_address = defaultdict(list)
    for number, allocation in enumerate(allocations):
        at_address[allocation.address].append(number)
    for address, count, kinds in notes:
        numbers = at_address.get(address, [])
        last = bisect.bisect_left(numbers, count) - 1
        if last >= 0:
            allocations[numbers[last]].kinds.update(kinds)


class Phases:
    """The phases of one device, by index of an event."""

    def __init__(self, trace, marks):
        self._names, self._begins = [], []
        allocs = frees = index = 0
        for name, (wanted_allocs, wanted_frees) in marks:
            while index < len(trace) and (allocs, frees) != (wanted_allocs, wanted_frees):
                allocs += trace[index]["action"] == "alloc"
                frees += trace[index]["action"] == "free_requested"
                index += 1
            self._names.append(name)
            self._begins.append(index)

    def at(self, index):
        """(number of the phase, its name)"""
        number = bisect.bisect_right(self._begins, index) - 1
        return number, self._names[number] if number >= 0 else "model"


def is_recomputed(frames):
    """Made again by a checkpoint, or by a custom backward that runs a forward pass."""
    for frame in frames:  # the innermost first
        if frame["filename"].endswith("/torch/autograd/__init__.py") and frame["name"] in BACKWARD:
            return False
        if frame["filename"].endswith("/torch/autograd/function.py") and frame["name"] == "apply":
            return True
        if frame["filename"].endswith("/torch/utils/checkpoint.py") and frame["name"] in RECOMPUTING:
            return True
    return False


def is_cast(allocation, sizes):
    return allocation.bytes in sizes and any("cached_cast" in frame["name"] for frame in allocation.frames)


def by_phases(allocation, phases):
    """The categories that are right for an allocation that nobody noted, by when it was made and freed."""
    born, name = phases.at(allocation.born)
    is_within = allocation.freed is not None and phases.at(allocation.freed)[0] == born
    if name == "eval":
        return {"activation", "temporary"}
    if name == "data":
        return {"input", "temporary"}
    if name == "model":
        return {"parameter", "temporary"} if is_within else set()
    if name == "forward":
        kinds = {"activation", "temporary"} if is_within else {"activation"}
        in_backward = any("torch::autograd::generated::" in frame["name"] for frame in allocation.frames)
        return kinds | {"autograd_detail"} if in_backward else kinds  # autograd.grad(create_graph=True)
    if name == "backward" and is_within:
        again = {"activation"} if is_recomputed(allocation.frames) else set()
        return {"autograd_detail", "temporary"} | again
    return {"temporary"} if name == "optimizer_step" and is_within else set()


def label_of(allocation, phases, cast_sizes):
    certain = [kind for kind in KINDS if kind in allocation.kinds]
    if any(BUCKETS.search(frame["name"]) for frame in allocation.frames):
        return {"communication", *(kind for kind in certain if kind == "gradient")}  # gradients may be views of buckets
    open_ones = {part for kind in allocation.kinds if "|" in kind for part in kind.split("|")}
    if open_ones:
        return open_ones | set(certain[:1])
    if certain[:1] in (["activation"], []) and is_cast(allocation, cast_sizes):
        return {"cast_cache"} if certain else {"cast_cache", "activation", "temporary"}
    if certain:
        return set(certain[:1])
    if any(WORKSPACE.search(frame["name"]) for frame in allocation.frames):
        return {"workspace"}
    if any(frame["filename"].endswith(COLLECTIVES) for frame in allocation.frames):
        return {"communication"}
    return by_phases(allocation, phases)


def labels(capture, known):
    """A list for each device: the label of each allocation, in order of birth."""
    result = []
    for device, trace in enumerate(capture["device_traces"]):
        allocations = allocations_of(trace)
        add_notes(allocations, [note for at, *note in known["notes"] if at == device])
        phases = Phases(trace, [(name, counts[str(device)]) for name, counts in known["phases"]])
        cast_sizes = {2 * size for size in known["sizes"]}
        result.append(["|".join(sorted(label_of(allocation, phases, cast_sizes))) for allocation in allocations])
    return result
