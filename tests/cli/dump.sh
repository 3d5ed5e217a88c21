#!/bin/sh
# memsnap dump on the command line; tests/accept/dump.py checks its output for many pickles.
. "${srcdir:=.}/tests/cli/lib.sh"

# dumps PICKLE JSON: what printf(1) makes of PICKLE is dumped as JSON, beside schema and input.
dumps() {
    # shellcheck disable=SC2059 # the pickle is a format
    printf "$1" >some.pickle
    run dump some.pickle
    exits 0
    no_err
    printf '%s\n' "{\"schema\":\"memsnap.dump/1\",\"input\":{\"path\":\"some.pickle\",\"format\":\"pickle\",\"compression\":\"none\"},$2}" >.run/wanted
    check "is $2" diff .run/wanted .run/out
}

# refuses PICKLE STATUS MESSAGE
refuses() {
    # shellcheck disable=SC2059
    printf "$1" >some.pickle
    run dump some.pickle
    exits "$2"
    no_out
    err "memsnap: some.pickle: $3"
}

# Any pickle, even one that is not a container.
dumps 'N.' '"value":null'
dumps 'I42\n.' '"value":42'
dumps '\200\002K\007.' '"value":7'
dumps 'Vtext\n.' '"value":"text"'
dumps 'G\100\011\041\373\124\104\055\030.' '"value":3.141592653589793'
dumps 'F1e3\n.' '"value":1000.0'
dumps 'Fnan\n.' '"value":{"$float":"nan"}'
dumps 'L-340282366920938463463374607431768211456L\n.' \
    '"value":{"$int":"-340282366920938463463374607431768211456"}'
dumps '(lp0\ng0\na.' '"value":{"$id":1,"$list":[{"$ref":1}]}'
dumps '(dVa\nI1\nsI2\nNs.' '"value":{"$dict":[["a",1],[2,null]]}'
dumps '(dVa\nI1\nsVa\nI2\ns.' '"value":{"$dict":[["a",1],["a",2]]}'
dumps '(dV$id\nI1\ns.' '"value":{"$dict":[["$id",1]]}'
dumps 'V\\ud800\n.' '"value":"\ud800"'
dumps 'V\\ud83d\\ude00\n.' '"value":{"$utf8":"7aC97biA"}'
dumps 'U\002\377x.' '"value":{"$bytes":"/3g="}'
dumps 'V\\u001b[31m\\u202e\n.' '"value":"\u001b[31m\u202e"'
dumps 'NN.the rest' '"value":null'

# Calls that Python would make are data, even if Python discards the result.
dumps 'cos\nsystem\n(Vtouch canary\ntR.' '"value":{"$class":"os.system","$args":["touch canary"]}'
dumps 'cos\nsystem\n(Vtouch canary\ntR0N.' \
    '"value":null,"discarded":[{"$class":"os.system","$args":["touch canary"]}]'
dumps 'cm\nC\n)\201}V__setstate__\ncos\nsystem\nsbVtouch canary\nb.' \
    '"value":{"$class":"m.C","$args":[],"$earlier":[{"__setstate__":{"$global":"os.system"}}],"$state":"touch canary"}'
dumps '\200\004\214\001m\214\003A.b\223.' '"value":{"$global":["m","A.b"]}'
check 'runs nothing' test ! -e canary

refuses '' 3 'not a pickle: the file is empty'
refuses '{"a": 1}' 3 'not a pickle: the file is JSON'
refuses 'PK\003\004\024\000\010' 3 \
    'byte 7: truncated pickle: expected the end of a line (it looks like a zip archive (torch.save?))'
refuses '# a text\n' 3 'byte 0: unknown pickle opcode 0x23 (it looks like a text file)'
refuses '\200\004]' 3 'byte 3: truncated pickle: expected 1 more byte'
refuses '\200\004N\205R.' 3 'byte 4: stack underflow: expected 2 values'
refuses '\200\004I1\n)R.' 3 'byte 6: a call of an int'
refuses '\200\004K\001K\002\223.' 3 'byte 6: STACK_GLOBAL: two strings expected'
refuses '\200\004]}b.' 3 'byte 4: BUILD of a list: an instance of a class expected'
run dump no-such-file
exits 5
err 'memsnap: no-such-file: No such file or directory'

# Several files, compressed or from standard input; one that fails does not affect the others.
printf 'I1\n.' >one
printf 'I2\n.' | gzip >two.gz
printf 'I3\n.' >three
run dump one two.gz nothing - <three
exits 5
err 'memsnap: nothing: No such file or directory'
check 'is a line a file' test "$(wc -l <.run/out)" -eq 3
out_has '"path":"two.gz","format":"pickle","compression":"gzip"},"value":2}'
out_has '"path":"-","format":"pickle","compression":"none"},"value":3}'
run dump samples/train-loop.json.gz one
exits 3
err 'memsnap: samples/train-loop.json.gz: not a pickle: the file is JSON'
check 'is the line of the other file' test "$(wc -l <.run/out)" -eq 1
run dump samples/oom.pickle.gz
exits 0
out_has '"value":{"segments":['
MEMSNAP_INPUT=three run dump
exits 0
out_has '"value":3'

run dump -o out one
exits 0
no_out
check 'writes the file' grep -q '"value":1' out
run dump -o out nothing
exits 5
check 'keeps the file' grep -q '"value":1' out

run dump --max-memory 100KiB samples/oom.pickle.gz
exits 4
no_out
one_err_line

run dump --help
exits 0
no_err
golden help-dump.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
for option in $(sed -n 's/^ .* --\([a-z-]*\).*/\1/p' .run/out); do
    check "memsnap-dump(1) has --$option" \
        grep -qF -e "\\-\\-$(printf '%s' "$option" | sed 's/-/\\-/g')" "$cli/../../man/memsnap-dump.1"
done
run dump --format text one
exits 2
err "memsnap: dump: invalid format 'text' (expected json)"
run dump --format json one
exits 0
run dump --max-memory lots one
exits 2
err "memsnap: dump: invalid size 'lots' (for example 512MiB)"

finish
