#!/bin/sh
# The first things a new user types, right and wrong.
. "${srcdir:=.}/tests/cli/lib.sh"

run
exits 2
no_out
one_err_line
err_has 'memsnap help'

for way in help --help -h; do
    run "$way"
    exits 0
    no_err
    golden help.txt
    check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
done

for command in analyze backends check convert diff dryrun dump export flame help merge oom plot ranks replay shard suggest trend version; do
    run "$command" --help
    exits 0
    check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
done

for way in version --version; do
    run "$way"
    exits 0
    no_err
    out_has 'memsnap '
    for library in zlib Jansson msgpack-c libyaml protobuf-c SQLite; do
        out_has "$library "
    done
    for format in 'an allocator snapshot: pickle' 'a profiler trace: JSON' 'MemProfiler: YAML' 'pprof' 'torch.cuda.memory_stats()' \
        'summaries of captures: msgpack' 'a history of runs: SQLite'; do
        out_has "$format"
    done
done

run analyze --help
exits 0
no_err
golden help-analyze.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
run help analyze
exits 0
golden help-analyze.txt
run analyze -h
exits 0
golden help-analyze.txt
run help help
exits 0
out_has 'usage: memsnap help'
run version --help
exits 0
out_has 'usage: memsnap version'

run analyse
exits 2
no_out
err "memsnap: unknown command 'analyse'; did you mean 'analyze'?"
run anlayze
err "memsnap: unknown command 'anlayze'; did you mean 'analyze'?"
run frobnicate
exits 2
err "memsnap: unknown command 'frobnicate'; see 'memsnap help'"
run help frobnicate
exits 2
err "memsnap: unknown command or topic 'frobnicate'; see 'memsnap help'"
run help analyze check
exits 2
err "memsnap: help: unexpected argument 'check'"
run "$(printf 'a\033[31mb')"
exits 2
err "memsnap: unknown command 'a\\x1b[31mb'; see 'memsnap help'"
run samples/history-off.pickle
exits 2
err "memsnap: 'samples/history-off.pickle' is a file, not a command; did you mean 'memsnap analyze samples/history-off.pickle'?"
run --frobnicate
exits 2
err "memsnap: unknown option --frobnicate before the command; see 'memsnap help'"
run version now
exits 2
one_err_line

# usage MESSAGE ARGUMENT...: checks that this is a usage error of analyze, reported before any file is
# opened.
usage() {
    message=$1
    shift
    run analyze "$@" no-such-file
    exits 2
    no_out
    err "memsnap: analyze: $message"
}

usage 'unknown option --stack-traces; see '"'memsnap analyze --help'" --stack-traces
usage 'unknown option --stakcs; did you mean --stacks?' --stakcs
usage 'unknown option --untis; did you mean --units?' --untis
usage "unknown option -z; see 'memsnap analyze --help'" -z
usage "invalid --stacks 'some' (expected all, or nothing)" --stacks=some
usage "invalid --stacks '' (expected all, or nothing)" --stacks=
usage 'option --verbose takes no argument' --verbose=yes
usage "invalid --jobs 'many' (expected a whole number)" --jobs many
usage "invalid --jobs '1025' (expected a whole number up to 1024)" --jobs 1025
usage "invalid format 'xml' (expected text or json)" --format xml
usage "invalid unit 'MB' (expected auto, bytes, KiB, MiB or GiB)" --units MB
usage "invalid --top '-1' (expected a whole number)" --top -1
usage "invalid --top '' (expected a whole number)" --top ''
usage "invalid --top '99999999999999999999' (expected a whole number up to 9223372036854775807)" --top 99999999999999999999
usage "invalid --device 'cuda:0' (expected a whole number)" --device cuda:0
usage "invalid --device '4294967296' (expected a whole number up to 4294967295)" --device 4294967296
usage "invalid size 'lots' (for example 512MiB)" --max-memory lots
usage "invalid size '0' (for example 512MiB)" --max-memory 0
usage "invalid size 'huge' (for example 24GiB)" --gpu-memory huge
usage "invalid size '0' (for example 24GiB)" --gpu-memory 0
run analyze --at +noon no-such-file
exits 2
one_err_line
err_has "'+noon'"
run analyze --range 5 no-such-file
exits 2
one_err_line
run analyze --range 7:3 no-such-file
exits 2
one_err_line
run analyze no-such-file --top
exits 2
err 'memsnap: analyze: option --top needs an argument: --top N'

# Shortened, mixed with files, and after --.
run analyze --form json samples/history-off.pickle --dev 0
exits 0
run analyze -- --help
exits 5
err 'memsnap: --help: No such file or directory'

# Topics, and near misses.
for topic in formats categories numbers record; do
    run help "$topic"
    exits 0
    no_err
    check 'has no requests or escapes left' lacks '\\' .run/out
    check 'has no requests or escapes left' test -z "$(grep '^\.' .run/out)"
    check 'keeps within 80 columns, but for code' test -z "$(grep -v '^        ' .run/out | awk 'length > 80')"
    run help
    check 'is listed' grep -q "^  $topic " .run/out
done
run help formats
out_has '        torch.cuda.memory._dump_snapshot("snapshot.pickle")'
run help numbers
out_has '    requested_bytes'
run help categorie
exits 2
no_out
err "memsnap: unknown command or topic 'categorie'; did you mean 'categories'?"
run help snapshots-and-so-on
exits 2
one_err_line

# No manual page was cut off: the last section of each is there.
for page in "$cli"/../../man/*.[17]; do
    last="${page##*/}"
    check 'has SEE ALSO' grep -q '^\.SH "SEE ALSO"$' "$page"
done

# The manual page knows every option.
run analyze --help
for option in $(sed -n 's/^ .* --\([a-z-]*\).*/\1/p' .run/out); do
    check "memsnap-analyze(1) has --$option" \
        grep -qF -e "\\-\\-$(printf '%s' "$option" | sed 's/-/\\-/g')" "$cli/../../man/memsnap-analyze.1"
done

finish
