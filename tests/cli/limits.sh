#!/bin/sh
# Inputs that are no ordinary files, and outputs that run out of room. Nothing may hang: what does not
# end by itself is ended, and then fails.
. "${srcdir:=.}/tests/cli/lib.sh"

sample=samples/train-loop.pickle.gz
gzip -dc "$sample" >whole.pickle
run analyze "$sample"
exits 0
tail -n +3 .run/out >wanted

# bounded ARGUMENT...: run, for at most a minute.
bounded() {
    last="memsnap $*"
    status=0
    timeout 60 "$MEMSNAP" "$@" >.run/out 2>.run/err || status=$?
}

reports_the_sample() {
    exits 0
    no_err
    tail -n +3 .run/out >reported
    check 'reports the same' cmp wanted reported
}

# Pipes, from writers slow and gone.
mkfifo pipe
for file in "$sample" whole.pickle; do
    {
        head -c 1 "$file"
        sleep 0.1
        tail -c +2 "$file" | head -c 7000
        sleep 0.1
        tail -c +7002 "$file"
    } >pipe &
    bounded analyze pipe
    reports_the_sample
    head -c 20000 "$file" >pipe &
    bounded analyze pipe
    exits 3
    one_err_line
    : >pipe &
    bounded analyze pipe
    exits 3
    err 'memsnap: pipe: expected a pickle or JSON, not an empty file'
done
for piece in 0 1 2 3 4 5 6 7; do
    dd if="$sample" bs=7000 skip="$piece" count=1 2>/dev/null
done | {
    status=0
    timeout 60 "$MEMSNAP" analyze - >.run/out 2>.run/err || status=$?
    echo "$status" >.run/status
}
last='memsnap analyze - <pieces'
status=$(cat .run/status)
reports_the_sample

# The decoder stops early, while more would come: the writer must not be waited for.
{
    printf '\200\004]u'
    head -c 200000 /dev/zero
    sleep 60
} >pipe &
writer=$!
bounded analyze pipe
exits 3
kill "$writer" 2>/dev/null
{
    {
        printf '\200\004]'
        head -c 3000000 /dev/zero | tr '\0' '}'
        printf 'u'
        head -c 10000000 /dev/urandom
    } | gzip -1
    sleep 60
} >pipe &
writer=$!
bounded analyze pipe
exits 3
one_err_line
kill "$writer" 2>/dev/null

# Devices.
for device in /dev/zero /dev/urandom; do
    if [ -c "$device" ]; then
        bounded analyze "$device"
        exits 3
        one_err_line
    fi
done
bounded analyze /dev/null
exits 3
bounded analyze - <"$here"
exits 5
err 'memsnap: standard input: is a directory, not a file'
status=0
last='memsnap analyze - 0>file'
"$MEMSNAP" analyze - 0>file >.run/out 2>.run/err || status=$?
exits 5
err 'memsnap: standard input: cannot read: Bad file descriptor'


# A file that may not grow: neither a part of the report, nor the file beside it, remains.
mkdir out
status=0
last='ulimit -f 1; memsnap analyze -o out/report'
(
    ulimit -f 1
    "$MEMSNAP" analyze --stacks --top 0 --format json -o out/report "$sample"
) 2>.run/err || status=$?
check 'fails' test "$status" -ne 0
check 'leaves nothing' test -z "$(ls -A out)"

# Nobody left to complain to.
status=0
last='memsnap analyze -o out/report no-such-file 2>&1 | :'
{ sleep 0.2; "$MEMSNAP" analyze -o out/report no-such-file 2>&1; } | :
check 'leaves nothing' test -z "$(ls -A out)"

finish
