#!/bin/sh
# Runs the commands in README.md that name samples, in an order in which each finds what those before it wrote. Each
# must exit with 0, with the samples that are installed. A plot is not drawn without gnuplot.
set -eu
: "${MEMSNAP:?is the program}" "${srcdir:=.}"
readme=$(cd "$srcdir" && pwd)/README.md
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
MAKEFLAGS='' make -s -C "${MEMSNAP%/*}" DESTDIR="$temporary/root" install-dist_samplesDATA install-nobase_dist_pkgdataDATA >/dev/null
samples=$(find "$temporary/root" -type d -name samples)
mkdir "$temporary/bin"
ln -s "$MEMSNAP" "$temporary/bin/memsnap"
ln -s "$samples" "$temporary/samples"
PATH=$temporary/bin:$PATH
cd "$temporary"

sed -n -e 's/^    \(memsnap .*samples\/.*\)/\1/p' -e 's/^\$ \(memsnap .*\)/\1/p' "$readme" | sed 's/ *#.*//' >commands
failed=0
while read -r command; do
    case $command in
        'memsnap plot '*)
            if ! command -v gnuplot >/dev/null; then
                echo "skipped: $command"
                continue
            fi ;;
    esac
    if ! sh -c "$command" >output 2>&1 </dev/null; then
        echo "FAILED: $command"
        sed 's/^/    /' output
        failed=1
    fi
done <commands
count=$(wc -l <commands)
[ "$count" -ge 7 ] || { echo "self-test: only $count commands were found"; failed=1; }
[ -s plan.json ] || { echo 'self-test: no command wrote a plan'; failed=1; }
[ "$failed" -eq 0 ] && echo "$count commands"
exit "$failed"
