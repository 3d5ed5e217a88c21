#!/usr/bin/env python3
"""The tables of `memsnap export` hold what the captures hold, in all three formats alike."""
import collections
import csv
import json
import re
import struct
import subprocess

import captures
import reference

TABLES = ("allocations", "events", "segments", "blocks", "sites", "stacks", "annotations")


def run(*arguments):
    return subprocess.run([captures.MEMSNAP, "export", *map(str, arguments)], capture_output=True, check=False)


def export(path, table, *arguments):
    """The rows of a table, as dicts."""
    done = run("--format", "jsonl", "--table", table, *arguments, path)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{path}: {table}: status {done.returncode}: {done.stderr.decode()}")
    return [json.loads(line) for line in done.stdout.split(b"\n")[:-1]]


CONTROL = re.compile(r"[^\r\n -\U0010ffff]")
PLAIN = {0xc0: None, 0xc2: False, 0xc3: True}
NUMBERS = {code: struct.Struct(form) for code, form in (
    (0xcc, ">B"), (0xcd, ">H"), (0xce, ">I"), (0xcf, ">Q"), (0xd0, ">b"), (0xd1, ">h"), (0xd2, ">i"), (0xd3, ">q"))}
TEXTS = {0xd9: 0xcc, 0xda: 0xcd, 0xdb: 0xce}  # what their lengths are written as


def unpack(data):
    """Every value of a msgpack stream, of the kinds that are expected in one."""
    at = 0

    def number(code):
        nonlocal at
        form = NUMBERS[code]
        at += form.size
        return form.unpack_from(data, at - form.size)[0]

    def text(size):
        nonlocal at
        at += size
        if at > len(data):
            raise ValueError("the msgpack ends early")
        return data[at - size:at].decode()

    def value():
        nonlocal at
        code = data[at]
        at += 1
        if code < 0x80 or code >= 0xe0:
            return code - 256 * (code >= 0xe0)
        if code in NUMBERS:
            return number(code)
        if 0xa0 <= code < 0xc0:
            return text(code & 31)
        if code in TEXTS:
            return text(number(TEXTS[code]))
        if code < 0x90:
            return {value(): value() for _ in range(code & 15)}
        if code < 0xa0 or code == 0xdc:
            return [value() for _ in range(number(0xcd) if code == 0xdc else code & 15)]
        return PLAIN[code]

    while at < len(data):
        yield value()


def as_csv(value):
    """How a cell of CSV shows a value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value[:1] in "=+-@'":
        return "'" + value
    return str(value)


def formats_agree(path, table, rows):
    packed = unpack(run("--format", "msgpack", "--table", table, path).stdout)
    head = next(packed)
    if head["schema"] != "memsnap.export/1" or head["table"] != table:
        yield f"msgpack begins with {head}"
    columns = head["columns"]
    text = run("--table", table, path).stdout.decode()
    lines = csv.reader(text.split("\r\n")[:-1], strict=True)
    if next(lines) != columns:
        yield "CSV has other columns"
    if any(list(row) != columns for row in rows):
        yield "JSON lines have other columns"
    wanted = [list(row.values()) for row in rows]
    if list(packed) != wanted:
        yield "msgpack has other rows than JSON lines"
    if list(lines) != [[as_csv(value) for value in row] for row in wanted]:
        yield "CSV has other rows than JSON lines"
    if CONTROL.search(text):
        yield "CSV has control characters"


def events_match(path, rows, stacks):
    traces = reference.load(path).get("device_traces") or []
    wanted = [(device, index, event) for device, trace in enumerate(traces)
              for index, event in enumerate(trace)]
    if len(rows) != len(wanted):
        yield f"{len(rows)} events, not {len(wanted)}"
    for row, (device, index, event) in zip(rows, wanted):
        want = {"device": device, "event": index, "action": event["action"],
                "address": event.get("addr"), "size": event["size"], "time_us": event.get("time_us"),
                "device_free": event.get("device_free"), "stream": event["stream"],
                "user_metadata": event.get("user_metadata") or None,
                "internal_metadata": event.get("internal_metadata") or None,
                "compile_context": event.get("compile_context") or None}
        for key, value in want.items():
            if row[key] != value:
                yield f"event {index}: {key} is {row[key]}, not {value}"
        frames = [(f["name"] or None, f["filename"] or None) for f in event.get("frames") or []]
        if stacks.get(row["stack"], []) != frames:
            yield f"event {index}: another stack"


def segments_match(path, segments, blocks):
    # devices ascending, each in the order of the file
    order = sorted(reference.load(path).get("segments") or [], key=lambda s: s["device"])
    if [(r["device"], r["address"], r["size"]) for r in segments] != [
            (s["device"], s["address"], s["total_size"]) for s in order]:
        yield "other segments"
    wanted = [(s["device"], *block) for s in order for block in reference.blocks(s)]
    got = [(r["device"], r["address"], r["size"], r["requested_size"], r["state"]) for r in blocks]
    if len(got) != len(wanted):
        yield f"{len(got)} blocks, not {len(wanted)}"
    for a, b in zip(got, wanted):
        state = "active_pending_free" if b[4] == "active_awaiting_free" else b[4]
        if a != (*b[:3], None if state == "inactive" else b[3], state):
            yield f"block {a}, not {b}"


def live_match(path, allocations, sites):
    """Sums over the rows are what the report says."""
    for device in captures.report(path)["devices"]:
        mine = [r for r in allocations if r["device"] == device["device"]]
        peak = sum(r["bytes"] for r in sites if r["device"] == device["device"])
        if peak != device["active"]["peak_bytes"]:
            yield f"sites sum to {peak}, not to the peak"
        for curve in ("active", "allocated"):
            before = sum(r["size"] for r in mine
                         if r["birth_event"] is None and r["counts_in"] in ("both", curve))
            if before != device[curve]["baseline_bytes"]:
                yield f"what is born before sums to {before} {curve}, not to the baseline"
        at = device["active"]["peak_event"]
        live = sum(r["size"] for r in mine if r["counts_in"] != "allocated"
                   and (r["birth_event"] is None or r["birth_event"] <= at)
                   and (r["death_event"] is None or r["death_event"] > at))
        unexplained = sum(c["bytes"] for c in device["categories"] if c["name"] == "unexplained")
        if live + unexplained != device["active"]["peak_bytes"]:
            yield f"live allocations sum to {live} at the peak"
    listed = captures.report(path, "--allocations")["devices"]
    wanted = [(d["device"], a["address"], a["bytes"], a["born_event"], a["freed_event"], a["category"],
               a["reason"]) for d in listed for a in d["allocations"]]
    got = [(r["device"], r["address"], r["size"], -1 if r["birth_event"] is None else r["birth_event"],
            -1 if r["death_event"] is None else r["death_event"], r["category"], r["reason"])
           for r in allocations]
    if got != wanted:
        yield "other allocations than analyze --allocations"


def layout_at_end(path, table, rows):
    """The moment after the last event, told by number, has the active blocks of the dump."""
    traces = reference.load(path).get("device_traces") or []
    lengths = {len(trace) for trace in traces if trace}
    devices = {row["device"] for row in rows}
    if len(lengths) != 1 or devices != {i for i, trace in enumerate(traces) if trace}:
        return
    done = run("--table", table, "--format", "jsonl", "--at", lengths.pop() - 1, path)
    if done.stderr:  # says what is not to be relied on
        return
    key = [(r["device"], r["address"], r["requested_size"], r["state"]) for r in rows
           if r["state"] != "inactive"]
    again = [json.loads(line) for line in done.stdout.splitlines()]
    if sorted(key) != sorted((r["device"], r["address"], r["requested_size"], r["state"])
                             for r in again if r["state"] != "inactive"):
        yield "other blocks at the last event than at the dump"


def ranges_cut(path, events):
    count = min(collections.Counter(row["device"] for row in events).values(), default=0)
    if count < 3:
        return
    first, last = count // 3, 2 * count // 3
    part = export(path, "events", "--range", f"{first}:{last}")
    if part != [row for row in events if first <= row["event"] < last]:
        yield "--range takes other events"


def problems_of(path):
    tables = {table: export(path, table) for table in TABLES}
    stacks = collections.defaultdict(list)
    for row in tables["stacks"]:
        stacks[row["stack"]].append((row["function"], row["file"]))
    for table in TABLES:
        yield from (f"{table}: {problem}" for problem in formats_agree(path, table, tables[table]))
    yield from events_match(path, tables["events"], stacks)
    yield from segments_match(path, tables["segments"], tables["blocks"])
    yield from live_match(path, tables["allocations"], tables["sites"])
    yield from layout_at_end(path, "blocks", tables["blocks"])
    yield from ranges_cut(path, tables["events"])
    annotations = reference.load(path).get("external_annotations") or []
    if [(r["device"], r["stage"], r["name"], r["time_us"]) for r in tables["annotations"]] != [
            (a["device"], a["stage"], a["name"] or None, a["time_us"]) for a in annotations]:
        yield "other annotations"


def main():
    captures.skip_slow_checks_of_memory()
    tally = captures.Tally()
    for path in captures.samples() + captures.corpus():
        tally.check(path.name, problems_of(path))
    tally.end()


if __name__ == "__main__":
    main()
