#!/usr/bin/env python3
"""The database of `memsnap export -o X.sqlite` holds what the other exports and the report hold, and the queries in the
README run."""
import json
import os
import pathlib
import re
import resource
import signal
import sqlite3
import sys
import subprocess
import tempfile
import time

import captures

# Columns of the exported table, and the query for the same rows of the database.
SITE = "(SELECT {} FROM sites WHERE sites.site = rows.site)"
QUERIES = {
    "allocations": "SELECT {} FROM allocations AS rows ORDER BY rows.id",
    "events": "SELECT {} FROM events AS rows ORDER BY device < 0, device, event",
    "segments": "SELECT {} FROM segments AS rows WHERE moment = 'end' ORDER BY id",
    "blocks": "SELECT {} FROM blocks AS rows WHERE moment = 'end' ORDER BY id",
    "stacks": "SELECT {} FROM stack_lines AS rows ORDER BY stack, depth",
    "annotations": "SELECT {} FROM annotations AS rows ORDER BY id",
}


def export(path, output, *arguments):
    return captures.run("export", *arguments, path, "-o", output)


def column_of(table, name):
    if name == "site":
        place = SITE if table != "events" else "(SELECT {} FROM stacks JOIN sites USING(site) WHERE stack = rows.stack)"
        return place.format("label")
    if name == "operator":
        place = SITE if table != "events" else "(SELECT {} FROM stacks JOIN sites USING(site) WHERE stack = rows.stack)"
        return place.format("operator")
    return f"rows.{name}"


def signed(value):
    """SQLite's integers have a sign."""
    return value - 2 ** 64 if isinstance(value, int) and value >= 2 ** 63 else value


def tables_agree(path, base):
    for table, query in QUERIES.items():
        done = captures.run("export", "--format", "jsonl", "--table", table, path)
        wanted = [json.loads(line) for line in done.stdout.splitlines()]
        if not wanted:
            continue
        columns = list(wanted[0])
        rows = base.execute(query.format(", ".join(column_of(table, name) for name in columns))).fetchall()
        if len(rows) != len(wanted):
            yield f"{table}: {len(rows)} rows, not {len(wanted)}"
        for row, want in zip(rows, wanted):
            if list(row) != [signed(value) for value in want.values()]:
                yield f"{table}: {row}, not {want}"
                break


def sums_agree(path, base):
    for device in captures.report(path)["devices"]:
        number = -1 if device["device"] == "host" else device["device"]
        active, allocated = device["active"], device["allocated"]
        row = base.execute("SELECT active_baseline_bytes, active_peak_bytes, active_peak_event, active_end_bytes,"
                           " allocated_peak_bytes, unexplained_bytes FROM devices WHERE device = ?", (number,)).fetchone()
        if row[:5] != (active["baseline_bytes"], active["peak_bytes"], active["peak_event"], active["end_bytes"],
                       allocated["peak_bytes"]):
            yield f"device {number}: {row}, not {active}"
        if "reserved" in device:
            reserved = base.execute("SELECT reserved_peak_bytes, reserved_end_bytes, reserved_at_active_peak_bytes"
                                    " FROM devices WHERE device = ?", (number,)).fetchone()
            if reserved != tuple(device["reserved"][key] for key in ("peak_bytes", "end_bytes", "at_active_peak_bytes")):
                yield f"device {number}: reserved {reserved}, not {device['reserved']}"
        wanted = {c["name"]: (c["bytes"], c["count"]) for c in device["categories"]}
        if wanted.get("unexplained", (0, 0))[0] != row[5]:
            yield f"device {number}: {row[5]} unexplained, not {wanted.get('unexplained')}"
        for source in ("SELECT category, peak_bytes, peak_count FROM categories WHERE device = ?",
                       "SELECT category, bytes, count FROM live_at_peak_by_category WHERE device = ?"):
            got = {name: (size, count) for name, size, count in base.execute(source, (number,))}
            if {k: v for k, v in got.items() if k != "unexplained"} != {
                    k: v for k, v in wanted.items() if k != "unexplained"}:
                yield f"device {number}: {source}: {got}, not {wanted}"
        by_site = base.execute("SELECT coalesce(sum(bytes), 0) FROM live_at_peak_by_site WHERE device = ?",
                               (number,)).fetchone()[0]
        if by_site + row[5] != active["peak_bytes"]:
            yield f"device {number}: sites sum to {by_site}, not to {active['peak_bytes']}"


def view_problems(base):
    views = [name for name, in base.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
    if len(views) < 7:
        yield f"only the views {views}"
    for view in views:
        base.execute(f"SELECT * FROM {view}").fetchall()
    if base.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        yield "the database is not consistent"
    if base.execute("PRAGMA foreign_key_check").fetchall():
        yield "rows refer to what is not there"


def problems_of(path, folder):
    output = pathlib.Path(folder, "capture.sqlite")
    done = export(path, output)
    if done.returncode != 0:
        yield f"status {done.returncode}: {done.stderr.decode()}"
        return
    base = sqlite3.connect(output)
    yield from view_problems(base)
    yield from tables_agree(path, base)
    yield from sums_agree(path, base)
    base.close()


def readme_problems(folder):
    """The three queries of the README, on the sample that it names."""
    text = (captures.TOP / "README.md").read_text()
    queries = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    queries = [query for block in queries for query in block.split(";") if query.strip()]
    if len(queries) != 3:
        yield f"{len(queries)} queries, not three"
    output = pathlib.Path(folder, "readme.sqlite")
    export(captures.TOP / "samples" / "leak.pickle.gz", output)
    base = sqlite3.connect(output)
    for query in queries:
        if not base.execute(query).fetchall():
            yield f"no row for {query}"
    base.close()


def limited():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


def failure_problems(folder):
    """Nothing is left of what cannot be written, or is interrupted, and an older file stays."""
    sample = captures.TOP / "samples" / "leak.pickle.gz"
    clean = pathlib.Path(folder, "clean")
    clean.mkdir()
    output = clean / "a.sqlite"
    done = captures.run("export", sample, "-o", output, preexec_fn=limited)
    if done.returncode != 5 or done.stderr.count(b"\n") != 1 or b"File too large" not in done.stderr:
        yield f"a full disk: status {done.returncode}: {done.stderr}"
    if os.listdir(clean):
        yield f"a full disk leaves {os.listdir(clean)}"
    output.write_text("old")
    done = captures.run("export", sample, "-o", output, preexec_fn=limited)
    if output.read_text() != "old":
        yield "a full disk changes the old file"
    for _ in range(5):
        process = subprocess.Popen([captures.MEMSNAP, "export", sample, "-o", output], stderr=subprocess.PIPE)
        time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        process.communicate()
        if os.listdir(clean) != ["a.sqlite"]:
            yield f"an interrupt leaves {os.listdir(clean)}"
        if process.returncode != 0 and output.read_text() != "old":
            yield "an interrupt changes the old file"
        output.write_text("old")


def main():
    tally = captures.Tally()
    with tempfile.TemporaryDirectory() as folder:
        probe = export(captures.TOP / "samples" / "leak.pickle.gz", pathlib.Path(folder, "probe.sqlite"))
        if b"was built without SQLite" in probe.stderr:
            print("built without SQLite")
            sys.exit(captures.SKIPPED)
        for path in captures.samples() + captures.corpus():
            tally.check(path.name, problems_of(path, folder))
        tally.check("README", readme_problems(folder))
        tally.check("failures", failure_problems(folder))
    tally.end()


if __name__ == "__main__":
    main()
