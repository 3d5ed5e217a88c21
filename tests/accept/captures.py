"""What the acceptance tests share: the captures, the program, and a tally."""
import json
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("srcdir", "."))
MEMSNAP = os.environ.get("MEMSNAP", "./memsnap")
SKIPPED = 77
# MEMSNAP_SHARE=N: of what a test makes up or combines, an Nth; every fourth sample; and no capture above
# LARGE.
SHARE = int(os.environ.get("MEMSNAP_SHARE", "1"))
LARGE = 1_000_000


def skip_slow_checks_of_memory():
    """Under the sanitizers, leaves those out for which hostile.py is there: they take half of the time of a short run."""
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:detect_stack_use_after_return=0"


def is_snapshot(path):
    return not any(part in path.name for part in (".layers.", ".operators.", ".trace.", ".timeline.", ".stats."))


def all_samples():
    return sorted(p for p in (TOP / "samples").iterdir() if ".pickle" in p.name or ".json" in p.name)


def samples():
    """Snapshots of the allocator."""
    found = [path for path in all_samples() if is_snapshot(path)]
    return found if SHARE == 1 else found[::4]


def layer_traces():
    return [path for path in all_samples() + corpus("*.layers.json") if ".layers." in path.name]


def some(things):
    return list(things)[::SHARE]


def corpus(pattern="*.pickle", large=SHARE == 1):
    """Real captures, where they are at hand; says so where they are not."""
    folder = pathlib.Path(os.environ.get("MEMSNAP_CORPUS", TOP / ".." / "shared" / "corpus"))
    if not folder.is_dir():
        print(f"note: no folder of real captures at {folder} (MEMSNAP_CORPUS): only samples tested")
        return []
    return sorted(path for path in folder.glob(pattern) if large or path.stat().st_size < LARGE)


def run(*arguments, **options):
    return subprocess.run([MEMSNAP, *map(str, arguments)], capture_output=True, check=False,
                          **options)


def analyze(*arguments, **options):
    return run("analyze", *arguments, **options)


def report(path, *arguments):
    """The JSON report of one capture."""
    done = analyze("--format", "json", *arguments, path)
    if done.returncode != 0:
        raise AssertionError(f"{path}: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, problems):
        problems = list(problems)
        self.passed += not problems
        self.failed += bool(problems)
        for problem in problems[:10]:
            print(f"FAILED {name}: {problem}")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
