#!/usr/bin/env python3
"""Histories of runs: two writers at a time, writers that are killed, files that are damaged or hostile, and locks."""
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import captures

SAMPLES = captures.TOP / "samples"
BASE = [SAMPLES / "train-loop.pickle.gz", SAMPLES / "leak.pickle.gz"]


def into(history, name, *paths, **options):
    return captures.run("ranks", "--into", history, "--run", name, *(paths or BASE), **options)


def trend(history, *arguments):
    return captures.run("trend", "--format", "json", *arguments, history)


def points(history, *arguments):
    return json.loads(trend(history, *arguments).stdout)["runs"]


def one_line(done, status, text=""):
    """Problems of a run that must fail with one line."""
    if done.returncode != status or done.stderr.count(b"\n") != 1 or text.encode() not in done.stderr:
        yield f"status {done.returncode}, not {status} with '{text}': {done.stderr.decode(errors='replace')}"


def figures_agree(history):
    """Every metric is that of the report."""
    into(history, "both")
    reports = [captures.report(path)["devices"][0] for path in BASE]
    names = {c["name"] for report in reports for c in report["categories"]}
    wanted = {"peak_active": max(r["active"]["peak_bytes"] for r in reports),
              "peak_allocated": max(r["allocated"]["peak_bytes"] for r in reports),
              "peak_reserved": max(r["reserved"]["peak_bytes"] for r in reports),
              "end_active": max(r["active"]["end_bytes"] for r in reports)}
    for name in names:
        wanted[f"category:{name}"] = max(c["bytes"] for r in reports for c in r["categories"] if c["name"] == name)
    for metric, value in wanted.items():
        got = points(history, "--metric", metric)[-1]["value"]
        if got != value:
            yield f"{metric} is {got}, not {value}"
    if points(history, "--metric", "category:none")[-1]["value"] != 0:
        yield "an unknown category has bytes"
    base = sqlite3.connect(history)
    for ident, peak in base.execute("SELECT id, peak_bytes FROM ranks"):
        for table in ("categories", "sites"):
            total = base.execute(f"SELECT sum(bytes) FROM {table} WHERE id = ?", (ident,)).fetchone()[0]
            if total != peak:
                yield f"{table} sum to {total}, not to the peak {peak}"


def two_writers(history):
    into(history, "first")
    names = [f"writer-{number}" for number in range(6)]
    processes = [subprocess.Popen([captures.MEMSNAP, "ranks", "--into", history, "--run", name, *BASE],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for name in names]
    for process in processes:
        said = process.communicate()[1]
        if process.returncode != 0:
            yield f"a writer beside others: status {process.returncode}: {said.decode()}"
    got = sorted(point["name"] for point in points(history))
    if got != sorted(["first", *names]):
        yield f"runs {got}"
    base = sqlite3.connect(history)
    if base.execute("SELECT count(*) FROM ranks").fetchone()[0] != 2 * (1 + len(names)):
        yield "ranks are missing"


def new_history_by_two(history):
    """Two processes find no file."""
    processes = [subprocess.Popen([captures.MEMSNAP, "ranks", "--into", history, *BASE], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) for _ in range(4)]
    for process in processes:
        said = process.communicate()[1]
        if process.returncode != 0:
            yield f"two first writers: status {process.returncode}: {said.decode()}"
    if len(points(history)) != 4:
        yield "first writers lose runs"


def killed_writers(history):
    into(history, "kept")
    for number in range(8):
        process = subprocess.Popen([captures.MEMSNAP, "ranks", "--into", history, "--run", f"killed-{number}", *BASE],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(0.01 * number)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    done = into(history, "after")
    if done.returncode != 0:
        yield f"after killed writers: {done.stderr.decode()}"
    base = sqlite3.connect(history)
    if base.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        yield "a killed writer damages the history"
    if base.execute("SELECT count(*) FROM runs WHERE (SELECT count(*) FROM ranks WHERE ranks.run = runs.run) <> 2"
                    ).fetchone()[0]:
        yield "half a run is stored"


INTERRUPTED = """
import os, sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
base.execute("PRAGMA cache_size = 1")
base.execute("BEGIN")
for i in range(20000):
    base.execute("INSERT INTO runs(name, time, failed) VALUES(?, 0, 0)", (f"half-{i}" * 10,))
os._exit(9)
"""


def interrupted_transaction(history):
    """A writer that was killed between its writes leaves a journal; the next one rolls it back."""
    into(history, "kept")
    subprocess.run([sys.executable, "-c", INTERRUPTED, history], check=False)
    if not pathlib.Path(f"{history}-journal").exists():
        yield "the test leaves no journal"
    yield from one_line(trend(history), 5, "a process that wrote was interrupted")
    done = into(history, "repaired")
    if done.returncode != 0:
        yield f"after an interrupted transaction: {done.stderr.decode()}"
    if [point["name"] for point in points(history)] != ["kept", "repaired"]:
        yield f"runs after a repair: {points(history)}"


def locks(history):
    into(history, "first")
    base = sqlite3.connect(history, isolation_level=None)
    base.execute("BEGIN EXCLUSIVE")
    begun = time.monotonic()
    yield from one_line(trend(history), 5, "locked by another process for 10 s")
    if time.monotonic() - begun > 30:
        yield "waits too long for a lock"
    base.execute("ROLLBACK")
    if trend(history).returncode != 0:
        yield "does not read after a lock"


def failed_files(history, folder):
    broken = folder / "rank7.pickle"
    broken.write_bytes(b"\x80\x04broken")
    done = into(history, "broken", *BASE, broken)
    if done.returncode != 3 or points(history)[-1]["failed"] != 1:
        yield f"a broken file: status {done.returncode}, {points(history)[-1]}"
    before = len(points(history))
    done = captures.run("ranks", "--strict", "--into", history, broken, *BASE)
    if done.returncode != 3 or len(points(history)) != before:
        yield f"--strict stores a run: status {done.returncode}"
    done = into(history, "none", broken)
    if done.returncode != 3 or len(points(history)) != before:
        yield "a run without a capture is stored"


def change(history, sql):
    base = sqlite3.connect(history, isolation_level=None)
    base.execute("PRAGMA writable_schema = ON")
    base.executescript(sql)
    base.close()


FOREIGN = {
    "a view for a table": ("ALTER TABLE ranks RENAME TO old; CREATE VIEW ranks AS SELECT * FROM old;", 3),
    "another program": ("PRAGMA application_id = 7;", 3),
    "a newer version": ("PRAGMA user_version = 2;", 3),
    "no table": ("DROP TABLE sites; DROP TABLE categories; DROP TABLE ranks;", 3),
    "a huge text": ("UPDATE runs SET name = hex(zeroblob(3000000));", 3),
    "a schema that is no SQL": ("UPDATE sqlite_master SET sql = 'CREATE TABLE runs(((' WHERE name = 'runs';", 3),
}


def foreign(path, folder):
    for name, (sql, status) in FOREIGN.items():
        history = folder / "foreign.sqlite"
        shutil.copy(path, history)
        change(history, sql)
        yield from (f"{name}: {problem}" for problem in one_line(trend(history), status))
    texts = {"text": b"hello\n" * 100, "empty": b"", "a header alone": b"SQLite format 3\0"}
    for name, data in texts.items():
        (folder / "other").write_bytes(data)
        yield from (f"{name}: {problem}" for problem in one_line(trend(folder / "other"), 3, "history"))
    (folder / "other").write_bytes(texts["text"])
    yield from one_line(into(folder / "other", "x"), 3, "found no database")
    if (folder / "other").read_bytes() != texts["text"]:
        yield "a foreign file is changed"
    yield from one_line(trend(folder), 5)
    yield from one_line(trend(folder / "absent"), 5)


def triggers(path, folder):
    """What a foreign schema defines does not run, and foreign text is escaped."""
    history = folder / "trigger.sqlite"
    shutil.copy(path, history)
    change(history, "CREATE TABLE loot(x); CREATE TRIGGER t AFTER INSERT ON runs BEGIN INSERT INTO loot VALUES(1); END;"
                    "UPDATE runs SET name = char(27) || '[31m' || x'ff0a';")
    done = into(history, "x")
    if done.returncode != 0:
        yield f"beside a trigger: {done.stderr.decode()}"
    if sqlite3.connect(history).execute("SELECT count(*) FROM loot").fetchone()[0]:
        yield "a trigger ran"
    said = captures.run("trend", history).stdout
    if b"\x1b" in said or b"\xff" in said or b"\\x1b[31m\\xff\\n" not in said:
        yield f"text is not escaped: {said}"


def damaged(path, folder):
    whole = bytearray(path.read_bytes())
    chance = random.Random(5)
    for number in range(len(captures.some(range(160)))):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 4, 40))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        if number % 4 == 0:
            del data[chance.randrange(len(data)):]
        (folder / "damaged").write_bytes(data)
        done = captures.run("trend", "--metric", "category:activation", folder / "damaged", timeout=100)
        if done.returncode not in (0, 3, 4, 5) or done.stderr.count(b"\n") != (done.returncode != 0):
            yield f"damage {number}: status {done.returncode}: {done.stderr}"


def main():
    tally = captures.Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if b"was built without SQLite" in into(folder / "probe.sqlite", "probe").stderr:
            print("built without SQLite")
            sys.exit(captures.SKIPPED)
        for number, test in enumerate((figures_agree, two_writers, killed_writers, interrupted_transaction, locks)):
            tally.check(test.__name__, test(folder / f"{number}.sqlite"))
        for number in range(5):
            tally.check("new_history_by_two", new_history_by_two(folder / f"new-{number}.sqlite"))
        tally.check("failed_files", failed_files(folder / "failed.sqlite", folder))
        for test in (foreign, triggers, damaged):
            tally.check(test.__name__, test(folder / "0.sqlite", folder))
    tally.end()


if __name__ == "__main__":
    main()
