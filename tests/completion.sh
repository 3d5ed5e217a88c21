#!/bin/sh
# Asks share/bash-completion/memsnap for completions, as bash would.
set -eu
: "${MEMSNAP:?is the program}" "${srcdir:=.}"

if ! command -v bash >/dev/null; then
    echo "skipped: there is no bash"
    exit 77
fi

# completions WORD...: what is offered for the last WORD after those before it.
completions() {
    bash -c '
        set -u
        . "$1"
        shift
        COMP_WORDS=("$@")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        COMPREPLY=()
        _memsnap "$MEMSNAP" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        echo "${COMPREPLY[*]-}"
    ' bash "$srcdir/share/bash-completion/memsnap" memsnap "$@"
}

expect() {
    wanted=$1
    shift
    found=$(completions "$@")
    if [ "$found" != "$wanted" ]; then
        echo "memsnap $*<TAB>"
        echo "  expected: $wanted"
        echo "  found:    $found"
        exit 1
    fi
}

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
expect 'peak end' diff --at-a ''
expect 'text json junit github' check --format ''
expect '--max-fragmentation' check --max-f
expect 'msgpack' convert --to m
expect '--max-memory' dump --m
expect 'KiB' analyze file.pickle --units K
expect 'json' analyze --format = j
expect 'text json' analyze --format =
expect 'all' analyze --stacks =
expect '' analyze --stacks f
expect '--jobs' analyze --j
expect 'csv jsonl msgpack' export --format ''
expect 'snapshot' export --as ''
expect 'segments sites stacks' export --table s
expect 'peak end' export --at ''
expect 'timeline' plot --kind t
expect 'dumb' plot --term d
expect 'site size' plot --color s
expect 'rotor' suggest --model r
expect 'text json csv' suggest --format ''
expect '--help' version --h
expect '' analyze file
expect '' no-such-command --h
echo "completions are as expected"
