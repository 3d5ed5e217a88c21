"""cuDNN's workspaces in a dry run, next to those of a GPU.

The GPU's are in a profile that PyTorch's profiler project publishes: kineto, tb_plugin/samples/resnet50_num_workers_4,
six training steps of ResNet-50 on a V100. gpu_profile.py runs that program again.
"""
import bisect
import gzip
import json
import os
import statistics
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent

CONVOLUTIONS = ("aten::cudnn_convolution", "aten::cudnn_convolution_backward", "aten::convolution_backward")
KINDS = ("forward", "gradient of the input", "gradient of the weights")


def read_profile(path, steps):
    """The memory events on the GPU, and for each convolution of a step its kind and the range of its events."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    memory = sorted((event["ts"], event["args"]["Bytes"]) for event in events
                    if event.get("name") == "[memory]" and event["args"]["Device Type"] == 1)
    times = [time for time, _ in memory]
    calls = sorted((event["ts"], event["dur"], event["name"]) for event in events
                   if event.get("ph") == "X" and event["name"] in CONVOLUTIONS)
    ranges = [("backward" in name, bisect.bisect_left(times, start), bisect.bisect_right(times, start + duration))
              for start, duration, name in calls]
    return [size for _, size in memory], ranges, len(ranges) // steps


def find_workspaces(sizes, ranges):
    """For each convolution, {kind: bytes}, and the indices of the events of all workspaces, which die in the call."""
    workspaces, indices = [], set()
    for is_backward, first, end in ranges:
        live, found = [], []
        for i in range(first, end):
            if sizes[i] > 0:
                live.append(i)
            elif live and sizes[live[-1]] == -sizes[i]:
                indices |= {live[-1], i}
                found.append((len(live), sizes[live.pop()]))
        kinds = KINDS[1:] if is_backward and len(live) == 2 else KINDS[2:] if is_backward else KINDS[:1]
        by_kind = dict.fromkeys(kinds, 0)
        for place, size in found:  # a workspace follows the result that it is for
            by_kind[kinds[min(place - 2, len(kinds) - 1)]] = size
        workspaces.append(by_kind)
    return workspaces, indices


def find_peak(sizes, without=()):
    level = peak = 0
    for i, size in enumerate(sizes):
        level += 0 if i in without else size
        peak = max(peak, level)
    return peak


def measure(path, steps):
    sizes, ranges, count = read_profile(path, steps)
    workspaces, indices = find_workspaces(sizes, ranges)
    return {"peak": find_peak(sizes), "bare": find_peak(sizes, indices), "convolutions": workspaces[:count]}


def mib(count):
    return f"{count / 2**20:,.1f} MiB"


def describe(gpu, dry):
    """Lines of Markdown."""
    for one in (gpu, dry):
        one["added"] = one["peak"] - one["bare"]
    rows = [("peak of a step", "peak"), ("the same without workspaces", "bare"), ("added by workspaces", "added")]
    lines = [
        "kineto publishes the profile of a training of ResNet-50 (32 images of 224 x 224, float32, SGD), recorded in 2021 on",
        "a V100. This is the same program in a dry run on a GPU of 32 GiB, with a newer PyTorch and cuDNN. The peak counts",
        "what is allocated since the step began. The errors are parts of the GPU's peak.", "",
        "| bytes | GPU | dry run | error |", "|---|--:|--:|--:|",
        *(f"| {name} | {gpu[key]:,} | {dry[key]:,} | {100 * (dry[key] - gpu[key]) / gpu['peak']:+.2f} % |" for name, key in rows),
        "", "The workspaces of the step's convolutions, for which memsnap uses a table; the error is that of each convolution:", "",
        "| of | calls | GPU: median | most | dry run: median | most | error: median | most |",
        "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for kind in KINDS:
        pairs = [(ours[kind], theirs[kind]) for theirs, ours in zip(gpu["convolutions"], dry["convolutions"])
                 if kind in theirs and kind in ours]
        columns = [[theirs for _, theirs in pairs], [ours for ours, _ in pairs], [abs(ours - theirs) for ours, theirs in pairs]]
        cells = [cell for column in columns for cell in (mib(statistics.median(column)), mib(max(column)))]
        lines.append(f"| {kind} | {len(pairs)} | " + " | ".join(cells) + " |")
    return lines


def compare(bench):
    profile = Path(os.environ.get("MEMSNAP_CORPUS", "")) / "gpu-2021.pt.trace.json.gz"
    if not profile.exists():
        return ["Not run: MEMSNAP_CORPUS has no gpu-2021.pt.trace.json.gz."]
    trace = bench.folder / "gpu_profile.json"
    command = [bench.memsnap, "dryrun", "--gpu", "32GiB", "--steps", "0", "-o", str(bench.folder / "gpu_profile.pickle"),
               "--", bench.python, str(HERE / "gpu_profile.py"), str(trace)]
    ended = subprocess.run(command, capture_output=True, text=True)
    if not trace.exists():
        return ["Not run: " + ended.stderr.strip().splitlines()[-1]]
    gpu, dry = measure(profile, 6), measure(trace, 3)
    if len(gpu["convolutions"]) != len(dry["convolutions"]):
        return ["Not compared: the profiles have different convolutions."]
    return describe(gpu, dry)
