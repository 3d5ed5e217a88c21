#!/bin/sh
# scripts/gallery still draws the pictures in share/gallery. Their look is not compared, because fonts differ.
set -eu
: "${MEMSNAP:?is the program}" "${srcdir:=.}"
if ! command -v gnuplot >/dev/null; then
    echo "skipped: there is no gnuplot to draw with"
    exit 77
fi
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
MEMSNAP=$MEMSNAP "$srcdir/scripts/gallery" "$temporary"
for picture in "$srcdir"/share/gallery/*.png; do
    name=$(basename "$picture")
    if [ ! -s "$temporary/$name" ]; then
        echo "scripts/gallery does not draw share/gallery/$name"
        exit 1
    fi
    if [ "$(head -c 4 "$temporary/$name" | tail -c 3)" != PNG ]; then
        echo "share/gallery/$name: not drawn as a PNG"
        exit 1
    fi
done
drawn=$(ls "$temporary" | wc -l)
kept=$(ls "$srcdir/share/gallery" | grep -c '\.png$')
if [ "$drawn" -ne "$kept" ]; then
    echo "scripts/gallery draws $drawn pictures, share/gallery has $kept"
    exit 1
fi
for name in $(grep -o 'share/gallery/[a-z-]*\.png' "$srcdir/README.md"); do
    if [ ! -e "$srcdir/$name" ]; then
        echo "README.md shows $name, which is not there"
        exit 1
    fi
done
echo "$drawn pictures drawn"
