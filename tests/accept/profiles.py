#!/usr/bin/env python3
"""Traces of torch.profiler against a plain reading: every change of memory of each device with its time, the bytes from
before the trace, the peak, and the end. Real files, and each of them rewritten as other versions of PyTorch write it."""
import collections
import csv
import gzip
import io
import json
import marshal
import pathlib
import random
import tempfile
import zlib
from decimal import Decimal

import captures

HOST = "host"


def events_of(trace):
    return trace if isinstance(trace, list) else trace["traceEvents"]


def plain_changes(trace):
    """{device: [(microseconds, bytes, address or None, total after it or None)]}, by time."""
    base = 0 if isinstance(trace, list) else trace.get("baseTimeNanoseconds", 0)
    found = collections.defaultdict(list)
    for event in events_of(trace):
        if event.get("name") != "[memory]":
            continue
        arguments = event["args"]
        nanoseconds = base + int(Decimal(str(event["ts"])) * 1000)
        device = HOST if arguments["Device Type"] == 0 else max(arguments["Device Id"], 0)
        if arguments["Bytes"] != 0:
            found[device].append((nanoseconds, arguments["Bytes"], arguments.get("Addr"),
                                  arguments.get("Total Allocated")))
    for changes in found.values():
        changes.sort(key=lambda change: change[0])
    return {device: [(time // 1000, *rest) for time, *rest in changes] for device, changes in found.items()}


def plain_baseline(changes):
    """The bytes that are there before the first change: those freed later, or all that the first total tells."""
    live, freed = collections.Counter(), 0
    for _, size, address, _ in changes:
        key = abs(size) if address is None else address
        if size > 0:
            live[key] += 1
        elif live[key] > 0:
            live[key] -= 1
        else:
            freed -= size
    _, size, _, total = changes[0]
    return freed if total is None else max(freed, total - size)


def exported(path, device):
    done = captures.run("export", "--table", "events", "--device", str(device), path)
    if done.returncode != 0:
        raise AssertionError(f"{path}: {done.stderr.decode()}")
    signs = {"alloc": 1, "free_completed": -1}
    return [(int(row["time_us"]), signs[row["action"]] * int(row["size"]))
            for row in csv.DictReader(io.StringIO(done.stdout.decode())) if row["action"] in signs]


def device_problems(path, section, changes):
    found = exported(path, section["device"])
    wanted = [(time, size) for time, size, _, _ in changes]
    if found != wanted:
        at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
        yield f"change {at} of {len(wanted)}: {found[at:at + 1]}, not {wanted[at:at + 1]}"
    baseline = now = peak = plain_baseline(changes)
    for _, size, _, _ in changes:
        now += size
        peak = max(peak, now)
    active = section["active"]
    said = active["baseline_bytes"], active["peak_bytes"], active["end_bytes"]
    if said != (baseline, peak, now):
        yield f"device {section['device']}: before, peak, end {said}, not {(baseline, peak, now)}"


def problems(path, trace):
    report = captures.report(path, "--top", "0")
    sections = {section["device"]: section for section in report["devices"]}
    if "host" in report:
        sections[HOST] = dict(report["host"], device=HOST)
    plain = plain_changes(trace)
    if set(sections) != set(plain):
        yield f"devices {sorted(map(str, sections))}, not {sorted(map(str, plain))}"
        return
    for device, changes in plain.items():
        yield from device_problems(path, sections[device], changes)


def without(*names):
    def change(trace, _):
        for event in events_of(trace):
            if event.get("name") == "[memory]":
                for name in names:
                    event["args"].pop(name, None)
        return trace
    return change


def in_whole_microseconds(trace, _):
    for event in events_of(trace):
        for key in "ts", "dur":
            if key in event:
                event[key] = int(event[key])
    return trace


def without_category(trace, _):
    for event in events_of(trace):
        if event.get("name") == "[memory]":
            event.pop("cat", None)
    return trace


def bare_list(trace, _):
    return events_of(trace)


def memory_last(trace, _):
    trace["traceEvents"].sort(key=lambda event: event.get("name") == "[memory]")
    return trace


def from_the_middle(trace, rng):
    """As if the profiler had been started late."""
    times = sorted(event["ts"] for event in events_of(trace) if event.get("name") == "[memory]")
    first = times[rng.randrange(len(times) // 4, len(times) // 2)]
    trace["traceEvents"] = [event for event in trace["traceEvents"] if event.get("ts", first) >= first]
    return trace


def with_odd_arguments(trace, rng):
    """What JSON lacks, and more than fits into any buffer."""
    odd = [{"a": float("nan"), "b": [float("inf"), -float("inf")]}, {"c": "x" * 300_000},
           {"d \u2203": "\U0001f600 \ud800 \\ \" \0"}, {"e": [[[[{}]]]] * 20_000}]
    for event, more in zip(rng.sample(events_of(trace), 40), odd * 10):
        event["args"] = {**more, **event.get("args", {})}
    return trace


CHANGES = {
    "no totals": without("Total Allocated", "Total Reserved"),
    "as of 2021": without("Addr", "Total Allocated", "Total Reserved", "Ev Idx"),
    "whole microseconds": in_whole_microseconds,
    "no category": without_category,
    "bare list": bare_list,
    "memory last": memory_last,
    "from the middle": from_the_middle,
    "odd arguments": with_odd_arguments,
}

CUTS = 6  # of each file


def cut_problems(folder, events, rng, cuts):
    """A list of events with a comma too many, and what is left of it where a run was killed."""
    lines = [json.dumps(event).encode("ascii") for event in events]
    text = b"[\n" + b",\n".join(lines) + b",\n]"
    packed = gzip.compress(text, 6)
    for size in [len(text)] + [rng.randrange(len(text) // 4, len(text)) for _ in captures.some(range(cuts))]:
        path, left = folder / "cut.json", text[:size]
        path.write_bytes(left)
        if size % 2:
            path, left = folder / "cut.json.gz", packed[:len(packed) * size // len(text)]
            path.write_bytes(left)
            left = zlib.decompressobj(31).decompress(left)
        kept = [event for event, line, found in zip(events, lines, left.splitlines()[1:]) if found.startswith(line)]
        if any(event.get("name") == "[memory]" for event in kept):
            yield from problems(path, kept)


def main():
    captures.skip_slow_checks_of_memory()
    tally = captures.Tally()
    rng = random.Random(18)
    traces = [path for path in captures.all_samples() if ".trace." in path.name]
    traces += sorted((captures.TOP / "samples" / "ddp").glob("*.trace.json.gz"))
    traces += captures.corpus("*.trace.json.gz") + captures.corpus("artifacts/*.trace.json.gz")
    with tempfile.TemporaryDirectory() as folder:
        changed = pathlib.Path(folder, "changed.json")
        for path in traces:
            text = gzip.decompress(path.read_bytes())
            tally.check(path.name, problems(path, json.loads(text, parse_float=Decimal)))
            parsed = marshal.dumps(json.loads(text))  # copies are had from it faster than from the text
            # Python takes seconds to rewrite a large one
            step = 4 if path.stat().st_size > captures.LARGE else 1
            for name, change in captures.some(CHANGES.items())[::step]:
                trace = change(marshal.loads(parsed), rng)
                changed.write_text(json.dumps(trace), encoding="ascii")
                tally.check(f"{path.name}, {name}", problems(changed, trace))
            tally.check(f"{path.name}, cut",
                        cut_problems(pathlib.Path(folder), events_of(marshal.loads(parsed)), rng, CUTS // step))
    tally.end()


main()
