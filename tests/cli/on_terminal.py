"""on_terminal.py COLUMNS ANSWER PROGRAM ARGUMENT...: runs the program on a terminal of so many columns and
30 lines, a character 10 by 20 pixels, which answers DA1 so. What the terminal got goes to .run/out."""
import fcntl
import os
import pty
import struct
import sys
import termios

columns, answer = int(sys.argv[1]), sys.argv[2].encode().decode("unicode_escape").encode()
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 10 * columns, 600))
    os.execv(sys.argv[3], sys.argv[3:])
seen = b""
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    seen += data
    if b"\x1b[c" in seen:
        seen = seen.replace(b"\x1b[c", b"(asked)")
        os.write(terminal, answer)
with open(".run/out", "wb") as out:
    out.write(seen.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
