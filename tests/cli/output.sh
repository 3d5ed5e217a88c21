#!/bin/sh
# Where the report goes, and what is left when it cannot get there.
. "${srcdir:=.}/tests/cli/lib.sh"

sample=samples/history-off.pickle
run analyze "$sample"
exits 0
cp .run/out wanted

# permissions MODE FILE
permissions() {
    check "$2 has permissions $1" test "$(stat -c %a "$2")" = "$1"
}

only_file() {
    check "leaves nothing but $1" test "$(ls -A out)" = "$1"
}

mkdir out
umask 027
run analyze -o out/a "$sample"
exits 0
no_out
no_err
check 'writes the report' cmp wanted out/a
only_file a
permissions 640 out/a
chmod 604 out/a
echo old >out/a
run analyze --output=out/a "$sample"
exits 0
check 'replaces the report' cmp wanted out/a
permissions 604 out/a
run analyze -o - "$sample"
exits 0
check 'writes to standard output' cmp wanted .run/out

# On failure the file stays as it was, or away.
echo old >out/a
run analyze -o out/a no-such-file
exits 5
check 'keeps the old file' test "$(cat out/a)" = old
only_file a
rm out/a
run analyze -o out/a /dev/null
exits 3
only_file ''
run analyze -o out/no/such/folder "$sample"
exits 5
one_err_line
err_has 'cannot write out/no/such/folder: No such file or directory'
run analyze -o out "$sample"
exits 5
one_err_line

# What is read is not replaced, whatever names it.
cp samples/leak.pickle.gz own
ln -s ../own out/to-own
for command in 'analyze -o own own' 'analyze -o out/to-own own' 'analyze -o own - ' \
    'export -o own --format csv own' 'flame -o own own' "diff -o own $sample own" \
    'dump -o own own' 'check --no-oom -o own own' "check --baseline own --max-increase 0 -o own $sample" \
    'suggest -o own own'; do
    # shellcheck disable=SC2086
    run $command <own
    exits 2
    no_out
    one_err_line
    err_has 'is what is to be read; name another output'
    check 'keeps it' cmp samples/leak.pickle.gz own
done
cp own own.svg
run plot --out own.svg own.svg
exits 2
err_has 'own.svg is what is to be read; name another output'
check 'keeps it' cmp own own.svg
rm own own.svg out/to-own

# A link stays a link.
echo old >out/target
ln -s target out/link
run analyze -o out/link "$sample"
exits 0
check 'writes through the link' cmp wanted out/target
check 'keeps the link' test -h out/link
rm out/target out/link

# A signal takes the unfinished file away.
mkfifo pipe
last='memsnap analyze -o out/a pipe, terminated'
"$MEMSNAP" analyze -o out/a pipe >.run/out 2>.run/err &
child=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -z "$(ls -A out)" ] || break
    sleep 0.2
done
check 'writes beside the target first' test -n "$(ls -A out)"
kill -TERM "$child"
status=0
wait "$child" || status=$?
exits 143
only_file ''

# A full disk, a closed standard output, a reader that went away.
if [ -c /dev/full ]; then
    run analyze -o /dev/full "$sample"
    exits 5
    err 'memsnap: cannot write /dev/full: No space left on device'
    for arguments in "analyze $sample" "dump $sample" 'help' 'version' 'analyze --help'; do
        last="memsnap $arguments >/dev/full"
        status=0
        # shellcheck disable=SC2086 # a list of words
        "$MEMSNAP" $arguments >/dev/full 2>.run/err || status=$?
        exits 5
        err 'memsnap: cannot write standard output: No space left on device'
    done
fi
last="memsnap analyze $sample >&-"
status=0
"$MEMSNAP" analyze "$sample" >&- 2>.run/err || status=$?
exits 5
err 'memsnap: cannot write standard output: Bad file descriptor'
last="memsnap analyze --format json ... | head -c 1"
: >.run/err
status=0
{ "$MEMSNAP" analyze --format json samples/train-loop.pickle.gz 2>.run/err; } | head -c 1 >.run/out || status=$?
no_err
last="memsnap analyze no-such-file 2>&-"
status=0
"$MEMSNAP" analyze no-such-file 2>&- || status=$?
exits 5

finish
