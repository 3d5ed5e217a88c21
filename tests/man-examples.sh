#!/bin/sh
# Runs the examples in the man pages. In a section EXAMPLES, between .EX and .EE (or .nf and
# .fi), a line that starts with "$ " is a command, and goes on in the next line where it
# ends in "\e". All other lines there are output, and not looked at.
#
# Each command of a page is run by sh in a folder of its own, which holds copies of
# samples/, and must exit with 0. A comment before it in the page says otherwise:
#   .\" exit 1             it must exit with 1
#   .\" not run: REASON    it is not run
#
# A page without a command fails, for one that this script misread would look so.
set -eu

: "${MEMSNAP:?is the program}" "${srcdir:=.}"
here=$(cd "$srcdir/tests" && pwd)
samples=$(cd "$srcdir/samples" && pwd)

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/bin"
ln -s "$MEMSNAP" "$temporary/bin/memsnap"
PATH=$temporary/bin:$PATH

# Runs the commands listed in the file $1 for the page $2; the results go to $temporary/results.
run_page() {
    mkdir "$temporary/here"
    cp "$samples"/*.gz "$samples"/*.pickle "$samples"/*.log "$temporary/here"
    chmod -R u+w "$temporary/here"
    while read -r wanted command; do
        if [ "$wanted" = - ]; then
            echo "skipped: $2: $command"
            continue
        fi
        status=0
        (cd "$temporary/here" && sh -c "$command") >"$temporary/output" 2>&1 </dev/null || status=$?
        if [ "$status" = "$wanted" ]; then
            echo "passed: $2: $command"
        elif grep -q 'was built without SQLite$' "$temporary/output"; then
            echo "skipped: $2: $command (built without SQLite)"
        else
            echo "FAILED: $2: $command (exit status $status, not $wanted)"
            sed 's/^/    /' "$temporary/output"
        fi
    done <"$1" >"$temporary/results"
    rm -rf "$temporary/here"
    cat "$temporary/results"
}

# check_page FILE: true when it shows commands and all do as it says.
check_page() {
    LC_ALL=C awk -f "$here/man-examples.awk" "$1" >"$temporary/commands"
    if [ ! -s "$temporary/commands" ]; then
        echo "FAILED: ${1##*/}: no command in EXAMPLES"
        return 1
    fi
    run_page "$temporary/commands" "${1##*/}"
    ! grep -q '^FAILED' "$temporary/results"
}

# self_test TEXT WANTED: a page with TEXT as its example is found good (0) or not (1).
self_test() {
    printf '.SH EXAMPLES\n.EX\n%s\n.EE\n.SH BUGS\n.EX\n$ false\n.EE\n' "$1" >"$temporary/page.1"
    found=0
    check_page "$temporary/page.1" >"$temporary/self-test" || found=1
    if [ "$found" != "$2" ]; then
        echo "self-test of this script: a page with '$1':"
        cat "$temporary/self-test"
        exit 1
    fi
}

self_test '$ true' 0
self_test '$ false' 1
self_test '.\" exit 1
$ false
$ true' 0
self_test '.\" exit 1
$ true' 1
self_test '.\" not run: it fails
$ false' 0
self_test '$ test \-f \fItrain\-loop.pickle.gz\fR \e
    \-a 1 = 1
output' 0
self_test 'output only' 1

failed=0
for page in "$srcdir"/man/*.1; do
    if [ -e "$page" ]; then
        check_page "$page" || failed=1
    else
        echo "no man pages found"
        failed=1
    fi
done
exit $failed
