#!/usr/bin/env python3
"""Record the sample programs without a GPU, by `memsnap dryrun`: record.py [NAME...]

Writes recorded/NAME.pickle.gz and, beside it, NAME.truth.json.gz: a label for every allocation. Two recordings by the
same version of PyTorch are equal to the byte. README.md says more.
"""
import argparse
import json
import os
import pickle
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from recording import labels, scrub

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
MOST_MEMORY = 12 << 30
ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
               "PYTHONWARNINGS": "ignore"}


def recipes():
    """{name of the capture: (options of memsnap dryrun, program and its arguments)}, from the programs' first lines."""
    found = {}
    for program in sorted(PROGRAMS.glob("*.py")):
        for name, options, command in re.findall(r"^([a-z0-9-]+): (--.*) -- (.*)$", program.read_text(), re.M):
            found[name] = options.split(), command.split()
    return found


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


def run(args, options, command, folder):
    """(capture, what the program knows)"""
    dump, known = folder / "dump.pickle", folder / "known.json"
    program = [args.python, PROGRAMS / command[0], *command[1:]]
    done = subprocess.run([args.memsnap, "dryrun", *options, "--output", dump, "--", *program], cwd=folder,
                          env=os.environ | ENVIRONMENT | {"MEMSNAP_TRUTH": str(known)}, preexec_fn=limit_memory,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode not in (0, 1) or not dump.exists() or not known.exists():  # 1: out of memory
        raise SystemExit(f"{command[0]}: no capture:\n{done.stdout}")
    return pickle.loads(dump.read_bytes()), json.loads(known.read_text())


def write(name, capture, truth, folder):
    (folder / f"{name}.pickle.gz").write_bytes(scrub.pickled(capture))
    (folder / f"{name}.truth.json.gz").write_bytes(scrub.packed(json.dumps(truth, separators=(",", ":")).encode()))


def main():
    known_recipes = recipes()
    parser = argparse.ArgumentParser(description="Record the sample programs without a GPU.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known_recipes)}; default: all")
    parser.add_argument("--memsnap", default="memsnap", metavar="PROGRAM", help="default: the one on the PATH")
    parser.add_argument("--python", default=sys.executable,
                        help="with PyTorch's CUDA build and torchvision; default: this one")
    parser.add_argument("--folder", type=Path, default=HERE / "recorded", help="default: recorded")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.names or known_recipes:
        options, command = known_recipes[name]
        with tempfile.TemporaryDirectory() as folder:
            capture, known = run(args, options, command, Path(folder))
        given = labels.labels(capture, known)
        names = sorted({label for labels_of_device in given for label in labels_of_device})
        truth = {"program": command, "options": options, "torch": known["torch"], "names": names,
                 "labels": [[names.index(label) for label in labels_of_device] for labels_of_device in given]}
        write(name, scrub.scrub(capture, scrub.Paths(PROGRAMS, known)), truth, args.folder)
        size = (args.folder / f"{name}.pickle.gz").stat().st_size
        print(f"{name}: {sum(map(len, capture['device_traces']))} events, {size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
