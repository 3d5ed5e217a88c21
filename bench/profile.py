#!/usr/bin/env python3
"""Speed and memory of memsnap on a trace of torch.profiler, beside Python's json.load of the same bytes.

    bench/profile.py TRACE.json[.gz] [--megabytes 500] [--rounds 3] [--memsnap PROGRAM]

The trace is repeated, with later times, until it has the size. Allocations that are not freed in the
trace, and frees of older ones, are left out, so that every copy begins with the same memory. Times are
of the processor, so that a busy machine does not matter: of the whole of memsnap, and of the load alone."""
import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

LOAD = """
import gc, gzip, json, sys, time
if sys.argv[2] == "off":
    gc.disable()
opened = gzip.open if sys.argv[1].endswith(".gz") else open
start = time.process_time()
with opened(sys.argv[1], "rb") as file:
    json.load(file)
print(time.process_time() - start)
"""


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return json.load(file)


def paired(events):
    """The events without memory whose beginning or end is missing."""
    memory = sorted((e for e in events if e.get("name") == "[memory]"), key=lambda e: e["ts"])
    open_at, keep = {}, set()
    for event in memory:
        arguments = event["args"]
        size = arguments["Bytes"]
        key = (arguments["Device Type"], arguments["Device Id"], arguments.get("Addr", abs(size)))
        stack = open_at.setdefault(key, [])
        if size > 0:
            stack.append(event)
        elif stack:
            keep.update((id(stack.pop()), id(event)))
    return [e for e in events if e.get("name") != "[memory]" or id(e) in keep]


def tile(source, path, size):
    """Returns the number of memory events."""
    trace = read(source)
    events = paired(trace["traceEvents"])
    last = max(e["ts"] + e.get("dur", 0) for e in events if "ts" in e)
    first = min(e["ts"] for e in events if "ts" in e)
    in_copy = sum(e.get("name") == "[memory]" for e in events)
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        head = {key: value for key, value in trace.items() if key != "traceEvents"}
        file.write(json.dumps(head, indent=2)[:-2] + ',\n  "traceEvents": [\n')
        while file.tell() < size:
            if count:
                file.write(",\n")
            texts = []
            for event in events:
                if "ts" in event:
                    event = dict(event, ts=event["ts"] + count * (last - first + 1))
                texts.append(json.dumps(event, indent=2))
            file.write(",\n".join(texts))
            count += 1
        file.write("\n]}\n")
    return in_copy * count


def run(command):
    """Returns the processor's seconds, the largest resident size in bytes, and the output."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = usage.ru_utime + usage.ru_stime
        if status:
            sys.exit(f"{command[0]} failed")
        out.seek(0)
        return seconds, usage.ru_maxrss * 1024, out.read()


def measure(path, memsnap, rounds, events):
    best, loads, resident, python_resident = None, {"on": [], "off": []}, 0, 0
    for _ in range(rounds):
        seconds, used, out = run([memsnap, "analyze", "--format", "json", path])
        best, resident = min(best or seconds, seconds), max(resident, used)
        report = json.loads(out)
        devices = report["devices"] + ([report["host"]] if "host" in report else [])
        found = sum(d["trace"]["by_action"].get(a, 0) for d in devices for a in ("alloc", "free_completed"))
        assert found == events, (found, events)
        for collector in "on", "off":
            _, used, out = run([sys.executable, "-c", LOAD, path, collector])
            loads[collector].append(float(out))
            python_resident = max(python_resident, used)
    return best, resident, min(loads["on"]), min(loads["off"]), python_resident


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tile", help="only write the tiled trace to this file")
    parser.add_argument("--memsnap", default=os.environ.get("MEMSNAP", "memsnap"))
    arguments = parser.parse_args()
    if arguments.tile:
        print(tile(arguments.trace, arguments.tile, arguments.megabytes * 1000 * 1000))
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "tiled.json")
        # in a process of its own, since the resident size of a new process begins with its parent's
        made = subprocess.run([sys.executable, __file__, arguments.trace, "--tile", plain,
                               "--megabytes", str(arguments.megabytes)],
                              check=True, stdout=subprocess.PIPE)
        events = int(made.stdout)
        size = os.path.getsize(plain)
        with open(plain, "rb") as source, gzip.open(plain + ".gz", "wb", 6) as packed:
            shutil.copyfileobj(source, packed)
        print(f"{size / 1e6:.0f} MB, {events:,} memory events")
        print("input   memsnap  resident  of size  json.load  its collector off  resident  times faster")
        for path in plain, plain + ".gz":
            best, resident, load, without, python = measure(path, arguments.memsnap, arguments.rounds, events)
            print(f"{'gzip' if path.endswith('.gz') else 'plain':6} {best:7.2f} s {resident / 1e6:6.0f} MB"
                  f" {resident / size:8.1%} {load:8.2f} s {without:16.2f} s {python / 1e6:6.0f} MB"
                  f" {load / best:7.1f}, {without / best:.1f}")


if __name__ == "__main__":
    main()
