"""Captures with labelled allocations, the input that memsnap gets from them, and its score.

The labels are in the capture, under the key `category` of its events and blocks, or beside it in NAME.truth.json.gz.

By the measure "time", an allocation weighs its bytes times its lifetime in the trace, in microseconds; one that lived
before the trace counts from the first event, one that outlives it up to the last. By the measure "peak" it weighs its
bytes if it is live at the peak of its device, else nothing. An allocation without a label never counts.
"""
import gzip
import json
import pickle
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

MODES = ("full", "python", "none", "bare")
MEASURES = ("time", "peak")
CONFIDENCES = ("high", "medium", "low")
LABELLED = ("alloc", "free_requested", "free_completed")
NO_FRAMES = []
# torch.profiler has no name for these, and labels what an operator puts out in the forward pass
ALSO = {"activation": ("kv_cache", "cast_cache")}
OPTIMIZER = "/torch/optim/optimizer.py"
CHECKPOINT, AUTOGRAD = "/torch/utils/checkpoint.py", "/torch/autograd/__init__.py"
# Scratch of one operator is freed within this many events. Without C++ frames, nobody can tell a library's workspace.
SHORT_LIFE = 40


@dataclass
class Allocation:
    device: int
    address: int
    bytes: int
    born: int            # index of the alloc event; -1: before the trace
    freed: int           # index of the free_completed event; -1: never
    label: "str | None"  # a category, or several with "|" between
    right: tuple = ()    # the categories that are right
    weights: dict = field(default_factory=dict)  # by measure

    @property
    def key(self):
        return self.device, self.address, self.born, self.freed

    def is_right(self, category, mode):
        if mode != "full" and self.label == "workspace" and category == "temporary":
            return 0 <= self.freed - self.born < SHORT_LIFE
        return category in self.right


@dataclass
class Measured:
    """All of it in units of one measure."""
    correct: int = 0
    labelled: int = 0
    unlabelled: int = 0
    confusion: dict = field(default_factory=lambda: defaultdict(int))  # (label, memsnap's category) -> weight
    by_label: dict = field(default_factory=lambda: defaultdict(lambda: [0, 0]))       # -> [correct, labelled]
    by_confidence: dict = field(default_factory=lambda: defaultdict(lambda: [0, 0]))  # the same
    by_reason: dict = field(default_factory=lambda: defaultdict(lambda: [0, 0]))  # the same, by reason and confidence

    @property
    def share(self):
        return self.correct / self.labelled

    @property
    def unlabelled_share(self):
        return self.unlabelled / (self.labelled + self.unlabelled)

    def count(self, allocation, weight, answer, mode):
        if not allocation.label:
            self.unlabelled += weight
            return
        category, confidence, reason = answer
        is_right = allocation.is_right(category, mode)
        self.labelled += weight
        self.correct += weight * is_right
        self.confusion[allocation.label, category] += weight
        for sums in (self.by_label[allocation.label], self.by_confidence[confidence],
                     self.by_reason[reason, confidence]):
            sums[0] += weight * is_right
            sums[1] += weight


def load(path):
    with gzip.open(path, "rb") as file:
        return pickle.load(file)


def truth_beside(path):
    """The labels of each device's allocations in order of birth, or None if the capture has them itself."""
    path = Path(path)
    path = path.with_name(path.name.removesuffix(".pickle.gz") + ".truth.json.gz")
    if not path.exists():
        return None
    with gzip.open(path, "rb") as file:
        known = json.load(file)
    return [[known["names"][number] for number in numbers] for numbers in known["labels"]]


def by_stack(function):
    """function(frames), called once for each list of frames: events share them. Only while their capture lives."""
    known = {}

    def answer(frames):
        if id(frames) not in known:
            known[id(frames)] = function(frames)
        return known[id(frames)]
    return answer


def made_in_checkpoint(frames):
    """The category of what torch.utils.checkpoint makes in the backward pass, or None if it did not make this.

    torch.profiler takes all of it for details of autograd or for scratch of one node.
    """
    in_nested_pass = False
    for frame in frames:  # the innermost first
        if frame["filename"].endswith(AUTOGRAD) and frame["name"] == "backward":
            in_nested_pass = True
        if frame["filename"].endswith(CHECKPOINT) and frame["name"] in ("recompute_fn", "backward"):
            return "autograd_detail" if in_nested_pass else "activation"
    return None


def is_in_optimizer(frames):
    return any(frame["filename"].endswith(OPTIMIZER) for frame in frames)


def stack_at(trace, index):
    return trace[index].get("frames", ()) if index >= 0 else ()


def corrected(allocation, trace, made_by, optimizes):
    """The categories that are right beside torch.profiler's label; made_by(), optimizes(): made_in_checkpoint() and
    is_in_optimizer() by stack.

    A reentrant checkpoint runs a backward pass of its own. The gradient of its input is a tensor's `.grad` meanwhile, so
    the profiler calls it a gradient. But the pass around it uses it up.

    What an optimizer step makes and soon frees is scratch, though the profiler may take it for an activation, or for a
    parameter that a later operator of the step writes to.
    """
    also = ALSO.get(allocation.label, ())
    born, freed = stack_at(trace, allocation.born), stack_at(trace, allocation.freed)
    made = made_by(born)
    if allocation.label in ("temporary", "autograd_detail") and made:
        return *also, made
    if 0 < allocation.freed - allocation.born < SHORT_LIFE and optimizes(born) and optimizes(freed):
        return *also, "temporary"
    if allocation.label == "gradient" and made and any("autograd::Engine::" in frame["name"] for frame in freed):
        return *also, "autograd_detail"
    return also


def allocations_of(capture, device):
    """Those from before the trace, then in order of allocation; labelled as the capture says."""
    trace = capture["device_traces"][device]
    live, carried, born = {}, [], []
    for index, event in enumerate(trace):
        if event["action"] == "alloc":
            live[event["addr"]] = Allocation(device, event["addr"], event["size"], index, -1, event.get("category"))
            born.append(live[event["addr"]])
        elif event["action"] == "free_completed":
            allocation = live.pop(event["addr"], None)
            if allocation is None:
                allocation = Allocation(device, event["addr"], event["size"], -1, -1, event.get("category"))
                carried.append(allocation)
            allocation.freed = index
    for segment in capture["segments"]:
        for block in segment["blocks"]:
            if segment["device"] == device and block["state"] != "inactive" and block["address"] not in live:
                carried.append(Allocation(device, block["address"], block["requested_size"], -1, -1,
                                          block.get("category")))
    return carried, born


def peak_of(allocations, events):
    """The index of the event after which the most bytes are live for the first time; -1: before the first."""
    changes = [0] * (events + 1)  # the last counts what is live before the trace
    for allocation in allocations:
        changes[allocation.born] += allocation.bytes
        if allocation.freed >= 0:
            changes[allocation.freed] -= allocation.bytes
    live = most = changes[-1]
    peak = -1
    for index, change in enumerate(changes[:-1]):
        live += change
        if live > most:
            most, peak = live, index
    return peak


def add_weights(allocations, trace):
    peak = peak_of(allocations, len(trace))
    for allocation in allocations:
        begin = trace[max(allocation.born, 0)]["time_us"]
        is_at_peak = allocation.born <= peak and (allocation.freed < 0 or allocation.freed > peak)
        allocation.weights = {"time": allocation.bytes * max(trace[allocation.freed]["time_us"] - begin, 1),
                              "peak": allocation.bytes * is_at_peak}


def truth(capture, beside=None):
    """All allocations of all devices that have a trace; beside: what truth_beside() gives."""
    result = []
    made_by, optimizes = by_stack(made_in_checkpoint), by_stack(is_in_optimizer)
    for device, trace in enumerate(capture["device_traces"]):
        if not trace:
            continue
        carried, born = allocations_of(capture, device)
        if beside is not None:
            for allocation, label in zip(born, beside[device], strict=True):
                allocation.label = label
        for allocation in carried + born:
            names = allocation.label.split("|") if allocation.label else []
            also = corrected(allocation, trace, made_by, optimizes) if beside is None else ()
            allocation.right = *names, *also
        add_weights(carried + born, trace)
        result += carried + born
    return result


def is_python(frame):
    return frame["filename"].endswith(".py")


def stripped(capture, mode):
    """The capture without its labels, and with the frames that a recording of this mode has."""
    # Stacks stay shared, as they are in the file.
    frames_of = by_stack({"full": lambda frames: frames, "python": lambda frames: list(filter(is_python, frames)),
                          "none": lambda frames: NO_FRAMES, "bare": lambda frames: NO_FRAMES}[mode])

    def bare(row, forget_frames=False):
        if mode == "full" and "category" not in row:
            return row
        new = row.copy()
        new.pop("category", None)
        if forget_frames:
            new.pop("frames", None)
        elif "frames" in new:
            new["frames"] = frames_of(row["frames"])
        return new

    segments = [bare(segment) | {"blocks": [bare(block) for block in segment["blocks"]]}
                for segment in capture["segments"]]
    without_stacks = mode in ("none", "bare")
    traces = [[bare(event, without_stacks) for event in trace] for trace in capture["device_traces"]]
    annotations = {"external_annotations": []} if mode == "bare" else {}
    return capture | {"segments": segments, "device_traces": traces} | annotations


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


def answers(report):
    """An allocation's key -> (bytes, category, confidence, reason)."""
    return {(entry["device"], row["address"], row["born_event"], row["freed_event"]):
            (row["bytes"], row["category"], row.get("confidence"), row.get("reason"))
            for entry in report["devices"] if entry["trace"]["events"] for row in entry["allocations"]}


def score(allocations, answered, mode="full"):
    """{measure: Measured}. Fails unless memsnap lists exactly the allocations of the capture."""
    expected = {allocation.key: allocation.bytes for allocation in allocations}
    listed = {key: size for key, (size, *_) in answered.items()}
    if expected != listed:
        odd = sorted(expected.items() ^ listed.items())[0]
        raise ValueError(f"memsnap lists {len(listed)} allocations, the trace has {len(expected)}; "
                         f"one that differs: {odd}")
    result = {measure: Measured() for measure in MEASURES}
    for allocation in allocations:
        for measure, weight in allocation.weights.items():
            if weight:
                result[measure].count(allocation, weight, answered[allocation.key][1:], mode)
    return result


def is_labelled(allocations):
    """Does most of the memory have a label? Programs that fill memory to no purpose are not to be scored."""
    weights = [(allocation.weights["time"], bool(allocation.label)) for allocation in allocations]
    return sum(weight for weight, has_label in weights if has_label) * 2 > sum(weight for weight, _ in weights)


def measure(program, paths, modes=MODES):
    """{(capture's name, mode): {measure: Measured}}"""
    scores = {}
    for path in paths:
        capture = load(path)
        allocations = truth(capture, truth_beside(path))
        if not is_labelled(allocations):
            continue
        name = Path(path).name.removesuffix(".pickle.gz")
        for mode in modes:
            scores[name, mode] = score(allocations, answers(ask(program, packed(capture, mode))), mode)
    return scores
