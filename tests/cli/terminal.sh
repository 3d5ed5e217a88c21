#!/bin/sh
# On a terminal: its width, colour, and no colour where that is asked for.
. "${srcdir:=.}/tests/cli/lib.sh"

if [ -z "${PYTHON3-}" ]; then
    echo 'skipped: there is no Python'
    exit 77
fi

cat >on_terminal.py <<'END'
import fcntl, os, pty, struct, sys, termios
columns = int(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
with open(".run/out", "wb") as out:
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        out.write(data.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
END

# on_terminal COLUMNS ARGUMENT...
on_terminal() {
    columns=$1
    shift
    last="memsnap $* on a terminal of $columns columns"
    status=0
    : >.run/err
    "$PYTHON3" on_terminal.py "$columns" "$MEMSNAP" "$@" || status=$?
}

# widest: columns of the widest line, sequences aside
widest() {
    sed 's/\x1b\[[0-9;]*m//g' .run/out | awk 'length > most { most = length } END { print most + 0 }'
}

escape=$(printf '\033')
for columns in 72 80 100; do
    on_terminal "$columns" analyze samples/oom.pickle.gz
    exits 0
    out_has "${escape}[1m"
    check "keeps within $columns columns" test "$(widest)" -le "$columns"
done
NO_COLOR=1
export NO_COLOR
on_terminal 80 analyze samples/oom.pickle.gz
exits 0
out_has_not "$escape"
unset NO_COLOR
TERM=dumb
on_terminal 80 analyze samples/oom.pickle.gz
exits 0
out_has_not "$escape"
TERM=xterm

finish
