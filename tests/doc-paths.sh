#!/bin/sh
# Checks that the files which ARCHITECTURE.md, CONTRIBUTING.md and doc/ name in backquotes exist. A path may
# leave out src/. KIND and ROOM stand for any name.
set -eu
cd "${srcdir:-.}"
failed=0

# names FILE...: the paths in backquotes, with a slash and an ending, or a folder and a slash.
names() {
    sed -n 's/`[^`]*`/\n&\n/gp' "$@" | sed -n 's|^`\([A-Za-z0-9_./-]*/[A-Za-z0-9_.-]*\)`$|\1|p' |
        grep -v -e KIND -e ROOM -e '^/' -e '^\.' -e '^X\.' -e '^tests/fuzz/fuzz-' | LC_ALL=C sort -u
}

exists() {
    [ -e "$1" ] || [ -e "src/$1" ] || [ -e "tests/$1" ]
}

exists no/such/file && { echo 'self-test: a file that does not exist was found'; exit 1; }
for name in $(names ARCHITECTURE.md CONTRIBUTING.md doc/*.md SECURITY.md); do
    exists "$name" || { echo "no such file: $name"; failed=1; }
done
count=$(names ARCHITECTURE.md CONTRIBUTING.md doc/*.md SECURITY.md | wc -l)
[ "$count" -gt 60 ] || { echo "self-test: only $count names were found"; exit 1; }
[ "$failed" -eq 0 ] && echo "$count names of files, all of which exist"
exit "$failed"
