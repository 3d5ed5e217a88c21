# Helpers for the tests of the command line. Sourced; then the working folder is an empty one
# that goes away at the end, with the samples in samples/.
#
# A test ends with `finish`. A check that fails says what it saw, and the next ones go on.
# With MEMSNAP_UPDATE_GOLDEN set, `golden` writes the files it would compare with.

: "${MEMSNAP:?is the program}" "${srcdir:=.}"
cli=$(cd "$srcdir/tests/cli" && pwd)
samples=$(cd "$srcdir/samples" && pwd)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 99
ln -s "$samples" samples
mkdir .run
unset COLUMNS NO_COLOR MEMSNAP_INPUT
TERM=xterm
XDG_CONFIG_HOME=$here/.config
export TERM XDG_CONFIG_HOME
# Under the sanitizers, looking for leaks takes a third of the time of a short run, and keeping variables of functions
# that have returned a tenth. Unit tests and hostile.py do both.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:detect_stack_use_after_return=0
export ASAN_OPTIONS

# In distcheck the samples are read-only, and tests write to their copies of them.
cp() {
    command cp --no-preserve=mode "$@"
}

ran=0
failed=0
status=0
last=

# run ARGUMENT...: memsnap's output in .run/out and .run/err, its exit status in $status.
run() {
    last="memsnap $*"
    status=0
    "$MEMSNAP" "$@" >.run/out 2>.run/err || status=$?
}

# on_terminal COLUMNS ANSWER PROGRAM ARGUMENT...: the same for a program on a terminal, which sends
# ANSWER when queried for its type; needs Python.
on_terminal() {
    last="on_terminal $*"
    status=0
    : >.run/err
    "$PYTHON3" "$cli/on_terminal.py" "$@" || status=$?
}

# check WHAT COMMAND...: the command must succeed.
check() {
    ran=$((ran + 1))
    check_what=$1
    shift
    if "$@" >.run/check 2>&1; then
        return 0
    fi
    failed=$((failed + 1))
    echo "FAILED: $last: $check_what (exit status $status)"
    sed 's/^/    | /' .run/check
    sed 's/^/    out: /' .run/out | head -n 20
    sed 's/^/    err: /' .run/err | head -n 20
}

# exits STATUS
exits() {
    check "exits $1" test "$status" -eq "$1"
}

# err TEXT: that is all of standard error.
err() {
    printf '%s\n' "$1" >.run/wanted
    check "says: $1" diff -u .run/wanted .run/err
}

# err_has TEXT, err_has_not TEXT, out_has TEXT, out_has_not TEXT
err_has() {
    check "standard error has: $1" grep -qF -e "$1" .run/err
}

err_has_not() {
    check "standard error has not: $1" lacks "$1" .run/err
}

out_has() {
    check "output has: $1" grep -qF -e "$1" .run/out
}

out_has_not() {
    check "output has not: $1" lacks "$1" .run/out
}

lacks() {
    ! grep -qF -e "$1" "$2"
}

no_out() {
    check 'prints nothing' test ! -s .run/out
}

no_err() {
    check 'complains of nothing' test ! -s .run/err
}

one_err_line() {
    check 'complains in one line' test "$(wc -l <.run/err)" -eq 1
}

# golden NAME: checks that the output equals golden/NAME.
golden() {
    if [ -n "${MEMSNAP_UPDATE_GOLDEN-}" ]; then
        cp .run/out "$cli/golden/$1"
    fi
    check "is golden/$1" diff -u "$cli/golden/$1" .run/out
}

# plots_hostile ARGUMENT...: checks that names that try to inject commands or markup stay text in
# pictures. Leaves evil.svg, and the picture for a terminal in .run/out. An injected command would
# create the file `owned`.
plots_hostile() {
    for format in svg png pdf; do
        run plot "$@" --out "evil.$format"
        exits 0
        no_out
        no_err
    done
    check 'has no script' lacks '<script' evil.svg
    [ -z "${PYTHON3-}" ] ||
        check 'is well-formed' "$PYTHON3" -c 'import xml.dom.minidom as x; x.parse("evil.svg")'
    check 'runs nothing' test ! -e owned
    run plot "$@" --term dumb
    exits 0
    check 'steers no terminal' sh -c '! tr -d "\n" <.run/out | LC_ALL=C grep -q "[[:cntrl:]]"'
    check 'runs nothing' test ! -e owned
}

finish() {
    echo "$((ran - failed)) of $ran checks passed"
    [ "$failed" -eq 0 ]
    exit
}
