#!/bin/sh
# Runs the fuzz targets over the samples, unpacked, and over damaged copies of them.
# MEMSNAP_REPLAYS says how many copies are damaged each way.
set -eu
: "${srcdir:=.}"
count=${MEMSNAP_REPLAYS:-20}

unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
cp "$srcdir"/samples/*.pickle "$unpacked"
for packed in "$srcdir"/samples/*.gz "$srcdir"/samples/ddp/*.gz; do
    gzip -dc "$packed" >"$unpacked/$(basename "$packed" .gz)"
done

# The target supplies the first two bytes of every gzip file itself.
tests/fuzz/replay-gzip -s 2 -n "$count" "$srcdir"/samples/*.gz
{ cat "$unpacked/joined.pt.trace.json" && printf '\n---\n' && cat "$unpacked/joined.pickle"; } >"$unpacked/pair"
tests/fuzz/replay-joint -n "$count" "$unpacked/pair" "$unpacked/joined.pt.trace.json"
tests/fuzz/replay-json -n "$count" "$unpacked"/*.json
tests/fuzz/replay-pickle -n "$count" "$unpacked"/*.pickle
tests/fuzz/replay-pprof -n "$((count * 50))" "$unpacked"/*.pprof
tests/fuzz/replay-profiler -n "$count" "$unpacked"/*.trace.json
tests/fuzz/replay-stats -n "$((count * 20))" "$unpacked"/*.stats.json "$srcdir"/samples/*.summary.log
tests/fuzz/replay-timeline -n "$((count * 20))" "$unpacked"/*.timeline*.json
tests/fuzz/replay-analyze -n "$count" "$unpacked"/*.pickle "$unpacked"/*.json
tests/fuzz/replay-analyze -n "$((count / 4))" "$unpacked"/*
"${MEMSNAP:?is the program}" convert "$srcdir/samples/fsdp.layers.pickle" -o "$unpacked/fsdp.layers.msgpack"
tests/fuzz/replay-layers -n "$((count * 5))" "$unpacked"/*.layers.* "$unpacked"/*.operators.*
cp "$srcdir/samples/ranks.log" "$unpacked/ranks.log"
tests/fuzz/replay-log -n "$((count * 20))" "$unpacked/ranks.log"
cp "$srcdir/share/ci/memory-policy.json" "$unpacked/policy.json"
for packed in "$srcdir"/samples/memprofiler/rank_* "$srcdir"/samples/memprofiler/fsdp_*; do
    gzip -dc "$packed" >"$unpacked/$(basename "$packed" .gz).run"
done
cp "$srcdir/samples/training.averages.txt" "$unpacked/averages.run"
tests/fuzz/replay-run -n "$((count * 20))" "$unpacked"/*.run
tests/fuzz/replay-check -n "$((count * 50))" "$unpacked/policy.json"
tests/fuzz/replay-check -n "$((count / 4))" "$unpacked"/*.pickle
tests/fuzz/replay-allocator -n "$((count / 2))" "$unpacked"/*.pickle

# Every command line, with files of each kind. The first byte chooses one of 65.
mkdir "$unpacked/lines"
line=0
while [ $line -lt 65 ]; do
    for sample in history-off.pickle fsdp.layers.msgpack ranks.log; do
        { printf "\\$(printf %o $line)" && cat "$unpacked/$sample"; } >"$unpacked/lines/$line-$sample"
    done
    for sample in oom-other-process.pickle decoder.layers.json decoder.operators.pickle; do
        {
            printf "\\$(printf %o $line)"
            case $((line % 3)) in
            0) cat "$srcdir/share/ci/memory-policy.json" ;;
            1) echo 'activation: model' ;;
            2) printf 'layer0\t1\t2\n' ;;
            esac
            printf '\n---\n'
            cat "$unpacked/$sample"
        } >"$unpacked/lines/$line-$sample"
    done
    line=$((line + 1))
done
TMPDIR=$unpacked tests/fuzz/replay-command -n "$((count / 20))" "$unpacked"/lines/*
TMPDIR=$unpacked tests/fuzz/replay-command -n 0 "$srcdir"/tests/files/*
