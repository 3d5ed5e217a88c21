#!/bin/sh
# Why an allocation has its category, and categories by rules of one's own.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/*.gz samples/*.pickle .

run analyze --explain train.py:32 --top 2 train-loop.pickle.gz
exits 0
no_err
golden explain-site.txt
addr=$("$MEMSNAP" analyze --explain train.py:55 --top 1 train-loop.pickle.gz | sed -n 's/^\(0x[0-9a-f]*\):.*/\1/p')
run analyze --explain "$addr" train-loop.pickle.gz
exits 0
golden explain-address.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
run analyze --explain model.py --top 0 ring-overflow.pickle.gz
exits 0
out_has '(forward-kept)'
run analyze --explain 0x1 train-loop.pickle.gz
exits 2
err_has 'no recorded allocation at 0x1'
run analyze --explain 'no such place' train-loop.pickle.gz
exits 2
err_has "no call site matches 'no such place'"
run analyze --explain train-loop.pickle.gz
exits 2
no_out
err "memsnap: analyze: --explain takes an address or a call site, and train-loop.pickle.gz is a file: try 'memsnap analyze train-loop.pickle.gz --explain train.py:20'"
run analyze --explain '' train-loop.pickle.gz
exits 2
run analyze --explain train.py --format json train-loop.pickle.gz
exits 2
err_has 'explain prints only text'

printf '# of our own\n\nattention: model\\.py:(forward|attend)$\n optimizer_state :train\\.py:train_step\nattention: no such file\n' >mine
run analyze --rules mine --top 3 train-loop.pickle.gz
exits 0
no_err
golden rules.txt
run analyze --rules mine --format json --top 1 train-loop.pickle.gz
out_has '"name":"attention"'
run analyze --rules mine --format json --allocations train-loop.pickle.gz
out_has '"category":"attention","confidence":"high","reason":"own-rule"'
run analyze --rules mine --explain model.py --top 1 train-loop.pickle.gz
out_has 'a rule of the user names a frame of its stack (own-rule)'

# in the usual place
mkdir -p .config/memsnap
cp mine .config/memsnap/rules
run analyze --top 3 train-loop.pickle.gz
golden rules.txt
run analyze --rules none --format json train-loop.pickle.gz
out_has_not attention
(
    unset XDG_CONFIG_HOME
    HOME=$here/home
    export HOME
    mkdir -p home/.config/memsnap
    cp mine home/.config/memsnap/rules
    "$MEMSNAP" analyze --top 3 train-loop.pickle.gz
) >.run/home
check 'reads ~/.config' cmp .run/home "$cli/golden/rules.txt"
rm -r .config

# Failed requests have categories too.
printf 'one: a\ntwo: b\nmine: .\n' >all
run analyze --rules all --format json oom.pickle.gz
exits 0
lists=$(grep -o '"categories":\[{"name":"mine","bytes":706539212,' .run/out | wc -l)
check 'at the peak and then' test "$lists" -eq 2

# bad PLACE RULE
bad() {
    printf '%s\n' "$2" >bad
    run analyze --rules bad train-loop.pickle.gz
    exits 2
    err_has "$1"
    one_err_line
    no_out
}
bad "bad:1: expected 'category: regex'" 'no colon'
bad 'bad:1: expected a category of 1 to 64 visible bytes before the colon' ' : x'
bad 'bad:1: expected a category of 1 to 64 visible bytes before the colon' "$(printf '\033[31mred: x')"
bad 'bad:1: expected a regular expression after the colon' 'activation:  '
bad 'bad:2: expected a POSIX extended regular expression: ' "$(printf '# x\nactivation: (')"
bad 'bad:1: expected a POSIX extended regular expression: back-references' 'activation: (a)\1'
bad 'bad:2: expected a POSIX extended regular expression: too large' "$(printf 'a: b\nactivation: (((((a{99}){99}){99}){99}){99})')"
bad 'bad:2: expected a POSIX extended regular expression: too large' "$(printf 'a: b\nactivation: a{32767}')"
bad 'bad:11: expected rules of at most 20000 states' "$(i=0; while [ $i -lt 20 ]; do echo 'c: a{1900}'; i=$((i + 1)); done)"
bad 'bad:54: expected at most 53 categories of your own' "$(i=0; while [ $i -lt 60 ]; do echo "c$i: x"; i=$((i + 1)); done)"
run analyze --rules no-such-file train-loop.pickle.gz
exits 5
err_has 'no-such-file: No such file or directory'
run analyze --rules . train-loop.pickle.gz
exits 5

finish
