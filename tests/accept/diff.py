#!/usr/bin/env python3
"""`memsnap diff` over all pairs of captures: its sums against those of `memsnap analyze`, nothing
between a capture and itself, and B to A the reverse of A to B, row by row."""
import collections
import csv
import gzip
import io
import itertools
import json
import pathlib
import random
import subprocess
import tempfile

import captures

REVERSED = {"new": "gone", "gone": "new", "grown": "shrunk", "shrunk": "grown", "same": "same"}


def diff(*arguments, status=0):
    done = subprocess.run([captures.MEMSNAP, "diff", *map(str, arguments)], capture_output=True,
                          check=False)
    if done.returncode != status:
        raise AssertionError(f"diff {arguments}: status {done.returncode}: "
                             f"{done.stderr.decode(errors='replace')}")
    return done.stdout


def compared(a, b, *arguments):
    found = json.loads(diff("--format", "json", "--top", 0, *arguments, a, b))
    return [found] + found.get("more_devices", [])


def amounts(row):
    return row["a_bytes"], row["b_bytes"], row.get("a_count"), row.get("b_count")


def sum_problems(entry):
    delta = entry["b_bytes"] - entry["a_bytes"]
    if entry["delta_bytes"] != delta:
        yield f"delta_bytes is {entry['delta_bytes']}, not {delta}"
    for name in ("sites", "categories", "phases"):
        for key in ("a_bytes", "b_bytes", "delta_bytes"):
            total = sum(row[key] for row in entry[name])
            if total != entry[key]:
                yield f"{key} of {name} sums to {total}, not {entry[key]}"
        for row in entry[name]:
            if row["delta_bytes"] != row["b_bytes"] - row["a_bytes"]:
                yield f"{name}: {row}"
    sizes = [abs(row["delta_bytes"]) for row in entry["sites"] if not row.get("remainder")]
    if sizes != sorted(sizes, reverse=True):
        yield "call sites are not in the order of their changes"


def change_problems(entry):
    for row in entry["sites"]:
        delta, matched = row["delta_bytes"], row["matched_by"] != "none"
        wanted = "same" if delta == 0 else "grown" if delta > 0 else "shrunk"
        if delta and not matched and not row.get("remainder"):
            wanted = "new" if row["a_sites"] == 0 else "gone"
            if min(row["a_sites"], row["b_sites"]) > 0:
                yield f"matched by nothing, yet in both: {row['label']}"
        if row["change"] != wanted:
            yield f"{row['label']} is {row['change']}, not {wanted}"


def reports(path):
    return {entry["device"]: entry for entry in captures.report(path, "--top", 0)["devices"]}


def peak_problems(entry, key, report):
    """Totals and categories are those that analyze reports of the peak."""
    entry_device = report[entry[key]["device"]]
    if entry[f"{key}_bytes"] != entry_device["active"]["peak_bytes"]:
        yield f"{key}_bytes is {entry[f'{key}_bytes']}, the peak {entry_device['active']['peak_bytes']}"
    if entry[key]["event"] != entry_device["active"]["peak_event"]:
        yield f"the moment of {key} is {entry[key]['event']}"
    found = {row["name"]: (row[f"{key}_bytes"], row[f"{key}_count"]) for row in entry["categories"]
             if row[f"{key}_bytes"] or row[f"{key}_count"]}
    wanted = {row["name"]: (row["bytes"], row["count"]) for row in entry_device["categories"]}
    if found != wanted:
        yield f"categories of {key}: {found}, analyze has {wanted}"
    sites = sum(1 for row in entry_device["sites"])
    if sum(row[f"{key}_sites"] for row in entry["sites"]) != sites:
        yield f"not all of {sites} call sites of {key} are there once"


def reverse_problems(forth, back):
    def rows(entry, name, swap):
        keys = ["a_bytes", "b_bytes", "a_count", "b_count"]
        if swap:
            keys = ["b_bytes", "a_bytes", "b_count", "a_count"]
        return collections.Counter(
            tuple(row[key] for key in keys) +
            ((REVERSED[row["change"]] if swap else row["change"], row["matched_by"])
             if name == "sites" else (row["name"],)) for row in entry[name])
    for name in ("sites", "categories", "phases"):
        a, b = rows(forth, name, False), rows(back, name, True)
        if a != b:
            yield f"{name} differ: {list((a - b).items())[:2]} and {list((b - a).items())[:2]}"
    if forth["delta_bytes"] != -back["delta_bytes"]:
        yield "deltas differ"
    order = [[row["delta_bytes"] * sign for row in entry["sites"]]
             for entry, sign in ((forth, 1), (back, -1))]
    if order[0] != order[1]:
        yield "the order differs"


def nothing_problems(entry):
    if entry["delta_bytes"]:
        yield f"delta_bytes is {entry['delta_bytes']}"
    changed = [row["label"] for row in entry["sites"] if row["change"] != "same"]
    changed += [row["name"] for row in entry["categories"] + entry["phases"] if row["delta_bytes"]]
    if changed or entry["settings"]:
        yield f"changes between a file and itself: {changed[:3]}, {entry['settings'][:3]}"


def table_problems(a, b, entry):
    """The CSV has the same rows."""
    for by, name, label in (("site", "sites", "label"), ("category", "categories", "category"),
                            ("phase", "phases", "phase")):
        text = diff("--format", "csv", "--by", by, a, b).decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        device = str(entry["a"]["device"])
        found = [tuple(int(row[key]) for key in ("a_bytes", "b_bytes", "a_count", "b_count"))
                 for row in rows if row["a_device"] == device]
        wanted = [amounts(row) for row in entry[name]]
        if found != wanted or not all(row[label] for row in rows):
            yield f"the CSV by {by} has other rows"


def pair_problems(a, b, known):
    forth, back = compared(a, b), compared(b, a)
    if len(forth) != len(back):
        yield f"{len(forth)} devices, and {len(back)} in reverse"
        return
    for entry, other in zip(forth, back):
        yield from sum_problems(entry)
        yield from change_problems(entry)
        yield from peak_problems(entry, "a", known[a])
        yield from peak_problems(entry, "b", known[b])
        yield from reverse_problems(entry, other)
    yield from table_problems(a, b, forth[0])


def end_problems(a, b):
    for entry in compared(a, b, "--at", "end"):
        yield from sum_problems(entry)
    for forth, back in zip(compared(a, b, "--at", "end"), compared(b, a, "--at", "end")):
        yield from reverse_problems(forth, back)


OPERATORS = ["mm", "relu", "add", "copy_"]
FOLDERS = ["/home/a/run/src", "/home/a/run/lib", "/home/b/run/src", "/opt/run"]


def random_frames(chance):
    """Few names and lines, so that they meet again in the other capture, or move by a little."""
    if chance.random() < 0.1:
        return []
    frames = []
    if chance.random() < 0.7:
        frames.append({"name": f"at::_ops::{chance.choice(OPERATORS)}::call(x)", "filename": "??",
                       "line": 0})
    for _ in range(chance.randrange(1, 3)):
        frames.append({"name": chance.choice(["forward", "step", "make"]),
                       "filename": f"{chance.choice(FOLDERS)}/{chance.choice(['model', 'data'])}.py",
                       "line": chance.randrange(1, 9)})
    return frames


def random_capture(chance, path):
    events, blocks, address = [], [], 4096
    for _ in range(chance.randrange(40)):
        size, address = chance.choice([0, 1, 512, 1000, 10**9, chance.randrange(10**6)]), address + 2**32
        events.append({"action": "alloc", "addr": address, "size": size, "stream": 0,
                       "frames": random_frames(chance)})
        if chance.random() < 0.2:
            # another size, so that some of the trace cannot be explained
            gone = size if chance.random() < 0.8 else size + 7
            for action in ("free_requested", "free_completed"):
                events.append({"action": action, "addr": address, "size": gone, "stream": 0,
                               "frames": []})
        elif chance.random() < 0.5:
            blocks.append({"address": address, "size": size, "requested_size": size,
                           "state": "active_allocated", "frames": []})
    segments = [{"device": 0, "address": 0, "total_size": 2**40, "allocated_size": 0,
                 "active_size": 0, "requested_size": 0, "stream": 0, "segment_type": "large",
                 "frames": [], "blocks": blocks}]
    path.write_text(json.dumps({"segments": segments, "device_traces": [events]}))


def random_problems(a, b):
    for arguments in ((), ("--at", "end")):
        forth, back = compared(a, b, *arguments)[0], compared(b, a, *arguments)[0]
        yield from sum_problems(forth)
        yield from change_problems(forth)
        yield from reverse_problems(forth, back)
    yield from nothing_problems(compared(a, a)[0])


def layer_trace(path, change=None):
    loaded = captures_json(path)
    rows = []
    for row in loaded["traces"]:
        row = dict(row)
        if change:
            change(row)
        rows.append(row)
    return rows


def captures_json(path):
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        return json.load(file)


def totals(rows):
    forward = [row for row in rows if row["is_forward"]]
    params = {}
    for row in rows:
        params[row["module_name"]] = max(row["module_params"], params.get(row["module_name"], 0))
    return (sum(row["event"]["memory_activations"] for row in forward), sum(params.values()),
            max(row["allocated"] for row in rows), len(forward))


def layer_problems(a, b, a_rows, b_rows):
    forth, back = compared(a, b)[0], compared(b, a)[0]
    for key, rows in (("a", a_rows), ("b", b_rows)):
        activations, params, peak, count = totals(rows)
        found = (forth[f"{key}_bytes"], forth["parameters"][f"{key}_bytes"],
                 forth["peak_allocated"][f"{key}_bytes"], sum(s[f"{key}_count"] for s in forth["sites"]))
        if found != (activations, params, peak, count):
            yield f"totals of {key} are {found}, not {(activations, params, peak, count)}"
        for entry in (forth, back):
            if sum(site[f"{key}_params"] for site in entry["sites"]) != entry["parameters"][f"{key}_bytes"]:
                yield "parameters do not add up"
    for entry in (forth, back):
        yield from sum_problems(dict(entry, phases=[dict(amounts_of(entry), name="")]))
    yield from reverse_problems(dict(forth, phases=[]), dict(back, phases=[]))


def amounts_of(entry):
    return {key: entry[key] for key in ("a_bytes", "b_bytes", "delta_bytes")}


def layers(tally):
    """A trace against one in which a module grew, another is wrapped, and a third is called otherwise."""
    traces = [path for path in captures.layer_traces() if ".json" in path.name]
    with tempfile.TemporaryDirectory() as folder:
        for path in traces:
            names = list(dict.fromkeys(row["module_name"] for row in layer_trace(path)))
            grown, wrapped, renamed = names[1], names[len(names) // 2], names[-1]

            def change(row):
                name = row["module_name"]
                if name == grown:
                    row["event"] = dict(row["event"], memory_activations=10**9)
                elif name == wrapped:
                    row["module_name"] = f"_fsdp_wrapped_module.{name}._checkpoint_wrapped_module"
                elif name == renamed:
                    row["module_name"] = "other"

            changed = layer_trace(path, change)
            b = pathlib.Path(folder) / "b.json"
            b.write_text(json.dumps({"traces": changed}))
            tally.check(f"{path.name} and a changed one",
                        layer_problems(path, b, layer_trace(path), changed))
            sites = {site["label"]: site for site in compared(path, b)[0]["sites"]}
            found = [sites.get(name, {}).get("change") for name in (grown, "other", renamed)]
            tally.check(f"{path.name}: what changed",
                        [f"{found}"] if found != ["grown", "new", "gone"] else
                        ["the wrapped module is new"] if any("wrapped" in name for name in sites) else [])


def random_pairs(tally, count):
    with tempfile.TemporaryDirectory() as folder:
        for seed in captures.some(range(count)):
            chance = random.Random(seed)
            a, b = pathlib.Path(folder) / "a.json", pathlib.Path(folder) / "b.json"
            random_capture(chance, a)
            random_capture(chance, b)
            tally.check(f"random pair {seed}", random_problems(a, b))


def main():
    tally = captures.Tally()
    real = captures.corpus()
    files = real + captures.samples()
    known = {path: reports(path) for path in files}
    for path in files:
        for entry in compared(path, path):
            tally.check(f"{path.name} and itself", itertools.chain(
                nothing_problems(entry), sum_problems(entry)))
    pairs = list(itertools.combinations(real, 2)) + list(itertools.combinations(captures.samples(), 2))
    for a, b in captures.some(pairs):
        tally.check(f"{a.name}, {b.name}", pair_problems(a, b, known))
    for a, b in captures.some(itertools.combinations(real, 2)):
        tally.check(f"{a.name}, {b.name} at the end", end_problems(a, b))
    layers(tally)
    random_pairs(tally, 60)
    tally.end()


main()
