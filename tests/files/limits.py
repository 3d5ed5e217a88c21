#!/usr/bin/env python3
"""Inputs made to take all the time or memory there is, and signals at bad moments.

Each input is some megabytes at most, or inflates to 32 MiB; under the sanitizers, which are slow
and do not bound memory, a quarter of that. The program must end with the status given, within
SECONDS of processor time (many times what it takes), and in memory bounded by what it reads and by
--max-memory."""
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from pickles import (BASE, EMPTY, annotation, array, event, frame, frames_in_memo, get, mapping,
                     pickled, put, segment, snapshot, text)

MEMSNAP = os.environ["MEMSNAP"]
MIB = 1 << 20
VERSION = subprocess.run([MEMSNAP, "version"], capture_output=True, check=True).stdout
SANITIZED = b"sanitizer" in VERSION
SECONDS = 100 if SANITIZED else 10
BOMB = (8 if SANITIZED else 32) * MIB
PROGRAM = 24 * MIB  # address space before anything is read: libraries, stacks
MANY = 10_000 if SANITIZED else 40_000
SHARE = int(os.environ.get("MEMSNAP_SHARE", "1"))  # see tests/local.mk; sanitizers get all inputs


def bomb(unit, before=b"\x80\x04", after=b"."):
    """gzip of `unit` again and again."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    chunk = unit * (MIB // len(unit))
    parts = [squeeze.compress(before)]
    parts += [squeeze.compress(chunk) for _ in range(BOMB // len(chunk))]
    return b"".join(parts) + squeeze.compress(after) + squeeze.flush()


def many(make, count=MANY):
    return [make(i) for i in range(count)]


def alloc(i, frames=EMPTY, **more):
    return event("alloc", BASE + 512 * i, 512, frames, time=i, **more)


def four_bytes(i):
    return b"J" + i.to_bytes(4, "little")


def bits(i):
    """A list of 18 frames of two kinds, another for every i."""
    return b"](" + b"".join(get(i >> bit & 1) for bit in range(18)) + b"e"


def span_cache():
    """Many different lists of frames, then a memo entry that changes between one and the next."""
    change = b"N" + put(9) + b"0\x88" + put(9) + b"0"
    changes = many(lambda i: change + alloc(i, bits(i % 4)), 2 * MANY)
    return snapshot((), many(lambda i: alloc(i, bits(i)), 3 * MANY) + changes,
                    frames_in_memo(["a", "b"], 0))


def long_name_many_frames():
    name = text("n" * MIB) + put(1)
    return snapshot((), many(lambda i: alloc(i, array([mapping(
        name=text("f"), filename=name if i == 0 else get(1), line=four_bytes(i))]))))


def long_name_many_sites(size, count):
    name = text("n" * size) + put(1)
    return snapshot((), many(lambda i: alloc(i, array([mapping(
        name=name if i == 0 else get(1), filename=text("f.py"), line=four_bytes(i))])), count))


def long_files_many_sites():
    """Files that differ in the last byte, and as many bytes at each line."""
    files = [b"/x/" + b"f" * (8 * MIB) + end for end in (b"a.py", b"b.py")]
    def site(i):
        name = text(files[i].decode()) + put(1 + i) if i < 2 else get(1 + (i * 7919 >> 3) % 2)
        return alloc(i, array([mapping(name=text("f"), filename=name, line=four_bytes(i))]))
    return snapshot((), many(site))


def deep_modules(size, count):
    """Modules within modules, as the recorder writes them."""
    row = {"module_params": 4096, "allocated": 4096, "reserved": 4096, "is_forward": True,
           "all_gathered": 0, "cumul_all_gathered": 0, "plain": True,
           "event": {"memory_diff": 4096, "memory_activations": 4096}}
    within = "a." * (size // 2)
    return json.dumps({"schema": "memsnap.layer-trace/1", "traces": [
        {"module_name": f"{within}m{i}", **row} for i in range(count)]}).encode()


def annotations_of_one_device():
    marks = [annotation("START", "x", i) for i in range(5 * MANY)]
    traces = array([array([alloc(0)])] * 1000)
    return pickled(mapping(segments=EMPTY, device_traces=traces, external_annotations=array(marks)))


def annotations(*stages):
    marks = [annotation(stage, f"n{i}", i) for stage in stages for i in range(MANY)]
    return snapshot((), many(alloc), external_annotations=array(marks))


def segments_at_random(action, undo):
    def at(act, i, factor):
        return event(act, BASE + (i * factor % MANY) * 4096, 4096)
    return snapshot((), many(lambda i: at(action, i, 7919)) + many(lambda i: at(undo, i, 10007)))


def training(iterations, stacks, layers):
    """Passes whose gradients stay, if events have stacks; else each iteration frees them."""
    torch = "/usr/lib/python3/dist-packages/torch/"
    stack = {"forward": [frame("forward", 3, "/home/u/model.py"),
                         frame("_call_impl", 1790, torch + "nn/modules/module.py"),
                         frame("<module>", 9, "/home/u/train.py")],
             "backward": [frame("torch::autograd::Engine::evaluate_function(x)", 0, "")]}
    stack = {which: array(frames) if stacks else EMPTY for which, frames in stack.items()}
    events, address = [], BASE

    def born(size, which):
        nonlocal address
        address += 1 << 16
        events.append(event("alloc", address, size, stack[which], time=len(events)))
        return address, size

    def freed(block, which):
        for action in ("free_requested", "free_completed"):
            events.append(event(action, *block, stack[which], time=len(events)))

    for layer in range(layers):
        born(4096 * (layer + 1), "forward")  # a weight
    for _ in range(iterations):
        saved = [born(50_000 + layer, "forward") for layer in range(layers)]
        root, gradients = born(4, "backward"), []
        for layer in reversed(range(layers)):
            gradients.append(born(4096 * (layer + 1), "backward"))
            freed(saved[layer], "backward")
        freed(root, "backward")
        for gradient in [] if stacks else gradients:
            freed(gradient, "forward")
    return snapshot((), events)


INPUTS = {  # name: (status, bytes or what makes them)
    "1 M marks": (4, pickled(b"(" * MIB)),
    "1 M lists on the stack": (0, pickled(b"]" * MIB)),
    "1 M dicts on the stack": (3, pickled(b"}" * MIB)),
    "1 M tuples in each other": (3, pickled(b")" + b"\x85" * MIB)),
    "1 M lists in each other": (3, pickled(b"]" * MIB + b"a" * (MIB - 1))),
    "1 M lists opened in each other": (4, pickled(b"](" * MIB)),
    "1 M arrays in each other": (4, b'{"a":' + b"[" * MIB),
    "1 M objects in each other": (4, b'{"a":' * (MIB // 5)),
    "8 MiB of LONG4": (0, lambda: snapshot((), [
        alloc(0, x=b"\x8b\0\0\x80\0" + b"\x7f" * (8 * MIB))])),
    "8 M decimal digits": (3, b"(dp0\nL" + b"9" * (8 * MIB) + b"L\n."),
    "many decimal integers": (3, b"(dp0\n" + (b"L" + b"9" * 1000 + b"L\n0") * 4000 + b"."),
    "memo entries that change": (0, span_cache),
    "a name of 1 MiB in many frames": (0, long_name_many_frames),
    "names of 8 MiB at many lines": (0, long_files_many_sites),
    "a value of 8 MiB in many settings": (4, lambda: snapshot(allocator_settings=mapping(
        **{f"k{i}": text("a" * (8 * MIB)) + put(1) if i == 0 else get(1) for i in range(60_000)}))),
    "a stack of 100 k frames in many events": (0, lambda: snapshot((), many(lambda i: alloc(
        i, array(many(lambda k: frame(f"f{k}", k))) + put(1) if i == 0 else get(1))))),
    "another stack in each event": (0, lambda: snapshot((), many(
        lambda i: alloc(i, array([frame(f"f{i}")]))))),
    "another key in each event": (0, lambda: snapshot((), many(
        lambda i: alloc(i, **{f"k{i}": b"N"})))),
    "another key in each object": (0, lambda: b'{"segments": [], "device_traces": [], ' +
                                   b", ".join(many(lambda i: b'"k%d": {"k": 1}' % i)) + b"}"),
    "the same key again": (0, lambda: pickled(
        mapping(segments=EMPTY)[:-1] + (text("k") + b"N") * MANY + b"u")),
    "another stream and pool in each event": (0, lambda: snapshot((), many(lambda i: alloc(
        i, pool_id=four_bytes(i) + b"K\1\x86")))),
    "600 k allocations": (0, lambda: snapshot((), many(alloc, 15 * MANY))),
    "gradients that accumulate": (0, lambda: training(MANY, True, 3)),
    "many passes without stacks": (0, lambda: training(MANY // 2, False, 8)),
    "the same address again": (0, lambda: snapshot((), [alloc(0)] * MANY)),
    "addresses 2^28 apart": (0, lambda: snapshot((), many(lambda i: event("alloc", i << 28, 512)))),
    "annotations of one of 1000 devices": (0, annotations_of_one_device),
    "annotations that never end": (0, lambda: annotations("START")),
    "annotations that never start": (0, lambda: annotations("END")),
    "annotations over each other": (0, lambda: annotations("START", "END")),
    "segments over each other": (0, lambda: snapshot(
        many(lambda i: segment(BASE, 1 << 40)), many(alloc))),
    "segments come and go": (0, lambda: segments_at_random("segment_alloc", "segment_free")),
    "mappings come and go": (0, lambda: segments_at_random("segment_map", "segment_unmap")),
    "bomb of zeros": (3, lambda: bomb(b"\0", b"")),
    "bomb of spaces": (3, lambda: bomb(b" ", b"{", b"}")),
    "bomb of NONE POP": (3, lambda: bomb(b"N0")),
    "bomb of MARK POP_MARK": (3, lambda: bomb(b"(1")),
    "bomb of PUT": (3, lambda: bomb(b"Nq\0000\x88q\0000")),
    "bomb of frames": (3, lambda: bomb(b"\x95" + bytes(8))),
    "bomb of MEMOIZE": (3, lambda: bomb(b"\x94", b"\x80\x04N")),
    "bomb of EMPTY_DICT POP": (3, lambda: bomb(b"}0")),
    "bomb of numbers": (3, lambda: bomb(b"1,", b'{"a": [', b"1]}")),
    "bomb of keys": (3, lambda: bomb(b'"a":1,', b"{", b'"a":1}')),
    "bomb of one string": (3, lambda: bomb(b"a", b'{"', b'": 1}')),
}
LIMITED = ["600 k allocations", "memo entries that change", "another stack in each event",
           "another key in each object", "many decimal integers", "bomb of EMPTY_DICT POP",
           "bomb of MEMOIZE", "bomb of one string"]


NAMES = {  # name: (bytes, MiB that are enough, command): ends with 0, prints at most 32 MiB
    "a name of 1 MiB in 200 sites": (lambda: long_name_many_sites(MIB, 200), 16,
                                     ["analyze", "--format", "json"]),
    "a name of 100 KiB in 5000 sites": (lambda: long_name_many_sites(100_000, 5000), 24,
                                        ["check", "--max-site", "f.py=1GiB"]),
    "a name of 100 KiB in 5000 rows": (lambda: long_name_many_sites(100_000, 5000), 24,
                                       ["analyze", "--top", "0", "--stacks"]),
    "units in 100,000 modules": (lambda: deep_modules(200_000, 4), 64,
                                 ["shard", "--world", "4", "--gpu", "80GiB"]),
}


class Tally:
    failed = count = 0

    def check(self, what, *problems):
        self.count += 1
        problems = [problem for problem in problems if problem]
        self.failed += bool(problems)
        for problem in problems:
            print(f"FAILED: {what}: {problem}")


def measured(memory, *arguments, out=subprocess.DEVNULL):
    """The exit status (-N: signal N) and standard error, with so many bytes of address space."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    done = subprocess.run([MEMSNAP, *arguments], stdout=out, stderr=subprocess.PIPE,
                          preexec_fn=limit, check=False)
    return done.returncode, done.stderr.decode(errors="replace")


def decoded_size(path):
    with gzip.open(path) as file:
        try:
            return file.seek(0, os.SEEK_END)
        except gzip.BadGzipFile:
            return path.stat().st_size


def check_input(tally, path, name, wanted):
    start = time.monotonic()
    status, said = measured(PROGRAM + 64 * decoded_size(path), "analyze", path)
    tally.check(name, status != wanted and f"status {status}, not {wanted}: {said}",
                "out of memory" in said and said,
                status != 0 and said.count("\n") != 1 and f"not one line: {said}")
    if os.environ.get("MEMSNAP_SHOW_TIMES"):
        print(f"{time.monotonic() - start:6.2f} s  {name}")


def check_max_memory(tally, path, name):
    for limit in (1, 16, 64) if SHARE == 1 else (16,):
        status, said = measured(PROGRAM + limit * MIB,
                                "analyze", "--max-memory", f"{limit}MiB", path)
        tally.check(f"{name}, --max-memory {limit}MiB",
                    status not in (0, 3, 4) and f"status {status}: {said}",
                    "out of memory" in said and said)


def check_names(tally, path, name, limit, arguments):
    with tempfile.TemporaryFile() as out:
        status, said = measured(PROGRAM + limit * MIB, *arguments,
                                "--max-memory", f"{limit}MiB", path, out=out)
        printed = out.seek(0, os.SEEK_END)
    tally.check(name, status != 0 and f"status {status}: {said}",
                printed > 32 * MIB and f"prints {printed} bytes")


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.01)


def has_output(child, folder):
    """Whether the child has a file in the folder, or one without a name (O_TMPFILE)."""
    if list(folder.iterdir()):
        return True
    try:
        return any(os.readlink(link).startswith(f"{folder}/")
                   for link in Path(f"/proc/{child.pid}/fd").iterdir())
    except FileNotFoundError: # closed meanwhile, or not executed yet
        return False


def check_signals(tally, folder):
    """While a gzipped capture comes slowly: no partial file, nothing beside it, and the signal's
    status."""
    pipe, outputs = folder / "pipe", folder / "outputs"
    os.mkfifo(pipe)
    outputs.mkdir()
    data = gzip.compress(snapshot((), many(alloc, 50_000)))
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
        for sent in 0, 10, len(data) - 20:
            # Whatever the tests were started with ignores (nohup: SIGHUP), a user's program does not.
            child = subprocess.Popen([MEMSNAP, "analyze", "-o", outputs / "out", pipe],
                                     stderr=subprocess.DEVNULL,
                                     preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
            try:
                # It opens the output only once the input is open, which takes a writer.
                with open(pipe, "wb") as writer:
                    writer.write(data[:sent])
                    writer.flush()
                    wait_for(lambda: has_output(child, outputs))
                    time.sleep(0.05)
                    child.send_signal(number)
                    status = child.wait(timeout=30)
                left = [path.name for path in outputs.iterdir()]
                tally.check(f"{number.name} after {sent} bytes",
                            status != -number and f"status {status}", left and f"leaves {left}")
            except (TimeoutError, subprocess.TimeoutExpired):
                child.kill()
                child.wait()
                tally.check(f"{number.name} after {sent} bytes", "still running")


def check_gone_reader(tally, path):
    """SIGPIPE, as cat and others die of it."""
    child = subprocess.Popen([MEMSNAP, "analyze", "--format", "json", path], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    child.stdout.close()
    said = child.stderr.read()
    status = child.wait()
    tally.check("reader gone", status != -signal.SIGPIPE and f"status {status}",
                said and f"says {said}")


def check_shrinking(tally, folder):
    """A file cut while it is read is read to where it ends now."""
    whole = snapshot((), many(alloc, 200_000))
    for delay in 0, 0.005, 0.02:
        path = folder / "shrinking.pickle"
        path.write_bytes(whole)
        child = subprocess.Popen([MEMSNAP, "analyze", path], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(delay)
        os.truncate(path, len(whole) // 3)
        status = child.wait()
        tally.check(f"shrinks after {delay} s", status not in (0, 3) and f"status {status}")


def main():
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "input"
        for name, (wanted, data) in list(INPUTS.items())[::1 if SANITIZED else SHARE]:
            path.write_bytes(data() if callable(data) else data)
            check_input(tally, path, name, wanted)
            if name in LIMITED:
                check_max_memory(tally, path, name)
        for name, (data, limit, arguments) in NAMES.items():
            path.write_bytes(data())
            check_names(tally, path, name, limit, arguments)
        path.write_bytes(snapshot((), many(lambda i: alloc(i, array([frame(f"f{i}")])))))
        check_gone_reader(tally, path)
        check_shrinking(tally, folder)
        check_signals(tally, folder)
    print(f"{tally.count - tally.failed} of {tally.count} checks passed")
    sys.exit(tally.failed != 0)


if __name__ == "__main__":
    main()
