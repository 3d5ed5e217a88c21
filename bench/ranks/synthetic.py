#!/usr/bin/env python3
"""Write synthetic summaries (man memsnap-merge, FORMAT), as those of a large run: synthetic.py COUNT OUT

OUT is a folder, with a file for each rank, or a file whose name ends in .summary, with all ranks. Every summary has
curves of 2,000 columns and 64 call sites with their stacks. One rank in 100 keeps a buffer that the others free.
"""
import argparse
import random
import struct
from pathlib import Path

COLUMNS, SITES, FRAMES, SHAPES, STAGES = 2000, 64, 6, 32, 4
MIB = 1 << 20
CATEGORIES = ("activation", "optimizer_state", "parameter", "gradient")


def pack(value):
    """A value in msgpack; only the types that summaries have."""
    if value is True or value is False:
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, bytes):  # packed already
        return value
    if isinstance(value, int):
        return pack_integer(value)
    if isinstance(value, str):
        raw = value.encode()
        size = len(raw)
        head = bytes([0xA0 | size]) if size < 32 else b"\xd9" + bytes([size]) if size < 256 else b"\xda" + struct.pack(
            ">H", size)
        return head + raw
    if isinstance(value, dict):
        count, items, few, many = len(value), [x for pair in value.items() for x in pair], 0x80, b"\xde"
    else:
        count, items, few, many = len(value), value, 0x90, b"\xdc"
    head = bytes([few | count]) if count < 16 else many + struct.pack(">H", count)
    return head + b"".join(pack(item) for item in items)


def pack_integer(value):
    if 0 <= value < 128:
        return bytes([value])
    if -32 <= value < 0:
        return struct.pack("b", value)
    for code, form, bits in ((0xCC, ">B", 8), (0xCD, ">H", 16), (0xCE, ">I", 32), (0xCF, ">Q", 64)):
        if 0 <= value < 1 << bits:
            return bytes([code]) + struct.pack(form, value)
    for code, form, bits in ((0xD0, ">b", 7), (0xD1, ">h", 15), (0xD2, ">i", 31), (0xD3, ">q", 63)):
        if value >= -(1 << bits):
            return bytes([code]) + struct.pack(form, value)
    raise OverflowError(value)


def curve(values):
    return pack([value - before for before, value in zip([0] + values, values)])


def shape(number):
    """Three packed curves: a few steps, each with a rise and a fall."""
    rng = random.Random(number)
    steps, base = 4 + number % 3, (600 + 10 * number) * MIB
    high = [base + int((0.5 - abs((c * steps / COLUMNS) % 1 - 0.5)) * 4000) * MIB + rng.randrange(1 << 18) * 512
            for c in range(COLUMNS)]
    low = [value - rng.randrange(1 << 14) * 512 for value in high]
    return max(high), [curve(values) for values in (high, low, [max(high) + 200 * MIB] * COLUMNS)]


def sites(stage, peak):
    """Packed call sites of a stage of the pipeline; they add up to the peak."""
    rows, left = [], peak
    for i in range(SITES):
        size = left if i == SITES - 1 else left // 6
        left -= size
        name = f"stage{stage}/layer{i}.py:{10 + i} forward"
        stack = "\n".join(f"project/models/stage{stage}/block{frame}.py:{i * 7 + frame} forward" for frame in range(FRAMES))
        rows.append({"site": name, "op": "aten::mm", "category": CATEGORIES[i % 4], "stack": stack, "bytes": size,
                     "count": i + 1})
    return rows


def summary(rank, made, keeps):
    stage = rank % STAGES
    peak, curves = made[stage]
    rows = sites(stage, peak)
    if keeps:
        rows.append({"site": "train.py:40 keep_outputs", "op": "aten::cat", "category": "activation",
                     "stack": "train.py:40 keep_outputs\ntrain.py:80 main", "bytes": 900 * MIB, "count": 12})
        peak += 900 * MIB
    categories = [{"name": name, "bytes": sum(row["bytes"] for row in rows if row["category"] == name), "count": 20}
                  for name in CATEGORIES]
    device = {"device": 0, "knows_peak": True, "events": 100000 + rank, "steps": 4, "ooms": 0, "start_bytes": 0,
              "peak_bytes": peak, "end_bytes": peak // 2, "allocated_peak_bytes": peak,
              "reserved_peak_bytes": peak + 200 * MIB, "reserved_at_peak_bytes": peak + 200 * MIB,
              "unused_bytes": 150 * MIB, "growth_bytes": 0, "peak_event": 5000, "peak_us": 123456,
              "duration_us": 4000000 + 1000 * (rank % 7), "phase": "backward", "oom": "", "by_time": True,
              "categories": categories, "sites": rows,
              "findings": [{"kind": "fragmentation", "what": "150.00 MiB of reserved memory are unused",
                            "next": "try expandable_segments:True", "save_bytes": 150 * MIB}],
              "active_high": curves[0], "active_low": curves[1], "reserved": curves[2]}
    return pack({"rank": rank, "path": f"run/rank_{rank:05}.pickle", "encoding": "pickle", "input_bytes": 50 * MIB,
                 "devices": [device]})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first", type=int, default=0, help="the first rank")
    args = parser.parse_args()
    made = [shape(number) for number in range(SHAPES)]
    header = pack({"schema": "memsnap.summary/1"})
    whole = args.out.suffix == ".summary"
    out = open(args.out, "wb") if whole else None
    if whole:
        out.write(header)
    else:
        args.out.mkdir(parents=True, exist_ok=True)
    for rank in range(args.first, args.first + args.count):
        packed = summary(rank, made, keeps=rank % 100 == 57)
        packed = b"\xc6" + struct.pack(">I", len(packed)) + packed
        if whole:
            out.write(packed)
        else:
            (args.out / f"rank_{rank:05}.summary").write_bytes(header + packed)
    if whole:
        out.close()


if __name__ == "__main__":
    main()
