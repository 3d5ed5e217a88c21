"""counters.py PROGRAM ARGUMENT...: runs the program, and prints what PyTorch's allocator counted as the last line of
standard error."""
import atexit
import json
import os
import runpy
import sys

import torch


def print_counters():
    devices = [torch.cuda.memory_stats(device) for device in range(torch.cuda.device_count())]
    counters = [{kind: stats.get(kind + "_bytes.all.peak", 0) for kind in ("requested", "active", "reserved")}
                for stats in devices]
    print("counters", json.dumps(counters), file=sys.stderr, flush=True)


if torch.cuda.is_available():
    atexit.register(print_counters)
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
