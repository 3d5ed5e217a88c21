#!/bin/sh
# The destination of the report, and the files left if it cannot be written.
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

# No file that is read is replaced, whichever option names it and whichever path leads there.
layers=samples/decoder.layers.json.gz
cp samples/leak.pickle.gz own
cp "$layers" own.layers
echo 'activation: model' >own.rules
printf '{"schema": "memsnap.policy/1", "no-oom": true}\n' >own.policy
printf 'layer0\t1\n' >own.times
mkdir kept links
ln -s ../own links/symbolic
ln -s symbolic links/twice

# keeps FILE ARGUMENT...: refuses to write FILE, which stays as it is.
keeps() {
    kept_file=$1
    shift
    cp "$kept_file" kept/file
    run "$@" <own
    exits 2
    no_out
    one_err_line
    err_has 'is also an input; choose another output'
    check "keeps $kept_file" cmp kept/file "$kept_file"
}

for output in own ./own ../${PWD##*/}/own links/symbolic links/twice; do
    for command in 'analyze own' 'analyze samples/oom.pickle.gz own' 'analyze -' 'analyze /dev/stdin' \
        'export --format csv own' 'export --as snapshot own' 'flame own' 'dump own' 'dump -' \
        "diff $sample own" "diff own $sample" 'check --no-oom own' \
        "check --baseline own --max-increase 0 $sample" 'suggest own' 'convert own'; do
        # shellcheck disable=SC2086 # a list of words
        keeps own $command -o "$output"
    done
done
for command in analyze export flame 'diff own' 'check --no-oom'; do
    # shellcheck disable=SC2086
    keeps own.rules $command --rules own.rules -o own.rules own
done
keeps own.policy check --policy own.policy -o own.policy own
keeps own.times suggest --times own.times -o own.times own.layers
keeps own.layers suggest -o own.layers own.layers
keeps own.layers convert -o own.layers own.layers
ln own links/hard
keeps own analyze -o links/hard own
keeps own analyze -o own links/hard
rm links/hard
cp own own.html
keeps own.html plot --out own.html own.html
cp own own.svg
keeps own.svg plot --out own.svg own.svg
cp own.rules rules.svg
keeps rules.svg plot --rules rules.svg --out rules.svg own
cp own plot.gp
keeps plot.gp plot --script . plot.gp
last='memsnap analyze own >>own'
cp own kept/file
status=0
"$MEMSNAP" analyze own 2>.run/err >>own || status=$?
exits 2
one_err_line
err_has 'cannot write standard output: it is also an input'
check 'keeps own' cmp kept/file own
run analyze -o /dev/null /dev/null
exits 3

# "-" is standard input for every option, and only for one of them; ./- is a file.
cp "$sample" ./-
run analyze ./-
exits 0
check 'reads ./-' test "$(head -n 1 .run/out | cut -c 1-3)" = ./-
keeps ./- analyze -o ./- ./-
run analyze --rules - own <own.rules
exits 0
no_err
run suggest --times - own.layers <own.times
err_has_not 'standard input (-) can'
for command in 'analyze - -' 'analyze --rules - -' 'check --policy - -' 'diff - -' \
    'check --max-increase 0 --baseline - -' 'check --policy - --rules - own' 'suggest --times - -'; do
    # shellcheck disable=SC2086
    run $command <own.policy
    check 'refuses' test "$status" -eq 2
    no_out
    one_err_line
done
rm -r ./- own own.* links kept rules.svg plot.gp

# A link stays a link, even one that leads to no file yet; a loop of links is an error.
mkdir out/sub
ln -s sub/target out/link
ln -s ../link out/sub/link
for link in out/link out/sub/link; do
    for old in none old; do
        [ $old = none ] || echo old >out/sub/target
        run analyze -o $link "$sample"
        exits 0
        no_err
        check 'writes through the link' cmp wanted out/sub/target
        check 'keeps the link' test -h $link
        rm out/sub/target
    done
done
ln -s nowhere/target out/dangling
ln -s loop out/loop
for link in out/dangling out/loop; do
    run analyze -o $link "$sample"
    exits 5
    no_out
    one_err_line
    check 'keeps the link' test -h $link
done
rm -r out/sub out/link out/dangling out/loop

# Devices, pipes and open descriptors are written directly.
run analyze -o /dev/null "$sample"
exits 0
no_err
check 'keeps the device' test -c /dev/null
mkfifo pipe
cat pipe >through &
run analyze -o pipe "$sample"
exits 0
wait
check 'writes to the pipe' cmp wanted through
check 'keeps the pipe' test -p pipe
{ echo before && "$MEMSNAP" analyze -o /dev/stdout "$sample" && "$MEMSNAP" analyze -o /dev/fd/1 "$sample" &&
    echo after; } >through
{ echo before && cat wanted wanted && echo after; } >wanted-through
check 'writes to an open file' cmp wanted-through through
rm through wanted-through

# A signal leaves nothing, SIGKILL included where the system has files without names.
exec 3<>pipe
# nohup and some schedulers ignore signals in all that they start, which a shell cannot undo
defaults=
if env --default-signal=HUP true 2>/dev/null; then
    defaults='env --default-signal=TERM,HUP,XCPU'
fi
# ended SIGNAL FILE: the program is killed while it reads, and FILE is what is in the folder then.
ended() {
    last="memsnap analyze -o out/a pipe, killed by SIG$1"
    $defaults "$MEMSNAP" analyze -o out/a pipe >.run/out 2>.run/err &
    child=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        ls -l /proc/$child/fd 2>/dev/null | grep -q " $PWD/out/" && break
        sleep 0.2
    done
    kill "-$1" $child
    status=0
    wait $child || status=$?
    only_file "$2"
}

for signal in TERM HUP XCPU; do
    ended $signal ''
    echo old >out/a
    ended $signal a
    check 'keeps the old file' test "$(cat out/a)" = old
    rm out/a
done
if [ -n "${PYTHON3-}" ] &&
    "$PYTHON3" -c 'import os; os.open("out", os.O_TMPFILE | os.O_WRONLY)' 2>/dev/null; then
    ended KILL ''
fi
exec 3>&-

# A full disk is reported in one line, and no partial file is left.
# full ARGUMENT...: standard output, /dev/full and a file that may not grow.
full() {
    last="memsnap $* >/dev/full"
    status=0
    "$MEMSNAP" "$@" >/dev/full 2>.run/err || status=$?
    exits 5
    err 'memsnap: cannot write standard output: No space left on device'
    case $1 in help | version | backends | plot) return ;; esac
    case $* in *--help) return ;; esac
    run "$@" -o /dev/full
    exits 5
    no_out
    err 'memsnap: cannot write /dev/full: No space left on device'
    last="memsnap $* -o out/a, with room for none"
    status=0
    (
        trap '' XFSZ
        ulimit -f 0
        exec "$MEMSNAP" "$@" -o out/a >.run/out
    ) 2>&1 | cat >.run/err
    err 'memsnap: cannot write out/a: File too large'
    only_file ''
}

big=samples/train-loop.pickle.gz
if [ -c /dev/full ]; then
    for format in text json; do
        full analyze --format $format "$big"
        full analyze --format $format "$big" "$layers"
        full check --no-oom --format $format "$big"
        full diff --format $format "$big" samples/leak.pickle.gz
        full suggest --format $format "$layers"
        full suggest --format $format --budget 50% "$layers"
        full suggest --format $format --checkpoints 2 "$layers"
    done
    full analyze --format json --allocations "$big"
    full analyze --explain model "$big"
    full analyze --stacks=all --top 0 "$big"
    full check --no-oom --format junit "$big"
    full check --max-peak 1 --format github "$big"
    full diff --format csv "$big" samples/leak.pickle.gz
    full suggest --format csv "$layers"
    for format in csv jsonl msgpack; do
        full export --format $format "$big"
        full export --format $format --table events "$big"
        full export --format $format --table stacks "$big"
        full export --format $format --table sites "$big"
    done
    full export --as snapshot "$big"
    full flame "$big"
    full flame --format speedscope "$big"
    full dump "$sample"
    full dump "$sample" "$big"
    full convert "$layers"
    full convert --to msgpack "$layers"
    full help
    full version
    full backends
    full analyze --help
fi
if [ -c /dev/full ] && command -v gnuplot >/dev/null; then
    for format in svg png pdf html; do
        ln -s /dev/full full.$format
        run plot --out full.$format "$big"
        exits 5
        no_out
        err "memsnap: cannot write full.$format: No space left on device"
    done
    rm full.*
fi
last='memsnap plot --out out/a.html, with room for none'
(
    trap '' XFSZ
    ulimit -f 0
    exec "$MEMSNAP" plot --out out/a.html "$big" >.run/out
) 2>&1 | cat >.run/err
err 'memsnap: cannot write out/a.html: File too large'
only_file ''

# A closed standard output, a reader that went away.
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
