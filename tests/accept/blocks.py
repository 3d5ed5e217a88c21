#!/usr/bin/env python3
"""The blocks in the page of `memsnap plot --out FILE.html`: at the end those of the snapshot, and at
other moments those that are left when the trace is undone from the end."""
import base64
import bisect
import json
import pathlib
import random
import tempfile

import captures
import page
import reference

MIB = 1 << 20
NEVER = 0xFFFFFFFF
GROWTH, RELEASE = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
MOMENTS = max(40 // captures.SHARE, 4)


def leb128(data):
    number = shift = 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number = shift = 0


def unpacked(data):
    """(address, size, from, to, pending) of each block."""
    numbers = leb128(data)
    address = 0
    for step in numbers:
        address += step
        size, begin = next(numbers), 0
        for _ in range(next(numbers)):
            begin += next(numbers)
            moments = next(numbers)
            end = begin + moments // 2 if moments > 1 else NEVER
            waits = end if end == NEVER else end - 1
            if moments % 2:
                after = next(numbers)
                waits = begin + after - 1 if after else NEVER
            yield address, size, begin, end, waits


class Layout:
    """data.layout of a page, read as layout.js reads it."""

    def __init__(self, data):
        self.source, self.words = data["source"], data["words"]
        pieces = data["pieces"]
        self.blocks = list(unpacked(base64.b64decode(data["blocks"])))
        self.pieces = list(zip(*(page.numbers(kind, pieces[name]) for kind, name in (
            ("Q", "address"), ("Q", "size"), ("I", "from"), ("I", "to"), ("B", "expandable")))))
        self.last = data["last"]
        self.kept = sorted({data["peak"], self.last} | set(range(0, self.last + 1, data["stride"])))

    def segments(self, moment):
        """[(address, size)], where stretches of expandable segments that touch are one."""
        found = []
        for address, size, begin, end, expandable in self.pieces:
            if not begin <= moment < end:
                continue
            if expandable and found and found[-1][2] and sum(found[-1][:2]) == address:
                found[-1] = (found[-1][0], found[-1][1] + size, True)
            else:
                found.append((address, size, expandable))
        return [(address, size) for address, size, _ in found]

    def at(self, moment):
        """{address: (size, is pending)}"""
        return {address: (size, pending <= moment)
                for address, size, begin, end, pending in self.blocks if begin <= moment < end}


class Undone:
    """The state of a device, from its dump back."""

    def __init__(self, snapshot, device):
        segments = [s for s in snapshot["segments"] if s.get("device", 0) == device]
        self.ranges = sorted((s["address"], s["address"] + s["total_size"]) for s in segments)
        self.dump = {address: (size, kind != "active_allocated") for s in segments
                     for address, size, _, kind in reference.blocks(s) if kind in reference.ACTIVE_STATES}
        self.live = {address: [None, pending] for address, (_, pending) in self.dump.items()}
        self.trace = snapshot["device_traces"][device]

    def remove(self, low, high):
        kept = []
        for a, b in self.ranges:
            if a < low:
                kept.append((a, min(b, low)))
            if b > high:
                kept.append((max(a, high), b))
        self.ranges = sorted(set(kept))

    def undo(self, event):
        action, address, size = event["action"], event.get("addr", 0), event["size"]
        if action in GROWTH:
            self.remove(address, address + size)
        elif action in RELEASE:
            bisect.insort(self.ranges, (address, address + size))
        elif action == "alloc":
            self.live.pop(address, None)
        elif action == "free_requested":
            self.live[address] = [size, False]
        elif action == "free_completed":
            self.live[address] = [size, True]

    def bytes(self):
        """The reserved memory as ranges that do not touch."""
        return joined(self.ranges)


def joined(ranges):
    found = []
    for a, b in sorted(ranges):
        if found and found[-1][1] == a:
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
    return found


def end_problems(layout, undone, segments):
    got, want = layout.at(layout.last), undone.dump
    if sorted(layout.segments(layout.last)) != sorted(segments):
        yield f"segments at the end: {len(layout.segments(layout.last))}, not the {len(segments)} of the snapshot"
    if got.keys() != want.keys():
        yield f"at the end {len(got.keys() - want.keys())} blocks too many, {len(want.keys() - got.keys())} missing"
    other = [a for a in got.keys() & want.keys() if got[a] != want[a]]
    if other and layout.source != "trace":
        yield f"at the end {len(other)} blocks differ: 0x{other[0]:x}: {got[other[0]]}, not {want[other[0]]}"


def moment_problems(layout, undone, moment):
    got, segments = layout.at(moment), layout.segments(moment)
    if joined((a, a + size) for a, size in segments) != undone.bytes():
        yield f"moment {moment}: other memory is reserved"
    if got.keys() != undone.live.keys():
        yield f"moment {moment}: {len(got)} blocks, not {len(undone.live)}"
        return
    pending = [a for a in got if got[a][1] != undone.live[a][1]]
    if pending:
        yield f"moment {moment}: {len(pending)} blocks are pending, or not, unlike in the trace"
    starts = sorted(segments)
    ends = 0
    for address in sorted(got):
        size, requested = got[address][0], undone.live[address][0]
        place = bisect.bisect_right(starts, (address, 1 << 64)) - 1
        if place < 0 or address + size > sum(starts[place]) or address < ends:
            yield f"moment {moment}: the block at 0x{address:x} is not in a segment, or in another block"
        if requested is not None and size < requested:
            yield f"moment {moment}: {size} bytes for a request of {requested}"
        ends = address + size


def problems_of(path, target, sources):
    page.plot(path, target)
    text = target.read_text(encoding="utf-8")
    data = json.loads(page.Parts(text).data)
    layout = Layout(data["layout"])
    sources[layout.source] = sources.get(layout.source, 0) + 1
    if not layout.words:
        yield "no word on where the blocks come from"
    if data["device"] < 0:
        return  # pinned host memory, which the file has in other members
    if layout.source == "none":
        if layout.blocks or layout.pieces:
            yield "blocks of unknown moments"
        return
    snapshot, device = reference.load(path), data["device"]
    undone = Undone(snapshot, device)
    segments = [(s["address"], s["total_size"]) for s in snapshot["segments"] if s.get("device", 0) == device]
    yield from end_problems(layout, undone, segments)
    if layout.source != "replay":
        return
    rng = random.Random(path.name)
    wanted = set(rng.sample(layout.kept, min(MOMENTS, len(layout.kept)))) | {0}
    for moment in range(layout.last, -1, -1):
        if moment in wanted:
            yield from moment_problems(layout, undone, moment)
        if moment > 0:
            undone.undo(undone.trace[moment - 1])


def long_problems(folder):
    """A long trace: the page has every moment of it, and is small."""
    source, target = folder / "many.json", folder / "many.html"
    base, count = 1 << 40, 70000
    events = [{"action": "segment_alloc", "addr": base, "size": 2 * MIB, "stream": 0}]
    for _ in range(count):
        for action in ("alloc", "free_requested", "free_completed"):
            events.append({"action": action, "addr": base, "size": 512, "stream": 0})
    events.append({"action": "alloc", "addr": base, "size": 1024, "stream": 0})
    segment = {"address": base, "total_size": 2 * MIB, "device": 0, "stream": 0, "segment_type": "small",
               "allocated_size": 1024, "active_size": 1024, "blocks": [
                   {"address": base, "size": 1024, "requested_size": 1024, "state": "active_allocated"},
                   {"address": base + 1024, "size": 2 * MIB - 1024, "requested_size": 0, "state": "inactive"}]}
    source.write_text(json.dumps({"segments": [segment], "device_traces": [events]}), encoding="ascii")
    page.plot(source, target)
    data = json.loads(page.Parts(target.read_text(encoding="utf-8")).data)["layout"]
    layout = Layout(data)
    if layout.source != "replay" or data["stride"] != 1 or len(data["blocks"]) > MIB:
        yield f"{layout.source}, one moment in {data['stride']}, {len(data['blocks'])} characters"
    spans = {begin: (address, size, end, pending) for address, size, begin, end, pending in layout.blocks}
    for first in range(2, layout.last - 1, 3):
        if spans.get(first) != (base, 512, first + 2, first + 1):
            yield f"allocated at {first}: {spans.get(first)}"
    if spans.get(layout.last) != (base, 1024, NEVER, NEVER) or len(spans) != count + 1:
        yield f"{len(spans)} blocks, the last {spans.get(layout.last)}"


def main():
    tally = captures.Tally()
    sources = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in captures.samples() + captures.corpus() + captures.corpus("*.pickle.gz"):
            if b"no device" not in captures.analyze(source).stdout:
                tally.check(f"blocks of {source.name}", problems_of(source, folder / "page.html", sources))
        tally.check("a long trace", long_problems(folder))
    if not sources.get("replay"):
        tally.check("sources", [f"no capture was replayed: {sources}"])
    print(sources)
    tally.end()


if __name__ == "__main__":
    main()
