#!/bin/sh
# Queries the completions in share/ of bash, zsh and fish, as those shells would.
# Without arguments bash's own cases come first, then those that all shells share.
set -eu
: "${MEMSNAP:?is the program}" "${srcdir:=.}"
share=$(cd "$srcdir/share" && pwd)
tests=$(cd "$srcdir/tests" && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/bin" "$temporary/empty"
ln -s "$MEMSNAP" "$temporary/bin/memsnap"
PATH=$temporary/bin:$PATH
XDG_CONFIG_HOME=$temporary/config
XDG_DATA_HOME=$temporary/data
export XDG_CONFIG_HOME XDG_DATA_HOME
cd "$temporary/empty"

# bash_completions WORD...: the completions of the last WORD after the words before it.
bash_completions() {
    # shellcheck disable=SC2016 # for that bash
    bash -c '
        set -u
        . "$1"
        shift
        COMP_WORDS=("$@")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        COMPREPLY=()
        _memsnap memsnap "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        echo "${COMPREPLY[*]-}"
    ' bash "$share/bash-completion/memsnap" memsnap "$@"
}

zsh_completions() {
    LINE="memsnap $*" timeout 20 zsh -f "$tests/completion.zsh" "$share/zsh"
}

fish_completions() {
    fish --no-config -c "source $share/fish/memsnap.fish; complete -C 'memsnap $*'" |
        cut -f 1 | sed 's/^--[a-z]*=\(.\)/\1/' | tr '\n' ' ' | sed 's/ $//'
}

fail() {
    echo "$1"
    echo "  expected: $2"
    echo "  found:    $3"
    exit 1
}

# expect WANTED WORD...: of bash.
expect() {
    wanted=$1
    shift
    found=$(bash_completions "$@")
    [ "$found" = "$wanted" ] || fail "memsnap $*<TAB> in bash" "$wanted" "$found"
}

sorted() {
    echo "$1" | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//'
}

# expect_all WANTED WORD...: checks every installed shell; the order does not matter.
expect_all() {
    wanted=$(sorted "$1")
    shift
    for shell in $shells; do
        found=$(sorted "$("${shell}_completions" "$@")")
        [ "$found" = "$wanted" ] || fail "memsnap $*<TAB> in $shell" "$wanted" "$found"
    done
}

shells=
for shell in bash zsh fish; do
    if command -v "$shell" >/dev/null; then
        shells="$shells $shell"
    else
        echo "skipped: there is no $shell"
    fi
done

# The lists that the program prints for scripts are exactly the values that it accepts.
"$MEMSNAP" help --completion >"$temporary/list"
tab=$(printf '\t')
listed=0
while IFS=$tab read -r kind command option letter argument words summary; do
    [ "$kind" = option ] && [ "$words" != - ] || continue
    for word in $words; do
        case $word in *=) word=${word}1GiB ;; esac
        "$MEMSNAP" "$command" "$option=$word" --no-such-option >"$temporary/out" 2>&1 || :
        grep -q 'unknown option --no-such-option' "$temporary/out" ||
            fail "memsnap $command $option=$word" 'accepted' "$(cat "$temporary/out")"
        listed=$((listed + 1))
    done
    case $option in
    --granularity | --at | --at-a | --at-b) continue ;; # take patterns or names, too
    esac
    if [ "$option" = --metric ] && "$MEMSNAP" version | grep -q 'SQLite (not built in)'; then
        continue # it knows no metrics
    fi
    "$MEMSNAP" "$command" "$option=bogus-word" --no-such-option >"$temporary/out" 2>&1 || :
    ! grep -q 'no-such-option' "$temporary/out" ||
        fail "memsnap $command $option=bogus-word" 'refused' 'accepted'
done <"$temporary/list"
[ "$listed" -gt 50 ] || fail 'words listed' 'more than 50' "$listed"

if [ -z "$shells" ]; then
    exit 77
fi
expect_all 'analyze' an
expect_all 'analyze' help an
expect_all 'formats' help fo
expect_all '--format' analyze --form
expect_all 'text json' analyze --format ''
expect_all 'sum peak rotor' suggest --model ''
expect_all 'activation= autograd_detail=' check --max-category a
expect_all "$("$MEMSNAP" help plot | sed -n '/^Kinds:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | tr '\n' ' ' | sed 's/ $//')" plot --kind ''
expect_all 'sum' suggest --model s
for shell in $shells; do
    [ "$shell" = bash ] || [ "$(${shell}_completions analyze --format=j)" = json ] ||
        fail "memsnap analyze --format=j<TAB> in $shell" json "$(${shell}_completions analyze --format=j)"
done
command -v bash >/dev/null || exit 0

expect 'analyze' an
expect '--help --version' --
expect 'analyze' help an
expect '--format' analyze --form
expect '--stacks' analyze --top 3 --sta
expect 'json' analyze --format j
expect 'json' dump --format ''
expect 'text json' backends --format ''
expect 'text json csv' diff --format ''
expect 'site' diff --by s
expect 'peak end forward backward optimizer' diff --at-a ''
expect 'text json junit github' check --format ''
expect '--max-fragmentation' check --max-f
expect 'folded speedscope' flame --format ''
expect 'json' dump -o x --format j
expect '' dump -o ''
expect 'flame' plot --kind fl
expect 'msgpack' convert --to m
expect '--max-memory' dump --m
expect 'KiB' analyze file.pickle --units K
expect 'json' analyze --format = j
expect 'text json' analyze --format =
expect 'all' analyze --stacks =
expect '' analyze --stacks f
expect '--jobs' analyze --j
expect 'csv jsonl msgpack sqlite' export --format ''
expect 'snapshot' export --as ''
expect 'segments sites stacks' export --table s
expect 'peak end forward backward optimizer' export --at ''
expect 'timeline' plot --kind ti
expect 'dumb' plot --term d
expect 'site size' plot --color s
expect 'rotor' suggest --model r
expect 'text json csv' suggest --format ''
expect '--help' version --h
expect '' analyze file
expect '' no-such-command --h
echo "completions are as expected"
