#!/bin/sh
# On a terminal: its width, colour, and no colour where that is asked for.
. "${srcdir:=.}/tests/cli/lib.sh"

if [ -z "${PYTHON3-}" ]; then
    echo 'skipped: there is no Python'
    exit 77
fi

# widest: columns of the widest line, sequences aside
widest() {
    sed 's/\x1b\[[0-9;]*m//g' .run/out | awk 'length > most { most = length } END { print most + 0 }'
}

escape=$(printf '\033')
for columns in 72 80 100; do
    on_terminal "$columns" '' "$MEMSNAP" analyze samples/oom.pickle.gz
    exits 0
    out_has "${escape}[1m"
    check "keeps within $columns columns" test "$(widest)" -le "$columns"
done
NO_COLOR=1
export NO_COLOR
on_terminal 80 '' "$MEMSNAP" analyze samples/oom.pickle.gz
exits 0
out_has_not "$escape"
unset NO_COLOR
TERM=dumb
on_terminal 80 '' "$MEMSNAP" analyze samples/oom.pickle.gz
exits 0
out_has_not "$escape"
TERM=xterm

finish
