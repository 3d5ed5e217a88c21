#!/bin/sh
# Checks the layout of the C files: against .clang-format where a clang-format is installed that
# formats as the one this tree was formatted with, and otherwise only what .editorconfig says.
# Set CLANG_FORMAT to choose the program.
set -eu
cd "${srcdir:-.}"
files=$(find src tests bench -name '*.[ch]' | LC_ALL=C sort)

# plain_faults FILE...: prints faults that can be found without a tool.
plain_faults() {
    LC_ALL=C awk '
        /\r/ { print FILENAME ":" FNR ": carriage return" }
        /[ \t]$/ { print FILENAME ":" FNR ": space at the end of the line" }
        /\t/ { print FILENAME ":" FNR ": tab" }' "$@"
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
printf 'int a; \n\tint b;\nint c;\n' >"$temporary/bad.c"
[ "$(plain_faults "$temporary/bad.c" | wc -l)" -eq 2 ] || { echo "self-test: faults were missed"; exit 1; }

# shellcheck disable=SC2086 # a list of names
found=$(plain_faults $files)
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi

format=${CLANG_FORMAT:-clang-format}
version=$("$format" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
case $version in
14) ;;
*)
    echo "skipped: clang-format 14 is not installed${version:+ (version $version formats otherwise)}"
    exit 0
    ;;
esac
printf 'int  main(void) { return 0 ; }\n' >"$temporary/bad.c"
if "$format" --style=file:.clang-format --dry-run -Werror "$temporary/bad.c" 2>/dev/null; then
    echo "self-test: $format accepts anything"
    exit 1
fi
# shellcheck disable=SC2086
"$format" --dry-run -Werror $files || {
    echo "run: clang-format -i on the files above"
    exit 1
}
echo "$(echo "$files" | wc -l) files are formatted"
