#!/usr/bin/env python3
"""memsnap flame against an own reading of its formats and against memsnap analyze: that weights sum
to the whole, that call sites have what analyze reports of them, and what speedscope's schema asks."""
import json
import re
import subprocess
from collections import Counter

import captures

LINE = re.compile(r"^(.*)\s+?(\d+(?:\.\d*)?)$")  # as flamegraph.pl takes a line apart
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def flame(path, *arguments):
    done = subprocess.run([captures.MEMSNAP, "flame", *map(str, arguments), str(path)],
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode()


def folded(path, *arguments):
    """[(frames, weight)] of one device."""
    stacks = []
    for line in flame(path, *arguments).splitlines():
        taken = LINE.match(line)
        if not taken or LINE.match(taken[1]):
            raise AssertionError(f"no weight, or two of them: {line!r}")
        frames = taken[1].split(";")
        if not all(frames):
            raise AssertionError(f"an empty frame: {line!r}")
        stacks.append((tuple(frames), int(taken[2])))
    return stacks


def total(stacks):
    return sum(weight for _, weight in stacks)


def sums(path, device):
    """The weights of each kind against what analyze says of the device."""
    number = device["device"]
    only = ("--device", number)
    allocations = [a for a in device["allocations"]]
    in_trace = [a for a in allocations if a["born_event"] >= 0]
    wanted = {
        (): device["active"]["peak_bytes"],
        ("--at", "end"): device["active"]["end_bytes"],
        ("--stacks", "all"): device["active"]["peak_bytes"],
        ("--by", "category"): device["active"]["peak_bytes"],
        ("--by", "phase"): device["active"]["peak_bytes"],
        ("--weight", "allocated"): sum(a["bytes"] for a in in_trace),
        ("--weight", "count"): len(in_trace),
    }
    for arguments, right in wanted.items():
        found = total(folded(path, *only, *arguments))
        if found != right:
            yield f"device {number} {arguments}: weights sum to {found}, not {right}"


def by_category(path, device):
    """Root frames have what analyze says of the categories."""
    found = Counter()
    for frames, weight in folded(path, "--device", device["device"], "--by", "category"):
        found[frames[0]] += weight
    for row in device["categories"]:
        if row["name"] != "unexplained" and found[row["name"]] != row["bytes"]:
            yield f"category {row['name']}: {found[row['name']]}, not {row['bytes']}"


def site_of(frames, labels):
    """The innermost frame that is some call site's, which the operator may stand behind."""
    for i in range(len(frames) - 1, -1, -1):
        if frames[i] in labels:
            backward = "(its backward)" in frames[i:]
            operator = frames[-1] if i < len(frames) - 1 and "::" in frames[-1] else ""
            return frames[i] + (" (its backward)" if backward else ""), operator
    return None


def by_site(path, device):
    """Below every call site of the user's, and operator, lies what analyze reports of both."""
    wanted, labels = Counter(), set()
    for row in device["sites"]:
        label = row["label"]
        if not re.match(r".*:\d+ \S", label) or ";" in label:
            continue
        wanted[label, row.get("op", "")] += row["bytes"]
        labels.add(label.removesuffix(" (its backward)"))
    found = Counter()
    for frames, weight in folded(path, "--device", device["device"]):
        site = site_of(frames, labels)
        if site:
            found[site] += weight
    for key, right in wanted.items():
        if found[key] != right:
            yield f"call site {key}: {found[key]}, not {right}"


def speedscope(path, report):
    """What the schema of speedscope asks, and the same stacks as folded."""
    document = json.loads(flame(path, "--format", "speedscope"))
    if document["$schema"] != "https://www.speedscope.app/file-format-schema.json":
        yield "another schema"
    frames = document["shared"]["frames"]
    for frame in frames:
        if not isinstance(frame["name"], str) or set(frame) - {"name", "file", "line", "col"}:
            yield f"no frame: {frame}"
    if len(document["profiles"]) != len(report["devices"]):
        yield f"{len(document['profiles'])} profiles"
    if not 0 <= document["activeProfileIndex"] < max(1, len(document["profiles"])):
        yield "activeProfileIndex points nowhere"
    for profile, device in zip(document["profiles"], report["devices"]):
        if profile["type"] != "sampled" or profile["unit"] not in UNITS or not profile["name"]:
            yield f"no sampled profile: {profile['type']} {profile['unit']}"
        if len(profile["samples"]) != len(profile["weights"]):
            yield "samples and weights differ in number"
        if profile["startValue"] != 0 or profile["endValue"] != sum(profile["weights"]):
            yield "endValue is not the sum of the weights"
        if any(not sample or not all(0 <= i < len(frames) for i in sample)
               for sample in profile["samples"]):
            yield "a sample without a frame, or with one that is not there"
        stacks = folded(path, "--device", device["device"])
        if [weight for _, weight in stacks] != profile["weights"]:
            yield "other weights than in folded stacks"
        if [len(stack) for stack, _ in stacks] != [len(sample) for sample in profile["samples"]]:
            yield "other stacks than folded"


def area(path, device):
    """Bytes times time is the area below the curve of allocations as analyze lists them."""
    trace = device["trace"]
    if "first_time_us" not in trace or not trace["events"]:
        return
    # one run over a range of the whole: cut where the halves meet, the areas must add up but for
    # the gap between the two events
    half = trace["events"] // 2
    if half < 2:
        return
    only = ("--device", device["device"], "--weight", "bytes-time")
    whole = total(folded(path, *only))
    parts = total(folded(path, *only, "--range", f":{half}"))
    parts += total(folded(path, *only, "--range", f"{half}:"))
    if parts > whole:
        yield f"the halves weigh {parts}, more than the whole, {whole}"
    if whole == 0 and device["active"]["peak_bytes"] > 0 and \
            trace["last_time_us"] > trace["first_time_us"]:
        yield "weighs nothing"


def main():
    tally = captures.Tally()
    for path in captures.samples() + captures.corpus():
        report = captures.report(path, "--allocations", "--top", 0)
        for device in report["devices"]:
            name = f"{path.name} device {device['device']}"
            for check in (sums, by_category, by_site, area):
                tally.check(f"{name} {check.__name__}", check(path, device))
        tally.check(f"{path.name} speedscope", speedscope(path, report))
    tally.end()


main()
