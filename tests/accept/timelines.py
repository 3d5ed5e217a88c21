#!/usr/bin/env python3
"""Memory timelines of torch.profiler against a plain reading: the sum of each category after every microsecond, the
peak, what is live then by category and size, and the end. Real files, and random ones in both forms."""
import collections
import csv
import gzip
import io
import json
import pathlib
import random
import tempfile

import captures

NAMES = ("parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", "unknown")
PREEXISTING, CREATE, VERSION, DESTROY = 1, 2, 3, 4


def by_time(changes):
    """{time: sums}, with the sums after the last change of each time."""
    sums, after = [0] * len(NAMES), {}
    for time, size, category in changes:
        sums[category] += size
        after[time] = tuple(sums)
    return after


def of_rows(rows):
    """The changes of a .raw.json file; microseconds."""
    first = next((row[0] for row in rows if row[0] >= 0), 0)
    return [((first if time < 0 else time) // 1000, size, category) for time, _, size, category in rows]


def plain_rows(rows):
    live, now, peak, at_peak = collections.Counter(), 0, 0, collections.Counter()
    for _, action, size, category in rows:
        now += size
        live[category, abs(size)] += 1 if size > 0 else -1
        if now > peak:
            peak, at_peak = now, +live
    return peak, now, at_peak


def plain_sums(times, sizes):
    totals = [sum(row) for row in sizes]
    peak = max(totals, default=0)
    at_peak = dict(zip(NAMES, sizes[totals.index(peak)][1:])) if totals else {}
    return peak, totals[-1] if totals else 0, at_peak


def exported(path):
    done = captures.run("export", "--table", "events", path)
    if done.returncode != 0:
        raise AssertionError(f"{path}: {done.stderr.decode()}")
    signs = {"alloc": 1, "free_completed": -1}
    return [(int(row["time_us"]), signs[row["action"]] * int(row["size"]), NAMES.index(row["category"]))
            for row in csv.DictReader(io.StringIO(done.stdout.decode()))]


def problems(path, value):
    report = captures.report(path, "--top", "0")
    if report["input"]["format"] != "memory-timeline":
        yield f"format {report['input']['format']}"
    is_sums = len(value) == 2 and (not value[1] or isinstance(value[1][0], list))
    if is_sums:
        peak, end, bytes_at_peak = plain_sums(*value)
        after = {time: tuple(row[1:]) for time, row in zip(*value)}
    else:
        peak, end, live = plain_rows(value)
        bytes_at_peak = collections.Counter()
        for (category, size), count in live.items():
            bytes_at_peak[NAMES[category]] += size * count
        after = by_time(of_rows(value))
    if not after:
        if report["devices"]:
            yield "has devices"
        return
    device = report["devices"][0]
    if (device["active"]["peak_bytes"], device["active"]["end_bytes"]) != (peak, end):
        yield f"peak and end {device['active']}, not {peak} and {end}"
    found = {row["name"]: row["bytes"] for row in device["categories"]}
    if found != {name: size for name, size in bytes_at_peak.items() if size}:
        yield f"categories at the peak {found}, not {dict(bytes_at_peak)}"
    if not is_sums:
        sites = {(row["category"], row["bytes"] // row["count"]): row["count"] for row in device["sites"]}
        want = {(NAMES[category], size): count for (category, size), count in live.items()}
        if sites != want:
            yield f"sizes at the peak {sorted(sites.items())[:5]}, not {sorted(want.items())[:5]}"
    curve, last = by_time(exported(path)), (0,) * len(NAMES)
    for time, sums in sorted(after.items()):
        last = curve.get(time, last)
        if last != sums:
            yield f"at {time} us: {last}, not {sums}"
            return


def random_rows(rng):
    """What torch writes: blocks that are made, change their category, and end."""
    rows, live, time = [], [], 1_700_000_000_000_000_000
    for _ in range(rng.randrange(8)):
        live.append([rng.choice((1, 8, 512, 1 << 20, 3 << 30)), rng.randrange(len(NAMES))])
        rows.append([-1, PREEXISTING, *live[-1]])
    for _ in range(rng.randrange(1, 200)):
        time += rng.choice((0, 1, 200, 999, 1000, 54321))
        what = rng.random()
        if what < .5 or not live:
            live.append([rng.choice((1, 8, 512, 513, 1 << 20, 12345678)), rng.randrange(len(NAMES))])
            rows.append([time, CREATE, *live[-1]])
            continue
        block = rng.choice(live)
        if what < .7:
            old, block[1] = block[1], rng.choice((block[1], rng.randrange(len(NAMES))))
            rows.append([time, VERSION, -block[0], old])
            rows.append([time, VERSION, *block])
        else:
            live.remove(block)
            rows.append([time, DESTROY, -block[0], block[1]])
    return rows


def as_sums(rows):
    """What torch writes to a .json file for the same changes."""
    after = by_time(of_rows(rows))
    times, sizes = list(after), [[0, *sums] for sums in after.values()]
    older = [row for row in rows if row[0] < 0]
    if older:
        first = by_time(of_rows(older))
        times.insert(0, times[0])
        sizes.insert(0, [0, *list(first.values())[-1]])
    return [times, sizes]


def main():
    tally = captures.Tally()
    for path in captures.all_samples() + captures.corpus("artifacts/*.timeline*.json.gz"):
        if ".timeline." in path.name:
            tally.check(path.name, problems(path, json.loads(gzip.decompress(path.read_bytes()))))
    rng = random.Random(18)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "random.json")
        for number in captures.some(range(100)):
            rows = random_rows(rng)
            for form in rows, as_sums(rows):
                path.write_text(json.dumps(form), encoding="ascii")
                tally.check(f"random {number}", problems(path, form))
    tally.end()


main()
