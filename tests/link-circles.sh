#!/bin/sh
# Checks that no files of src/ need each other to link: a file whose functions are used below it belongs
# lower, or takes what it needs as an argument. Reads the objects of the build in this folder.
set -eu

# circles FILE: of lines "OBJECT: SYMBOL TYPE ...", as nm -A -P prints them, prints the objects that need
# each other. tsort names them on standard error.
circles() {
    awk '
        { sub(/:$/, "", $1) }
        $3 == "U" { users[$2] = users[$2] " " $1; next }
        $3 ~ /^[A-Z]$/ { definer[$2] = $1 }
        END {
            for (symbol in users) {
                if (!(symbol in definer))
                    continue
                count = split(users[symbol], user, " ")
                for (i = 1; i <= count; i++)
                    if (user[i] != definer[symbol])
                        print user[i], definer[symbol]
            }
        }' "$1" | LC_ALL=C sort -u | { tsort 2>&1 >/dev/null || :; } | sed -n 's/^tsort: \(.*\.o\)$/\1/p'
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cat >"$temporary/circle" <<'END'
a.o: f T 0 8
a.o: g U
b.o: g T 0 8
b.o: h U
c.o: h T 0 8
c.o: f U
d.o: f U
END
[ "$(circles "$temporary/circle" | LC_ALL=C sort | tr '\n' ' ')" = 'a.o b.o c.o ' ] || {
    echo 'self-test: a circle of three files was not found'
    exit 1
}
grep -v '^c.o: f' "$temporary/circle" >"$temporary/line"
[ -z "$(circles "$temporary/line")" ] || {
    echo 'self-test: a circle was found where there is none'
    exit 1
}

command -v nm >/dev/null || { echo 'skipped: nm is not installed'; exit 77; }
# An object whose source is gone is left over from an older tree.
find src -name '*.o' | LC_ALL=C sort | while read -r object; do
    [ ! -e "${srcdir:-.}/${object%.o}.c" ] && [ ! -e "${object%.o}.c" ] || echo "$object"
done >"$temporary/objects"
[ -s "$temporary/objects" ] || { echo 'no objects in src/: run make first'; exit 1; }
xargs nm -A -P -g <"$temporary/objects" >"$temporary/symbols"
found=$(circles "$temporary/symbols")
if [ -n "$found" ]; then
    echo 'These files need each other to link:'
    echo "$found"
    exit 1
fi
echo "$(wc -l <"$temporary/objects") objects, and no circle among them"
