"""The numbers of `memsnap analyze`, computed the slow and plain way with Python's own pickle.

Written from the definitions in memsnap-numbers(7), and from nothing else: it shares no idea with
the program but those. Only for captures one trusts, since unpickling runs what is inside.
"""
import collections
import gzip
import json
import pickle

ACTIVE_STATES = ("active_allocated", "active_pending_free", "active_awaiting_free")
RESERVING = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    snapshot = json.loads(data) if data.lstrip()[:1] in (b"{", b"[") else pickle.loads(data)
    return {"segments": snapshot} if isinstance(snapshot, list) else snapshot


def blocks(segment):
    """Every block as (address, rounded size, requested size, state)."""
    address = segment["address"]
    for block in segment["blocks"]:
        past = block.get("history") or [{}]
        requested = block.get("requested_size", past[0].get("real_size", block["size"]))
        yield block.get("address", address), block["size"], requested, block["state"]
        address += block["size"]


def dump_state(segments):
    state = collections.Counter(segments=len(segments), largest_inactive_block_bytes=0)
    for segment in segments:
        state["reserved_bytes"] += segment["total_size"]
        for _, size, requested, kind in blocks(segment):
            state["blocks"] += 1
            state["allocated_bytes"] += size if kind == "active_allocated" else 0
            if kind in ACTIVE_STATES:
                state["active_bytes"] += size
                state["requested_bytes"] += requested
                state["rounding_bytes"] += size - requested
            else:
                state["inactive_bytes"] += size
                state["largest_inactive_block_bytes"] = max(
                    state["largest_inactive_block_bytes"], size)
    return {key: state[key] for key in (
        "segments", "blocks", "reserved_bytes", "allocated_bytes", "active_bytes",
        "requested_bytes", "rounding_bytes", "inactive_bytes", "largest_inactive_block_bytes")}


def pages(segment, address, size):
    """The bytes of a hole that are whole pages of an expandable segment."""
    page = (2 if segment["segment_type"] == "small" else 20) << 20
    start = -(-(address - segment["address"]) // page) * page
    end = (address - segment["address"] + size) // page * page
    return max(0, end - start)


def fragmentation(segments):
    pools, pinned = {}, collections.Counter(segments=0, pinned_bytes=0, block_bytes=0)
    for segment in segments:
        key = (segment["segment_type"], tuple(segment.get("segment_pool_id", (0, 0))), segment["stream"])
        pool = pools.setdefault(key, collections.Counter())
        active = [block for block in blocks(segment) if block[3] in ACTIVE_STATES]
        expandable = segment.get("is_expandable", False)
        pool["segments"] += 1
        pool["reserved_bytes"] += segment["total_size"]
        for address, size, requested, kind in blocks(segment):
            if kind in ACTIVE_STATES:
                pool["allocated_bytes"] += size if kind == "active_allocated" else 0
                pool["active_bytes"] += size
                pool["rounding_bytes"] += size - requested
                continue
            free = size if not active else pages(segment, address, size) if expandable else 0
            pool["releasable_bytes"] += free
            pool["releasable_after_graphs_bytes"] += free if key[1] != (0, 0) else 0
            pool["inactive_split_bytes"] += size - free
            pool["largest_hole_bytes"] = max(pool["largest_hole_bytes"], size)
        if len(active) == 1 and not expandable and key[1] == (0, 0) and active[0][1] * 4 <= segment["total_size"]:
            pinned.update(segments=1, pinned_bytes=segment["total_size"] - active[0][1],
                          block_bytes=active[0][1])
    order = sorted(pools, key=lambda key: (-pools[key]["reserved_bytes"], key[0] == "small", key[1], key[2]))
    names = ("segments", "reserved_bytes", "allocated_bytes", "active_bytes", "rounding_bytes",
             "inactive_split_bytes", "releasable_bytes", "releasable_after_graphs_bytes", "largest_hole_bytes")
    return {"pools": [{"segment_type": key[0], "pool_id": list(key[1]), "stream": key[2]} |
                      {name: pools[key][name] for name in names} for key in order],
            "pinned_total": dict(pinned)}


def ooms(trace):
    return [{"event": index, "requested_bytes": event["size"], "device_free_bytes": event["device_free"],
             "stream": event["stream"]}
            for index, event in enumerate(trace) if event["action"] == "oom"]


def summits(start, deltas):
    """The highest value of a running sum, and the first index that reaches it (-1: the start)."""
    value = peak = start
    where = -1
    for index, delta in enumerate(deltas):
        value += delta
        if value > peak:
            peak, where = value, index
    return peak, where, value


def curve(trace, segments, free_action, states):
    owner = {}  # address -> whether an alloc of the trace holds it
    unseen = 0
    for event in trace:
        if event["action"] == "alloc":
            owner[event["addr"]] = True
        elif event["action"] == free_action and not owner.pop(event["addr"], False):
            unseen += event["size"]
    at_dump = {}
    for segment in segments:
        for address, _, requested, kind in blocks(segment):
            if kind in states:
                at_dump[address] = requested
    baseline = unseen + sum(size for address, size in at_dump.items() if address not in owner)
    sign = {"alloc": 1, free_action: -1}
    deltas = [sign.get(event["action"], 0) * event.get("size", 0) for event in trace]
    peak, where, end = summits(baseline, deltas)
    return {"baseline_bytes": baseline, "peak_bytes": peak, "peak_event": where, "end_bytes": end}


def reserved(trace, segments, active_peak_event):
    end = sum(segment["total_size"] for segment in segments)
    deltas = [RESERVING.get(event["action"], 0) * event.get("size", 0) for event in trace]
    start = end - sum(deltas)
    peak, where, _ = summits(start, deltas)
    return {"start_bytes": start, "peak_bytes": peak, "peak_event": where, "end_bytes": end,
            "at_active_peak_bytes": start + sum(deltas[:active_peak_event + 1])}


def device(snapshot, index):
    traces = snapshot.get("device_traces") or []
    trace = traces[index] if index < len(traces) else []
    segments = [s for s in snapshot.get("segments") or [] if s["device"] == index]
    active = curve(trace, segments, "free_completed", ACTIVE_STATES)
    return {
        "device": index,
        "trace": {"events": len(trace),
                  "by_action": dict(collections.Counter(event["action"] for event in trace))},
        "active": active,
        "allocated": curve(trace, segments, "free_requested", ("active_allocated",)),
        "reserved": reserved(trace, segments, active["peak_event"]),
        "state": dump_state(segments),
        "fragmentation": fragmentation(segments),
        "ooms": ooms(trace),
    }


def report(snapshot):
    with_segments = {segment["device"] for segment in snapshot.get("segments") or []}
    with_events = {i for i, trace in enumerate(snapshot.get("device_traces") or []) if trace}
    return [device(snapshot, index) for index in sorted(with_segments | with_events)]


def differences(want, got, where=""):
    """Everything of `want` that `got` does not say alike; it may say more."""
    if isinstance(want, dict):
        for key, value in want.items():
            if key in (got or {}):
                yield from differences(value, got[key], f"{where}.{key}")
            elif value:  # a count of zero may be left out
                yield f"{where}.{key} is missing, expected {value}"
    elif isinstance(want, list):
        if len(want) != len(got):
            yield f"{where} has {len(got)} entries, expected {len(want)}"
        for index, pair in enumerate(zip(want, got)):
            yield from differences(*pair, f"{where}[{index}]")
    elif want != got:
        yield f"{where} is {got}, expected {want}"


def parts_add_up(devices):
    """The parts of a report that do not sum to the whole they are parts of."""
    for entry in devices:
        for part in ("categories", "sites"):
            total = sum(row["bytes"] for row in entry[part])
            if total != entry["active"]["peak_bytes"]:
                yield f"device {entry['device']}: {part} sum to {total}, not to the peak"
