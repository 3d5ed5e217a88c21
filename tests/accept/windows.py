#!/usr/bin/env python3
"""A range that is cut out while loading says of its events what the whole capture says of them."""
import random

import captures
import reference


def summary(device):
    """What `--at` shows of a moment."""
    return {key: device["at"][key] for key in ("active_bytes", "allocated_bytes", "reserved_bytes")
            if key in device["at"]}


def problems_of(capture, events, rng):
    first = rng.randrange(events)
    last = rng.randrange(first, events)
    moment = rng.randint(first, last)
    whole = captures.report(capture, "--at", str(moment), "--top", "0")
    part = captures.report(capture, "--at", str(moment), "--top", "0",
                           "--range", f"{first}:{last + 1}")
    for a, b in zip(whole["devices"], part["devices"]):
        where = f"--range {first}:{last + 1} --at {moment}, device {a['device']}"
        yield from reference.differences(a["at"], b["at"], where)
        if sum(row["bytes"] for row in a["sites"]) != sum(row["bytes"] for row in b["sites"]):
            yield f"{where}: sites sum to something else"


def main():
    tally = captures.Tally()
    for capture in captures.samples() + captures.corpus():
        rng = random.Random(capture.name)
        events = [d["trace"]["events"] for d in captures.report(capture)["devices"]]
        if not events or min(events) == 0:
            continue
        for _ in range(4):
            tally.check(capture.name, problems_of(capture, min(events), rng))
    tally.end()


if __name__ == "__main__":
    main()
