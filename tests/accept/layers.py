#!/usr/bin/env python3
"""Layer traces in every form, against an independent reading of them.

Samples, real traces and random ones are written as JSON, as pickles of every protocol (dicts, and named tuples
of FairScale's classes, made in every way that a pickle can make an instance) and as msgpack by the packer
below; some are compressed. `memsnap analyze` must report what this file computes from the rows, and
`memsnap convert` must give the rows back.
"""
import collections
import copyreg
import gzip
import io
import json
import pickle
import random
import struct
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import captures

RANKS = 8
RANDOM_TRACES = 16
MODULE = "fairscale.experimental.tooling.layer_memory_tracker"


def fairscale_classes():
    parts = MODULE.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules[".".join(parts[:end])] = types.ModuleType(".".join(parts[:end]))
    for name, fields in (("TraceForwardEvent", "memory_diff memory_activations"),
                         ("TraceBackwardEvent", "memory_activations"),
                         ("LayerMemoryTrace", "module_name module_params allocated reserved is_forward all_gathered "
                                              "cumul_all_gathered event")):
        setattr(sys.modules[MODULE], name, collections.namedtuple(name, fields, module=MODULE))
    return sys.modules[MODULE]


def named_tuples(rows, classes):
    events = {True: classes.TraceForwardEvent, False: classes.TraceBackwardEvent}
    return [classes.LayerMemoryTrace(**{**row, "event": events[row["is_forward"]](**row["event"])}) for row in rows]


def is_plain(rows):
    """Nothing in them but what FairScale's classes hold."""
    return all(len(row) == 8 and len(row["event"]) == 1 + row["is_forward"] for row in rows)


def reductions(classes):
    """Ways to pickle a named tuple other than its own."""
    def split(thing):
        names = type(thing)._fields[1:]
        return (type(thing), tuple(thing)[:1], dict(zip(names, tuple(thing)[1:])))
    ways = (lambda thing: (type(thing), tuple(thing)),
            lambda thing: (copyreg.__newobj_ex__, split(thing)),
            lambda thing: (copyreg.__newobj__, (type(thing), *thing)))
    for way in ways:
        yield {getattr(classes, name): way for name in ("LayerMemoryTrace", "TraceForwardEvent", "TraceBackwardEvent")}


def packed(thing, rng):
    """msgpack, in the shortest form or a longer one."""
    def head(short, longer):
        forms = ([short] if short is not None else []) + longer
        return forms[0] if rng.random() < 0.7 else rng.choice(forms)

    def sized(fixed, limit, sizes, body):
        size = len(body)
        return head(bytes([fixed | size]) if size < limit else None,
                    [bytes([code]) + struct.pack(form, size) for code, form, most in sizes if size <= most])
    if thing is None:
        return b"\xc0"
    if isinstance(thing, bool):
        return b"\xc3" if thing else b"\xc2"
    if isinstance(thing, int):
        forms = [(0xcc, ">B"), (0xcd, ">H"), (0xce, ">I"), (0xcf, ">Q"), (0xd0, ">b"), (0xd1, ">h"), (0xd2, ">i"),
                 (0xd3, ">q")]
        fitting = []
        for code, form in forms:
            try:
                fitting.append(bytes([code]) + struct.pack(form, thing))
            except struct.error:
                pass
        return head(struct.pack("b", thing) if -32 <= thing < 128 else None, fitting)
    if isinstance(thing, float):
        return b"\xcb" + struct.pack(">d", thing)
    if isinstance(thing, str):
        body = thing.encode("utf-8", "surrogatepass")
        return sized(0xa0, 32, [(0xd9, ">B", 255), (0xda, ">H", 65535), (0xdb, ">I", 1 << 32)], body) + body
    if isinstance(thing, list):
        return sized(0x90, 16, [(0xdc, ">H", 65535), (0xdd, ">I", 1 << 32)], thing) + b"".join(
            packed(item, rng) for item in thing)
    return sized(0x80, 16, [(0xde, ">H", 65535), (0xdf, ">I", 1 << 32)], thing) + b"".join(
        packed(key, rng) + packed(value, rng) for key, value in thing.items())


def table(rows):
    """memsnap's own msgpack, before packing."""
    flat = [{**{key: value for key, value in row.items() if key != "event"}, **row["event"]} for row in rows]
    columns = list(dict.fromkeys(key for row in flat for key in row))
    return {"memsnap": "layers/1", "columns": columns, "rows": [[row.get(key) for key in columns] for row in flat]}


def forms(rows, rng, classes):
    yield "json", json.dumps({"traces": rows}).encode()
    lone = any("\ud800" <= c <= "\udfff" for row in rows for c in row["module_name"])
    if rows:  # an empty list says nothing
        yield "list.json", json.dumps(rows, ensure_ascii=lone, indent=rng.choice((None, 1))).encode()
    # msgpack is recognised by its first key
    yield "msgpack", b"\x81\xa6traces" + packed(rows, rng)
    own = table(rows)
    yield "table.msgpack", b"\x83\xa7memsnap" + packed(own.pop("memsnap"), rng) + b"".join(
        packed(key, rng) + packed(value, rng) for key, value in own.items())
    for protocol in range(6):
        if rows:
            yield f"dicts.{protocol}", pickle.dumps(rows, protocol)
        yield f"dict.{protocol}", pickle.dumps({"traces": rows}, protocol)
        if not rows or not is_plain(rows):
            continue
        yield f"tuples.{protocol}", pickle.dumps(named_tuples(rows, classes), protocol)
        for index, dispatch in enumerate(reductions(classes)):
            file = io.BytesIO()
            pickler = pickle.Pickler(file, protocol)
            pickler.dispatch_table = dispatch
            try:
                pickler.dump(named_tuples(rows, classes))
            except pickle.PicklingError:
                continue  # __newobj_ex__ before protocol 4
            yield f"reduced{index}.{protocol}", file.getvalue()


def random_rows(rng):
    names = [rng.choice(("a", "blk", "", "_w", "x\ud800", "\u202e", "n" * 40)) + rng.choice((".a", ".b.c", "", "..", "._w.q"))
             for _ in range(rng.randrange(1, 12))]
    params = {name: rng.choice((0, 5, 1 << 20, rng.randrange(1 << 40))) for name in names}
    rows = []
    for _ in range(rng.choice((0, 1, 3, 40))):
        name, forward = rng.choice(names), rng.random() < 0.6
        event = {"memory_activations": rng.choice((0, 7, 7, rng.randrange(1 << 41)))}
        if forward:
            event = {"memory_diff": rng.choice((0, -3, rng.randrange(-1 << 40, 1 << 40))), **event}
        row = {"module_name": name, "module_params": params[name], "allocated": rng.choice((5, rng.randrange(1 << 42))),
               "reserved": rng.choice((6, rng.randrange(1 << 42))), "is_forward": forward,
               "all_gathered": rng.choice((0, 0, rng.randrange(1 << 30))),
               "cumul_all_gathered": rng.randrange(1 << 30) if forward and rng.random() < 0.2 else 0}
        for key, value in (("forward_us", rng.random() * 1e4), ("backward_us", float(rng.randrange(100))),
                           ("depth", rng.randrange(9)), ("saved_activations", rng.randrange(1 << 30))):
            if rng.random() < 0.1:
                row[key] = value
        rows.append({**row, "event": event})
    return rows


def peak(rows, key):
    if not rows:
        return None
    most = max(row[key] for row in rows)
    index = next(i for i, row in enumerate(rows) if row[key] == most)
    return {"bytes": most, "module_name": rows[index]["module_name"],
            "phase": "forward" if rows[index]["is_forward"] else "backward", "trace": index}


def expected(rows):
    forward = [(i, row) for i, row in enumerate(rows) if row["is_forward"]]
    ranked = sorted(forward, key=lambda item: item[1]["event"]["memory_activations"], reverse=True)[:10]
    modules = {}
    for row in rows:
        module = modules.setdefault(row["module_name"], {
            "module_name": row["module_name"], "module_params": 0, "memory_activations": 0, "memory_diff": 0,
            "all_gathered": 0, "forward_traces": 0, "backward_traces": 0})
        module["module_params"] = max(module["module_params"], row["module_params"])
        module["all_gathered"] += row["all_gathered"]
        module["forward_traces" if row["is_forward"] else "backward_traces"] += 1
        if row["is_forward"]:
            module["memory_activations"] += row["event"]["memory_activations"]
            module["memory_diff"] += row["event"]["memory_diff"]
    gathered = {"forward_bytes": sum(row["all_gathered"] for row in rows if row["is_forward"]),
                "backward_bytes": sum(row["all_gathered"] for row in rows if not row["is_forward"])}
    return {
        "traces": {"count": len(rows), "forward": len(forward), "backward": len(rows) - len(forward),
                   "modules": len(modules)},
        "max_memory_allocated": peak(rows, "allocated"), "max_memory_cached": peak(rows, "reserved"),
        "total_activation_allocations": sum(row["event"]["memory_activations"] for _, row in forward),
        "total_forward_allocations": sum(row["event"]["memory_diff"] for _, row in forward),
        "top_forward_activation_producers": [
            {"module_name": row["module_name"], "memory_activations": row["event"]["memory_activations"],
             "memory_diff": row["event"]["memory_diff"], "module_params": row["module_params"], "trace": i}
            for i, row in ranked],
        "all_gathered": {**gathered, **({"max_cumulative": peak(rows, "cumul_all_gathered")} if rows else {})},
        "modules": list(modules.values())}


def tree_parameters(modules):
    """By path: the larger of what a module has itself and what the modules in it have."""
    own, children, paths = {}, collections.defaultdict(set), {()}
    for module in modules:
        path = tuple(part for part in parts_of(module["module_name"]) if not part.startswith("_"))
        own[path] = max(own.get(path, 0), module["module_params"])
        for end in range(len(path), 0, -1):
            paths.add(path[:end])
            children[path[:end - 1]].add(path[:end])
    sizes = {}
    for path in sorted(paths, key=len, reverse=True):
        sizes[path] = max(own.get(path, 0), sum(sizes[child] for child in children[path]))
    return own, children, sizes


def parts_of(name):
    parts = name.split(".") if name else []
    return parts[:-1] if parts and not parts[-1] else parts  # "a." is a


def blocks(modules, allocated):
    own, children, sizes = tree_parameters(modules)
    found, open_ = [], [()]
    while open_:
        path = open_.pop()
        if path in own or not children[path] or sizes[path] <= sizes[()] // 4:
            if sizes[path]:
                found.append((".".join(path), sizes[path], sizes[path] - -(-sizes[path] // RANKS)))
        else:
            open_.extend(children[path])
    saved = sum(item[2] for item in found)
    worth = saved >= allocated // 100
    return sizes[()], saved, sorted((name, size, less, worth and less > saved // 100) for name, size, less in found)


def differences(report, rows):
    for key, value in expected(rows).items():
        found = report.get(key)
        if key == "modules":
            found = [{name: module[name] for name in wanted if name in module} for module, wanted in zip(found, value)]
        if found != value:
            yield f"{key} is {str(found)[:300]}, not {str(value)[:300]}"
    allocated = max((row["allocated"] for row in rows), default=0)
    parameters, saved, wanted = blocks(report["modules"], allocated)
    sharding = report["sharding"]
    found = sorted((block["module_name"], block["parameter_bytes"], block["saved_bytes"], block["worth"])
                   for block in sharding["blocks"])
    if (report["parameter_bytes"], sharding["saved_bytes"]) != (parameters, saved) or found != wanted:
        yield f"sharding is {report['parameter_bytes']} {str(sharding)[:300]}, not {parameters} {saved} {wanted[:5]}"


def run(*arguments):
    done = subprocess.run([captures.MEMSNAP, *map(str, arguments)], capture_output=True, check=False)
    if done.returncode or done.stderr:
        raise AssertionError(f"status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
    return done.stdout


def problems_of(path, rows, folder):
    try:
        yield from differences(json.loads(run("analyze", "--format", "json", path)), rows)
        there = Path(folder) / "there.msgpack"
        run("convert", path, "-o", there)
        if json.loads(run("convert", there)) != {"traces": rows}:
            yield "comes back otherwise from msgpack"
        if json.loads(run("convert", "--to", "json", path)) != {"traces": rows}:
            yield "is another in JSON"
    except AssertionError as error:
        yield str(error)


def read(path, classes):
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    if data[:1] != b"\x80":
        trace = json.loads(data)
        return None if "schema" in trace else trace["traces"]  # of memsnap's recorder: see tests/cli/convert.sh
    return [{**row._asdict(), "event": row.event._asdict()} for row in pickle.loads(data)]  # our own sample


def main():
    tally = captures.Tally()
    classes = fairscale_classes()
    sources = [(path.name, read(path, classes)) for path in captures.layer_traces()]
    sources = [(name, rows) for name, rows in sources if rows is not None]
    sources += [(f"random{seed}", random_rows(random.Random(seed))) for seed in captures.some(range(RANDOM_TRACES))]
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in sources:
            rng = random.Random(name)
            for form, data in forms(rows, rng, classes):
                path = Path(folder) / f"{name}.{form}"
                path.write_bytes(gzip.compress(data) if rng.random() < 0.2 else data)
                tally.check(f"{name} as {form}", problems_of(path, rows, folder))
    tally.end()


if __name__ == "__main__":
    main()
