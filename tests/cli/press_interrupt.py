"""press_interrupt.py FILE PROGRAM ARGUMENT...: runs the program on a terminal, and presses Ctrl-C there when FILE exists.
Prints the signal that ended the program, and whether the terminal's settings are as before."""
import os
import pty
import signal
import sys
import termios
import threading
import time

child, terminal = pty.fork()
if child == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    os.execv(sys.argv[2], sys.argv[2:])
settings = termios.tcgetattr(terminal)


def press():
    for _ in range(600):
        if os.path.exists(sys.argv[1]):
            break
        time.sleep(0.1)
    os.write(terminal, b"\x03")


threading.Thread(target=press, daemon=True).start()
after = settings
while True:
    try:
        if not os.read(terminal, 65536):
            break
        after = termios.tcgetattr(terminal)
    except OSError:
        break
status = os.waitpid(child, 0)[1]
print("signal", os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, "terminal", "same" if after == settings else "changed")
