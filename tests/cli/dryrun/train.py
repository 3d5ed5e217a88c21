"""train.py MIB [DEED]: takes memory in six steps, and does something else that a test wants."""
import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import tty

import torch

try:
    import memsnap_record
except ImportError:
    pass


def catch():
    try:
        torch.empty(1 << 50)
    except torch.OutOfMemoryError:
        pass


size = int(sys.argv[1]) << 20
deed = sys.argv[2] if len(sys.argv) > 2 else ""
print("devices", torch.cuda.device_count())
optimizer = torch.optim.Optimizer()
model = torch.empty(size)
if deed in ("create", "get", "frobnicate"):
    print(deed, torch.call(deed.encode()))
elif deed == "extend":
    import ctypes
    print("extend", ctypes.CDLL(os.path.join(os.path.dirname(torch.__path__[0]), "libextension.so")).extend())
elif deed == "read":
    address = torch._native.take(512)
    torch.write_value(address, 5)
    print("own value", torch.read_value(address))
    torch.launch()
    print("value", torch.read_value(address))
elif deed == "read-within":
    address = torch._native.take(512)
    torch.launch()
    with contextlib.ExitStack() as stack:
        stack.callback(memsnap_record.call, torch.read_value, address)
elif deed == "record":
    torch.cuda.memory._record_memory_history()
    torch.cuda.memory._dump_snapshot("own.pickle")
    torch.cuda.memory._record_memory_history(enabled=None)
elif deed == "state":
    torch.cuda.memory._record_memory_history(context="state")
elif deed == "select":
    sys.exit(torch._native.cudaSetDevice(2))
elif deed == "interrupt":
    raise KeyboardInterrupt
elif deed == "fail":
    sys.exit(7)
elif deed == "crash":
    if sys.stdin.isatty():
        tty.setraw(0)
    os.kill(os.getpid(), signal.SIGSEGV)
elif deed == "leave":
    os._exit(0)
elif deed == "thread":
    threading.Thread(target=lambda: (time.sleep(30), open("lingered", "w"))).start()
elif deed == "replace":
    os.execv(sys.executable, [sys.executable, "train.py", "200"])
elif deed == "ranks":
    other = [sys.executable, "-c", "import torch, time; torch.empty(4096); time.sleep(600)"]
    others = [subprocess.Popen(other, env={**os.environ, "RANK": rank}) for rank in ("0", "1")]
    atexit.register(lambda: print("others", [other.wait() for other in others]))
elif deed == "wait":
    open("waiting", "w").close()
    time.sleep(60)
elif deed == "child":
    subprocess.check_call(["sh", "-c", 'echo "preload <$LD_PRELOAD>"'])
    subprocess.check_call([sys.executable, "-c", "import torch; torch.empty(4096); print('child has', torch.cuda.device_count())"])
elif deed == "catch":
    catch()
for step in range(6):
    print("step", step, flush=True)
    activation = torch.empty(size)
    if deed == "hoard":
        continue
    torch.delete(activation, size)
    optimizer.step()
if deed == "catch-last":
    catch()
