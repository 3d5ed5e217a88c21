#!/usr/bin/env python3
"""memsnap replay: real captures are replayed exactly, and what other settings would have reserved is
what an independent model of PyTorch's allocator says."""
import json
import sys

import captures

MIB = 1 << 20
SETTINGS = ("", "expandable_segments:True", "max_split_size_mb:64", "max_split_size_mb:128",
            "max_split_size_mb:256", "max_split_size_mb:512", "roundup_power2_divisions:4",
            "roundup_power2_divisions:8")
# Peak reserved and least capacity in MiB, a pair for each of SETTINGS.
WANTED = {
    "forward-bf16": ((822, 818), (786, 782), (822, 818), (822, 818), (822, 818), (822, 818),
                     (866, 862), (812, 808)),
    "full-step-large": ((58280, 52694), (52940, 52938), (58744, 52804), (58438, 52674),
                        (58280, 52694), (58280, 52694), (64256, 58690), (60080, 54514)),
    "inference": ((1682, 1678), (1686, 1682), (1682, 1678), (1682, 1678), (1682, 1678),
                  (1682, 1678), (1692, 1688), (1682, 1678)),
    "tiny-train": ((3606, 3606), (3622, 3142), (3114, 3114), (3114, 3114), (3114, 3114),
                   (3114, 3114), (3606, 3606), (3606, 3606)),
    "train-step": ((12018, 11918), (11958, 11898), (12298, 11890), (12018, 11918), (12018, 11918),
                   (12018, 11918), (12016, 11916), (12018, 11918)),
    **{f"torch-2.15-{name}": ((204, 200), (188, 188)) + 6 * ((204, 200),)
       for name in ("annotate", "annotations", "anomaly", "skip-free-completed")},
}
# Events were removed from this one.
DAMAGED = {"sanitized-annotations"}


def replay(path, *arguments):
    done = captures.run("replay", "--format", "json", *arguments, path)
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        raise AssertionError(f"{path}: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def problems_of_device(device):
    made = device["as_is"]
    if made["exact_allocs"] != made["allocs"]:
        yield f"{made['exact_allocs']} of {made['allocs']} allocations"
    if made["exact_segment_events"] != made["segment_events"]:
        yield f"{made['exact_segment_events']} of {made['segment_events']} segment events"
    if made["first_difference"]:
        yield f"differs at {made['first_difference']}"
    for row in device["settings"]:
        if not row["least_capacity_bytes"] or \
                row["least_capacity_bytes"] > row["peak_reserved_bytes"] + 2 * MIB - 1:
            yield f"needs more than it reserves: {row}"


def problems_of_rows(device, wanted):
    rows = {row["alloc_conf"]: row for row in device["settings"]}
    for setting, (peak, least) in zip(SETTINGS, wanted):
        row = rows[setting]
        got = row["peak_reserved_bytes"] / MIB, row["least_capacity_bytes"] / MIB
        if got != (peak, least):
            yield f"{setting or 'default'}: {got}, not {(peak, least)}"


def main():
    tally = captures.Tally()
    seen = set()
    recorded = sorted((captures.TOP / "samples" / "recorded").glob("*.pickle.gz"))
    # SHARE does not leave out captures here: all together take a second.
    for path in captures.samples() + recorded + captures.corpus("*.pickle*", large=True):
        name = path.name.split(".pickle")[0].split(".json")[0]
        found = replay(path)
        devices = [d for d in found["devices"] if "as_is" in d] if found else []
        if not devices:
            events = [d["trace"]["by_action"].get("alloc", 0)
                      for d in captures.report(path)["devices"] if d["device"] >= 0]
            tally.check(path, ["not replayed"] if any(events) and name not in DAMAGED else [])
        for device in devices:
            tally.check(f"{path} device {device['device']}", problems_of_device(device))
            if name in WANTED:
                seen.add(name)
                tally.check(f"{path} settings", problems_of_rows(device, WANTED[name]))
    if captures.corpus() and seen != WANTED.keys():
        tally.check("settings", [f"no capture for {sorted(WANTED.keys() - seen)}"])
    tally.end()


if __name__ == "__main__":
    sys.exit(main())
