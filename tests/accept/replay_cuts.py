#!/usr/bin/env python3
"""memsnap replay of captures that lost events: the oldest, as in a ring buffer that is full, or some in
the middle. Each has figures or a reason, and a verdict only with trust. Where the oldest are missing,
trusted figures are near those of the whole capture."""
import gzip
import json
import pathlib
import pickle
import random
import sys
import tempfile

import captures

CUTS = 8
# How far trusted figures may be from those of the whole capture: a share, and a segment. NEAR holds where the
# cold replay reserves exactly what was recorded. Where it only comes near, a cut that left 428 of 1,177 events
# changed the figure of expandable segments by 11 %.
NEAR = 0.02
NOT_EXACT = 0.12
SEGMENT = 20 << 20
# What these settings cost depends on all that was cached before: in captures of runs that went out of
# memory, cuts change the figures of max_split_size_mb by up to 28 %, and a cut that left 61 of 1,195 events
# changed one of roundup_power2_divisions by 23 %.
UNSTEADY = ("max_split_size_mb:", "roundup_power2_divisions:")


def load(path):
    raw = path.read_bytes()
    return pickle.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def replay(path):
    """The devices, or None where all are refused."""
    done = captures.run("replay", "--format", "json", path)
    text = done.stderr.decode(errors="replace")
    if done.returncode == 3 and "cannot be replayed: " in text and not done.stdout:
        return None
    if done.returncode != 0 or text:
        raise AssertionError(f"{path}: status {done.returncode}: {text}")
    return {device["device"]: device for device in json.loads(done.stdout)["devices"]}


def cut_oldest(trace, rng):
    return trace[rng.randrange(1, len(trace)):]


def cut_middle(trace, rng):
    first = rng.randrange(len(trace))
    return trace[:first] + trace[first + rng.randrange(1, 1 + len(trace) // 4):]


def problems_of_device(whole, part, compared):
    check = part.get("self_check")
    if not check:
        if not part.get("obstacle"):
            yield "neither figures nor a reason"
        return
    peaks = {row["alloc_conf"]: row["peak_reserved_bytes"] for row in whole.get("settings", [])}
    same = whole.get("self_check") and \
        whole["self_check"]["recorded_peak_reserved_bytes"] == check["recorded_peak_reserved_bytes"]
    if not check["trusted"]:
        if any(row["fits"] is not None for row in part["settings"]):
            yield "a verdict without trust"
        return
    exact = check["cold_peak_reserved_bytes"] == check["recorded_peak_reserved_bytes"]
    near = NEAR if exact else NOT_EXACT
    for row in part["settings"] if same and compared else ():
        wanted = peaks.get(row["alloc_conf"])
        if wanted and not row["alloc_conf"].startswith(UNSTEADY) and \
                abs(row["peak_reserved_bytes"] - wanted) > near * wanted + SEGMENT:
            yield f"{row['alloc_conf'] or 'default'}: {row['peak_reserved_bytes']}, of all {wanted}, {check['basis']}"


def problems(path, folder, rng, tell):
    snapshot = load(path)
    whole = replay(path)
    traces = snapshot.get("device_traces") or []
    if not whole or not any(len(trace) > 3 for trace in traces):
        return
    for number in range(CUTS):
        cut = cut_middle if number % 2 else cut_oldest
        target = folder / f"{number}.pickle"
        parts = [cut(trace, rng) if len(trace) > 3 else trace for trace in traces]
        target.write_bytes(pickle.dumps({**snapshot, "device_traces": parts}))
        devices = replay(target)
        for number_of, device in (devices or {}).items():
            if number_of not in whole:
                continue
            tell(cut, device)
            for problem in problems_of_device(whole[number_of], device, cut is cut_oldest):
                yield f"{cut.__name__} to {[len(part) for part in parts]} of {[len(t) for t in traces]}: {problem}"


def main():
    tally = captures.Tally()
    seen = {}

    def tell(cut, device):
        check = device.get("self_check")
        key = cut.__name__, check["basis"] if check else "refused"
        seen[key] = seen.get(key, 0) + 1

    recorded = sorted((captures.TOP / "samples" / "recorded").glob("*.pickle.gz"))
    paths = [path for path in captures.samples() + captures.some(recorded) if ".pickle" in path.name]
    paths += captures.corpus("*.pickle*")
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            if captures.is_snapshot(path):
                rng = random.Random(path.name)  # the same cuts whatever other captures there are
                tally.check(path, problems(path, pathlib.Path(folder), rng, tell))
    wanted = {("cut_oldest", "lower_bound"), ("cut_oldest", "checked"), ("cut_middle", "inexact")}
    print(", ".join(f"{cut} {basis}: {count}" for (cut, basis), count in sorted(seen.items())))
    if captures.SHARE == 1:
        tally.check("kinds of answers", [f"none: {kind}" for kind in wanted - set(seen)])
    tally.end()


if __name__ == "__main__":
    sys.exit(main())
