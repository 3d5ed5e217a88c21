#!/usr/bin/env python3
"""`memsnap dump` prints every pickle as CPython reads it.

Random structures pickled by both of Python's picklers at every protocol, random programs of
opcodes, CPython's own test vectors, and captures: over 20,000 pickles, in which every opcode there is
occurs often, are compared, sharing and numbering included, with what inert.py and inert_json.py make
of them by Python's own unpickler.
MEMSNAP_SHARE=10 tests a tenth of them.
"""
import collections
import gzip
import io
import json
import os
import pickle
import pickletools
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import captures
import inert_json
import programs
import specimens
from captures import SHARE

BATCH = 500
FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # many small files
CASES = 20_000
LEAST_OF_EACH_OPCODE = 50
SEED = 20_240_229


class ById:
    """Mixed into a pickler: Persistent is saved as a persistent id, buffers may go out of band."""
    def persistent_id(self, thing):
        return thing.pid if isinstance(thing, specimens.Persistent) else None


class CPickler(ById, pickle.Pickler):
    pass


class PythonPickler(ById, pickle._Pickler):
    pass


def pickled(name, structure):
    """By each pickler at each protocol, where it can be; at 5 with buffers inside and outside."""
    for pickler in (CPickler, PythonPickler):
        for protocol in range(6):
            for outside in (False, True)[:1 + (protocol == 5)]:
                file = io.BytesIO()
                options = {"buffer_callback": lambda buffer: False} if outside else {}
                try:
                    pickler(file, protocol, **options).dump(structure)
                except (pickle.PicklingError, TypeError, ValueError, AttributeError, RecursionError,
                        AssertionError):
                    continue  # not in this protocol: slots, buffers, a local function...
                yield f"{name}-{pickler.__name__}-{protocol}{'o' * outside}", file.getvalue()


def structures():
    for index in range(1150 // SHARE):
        rng = random.Random(SEED + index)
        maker = specimens.Maker(rng, persistent=index % 4 == 0)
        yield from pickled(f"structure{index}", maker.value(rng.randrange(1, 6)))


def edges():
    numbers = [sign * (power + delta) for power in (10 ** 4300, 1 << 14284, 1 << 14288, 1 << 20_000)
               for delta in (-1, 0, 1) for sign in (1, -1)]
    yield from pickled("numbers", numbers)
    yield from pickled("integers", specimens.EDGES)
    yield from pickled("floats", specimens.FLOATS)
    yield from pickled("texts", [specimens.TEXTS, specimens.TEXTS])
    yield from pickled("tuples", [tuple(range(length)) for length in (*range(20), 255, 256)])
    for size in (1000, 1001, 2001):
        yield from pickled(f"list{size}", list(range(size)))
        yield from pickled(f"dict{size}", {str(i): i for i in range(size)})
        yield from pickled(f"set{size}", [set(range(size)), frozenset(range(size))])
    for index, thing in enumerate(specimens.GLOBALS):
        yield from pickled(f"global{index}", [thing, thing])


def captured():
    for path in captures.samples() + captures.corpus():
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        if ".pickle" in path.name and len(data) < 500_000 // SHARE:
            yield path.name, data


def random_programs():
    for index in range(8000 // SHARE):
        rng = random.Random(SEED + index)
        yield f"program{index}", programs.Program(rng).run(rng.randrange(50))


def cpython_vectors():
    try:
        from test import pickletester
    except ImportError:
        print("note: CPython's own test vectors are not installed (test.pickletester): left out")
        return
    for name, data in vars(pickletester).items():
        if name.startswith("DATA") and isinstance(data, bytes):
            yield name, data
    yield from pickled("create_data", pickletester.create_data())
    for number, thing in enumerate(pickletester.myclasses):
        yield from pickled(f"myclasses{number}", thing())
    for name in dir(pickletester):
        thing = getattr(pickletester, name)
        if isinstance(thing, type) and thing.__module__ == pickletester.__name__:
            yield from pickled(f"class-{name}", [thing, thing.__name__])


def dump(folder, *arguments):
    return subprocess.run([Path(captures.MEMSNAP).resolve(), "dump", *map(str, arguments)], cwd=folder,
                          capture_output=True, check=False)


def no_key_twice(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        raise AssertionError(f"a key stands twice in {[key for key, _ in pairs]}")
    return made


def dumped(batch):
    """What the program prints of each pickle of the batch: its line, and its complaint."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        for index, (_, data) in enumerate(batch):
            (Path(folder) / str(index)).write_bytes(data)
        done = dump(folder, *range(len(batch)))
        if done.returncode not in (0, 3, 4):
            raise AssertionError(f"status {done.returncode}: {done.stderr.decode()}")
    complaints = {}
    for line in done.stderr.decode().splitlines():
        complaints[int(line.split(": ")[1])] = line
    lines = iter(done.stdout.splitlines())
    for index in range(len(batch)):
        yield (None, complaints[index]) if index in complaints else (next(lines), None)


def difference(want, got):
    """The first place where two texts are not the same."""
    at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
    return f"expected ...{want[max(at - 60, 0):at + 120]}, found ...{got[max(at - 60, 0):at + 120]}"


def problems(index, data, line, complaint):
    try:
        want = json.dumps(inert_json.dump(data))
    except RecursionError:
        return ["too deep for this test"]
    if complaint:
        return [f"refused: {complaint}: {data[:300]}"]
    got = json.loads(line, object_pairs_hook=no_key_twice)
    head = {"schema": "memsnap.dump/1",
            "input": {"path": str(index), "format": "pickle", "compression": "none"}}
    if {key: got.pop(key) for key in head} != head:
        return [f"another beginning of the line: {line[:200]}"]
    got = json.dumps(got)
    return [] if got == want else [difference(want, got)]


class Comparison:
    def __init__(self, tally):
        self.tally, self.batch, self.cases = tally, [], 0
        self.opcodes = collections.Counter()  # until each has been seen often enough: to go through a pickle is slow

    def add(self, name, data):
        self.batch.append((name, data))
        if len(self.batch) == BATCH:
            self.compare()

    def compare(self):
        counts = self.rare()
        for index, (line, complaint) in enumerate(dumped(self.batch)):
            name, data = self.batch[index]
            self.tally.check(name, problems(index, data, line, complaint))
            if counts:
                self.count_opcodes(data)
        self.cases += len(self.batch)
        self.batch = []

    def count_opcodes(self, data):
        try:
            self.opcodes.update(opcode.name for opcode, _, _ in pickletools.genops(data))
        except UnicodeDecodeError:
            pass  # pickletools takes a STRING in ASCII only

    def rare(self):
        return [f"{opcode.name} occurs {self.opcodes[opcode.name]} times" for opcode in pickletools.opcodes
                if self.opcodes[opcode.name] < LEAST_OF_EACH_OPCODE // SHARE]

    def end(self):
        self.compare()
        self.tally.check("every opcode", self.rare())
        few = self.cases < CASES // SHARE
        self.tally.check("number of pickles", [f"{self.cases} only"] if few else [])


def alike_at_every_protocol(tally):
    """What every protocol can say is said alike."""
    for index in range(160 // SHARE):
        structure = specimens.plain_data(random.Random(SEED + index))
        batch = list(pickled(f"plain{index}", structure))
        values = {line.split(b'"compression":"none"},', 1)[1] if line else complaint
                  for line, complaint in dumped(batch)}
        tally.check(f"plain{index}", [] if len(values) == 1 and len(batch) == 14 else
                    [f"{len(values)} ways to print {structure!r}"[:1000]])


def damaged(tally):
    """Pickles with a byte changed: refused with status 3 or 4, or read as Python does."""
    rng = random.Random(SEED)
    batch = []
    for index in range(3000 // SHARE):
        data = bytearray(programs.Program(rng).run(rng.randrange(12)))
        data[rng.randrange(len(data))] = rng.randrange(256)
        batch.append((f"damaged{index}", bytes(data)))
    for index, (line, complaint) in enumerate(dumped(batch)):
        name, data = batch[index]
        try:
            inert_json.dump(data)
        except Exception:  # whatever Python says of it
            tally.check(name, [] if complaint else [f"read, though Python refuses it: {data[:300]}"])
        else:
            far_memo = complaint and "memo index" in complaint  # one that no file so small would need
            tally.check(name, [] if far_memo else problems(index, data, line, complaint))


DANGEROUS = {
    "REDUCE": b"cos\nsystem\n(V%s\ntR.",
    "INST": b"(V%s\nios\nsystem\n.",
    "OBJ": b"(cos\nsystem\nV%s\no.",
    "STACK_GLOBAL": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x0c%s\x85R.",
    "discarded": b"cos\nsystem\n(V%s\ntR0N.",
    "eval": b"c__builtin__\neval\n(V__import__('os').system('%s')\ntR.",
    "BUILD": b"ctypes\nSimpleNamespace\n)\x81}V__setstate__\ncos\nsystem\nsbV%s\nb.",
    "NEWOBJ": b"cfunctools\npartial\n(cos\nsystem\nV%s\nt\x81)R.",
    "NEWOBJ_EX": b"cfunctools\npartial\n(cos\nsystem\nV%s\nt}\x92)R.",
}


def nothing_runs(tally):
    """Pickles that would run a command under Python, which is first shown, are only data."""
    for name, template in DANGEROUS.items():
        data = template % b"touch canary"
        with tempfile.TemporaryDirectory() as folder:
            canary, path = Path(folder) / "canary", Path(folder) / "pickle"
            path.write_bytes(data)
            subprocess.run([sys.executable, "-c", "import pickle; pickle.load(open('pickle', 'rb'))"],
                           cwd=folder, capture_output=True, check=False)
            tally.check(f"{name} is dangerous", [] if canary.exists() else ["Python did not run it"])
            canary.unlink(missing_ok=True)
            done = dump(folder, "pickle")
            tally.check(f"{name} does not run", ["it did"] if canary.exists() else [])
            tally.check(f"{name} is shown", [] if done.returncode == 0 and b"touch canary" in done.stdout
                        else [repr(done)])


def only_value(data, *arguments):
    """The exit status, and the value that is printed, as it stands there."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pickle").write_bytes(data)
        done = dump(folder, "pickle", *arguments)
    return done.returncode, done.stdout.partition(b'"value":')[2][:-2]


def limits(tally):
    """Depth, repetition and memory: what memsnap-dump(1) promises."""
    deep, often = 1_000_000 // SHARE, 100_000 // SHARE

    def check(name, data, wanted, *arguments):
        status, found = only_value(data, *arguments)
        tally.check(name, [] if (status, found) == wanted else [f"{status}, {found[:200]}..."])

    check("nested lists", b"]" * deep + b"a" * (deep - 1) + b".", (0, b"[" * deep + b"]" * deep))
    check("nested dicts", b"}" + b"V\n}" * deep + b"s" * deep + b".",
          (0, b'{"":' * deep + b"{}" + b"}" * deep))
    check("nested tuples", b")" + b"\x85" * deep + b".",
          (0, b'{"$tuple":[' * (deep + 1) + b"]}" * (deep + 1)))
    check("a million marks", b"(" * 1_000_000 + b"l" * 1_000_000 + b".",
          (0, b"[" * 1_000_000 + b"]" * 1_000_000))
    check("more marks", b"(" * 1_000_001 + b"l" * 1_000_001 + b".", (4, b""))
    check("memory", b"]" * 1_000_000 + b".", (4, b""), "--max-memory", "1MiB")

    doubling = b"]\x94" + b"".join(b"(h%ch%cl\x94" % (i, i) for i in range(200)) + b"."
    status, found = only_value(doubling)
    tally.check("2^200 lists", [] if status == 0 and len(found) < 40 * 200 else [f"{len(found)} bytes"])
    text = b"x" * 1_000_000
    status, found = only_value(b"](X" + len(text).to_bytes(4, "little") + text + b"\x94" +
                               b"h\0" * often + b"e.")
    tally.check("a long text, often", [] if status == 0 and len(found) < len(text) + 12 * often else
                [f"{len(found)} bytes"])


def main():
    sys.setrecursionlimit(20_000)
    start = time.monotonic()
    tally = captures.Tally()
    comparison = Comparison(tally)
    for source in (edges, structures, random_programs, cpython_vectors, captured):
        for name, data in source():
            comparison.add(name, data)
    comparison.end()
    print(f"{comparison.cases} pickles, with each of the {len(comparison.opcodes)} kinds of opcodes at least "
          f"{min(comparison.opcodes.values())} times")
    alike_at_every_protocol(tally)
    damaged(tally)
    nothing_runs(tally)
    limits(tally)
    print(f"{time.monotonic() - start:.1f} s")
    tally.end()


if __name__ == "__main__":
    main()
