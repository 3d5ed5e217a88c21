#!/usr/bin/env python3
"""Every capture in every encoding gives one answer, and it is the reference's.

Each is written again at pickle protocols 0 to 5 and as JSON, gzipped too; the small ones also by both of
Python's picklers, inline (nothing shared), and as JSON otherwise, which makes 100 MB of a large one. Then all
reports must agree with each other and with reference.py.
"""
import gzip
import json
import pickle
import tempfile
from pathlib import Path

import captures
import reference


SMALL = 2_000_000  # bytes of JSON


def encodings(snapshot, folder):
    """Writes the snapshot in every way; yields the paths."""
    plain = json.dumps(snapshot)
    ways = {f"c-{p}.pickle": lambda f, p=p: pickle.dump(snapshot, f, p) for p in range(6)}
    ways["ascii.json"] = lambda f: f.write(plain.encode())
    if len(plain) < SMALL:  # these are slow
        inline = json.loads(plain)
        ways |= {f"py-{p}.pickle": lambda f, p=p: pickle._dump(snapshot, f, p) for p in range(6)}
        ways["inline.pickle"] = lambda f: pickle.dump(inline, f, 4)
        ways["utf8.json"] = lambda f: f.write(json.dumps(snapshot, indent=1, ensure_ascii=False).encode())
    for name, write in ways.items():
        with open(folder / name, "wb") as file:
            write(file)
        yield folder / name
    for name in ("c-4.pickle", "ascii.json"):
        path = folder / f"{name}.gz"
        path.write_bytes(gzip.compress((folder / name).read_bytes(), 1))
        yield path


def comparable(report):
    """What must not depend on the encoding: all but the input, and the order of unknown keys."""
    return {key: value for key, value in report.items() if key not in ("input", "warnings")} | {
        "warnings": sorted(report["warnings"])}


def main():
    tally = captures.Tally()
    for capture in captures.samples() + captures.corpus():
        snapshot = reference.load(capture)
        want = reference.report(snapshot)
        first = captures.report(capture)
        tally.check(f"{capture.name} against the reference",
                    reference.differences(want, first["devices"]))
        tally.check(f"{capture.name}: parts", reference.parts_add_up(first["devices"]))
        with tempfile.TemporaryDirectory() as folder:
            for path in encodings(snapshot, Path(folder)):
                problems = [] if comparable(captures.report(path)) == comparable(first) else [
                    "another report than the original's"]
                tally.check(f"{capture.name} as {path.name}", problems)
    tally.end()


if __name__ == "__main__":
    main()
