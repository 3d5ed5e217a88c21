#!/bin/sh
# Checks that no arrow between the rooms of src/ points back (ARCHITECTURE.md has the
# table, tests/layering.awk enforces it), that every include names its room, and that
# only commands/ and main.c print or exit. First it proves, on trees with one fault
# each, that it can fail.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
src=${1:-$here/../src}

# Prints the faults of the tree $1 as src/ROOM/FILE:LINE: MESSAGE.
faults() {
    (cd "$1" && find src -name '*.[ch]' | LC_ALL=C sort |
        xargs awk -f "$here/layering.awk")
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# expect FILE TEXT [FAULT]: a tree where FILE holds TEXT has just FAULT, or none.
expect() {
    rm -rf "$temporary/src"
    mkdir -p "$temporary/src/$(dirname "$1")"
    printf '%b\n' "$2" >"$temporary/src/$1"
    found=$(faults "$temporary")
    if [ "$found" != "${3:+src/$1:$3}" ]; then
        echo "self-test: src/$1 with '$2'"
        echo "  expected: ${3:+src/$1:$3}"
        echo "  found:    $found"
        exit 1
    fi
}

expect base/a.c '#include <stdio.h>\n#include "base/error.h"'
expect base/a.c '#include "error.h"' '1: include of "error.h" names no room'
expect base/a.c '\n#include "decode/core/rows.h"' '2: base may not include "decode/core/rows.h"'
expect base/a.c '#  include <zlib.h>' '1: base may not include <zlib.h>'
expect decode/core/a.h '#include "model/timeline.h"' '1: decode may not include "model/timeline.h"'
expect model/a.c '#include "decode/snapshot.h"'
expect model/a.h '#include "decode/core/rows.h"'
expect model/a.h '#include "decode/snapshot.h"' \
    '1: a header of model includes "decode/snapshot.h": only importers may, and they are .c files'
expect analysis/code/a.c '#include "decode/core/rows.h"' '1: analysis may not include "decode/core/rows.h"'
expect analysis/code/a.c '#include "render/core/json.h"' '1: analysis may not include "render/core/json.h"'
expect solve/dp/a.c '#include "model/snapshot.h"' '1: solve may not include "model/snapshot.h"'
expect solve/problem/problem.c '#include "model/snapshot.h"'
expect render/a.c '#include "decode/core/value.h"'
expect render/a.c '#include "decode/pickle/decode.h"' \
    '1: render may not include "decode/pickle/decode.h"'
expect render/a.c '#include "commands/help.h"' '1: render may not include "commands/help.h"'
expect commands/a.c '#include "decode/core/sniff.h"\nvoid f(void) { exit(fputs("a", stderr)); }'
expect main.c '#include "commands/commands.h"\nint main(void) { return puts("a"); }'
expect model/a.c '/* may not\n * exit (1) or abort(); */ int a; // printf("")'
expect model/a.c 'const char *a = "exit(1)", b = '"'\"'"', *c = "// \\"stderr";'
expect model/a.c 'my_exit(1), snprintf(a, 1, b); x.format(printf, 1, 2);'
expect model/a.c '/* a */ exit (1);' \
    '1: model may not use exit: only commands and main.c print or exit'
expect model/a.c 'int a;\n\tabort();' \
    '2: model may not use abort: only commands and main.c print or exit'
expect render/a.c 'fputs("a", stderr);' \
    '1: render may not use stderr: only commands and main.c print or exit'
expect render/a.c 'if (a) printf("a");' \
    '1: render may not use printf: only commands and main.c print or exit'
expect decode/json/a.c '#include "decode/core/rows.h"\n#include "decode/json/b.h"'
expect decode/json/a.c '#include "decode/pickle/vm.h"' \
    '1: decode/json may not include "decode/pickle/vm.h": it comes before decode/pickle'
expect decode/core/a.c '#include "decode/snapshot.h"' \
    '1: decode/core may not include "decode/snapshot.h": it comes before decode/.'
expect decode/a.c '#include "decode/pickle/vm.h"'
expect decode/attic/a.c 'int a;' '1: folder decode/attic is not in the table'
expect analysis/a.c 'int a;' '1: files of analysis lie in a folder'
expect dryrun/device/a.c '#include "dryrun/core/a.h"\nvoid f(void) { _exit(1); }'
expect dryrun/core/a.c '_exit(1);' \
    '1: dryrun may not use _exit: only commands and main.c print or exit'
expect dryrun/core/a.c '#include "model/timeline.h"' '1: dryrun may not include "model/timeline.h"'
expect cellar/a.c 'int a;' '1: room cellar is not in the table'

found=$(faults "$src/..")
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi
echo "$(find "$src" -name '*.[ch]' | wc -l) files keep to their rooms"
