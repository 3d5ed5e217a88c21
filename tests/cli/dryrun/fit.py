"""fit.py MIB [DEED [LIMIT]]: takes twice MIB of memory; above LIMIT it does something that a test wants."""
import os
import signal
import subprocess
import sys
import time

import torch

mib = int(sys.argv[1])
deed = sys.argv[2] if len(sys.argv) > 2 else ""
limit = int(sys.argv[3]) if len(sys.argv) > 3 else 0
print("value", mib, flush=True)
if deed == "wave":
    mib = mib * 3 if mib % 2 else mib
if mib > limit:
    if deed == "raise":
        raise ValueError("batch %d is larger than the data" % mib)
    elif deed == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif deed == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "1000"])
        with open("hanging-new", "w") as file:
            file.write("%d\n" % child.pid)
        os.rename("hanging-new", "hanging")
        time.sleep(1000)
    elif deed == "print":
        for _ in range(20000):
            print("x" * 999)
        print("\x1b[2Jthe end", flush=True)
        sys.exit(3)
optimizer = torch.optim.Optimizer()
weights = torch.empty(mib << 20)
if deed == "survive":
    try:
        torch.empty(1 << 50)
    except torch.OutOfMemoryError:
        pass
for step in range(6):
    activations = torch.empty(mib << 20)
    torch.delete(activations, mib << 20)
    optimizer.step()
