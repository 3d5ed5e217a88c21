#!/usr/bin/env python3
"""Memory profiles in pprof's format, made here from the public field numbers: what is live on each device by call site,
against the samples that went in."""
import collections
import pathlib
import random
import tempfile

import captures

UNREAD = b"was built without protobuf-c"


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def piece(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


class Writer:
    """Profile: 1 sample_type, 2 sample, 4 location, 5 function, 6 string_table."""

    def __init__(self, rng):
        self.rng = rng
        self.texts = {"": 0}
        self.functions = {}
        self.samples = []
        self.types = [(self.text("allocations"), self.text("count")), (self.text("space"), self.text("bytes"))]

    def text(self, text):
        return self.texts.setdefault(text, len(self.texts))

    def location(self, file, line, name):
        return self.functions.setdefault((file, line, name), 7 * len(self.functions) + 1)

    def add(self, frames, count, size, device):
        locations = b"".join(varint(self.location(*frame)) for frame in frames)
        labels = piece(3, number(1, self.text("kind")) + number(2, self.text("buffer")))
        if device is not None:
            labels += piece(3, number(1, self.text("device")) + number(2, self.text(device)))
        self.samples.append(piece(1, locations) + piece(2, varint(count) + varint(size)) + labels)

    def bytes(self):
        out = b"".join(piece(1, number(1, kind) + number(2, unit)) for kind, unit in self.types)
        out += b"".join(piece(2, sample) for sample in self.samples)
        order = list(self.functions.items())
        self.rng.shuffle(order)
        for (file, line, name), where in order:
            out += piece(4, number(1, where) + piece(4, number(1, where) + number(2, line)))
            out += piece(5, number(1, where) + number(2, self.text(name)) + number(4, self.text(file)))
        return out + b"".join(piece(6, text.encode()) for text in self.texts)


def problems(path, live):
    report = captures.report(path, "--top", "0")
    if report["input"]["format"] != "device-memory-profile":
        yield f"format {report['input']['format']}"
    devices = {entry["device"]: entry for entry in report["devices"]}
    if "host" in report:
        devices["host"] = report["host"]
    if set(devices) != set(live):
        yield f"devices {sorted(map(str, devices))}, not {sorted(map(str, live))}"
        return
    for device, want in live.items():
        entry = devices[device]
        if entry["active"]["end_bytes"] != sum(size for _, size in want.values()):
            yield f"device {device}: {entry['active']}"
        found = {row["label"]: (row["count"], row["bytes"]) for row in entry["sites"]}
        if found != want:
            yield f"device {device}: {found}, not {want}"


def main():
    tally = captures.Tally()
    rng = random.Random(18)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "made.pprof")
        for made in captures.some(range(40)):
            writer = Writer(rng)
            live = collections.defaultdict(dict)
            for sample in range(rng.randrange(1, 30)):
                frame = (f"train{sample}.py", rng.randrange(1, 300), rng.choice(("step", "init")))
                outer = [("main.py", 3, "<module>")] * rng.randrange(3)
                device = rng.choice((None, "cpu:0", "gpu:1", "TPU_3"))
                size, count = rng.randrange(1, 1 << rng.randrange(2, 40)), rng.choice((1, 1, 2, 7))
                count = min(size, count)
                writer.add([frame, *outer], count, size, device)
                shown = "host" if device is None else int(device[-1])
                live[shown][f"{frame[0]}:{frame[1]} {frame[2]}"] = (count, size)
            path.write_bytes(writer.bytes())
            if UNREAD in captures.analyze(path).stderr:
                print("built without protobuf-c")
                raise SystemExit(captures.SKIPPED)
            tally.check(f"profile {made}", problems(path, live))
            cut = path.read_bytes()[:rng.randrange(12, path.stat().st_size - 1)]
            path.write_bytes(cut)
            if captures.analyze(path).returncode not in (0, 3):
                tally.check(f"cut {made}", ["neither read nor refused"])
    tally.end()


main()
