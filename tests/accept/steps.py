#!/usr/bin/env python3
"""What `memsnap analyze` says of steps, growth and pending frees, against plain replays of the traces;
and that it sees in each sample what the sample was made to show, and nothing in the healthy ones."""
import captures
import reference

WAITS_US = 1000
# What the samples were made to show: kinds that must be there (and, of these, others must not).
TOLD = {"growing", "kept_gradients", "grew_then_stopped"}
EXPECTED = {"leak": {"growing"}, "leak-losses": {"growing"}, "leak-outputs": {"growing"},
            "leak-cycle": {"growing"}, "leak-hooks": {"growing"}, "kept-gradients": {"kept_gradients"},
            "cache": {"grew_then_stopped"}}


def active_after(trace, baseline):
    """The active curve after each event."""
    sign = {"alloc": 1, "free_completed": -1}
    values, now = [], baseline
    for event in trace:
        now += sign.get(event["action"], 0) * event.get("size", 0)
        values.append(now)
    return values


def step_problems(entry, trace):
    values = active_after(trace, entry["active"]["baseline_bytes"])
    last = -1
    for step in entry["steps"]:
        first, end = step["first_event"], step["last_event"]
        if not last < first <= end < len(trace):
            yield f"step {step['step']} spans {first} to {end}, after {last}"
            return
        last = end
        peak = max(values[first:end + 1])
        where = first + values[first:end + 1].index(peak)
        want = {"end_bytes": values[end], "peak_bytes": peak, "peak_event": where}
        yield from reference.differences(want, step, f"step {step['step']}")


def allocated_after(trace, entry):
    """What is allocated after each event: a requested free ends it, where requests are recorded."""
    if "free_requested" not in entry["trace"]["by_action"]:
        return active_after(trace, entry["active"]["baseline_bytes"])
    ends = {"free_requested": "free_completed", "free_completed": ""}
    return active_after([dict(event, action=ends.get(event["action"], event["action"])) for event in trace],
                        entry["allocated"]["baseline_bytes"])


def growth_problems(entry, trace):
    """Every allocation that is live at the last compared step, and not asked to be freed, belongs to one row."""
    complete = [step for step in entry["steps"] if step["complete"]]
    rows = [row for row in entry["growth"] if row["kind"] != "kept_gradients"]
    if len(complete) < 3:
        if rows:
            yield f"{len(complete)} complete steps, but {len(rows)} rows"
        return
    if len(rows) == 100:
        return
    values = allocated_after(trace, entry)
    for key, step in (("bytes_at_first", complete[0]), ("bytes_at_end", complete[-1])):
        total, wanted = sum(row[key] for row in rows), values[step["last_event"]]
        if total != wanted:
            yield f"growth: {key} sums to {total}, not to {wanted}"


def pending(trace):
    """Frees of the trace's own allocations: (bytes, microseconds, unfinished). A completion that
    directly follows its request waited for no stream, however long it took."""
    asked, ours, before = {}, set(), None
    for event in trace:
        address = event.get("addr")
        if event["action"] == "alloc":
            ours.add(address)
        elif event["action"] == "free_requested" and address in ours:
            asked[address] = event
        elif event["action"] == "free_completed" and address in asked:
            start = asked.pop(address)
            if start is not before:
                yield event["size"], event["time_us"] - start["time_us"], False
            ours.discard(address)
        elif event["action"] == "free_completed":
            ours.discard(address)
        before = event
    for start in asked.values():
        yield start["size"], trace[-1]["time_us"] - start["time_us"], True


def pending_problems(entry, trace):
    got = entry["pending_frees"]
    if sum(site["bytes"] for site in got["sites"]) != got["bytes"] and len(got["sites"]) < 20:
        yield "pending_frees: sites do not sum to the whole"
    if not trace or any(event.get("time_us") is None for event in trace):
        return
    if entry["active"]["baseline_bytes"]:
        return  # frees of what was there before are the program's to find
    waits = [wait for wait in pending(trace) if wait[1] > WAITS_US]
    want = {"count": len(waits), "bytes": sum(size for size, _, _ in waits),
            "unfinished": sum(open_ for _, _, open_ in waits),
            "longest_us": max((us for _, us, _ in waits), default=0)}
    if "free_requested" in entry["trace"]["by_action"]:
        allocated = allocated_after(trace, entry)
        want["at_peak_bytes"] = entry["active"]["peak_bytes"] - allocated[entry["active"]["peak_event"]]
    yield from reference.differences(want, got, "pending_frees")


def problems_of(path):
    report = captures.report(path)
    traces = reference.load(path).get("device_traces") or []
    for entry in report["devices"]:
        index = entry["device"]
        trace = traces[index] if index < len(traces) else []
        yield from step_problems(entry, trace)
        if not any("contradicts" in warning for warning in report["warnings"]):
            yield from growth_problems(entry, trace)
        yield from pending_problems(entry, trace)


def verdict_problems(path):
    """What is told must be what the sample shows; a real capture of one step shows nothing."""
    expected = EXPECTED.get(path.name.partition(".")[0], set())
    for entry in captures.report(path)["devices"]:
        told = {row["kind"] for row in entry["growth"]} & TOLD
        if told != expected:
            yield f"tells of {sorted(told)}, expected {sorted(expected)}"


def saving_of_gradients(path):
    rows = captures.report(path)["devices"][0]["growth"]
    return [row["save_bytes"] for row in rows if row["kind"] == "kept_gradients"]


def peak_of(path):
    return captures.report(path)["devices"][0]["active"]["peak_bytes"]


def saving_problems():
    """Each program differs from one that sets its gradients to None by nothing else. Of the simulated one, README.md
    says by how much; of the recorded one, both captures are there."""
    samples = captures.TOP / "samples"
    simulated = saving_of_gradients(samples / "kept-gradients.pickle.gz")
    if simulated != [26740480]:
        yield f"kept gradients are said to cost {simulated}"
    kept = samples / "recorded" / "resnet50-kept-gradients.pickle.gz"
    difference = peak_of(kept) - peak_of(samples / "recorded" / "resnet50.pickle.gz")
    if saving_of_gradients(kept) != [difference]:
        yield f"ResNet-50's are said to cost {saving_of_gradients(kept)}, and cost {difference}"


def main():
    tally = captures.Tally()
    leaks = sorted((captures.TOP / "samples" / "recorded").glob("leak-*.pickle.gz"))
    for path in captures.samples() + leaks + captures.corpus():
        tally.check(path.name, problems_of(path))
        tally.check(path.name + " (verdict)", verdict_problems(path))
    tally.check("saving", saving_problems())
    tally.end()


if __name__ == "__main__":
    main()
