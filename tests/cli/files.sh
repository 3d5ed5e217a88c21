#!/bin/sh
# The files of tests/files, with the results listed in their README: exit status, and position of the error.
. "${srcdir:=.}/tests/cli/lib.sh"

files=$cli/../files

# is_told FILE WHERE: the message is about FILE, and about that place.
is_told() {
    case $2 in
    -) lacks ': byte ' .run/err ;;
    gz) grep -q "^memsnap: .*/$1: .*compressed byte [0-9]" .run/err ;;
    *) grep -q "^memsnap: .*/$1: byte $2: " .run/err ;;
    esac
}

grep -E '^(good|bad|limit)-' "$files/README" >.run/table
while read -r name wanted where _; do
    # a tenth of a second, as a rule; the rest is for slow machines and sanitizers
    last="memsnap analyze $name"
    status=0
    timeout 60 "$MEMSNAP" analyze "$files/$name" >.run/out 2>.run/err || status=$?
    exits "$wanted"
    if [ "$wanted" = 0 ]; then
        no_err
    else
        no_out
        one_err_line
        check "says where: $where" is_told "$name" "$where"
    fi
done <.run/table

last='ls tests/files'
awk '{ print $1 }' .run/table | LC_ALL=C sort >.run/wanted
find "$files/" -name 'good-*' -o -name 'bad-*' -o -name 'limit-*' | sed 's|.*/||' | LC_ALL=C sort >.run/out
check 'README names every file' diff -u .run/wanted .run/out

finish
