"""memsnap analyze --with-trace, against a plain reading of both files: the sample as it was recorded,
and with made-up kernels."""
import bisect
import collections
import gzip
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile

memsnap = os.environ["MEMSNAP"]
samples = os.path.join(os.environ.get("srcdir", "."), "samples")


def ns(us):
    return round(us * 1000)


def with_kernels(trace):
    """Every operator launches two kernels in its middle."""
    rng = random.Random(3)
    added, correlation = [], 0
    for event in trace["traceEvents"]:
        if event.get("cat") != "cpu_op":
            continue
        for name in "cudaLaunchKernel", "cudaMemsetAsync":
            correlation += 1
            where = {"pid": event["pid"], "tid": event["tid"], "ts": event["ts"] + event["dur"] / 2}
            added.append(dict(where, ph="X", cat="cuda_runtime", name=name, dur=1, args={"cbid": 1, "correlation": correlation}))
            added.append({"ph": "X", "cat": "kernel" if name == "cudaLaunchKernel" else "gpu_memset", "name": "k", "pid": 0,
                          "tid": 7, "ts": event["ts"] + 900, "dur": rng.randrange(1, 900000) / 1000,
                          "args": {"stream": 7, "correlation": correlation}})
    rng.shuffle(added)
    return dict(trace, traceEvents=trace["traceEvents"] + added)


class Reading:
    """Operators, modules and kernels of a trace by thread."""

    def __init__(self, trace):
        self.outermost, self.modules = collections.defaultdict(list), collections.defaultdict(list)
        self.kernel_ns, self.kernels = collections.Counter(), collections.Counter()
        ranges = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
        ranges.sort(key=lambda event: (ns(event["ts"]), -ns(event.get("dur", 0))))
        work = collections.defaultdict(list)
        for event in ranges:
            thread, begin = (event["pid"], event["tid"]), ns(event["ts"])
            end = begin + ns(event.get("dur", 0))
            if event.get("cat") == "cpu_op":
                calls = self.outermost[thread]
                if not calls or calls[-1][1] <= begin:
                    calls.append((begin, end, event))
            elif event.get("cat") == "python_function" and event["name"].startswith("nn.Module: "):
                self.modules[thread].append((begin, end, event["name"][len("nn.Module: "):]))
            elif event.get("cat") in ("kernel", "gpu_memset"):
                work[event["args"]["correlation"]].append(ns(event["dur"]))
        self.forward = {}
        for event in ranges:
            number = event.get("args", {}).get("Sequence number")
            call = self.call((event["pid"], event["tid"]), ns(event["ts"]))
            backward = call and self.engine(call) == number
            if event.get("cat") == "cpu_op" and number is not None and not backward:
                self.forward[number] = event
            if event.get("cat") == "cuda_runtime" and call:
                for duration in work[event["args"]["correlation"]]:
                    self.kernel_ns[call] += duration
                    self.kernels[call] += 1

    def call(self, thread, time):
        calls = self.outermost.get(thread, [])
        at = bisect.bisect_right([call[0] for call in calls], time) - 1
        return (thread, at) if at >= 0 and calls[at][1] >= time else None

    def engine(self, call):
        event = self.outermost[call[0]][call[1]][2]
        if event["name"].startswith("autograd::engine"):
            return event["args"].get("Sequence number")
        return None

    def module(self, event):
        thread, time = (event["pid"], event["tid"]), ns(event["ts"])
        call = self.call(thread, time)
        made_by = self.forward.get(self.engine(call)) if call and self.engine(call) is not None else None
        if made_by is not None:
            thread, time = (made_by["pid"], made_by["tid"]), ns(made_by["ts"])
        names = [name for begin, end, name in self.modules.get(thread, []) if begin <= time <= end]
        return ".".join(names[1:] if len(names) > 1 else names)


def live_at_peak(events):
    live, active, most, peak = {}, 0, -1, {}
    for index, event in enumerate(events):
        if event["action"] == "alloc":
            live[event["addr"]] = index
            active += event["size"]
        elif event["action"] == "free_completed":
            live.pop(event["addr"], None)
            active -= event["size"]
        if active > most:
            most, peak = active, dict(live)
    return peak.values()


def check(snapshot, trace, trace_path, shift):
    report = json.loads(subprocess.run([memsnap, "analyze", "--format", "json", "--top", "0", "--with-trace", trace_path,
                                        os.path.join(samples, "joined.pickle.gz")], check=True, capture_output=True).stdout)
    device = report["devices"][0]
    events = snapshot["device_traces"][0]
    allocs = [index for index, event in enumerate(events) if event["action"] == "alloc"]
    made = sorted((event for event in trace["traceEvents"] if event["name"] == "[memory]" and event["args"]["Bytes"] > 0 and
                   event["args"]["Device Type"] == 1), key=lambda event: event["ts"])
    joined = {}
    for number, event in enumerate(made):
        index = allocs[number + shift]
        assert events[index]["addr"] == event["args"]["Addr"] and events[index]["size"] <= event["args"]["Bytes"]
        joined[index] = event
    reading = Reading(trace)
    modules, calls, count = collections.Counter(), set(), 0
    for index in live_at_peak(events):
        if index not in joined:
            continue
        event = joined[index]
        count += 1
        modules[reading.module(event)] += events[index]["size"]
        call = reading.call((event["pid"], event["tid"]), ns(event["ts"]))
        if call:
            calls.add(call)
    told = device["joined"]
    assert told["allocations"] == told["inside"] == told["matched"] == len(made), told
    assert told["by_time"] and abs(told["offset_us"]) < 1000 and told["spread_us"] < 1000, told
    assert told["live_matched"] == count == sum(site.get("joined", 0) for site in device["sites"]), (told, count)
    # a site whose allocations are all of one module
    alone = {site["module"]: site for site in device["sites"] if "module" in site and "*" not in site["module"]}
    assert alone and all(modules[module] >= 1 for module in alone), (alone, modules)
    single = [site for site in device["sites"] if site.get("joined") == 1 == site["count"]]
    assert single
    has_kernels = any(event.get("cat") == "kernel" for event in trace["traceEvents"])
    assert told["times"] == ("kernels" if has_kernels else "host")
    for site in single:
        matches = [index for index in joined if events[index]["size"] == site["bytes"] and index in set(live_at_peak(events))]
        figures = set()
        for index in matches:
            event = joined[index]
            call = reading.call((event["pid"], event["tid"]), ns(event["ts"]))
            duration = reading.outermost[call[0]][call[1]] if call else (0, 0)
            figures.add((reading.module(event), reading.kernels[call],
                         reading.kernel_ns[call] // 1000 if has_kernels else (duration[1] - duration[0]) // 1000))
        told_of = (site.get("module", ""), site["kernels"], site["kernel_us" if has_kernels else "operator_us"])
        assert told_of in figures, (site, figures)
    return len(single)


def refused(trace, folder, words):
    path = os.path.join(folder, "other.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    run = subprocess.run([memsnap, "analyze", "--with-trace", path, os.path.join(samples, "joined.pickle.gz")],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 3 and run.stdout == "" and words in run.stderr and run.stderr.count("\n") == 1, run


def main():
    with gzip.open(os.path.join(samples, "joined.pickle.gz")) as file:
        snapshot = pickle.load(file)
    path = os.path.join(samples, "joined.pt.trace.json.gz")
    with gzip.open(path) as file:
        trace = json.load(file)
    allocs = [event for event in snapshot["device_traces"][0] if event["action"] == "alloc"]
    base = trace["baseTimeNanoseconds"] / 1000
    begin = min(event["ts"] for event in trace["traceEvents"] if event["name"] == "[memory]") + base
    shift = sum(event["time_us"] < begin - 20 for event in allocs)
    with tempfile.TemporaryDirectory() as folder:
        sites = check(snapshot, trace, path, shift)
        kernels = os.path.join(folder, "kernels.json")
        with open(kernels, "w", encoding="utf-8") as file:
            json.dump(with_kernels(trace), file)
        sites += check(snapshot, with_kernels(trace), kernels, shift)
        # another clock is found; another run is not joined
        later = json.loads(json.dumps(trace))
        for event in later["traceEvents"]:
            event["ts"] = event["ts"] * 1.5 + 3e9
        refused(later, folder, "but not their times")
        for event in later["traceEvents"]:
            if "Addr" in event.get("args", {}):
                event["args"]["Addr"] += 1 << 30
        refused(later, folder, "or of another part of this one: only ")
    print(f"{sites} call sites agree")


if __name__ == "__main__":
    sys.exit(main())
