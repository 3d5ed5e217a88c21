#!/usr/bin/env python3
"""Record all ranks of programs/pipeline_stages.py without a GPU: record_ranks.py OUT.summary.gz

Each rank is a dry run of its own. The captures are summarised by `memsnap merge`; --captures keeps them, too.
"""
import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

from record import ENVIRONMENT, PROGRAMS, limit_memory
from recording import scrub

WORLD = 8


def record(args, rank, path):
    command = [args.memsnap, "dryrun", "--world", str(WORLD), "--rank", str(rank), "--gpu", "a100", "--steps", "4",
               "--output", path, "--", args.python, PROGRAMS / "pipeline_stages.py"]
    done = subprocess.run(command, env=args.environment, preexec_fn=limit_memory, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"rank {rank}: no capture:\n{done.stdout}")
    capture = pickle.loads(path.read_bytes())
    path.write_bytes(pickle.dumps(scrub.scrub(capture, args.paths), protocol=4))


def paths(python):
    """How to make the paths of that Python neutral."""
    code = "import json, sys, sysconfig; print(json.dumps([sysconfig.get_path('purelib'), " \
           "sysconfig.get_path('stdlib'), [sys.prefix, sys.base_prefix]]))"
    packages, library, prefixes = json.loads(subprocess.check_output([python, "-c", code]))
    return scrub.Paths(PROGRAMS, {"packages": packages, "library": library, "prefixes": prefixes, "compiled": "/none"})


def main():
    parser = argparse.ArgumentParser(description="Record all ranks of a pipeline without a GPU.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--memsnap", default="memsnap", metavar="PROGRAM", help="default: the one on the PATH")
    parser.add_argument("--python", default=sys.executable, help="with PyTorch's CUDA build; default: this one")
    parser.add_argument("--captures", type=Path, metavar="FOLDER", help="keep the captures of the ranks here")
    args = parser.parse_args()
    args.environment = os.environ | ENVIRONMENT
    args.paths = paths(args.python)
    with tempfile.TemporaryDirectory() as scratch:
        folder = (args.captures or Path(scratch) / "pipeline").resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for rank in range(WORLD):
            record(args, rank, folder / f"rank_{rank}.pickle")
        merged = Path(scratch) / "merged"
        subprocess.run([args.memsnap, "merge", "--output", merged, folder.name], cwd=folder.parent, check=True)
        args.out.write_bytes(scrub.packed(merged.read_bytes()))


if __name__ == "__main__":
    sys.exit(main())
