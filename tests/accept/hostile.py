#!/usr/bin/env python3
"""Damaged captures: no crash, no hang, and one line on standard error for each that is refused.

Every capture is cut at many places and has random bytes flipped (a fixed seed); the program reads
them in batches. A batch may end with a status of its own making only: a signal or a sanitizer's
status fails. MEMSNAP_HOSTILE=CUTS:FLIPS sets how many of each a capture gets.
"""
import os
import random
import re
import tempfile
from pathlib import Path

import captures

BATCH = 100
SUGGESTED = 20  # of so many damaged captures one is given to suggest, too
STATUSES = {0, 3, 4}  # analysed, bad input, a limit
LINE = re.compile(rb"memsnap: [^\n]*: (byte \d+: )?[^\n]+")


def cut(data, count):
    for i in range(count):
        yield data[:len(data) * i // count]


def flipped(data, count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        yield bytes(damaged)


def problems_of(batch, expect_offset):
    """Runs the program over a batch of damaged captures; yields what is wrong with how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for index, data in enumerate(batch):
            paths.append(Path(folder) / f"{index}.damaged")
            paths[-1].write_bytes(data)
        done = captures.analyze("--format", "json", *paths, timeout=300)
        if done.returncode not in STATUSES:
            yield f"status {done.returncode}: {done.stderr[-2000:].decode(errors='replace')}"
            return
        told = [line for line in done.stderr.splitlines() if b".damaged" in line]
        for line in told:
            if not LINE.fullmatch(line):
                yield f"not the form of an error: {line!r}"
            if expect_offset and b"byte" not in line and b"empty" not in line:
                yield f"no offset: {line!r}"
        refused = {line.split(b".damaged")[0] for line in told}
        if len(refused) != len(told):
            yield "more than one line for one capture"
        if done.returncode == 0 and told:
            yield "errors were told, but the status is 0"


def suggest_problems(damaged):
    """The same for `memsnap suggest`, which reads one capture at a time, from standard input."""
    done = captures.run("suggest", "-", input=damaged, timeout=300)
    if done.returncode not in STATUSES | {1}:
        yield f"status {done.returncode}: {done.stderr[-2000:].decode(errors='replace')}"
    elif done.returncode in (3, 4) and len(done.stderr.splitlines()) != 1:
        yield f"not one line: {done.stderr[-2000:]!r}"


def main():
    cuts, flips = map(int, os.environ.get("MEMSNAP_HOSTILE", "60:200").split(":"))
    tally = captures.Tally()
    for capture in captures.all_samples() + captures.corpus(large=True) + captures.corpus("*.layers.json"):
        data = capture.read_bytes()
        gzipped = data[:2] == b"\x1f\x8b"
        for kind, damaged in (("cut", list(cut(data, cuts))),
                              ("flipped", list(flipped(data, flips, capture.name)))):
            for start in range(0, len(damaged), BATCH):
                batch = damaged[start:start + BATCH]
                tally.check(f"{capture.name} {kind} {start}-{start + len(batch)}",
                            problems_of(batch, kind == "cut" and not gzipped))
            for index in range(0, len(damaged), SUGGESTED):
                tally.check(f"{capture.name} {kind} {index}, suggest",
                            suggest_problems(damaged[index]))
    tally.end()


if __name__ == "__main__":
    main()
