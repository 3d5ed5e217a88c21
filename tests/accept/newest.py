#!/usr/bin/env python3
"""What newer versions of PyTorch write is read alike from every encoding, and exported without loss."""
import gzip
import json
import pathlib
import pickle
import tempfile

import captures
import excerpts
import reference


def plain(value):
    """As JSON has it: tuples are lists."""
    return json.loads(json.dumps(value))


def encodings(snapshot):
    yield "json", json.dumps(snapshot).encode()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield f"pickle {protocol}", pickle.dumps(snapshot, protocol)
    yield "copied", pickle.dumps(plain(snapshot), 4)  # nothing is shared
    yield "gzip", gzip.compress(pickle.dumps(snapshot, 2))


def report(path):
    made = captures.report(path, "--allocations", "--verbose")
    del made["input"]
    return made


def check_encodings(snapshot, wanted, folder):
    for name, data in encodings(snapshot):
        path = folder / "encoded"
        path.write_bytes(data)
        if report(path) != wanted:
            yield f"{name}: another report"


def check_round_trip(path, snapshot, wanted, folder):
    out = folder / "exported.pickle"
    out.unlink(missing_ok=True)
    told = excerpts.cut(path, out)
    if told:
        yield f"export said: {told}"
    yield from excerpts.whole_is_kept(snapshot, reference.load(out))
    if report(out) != wanted:
        yield "another report after export"


def main():
    tally = captures.Tally()
    paths = sorted((captures.TOP / "samples" / "newest").glob("*.pickle.gz"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in paths + captures.corpus("torch-2.15-*.pickle.gz"):
            snapshot, wanted = reference.load(path), report(path)
            tally.check(f"{path.name} encodings", check_encodings(snapshot, wanted, folder))
            tally.check(f"{path.name} round trip", check_round_trip(path, snapshot, wanted, folder))
            tally.check(f"{path.name} keys", [f"unknown: {key}" for key in wanted["unknown_keys"]])
    tally.end()


if __name__ == "__main__":
    main()
