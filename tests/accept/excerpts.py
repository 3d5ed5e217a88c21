#!/usr/bin/env python3
"""What `memsnap export --as snapshot` writes is a snapshot to CPython, and says of its range what the
whole capture says; torch's own _memory_viz.py reads it, where MEMSNAP_MEMORY_VIZ names that file."""
import importlib.util
import json
import os
import pathlib
import pickle
import pickletools
import random
import subprocess
import tempfile

import captures
import reference


def cut(path, out, *arguments):
    done = subprocess.run([captures.MEMSNAP, "export", "--as", "snapshot", *map(str, arguments), path, "-o", out],
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{path}: status {done.returncode}: {done.stderr.decode()}")
    return done.stderr.decode()


FRAMES = {}  # by the identity of a list of frames, which events share: the list, which keeps it alive, and what it holds


def frames_of(thing, key="frames"):
    frames = thing.get(key) or []
    if id(frames) not in FRAMES:
        FRAMES[id(frames)] = frames, [f if isinstance(f, str) else (f["name"], f["filename"], f["line"])
                                      for f in frames]
    return FRAMES[id(frames)][1]


def plain_event(event):
    kept = ("action", "addr", "device_free", "size", "stream", "time_us", "compile_context",
            "user_metadata", "internal_metadata", "category")
    pool = tuple(event.get("pool_id") or (0, 0))
    return ({key: event[key] for key in kept if event.get(key) not in (None, "")}, pool,
            frames_of(event), frames_of(event, "forward_frames"))


def plain_segment(segment):
    return ({key: segment[key] for key in ("device", "address", "total_size", "stream", "segment_type")},
            tuple(segment.get("segment_pool_id", (0, 0))), segment.get("is_expandable", False),
            frames_of(segment), [frames_of(block, "forward_frames") for block in segment["blocks"]], [block[:3] + (block[3].replace("awaiting", "pending"),)
                                 for block in reference.blocks(segment)])


def settings_of(snapshot):
    return snapshot.get("allocator_settings") or {}


def whole_is_kept(whole, part):
    for a, b in zip(whole.get("device_traces") or [], part["device_traces"]):
        if list(map(plain_event, a)) != list(map(plain_event, b)):
            yield "other events"
    if list(map(plain_event, whole.get("host_traces") or [])) != list(map(plain_event, part.get("host_traces") or [])):
        yield "other events of the host"
    if list(map(plain_segment, whole.get("host_segments") or [])) != \
            list(map(plain_segment, part.get("host_segments") or [])):
        yield "other segments of the host"
    # the segments of each device come together
    order = sorted(whole.get("segments") or [], key=lambda segment: segment["device"])
    if list(map(plain_segment, order)) != list(map(plain_segment, part["segments"])):
        yield "other segments"
    if settings_of(whole) != settings_of(part):
        yield f"other settings: {settings_of(part)}, not {settings_of(whole)}"
    if (whole.get("external_annotations") or []) != part["external_annotations"]:
        yield "other annotations"


def live_at(snapshot, device, end):
    """Address -> requested size of what is active after the first `end` events, slow and plain."""
    trace = snapshot["device_traces"][device]
    live, before = {}, {}
    for event in trace:
        if event["action"] == "alloc":
            live[event["addr"]] = event["size"]
        elif event["action"] == "free_completed" and live.pop(event["addr"], None) is None:
            before[event["addr"]] = event["size"]  # was there, and is no more
    for segment in snapshot["segments"]:
        for address, _, size, state in reference.blocks(segment):
            if segment["device"] == device and state in reference.ACTIVE_STATES and address not in live:
                before[address] = size
    for event in trace[:end]:
        if event["action"] == "alloc":
            before[event["addr"]] = event["size"]
        elif event["action"] == "free_completed":
            before.pop(event["addr"], None)
    return before


def annotations_before(trace, first):
    """The annotate events of what is live after the first `first` events, slow and plain."""
    kept = []
    for event in trace[:first]:
        if event["action"] == "annotate":
            kept.append(event)
        elif event["action"] == "free_completed":
            kept = [note for note in kept if note["addr"] != event["addr"]]
    return [{**note, "time_us": trace[first]["time_us"]} for note in kept]


def annotations_of(device):
    return {(row["address"], row["bytes"]): row["annotation"] for row in device["allocations"] if "annotation" in row}


def annotations_are_kept(a, b, where):
    if annotations_of(a) != annotations_of(b):
        yield f"{where}: other annotations of allocations: {annotations_of(b)}, not {annotations_of(a)}"
    # their categories may differ elsewhere, for want of a stack
    for row in b["allocations"]:
        named = [text[8:] for text in row.get("annotation", "").split("; ") if text.startswith("memsnap:")]
        if named and row["category"] != named[-1]:
            yield f"{where}: {row['annotation']}, but {row['category']}"


def segments_are_whole(part):
    for segment in part["segments"]:
        at = segment["address"]
        for address, size, requested, state in reference.blocks(segment):
            if address != at:
                yield f"a gap in the segment at {segment['address']}"
            if state in reference.ACTIVE_STATES and requested > size:
                yield f"block {address} is smaller than what was requested"
            at = address + size
        if at != segment["address"] + segment["total_size"]:
            yield f"the blocks of the segment at {segment['address']} end early"


def range_is_kept(path, whole, first, last, out):
    doubts = cut(path, out, "--range", f"{first}:{last}")
    with open(out, "rb") as file:
        part = pickle.load(file)
    ranged = captures.report(path, "--allocations", "--range", f"{first}:{last}")["devices"]
    excerpt = captures.report(out, "--allocations")["devices"]
    for a, b in zip(ranged, excerpt):
        where = f"--range {first}:{last}, device {a['device']}"
        trace = whole["device_traces"][a["device"]]
        notes = annotations_before(trace, first)
        yield from annotations_are_kept(a, b, where)
        frees = {event["action"] for event in trace} & {"free_requested", "free_completed"}
        for curve in ("active", "allocated", "reserved"):
            if doubts or (curve == "allocated" and len(frees) == 1):
                continue  # told on standard error; freed without a request
            for key in ("baseline_bytes", "start_bytes", "peak_bytes", "peak_time_us", "end_bytes",
                        "at_active_peak_bytes"):
                if a[curve].get(key) != b[curve].get(key):
                    yield f"{where}: {curve} {key} is {b[curve].get(key)}, not {a[curve].get(key)}"
            shift = first - len(notes) if a[curve]["peak_event"] >= 0 else 0
            if a[curve]["peak_event"] != b[curve]["peak_event"] + shift:
                yield f"{where}: {curve} peak_event"
        a["trace"]["events"] += len(notes)
        if notes:
            counts = a["trace"]["by_action"]
            counts["annotate"] = counts.get("annotate", 0) + len(notes)
        for key in ("events", "by_action", "first_time_us", "last_time_us"):
            if a["trace"].get(key) != b["trace"].get(key):
                yield f"{where}: {key} is {b['trace'].get(key)}, not {a['trace'].get(key)}"
        if list(map(plain_event, notes + trace[first:last])) != list(
                map(plain_event, part["device_traces"][a["device"]])):
            yield f"{where}: other events"
        live = {address: size for segment in part["segments"] if segment["device"] == a["device"]
                for address, _, size, state in reference.blocks(segment) if state in reference.ACTIVE_STATES}
        if live != live_at(whole, a["device"], last):
            yield f"{where}: other live blocks"
    if not doubts:
        yield from segments_are_whole(part)
    yield from (f"--range {first}:{last}: {problem}" for problem in oracle(part, excerpt))


def oracle(snapshot, report):
    return reference.differences(reference.report(snapshot), report)


def viewer():
    name = os.environ.get("MEMSNAP_MEMORY_VIZ")
    if not name:
        print("note: MEMSNAP_MEMORY_VIZ names no torch/cuda/_memory_viz.py: not tried on it")
        return None
    spec = importlib.util.spec_from_file_location("_memory_viz", name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def views(viz):
    def lines(text):  # instead of what would fetch flamegraph.pl
        return text

    return {"segsum": viz.segsum, "trace": viz.trace, "trace_plot": viz.trace_plot,
            "segment_plot": viz.segment_plot,
            "segments": lambda snapshot: viz.segments(snapshot, lines),
            "memory": lambda snapshot: viz.memory(snapshot, lines)}


def viewer_reads(viz, snapshot, original):
    for name, view in views(viz).items():
        try:
            shown = view(snapshot)
        except Exception as problem:  # whatever it stumbles over
            try:
                view(original)
                yield f"_memory_viz.{name}: {problem!r}"
            except Exception:  # over the whole capture, too
                continue
        else:
            if not shown:
                yield f"_memory_viz.{name} shows nothing"


def problems_of(path, out, viz):
    FRAMES.clear()
    whole = reference.load(path)
    cut(path, out)
    with open(out, "rb") as file:
        data = file.read()
    if len(data) < captures.LARGE // 4:  # slow, and strict where the unpickler is not
        pickletools.dis(data, out=open(os.devnull, "w"))
    part = pickle.loads(data)
    yield from whole_is_kept(whole, part)
    yield from oracle(part, captures.report(out)["devices"])
    lengths = [len(trace) for trace in whole.get("device_traces") or [] if trace]
    if not lengths or min(lengths) < 3:
        return
    if viz:
        yield from viewer_reads(viz, part, whole)
    rng = random.Random(path.name)
    for _ in range(2):
        first = rng.randrange(min(lengths))
        last = rng.randrange(first, min(lengths)) + 1
        yield from range_is_kept(path, whole, first, last, out)
        if viz:
            with open(out, "rb") as file:
                yield from viewer_reads(viz, pickle.load(file), whole)


def odd_snapshot():
    """What real captures do not have: long and strange texts, edges of numbers, batches of a thousand."""
    texts = ["x" * 255, "x" * 256, "y" * 65535, "y" * 65536, "z" * 65537, "\ud800", "\0", "\u202e\n", "é" * 40000]
    edges = [0, 255, 256, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 47, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1]
    frames = [{"name": text, "filename": text[::-1], "line": i} for i, text in enumerate(texts)]
    deep = [{"name": f"f{i}", "filename": "deep.py", "line": i} for i in range(3000)]
    events = [{"action": "snapshot", "addr": edge, "size": 0, "stream": stream, "time_us": time}
              for edge in edges for stream in (0, -1, 2 ** 40, -2 ** 40) for time in (0, -2 ** 33, 2 ** 62)]
    events += [{"action": "workspace_snapshot", "addr": i, "size": i, "stream": 0, "user_metadata": text,
                "compile_context": text, "frames": frames[i:], "pool_id": (i, 2 ** 40)}
               for i, text in enumerate(texts)]
    stacks = [deep if i % 500 == 0 else deep[:i % 3] for i in range(2000)]  # JSON writes each again
    events += [{"action": "alloc", "addr": 512 * i, "size": 8, "stream": 0, "frames": stacks[i]} for i in range(2000)]
    events += [{"action": "oom", "device_free": 2 ** 40, "size": 4, "stream": 0},
               {"action": "brand_new", "addr": 1, "size": 1, "stream": 0}]
    blocks = [{"address": 512 * i, "size": 512, "requested_size": 8, "state": "active_allocated", "frames": stacks[i]}
              for i in range(2000)]
    segment = {"device": 2, "address": 0, "total_size": 2000 * 512, "allocated_size": 2000 * 512,
               "active_size": 2000 * 512, "requested_size": 16000, "stream": 0, "segment_type": "large",
               "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "1", "a": True, "b": False, "c": None, "d": -1, "e": 0.1,
                "f": 1e-05, "g": 1e+22, "h": "text", "i": "", "j": {"1": 2, "k": 0.0}, "l": 2 ** 62, "m": -0.5}
    return {"segments": [segment], "device_traces": [[], events[:1000], events], "allocator_settings": settings,
            "external_annotations": [{"stage": "START", "name": text, "device": 2, "time_us": i}
                                     for i, text in enumerate(texts)]}


def odd_problems(folder):
    out = folder / "odd-out.pickle"
    whole = odd_snapshot()
    for protocol in range(6):
        path = folder / "odd.pickle"
        path.write_bytes(pickle.dumps(whole, protocol))
        cut(path, out)
        yield from (f"protocol {protocol}: {problem}"
                    for problem in whole_is_kept(whole, pickle.loads(out.read_bytes())))
    (folder / "odd.json").write_text(json.dumps(whole))
    cut(folder / "odd.json", out)
    yield from (f"JSON: {problem}" for problem in whole_is_kept(whole, pickle.loads(out.read_bytes())))
    cut(out, folder / "again.pickle")
    if out.read_bytes() != (folder / "again.pickle").read_bytes():
        yield "written again, it is another"
    for device in (1, 2):
        cut(path, out, "--device", device)
        part = pickle.loads(out.read_bytes())
        if [len(trace) for trace in part["device_traces"]] != [
                len(trace) if index == device else 0 for index, trace in enumerate(whole["device_traces"])]:
            yield f"--device {device}: other traces"


def annotated_snapshot():
    """Allocations with annotations: from before the trace, freed before a range, in it, after it, and never; one
    address twice."""
    kinds, events = ["alloc", "annotate", "free_requested", "free_completed"], []

    def add(action, addr, text=None):
        events.append({"action": kinds[action], "addr": 4096 * addr, "size": 512 * addr, "stream": 0,
                       "time_us": 100 + 10 * len(events), "frames": [{"name": "f", "filename": "m.py", "line": addr}],
                       **({"user_metadata": text} if text else {})})

    add(1, 9, "memsnap:parameter")  # from before the trace, to stay
    add(1, 8, "memsnap:optimizer_state")  # from before the trace, freed in it
    for addr in range(1, 6):
        add(0, addr)
    for addr in range(1, 6):
        add(1, addr, f"tensor {addr}")
    add(1, 4, "memsnap:gradient")
    for addr in (1, 2):
        add(2, addr), add(3, addr)
    add(0, 1)
    add(1, 1, "memsnap:workspace")
    add(2, 3), add(3, 3)
    add(2, 8), add(3, 8)
    add(2, 1), add(3, 1)
    blocks = [{"address": 4096 * addr, "size": 512 * addr, "requested_size": 512 * addr, "state": "active_allocated",
               "frames": []} for addr in (4, 5, 9)]
    size = sum(block["size"] for block in blocks)
    segment = {"device": 0, "address": 4096, "total_size": 4096 * 10, "allocated_size": size, "active_size": size,
               "requested_size": size, "stream": 0, "segment_type": "small", "blocks": blocks}
    return {"segments": [segment], "device_traces": [events], "allocator_settings": {}, "external_annotations": []}


def annotated_problems(folder):
    path, out = folder / "annotated.pickle", folder / "annotated-out.pickle"
    whole = annotated_snapshot()
    path.write_bytes(pickle.dumps(whole))
    count = len(whole["device_traces"][0])
    for first in captures.some(range(count)):
        for last in range(first + 1, count + 1):
            cut(path, out, "--range", f"{first}:{last}")
            where = f"--range {first}:{last}"
            ranged, = captures.report(path, "--allocations", "--range", f"{first}:{last}")["devices"]
            excerpt, = captures.report(out, "--allocations")["devices"]
            yield from annotations_are_kept(ranged, excerpt, where)
            if not annotations_of(excerpt):
                yield f"{where}: no annotations"


def main():
    tally = captures.Tally()
    viz = viewer()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "part.pickle"
        tally.check("odd", odd_problems(pathlib.Path(folder)))
        tally.check("annotated", annotated_problems(pathlib.Path(folder)))
        for path in captures.samples() + captures.corpus() + captures.corpus("*annotat*.pickle.gz"):
            tally.check(path.name, problems_of(path, out, viz))
    tally.end()


if __name__ == "__main__":
    main()
