#!/bin/sh
# memsnap export
. "$srcdir/tests/cli/lib.sh"

sample=samples/train-loop.pickle.gz
files=$(dirname "$cli")/files

run export -h
exits 0
golden help-export.txt

# each table, as it looks
for table in allocations events segments blocks sites stacks annotations; do
    run export --table $table $sample
    exits 0
    no_err
    head -n 6 .run/out >.run/head
    mv .run/head .run/out
    golden export-$table.csv
done
run export --format jsonl --table sites samples/two-devices.pickle.gz
exits 0
golden export-sites.jsonl

# allocations is the default table, and the output's extension selects the format
for ending in csv jsonl ndjson msgpack; do
    run export $sample -o named.$ending
    exits 0
    no_out
    no_err
done
run export --table allocations --format csv - <$sample
check 'is the same CSV' cmp .run/out named.csv
run export --format jsonl $sample
check 'is the same JSON lines' cmp .run/out named.jsonl
check 'is the same JSON lines' cmp .run/out named.ndjson
run export --format msgpack $sample
check 'is the same msgpack' cmp .run/out named.msgpack
run export --format jsonl $sample -o named.csv
check '--format goes before the name' cmp named.csv named.jsonl

# one device, a range, a moment
run export --table events --device 1 samples/two-devices.pickle.gz
exits 0
check 'has one device' test -z "$(sed 1d .run/out | grep -v '^1,')"
run export --table events --range 10:12 $sample
check 'has two events' test "$(cut -d, -f2 .run/out | tr '\n' ' ')" = 'event 10 11 '
run export --table sites --at end $sample
exits 0
sum() { awk -F, 'NR > 1 { sum += $2 } END { printf "%.0f", sum }' .run/out; }
at_end=$("$MEMSNAP" analyze --format json $sample | sed 's/.*"end_bytes":\([0-9]*\).*"allocated".*/\1/')
check 'sums to the end' test "$(sum)" = "$at_end"
run export --table segments --at peak samples/expandable.pickle.gz
exits 0
run export --rules none --table sites $sample
exits 0

# missing devices and empty ranges
run export --device 7 $sample
exits 2
err "memsnap: $sample: the file has no device 7 (devices: 0)"
run export --device 7 --table events $sample
exits 2
err "memsnap: $sample: the file has no device 7"
for table in events allocations; do
    run export --table $table --range 99999999: $sample
    exits 2
    err_has 'no event lies in the range: device 0 has the events 0 to '
done
run export --table events --range +99999s: $sample
exits 2
err_has 'no event lies in the range: the events of device 0 run from +0us to +'
run export --range +99999s: --as snapshot $sample
exits 2
err_has 'no event lies in the range: the events of device 0 run from +0us to +'
run export --range @1:@2 $sample
exits 2
err_has 'no event lies in the range: the events of device 0 run from @17'
for ending in xlsx parquet; do
    run export $sample -o table.$ending
    exits 2
    err "memsnap: export: cannot write $ending; use a name that ends in .csv, .jsonl, .msgpack or .sqlite, or --format"
    check 'writes nothing' test ! -e table.$ending
done
run export --table blocks --at 99999999 $sample
exits 2
err_has 'event 99999999 is not among the events 0 to '

# after an error the existing output file is unchanged
echo before >kept.csv
run export "$files/bad-cut.pickle" --table events -o kept.csv
exits 3
one_err_line
check 'leaves the file alone' grep -qx before kept.csv
check 'leaves nothing else' test "$(echo kept.csv*)" = kept.csv
run export --table events "$files/good-shared-events.pickle"
exits 4
err_has 'repeats an event by reference'
run export "$files/good-shared-events.pickle"
exits 0
run export --max-memory 64KiB --table events $sample
exits 4
one_err_line
run export --table events samples/decoder.layers.json.gz
exits 3
one_err_line

# a snapshot again: of a part, with the same numbers
whole=$("$MEMSNAP" analyze --format json --allocations --top 0 $sample | sed 's/"input":{[^}]*},//')
run export --as snapshot $sample -o again.pickle
exits 0
no_out
no_err
again=$("$MEMSNAP" analyze --format json --allocations --top 0 again.pickle | sed 's/"input":{[^}]*},//')
check 'says the same' test "$whole" = "$again"
run export --as snapshot again.pickle
check 'is the same again' cmp .run/out again.pickle
run export --as snapshot - <again.pickle
check 'is the same from a pipe' cmp .run/out again.pickle
run export --as snapshot --range 500:900 $sample -o part.pickle
exits 0
no_err
curves() {
    "$MEMSNAP" analyze --format json "$@" | sed 's/"peak_event":[0-9-]*,*//g' |
        grep -oE '"(active|allocated|reserved)":\{[^}]*\}' | head -n 3
}
check 'has the curves of the range' test "$(curves --range 500:900 $sample)" = "$(curves part.pickle)"
check 'is smaller' test "$(wc -c <part.pickle)" -lt "$(wc -c <again.pickle)"
run export --as snapshot --device 1 samples/two-devices.pickle.gz -o one.pickle
exits 0
run analyze --device 0 one.pickle
exits 2
run export "$files/good-shared-events.pickle" --as snapshot -o plain.pickle
exits 0
run export --table events plain.pickle
exits 0
printf '{"segments": [], "device_traces": [], "host\\u001b": 1}' >unknown.json
run export --as snapshot unknown.json -o unknown.pickle
exits 0
err 'memsnap: unknown.json: unknown keys were left out: snapshot.host\x1b'
cat >internal.json <<'END'
{"segments": [], "device_traces": [[{"action": "alloc", "addr": 4096, "size": 8, "stream": 0,
"internal_metadata": "mallocWithAddress"}, {"action": "alloc", "addr": 8192, "size": 8, "stream": 0},
{"action": "free_completed", "addr": 4096, "size": 8, "stream": 0, "internal_metadata": "mallocWithAddress"}]]}
END
run export --as snapshot internal.json -o internal.pickle
exits 0
err_has_not 'unknown keys'
run export --table events internal.pickle
exits 0
check 'internal_metadata of those events that had it' \
    test "$(cut -d, -f3,18 .run/out | tr -d '\r' | tr '\n' ' ')" = \
    'action,internal_metadata alloc,mallocWithAddress alloc, free_completed,mallocWithAddress '
cat >annotated.json <<'END'
{"segments": [], "device_traces": [[{"action": "alloc", "addr": 4096, "size": 8, "stream": 0},
{"action": "alloc", "addr": 8192, "size": 4, "stream": 0},
{"action": "annotate", "addr": 4096, "size": 8, "stream": 0, "user_metadata": "memsnap:input"},
{"action": "annotate", "addr": 8192, "size": 4, "stream": 0, "user_metadata": "of the past"},
{"action": "free_requested", "addr": 8192, "size": 4, "stream": 0},
{"action": "free_completed", "addr": 8192, "size": 4, "stream": 0},
{"action": "alloc", "addr": 8192, "size": 4, "stream": 0, "time_us": 70},
{"action": "free_requested", "addr": 4096, "size": 8, "stream": 0, "time_us": 80},
{"action": "free_completed", "addr": 4096, "size": 8, "stream": 0, "time_us": 90}]]}
END
run export --as snapshot --range 6: annotated.json -o annotated.pickle
exits 0
run export annotated.pickle
check 'an allocation from before the range keeps its annotation and category' \
    test "$(cut -d, -f2,8,27 .run/out | tr -d '\r' | tr '\n' ' ')" = \
    'address,category,annotation 4096,input,memsnap:input 8192,unknown, '
run export --table events annotated.pickle
check 'the annotation has the time of the first event' \
    test "$(cut -d, -f1-3,7 .run/out | tr -d '\r' | sed -n 2,3p | tr '\n' ' ')" = \
    '0,0,annotate,70 0,1,alloc,70 '
# An NPU's dump: the events of workspaces come first. The events after them begin at earlier times.
cat >npu.json <<'END'
{"segments": [], "device_traces": [[
{"action": "alloc", "addr": 1048576, "size": 1000, "stream": 0, "time_us": 102000},
{"action": "free_requested", "addr": 1048576, "size": 1000, "stream": 0, "time_us": 105000},
{"action": "free_completed", "addr": 1048576, "size": 1000, "stream": 0, "time_us": 105000},
{"action": "alloc", "addr": 4096, "size": 500, "stream": 0, "time_us": 101000},
{"action": "alloc", "addr": 8192, "size": 300, "stream": 0, "time_us": 103000},
{"action": "free_requested", "addr": 8192, "size": 300, "stream": 0, "time_us": 106000},
{"action": "free_completed", "addr": 8192, "size": 300, "stream": 0, "time_us": 106000}]]}
END
run analyze npu.json
out_has 'peak      1.76 KiB  event 4 of 7, +2.0 ms'
out_has 'the events are not in order of time (event 3 is the first that is too'
out_has 'they were sorted, and keep their numbers'
run analyze --at 1 --format json npu.json
out_has '"at":{"event":1,"time_us":105000,"active_bytes":1800,"allocated_bytes":800,'
run export npu.json
check 'events have the numbers of the file' \
    test "$(cut -d, -f2,13,17,19 .run/out | tr -d '\r' | tr '\n' ' ')" = \
    'address,birth_event,free_requested_event,death_event 4096,3,, 1048576,0,1,2 8192,4,5,6 '
run export --as snapshot npu.json -o sorted.pickle
run analyze sorted.pickle
out_has 'peak      1.76 KiB  event 2 of 7, +2.0 ms'
out_has_not 'order of time'
run export --as snapshot --range 3: npu.json -o cut.pickle
run export --table events cut.pickle
check 'a range is one of the file' test "$(cut -d, -f4 .run/out | tr '\n' ' ')" = 'address 4096 8192 8192 8192 '
run analyze --range 0:3 npu.json
out_has 'event 0 of 7'
out_has 'a range is not sorted: sort first, with memsnap export --as'
if command -v gnuplot >/dev/null; then
    run plot --kind timeline npu.json --out npu.svg
    check 'a picture has the numbers of the file' grep -q 'freed at event 6' npu.svg
fi
# If events of one address would change places, as where the clock was set back, nothing is sorted.
sed 's/1048576/4096/' npu.json >back.json
run analyze back.json
out_has 'were left in the order of the'
out_has 'peak      1,000 B  event 0 of 7'
# A millisecond is no more than clocks of threads may differ.
sed 's/10[1235]000/101500/; s/106000/101900/; s/101500/102499/; s/101000/101500/' npu.json >alike.json
run analyze alike.json
out_has_not 'order of time'
cat >twice.json <<'END'
{"segments": [], "device_traces": [[{"action": "alloc", "addr": 4096, "size": 8, "stream": 0},
{"action": "alloc", "addr": 4096, "size": 16, "stream": 0},
{"action": "alloc", "addr": 8192, "size": 4, "stream": 0},
{"action": "alloc", "addr": 1, "size": 1, "stream": 0}]]}
END
run export --as snapshot --range :3 twice.json -o twice.pickle
exits 0
err_has 'memsnap: twice.json: no segment holds 2 live allocations; put into a segment of size 0'
err_has 'left out 1 allocation (8 B) whose addresses were allocated again while live'
run export --table blocks twice.pickle
out_has '0,8192,4096,16,16,active_allocated'
run export --as snapshot --range 99999999: $sample -o none.pickle
exits 2
err_has 'no event lies in the range: device 0 has the events 0 to '
check 'leaves no file behind' test ! -e none.pickle
run export --as snapshot --range 500:900 --max-memory 64KiB $sample -o none.pickle
exits 4
check 'leaves no file behind' test ! -e none.pickle
for option in '--table events' '--format csv' '--at peak' '--rules none'; do
    # shellcheck disable=SC2086
    run export --as snapshot $option $sample -o none.pickle
    exits 2
    err "memsnap: export: ${option%% *} cannot be combined with --as snapshot"
done
run export --as snapshot $sample -o none.pickle.gz
exits 2
err_has 'cannot write a compressed file'
run export $sample -o none.pickle
exits 2
err_has 'cannot write a table as a pickle; use --as snapshot'
run export --as csv $sample
exits 2
err_has "invalid --as 'csv' (expected snapshot"

# usage
run export --table event $sample
exits 2
err "memsnap: export: invalid table 'event' (expected one of allocations, events, segments, blocks, sites, stacks, annotations)"
run export --format xml $sample
exits 2
err "memsnap: export: invalid format 'xml' (expected csv, jsonl, msgpack or sqlite)"
run export --table segments --range 1:2 $sample
exits 2
err 'memsnap: export: --range does not apply to the table segments; use --at to select the moment'
run export --at peak $sample
exits 2
err 'memsnap: export: --at does not apply to the table allocations; use --range to select part of the trace'
run export --table stacks --device 0 $sample
exits 2
run export --table events --rules none $sample
exits 2
run export -o table.csv.gz $sample
exits 2
err_has "pipe the output into 'gzip >table.csv.gz'"
run export -o table.json $sample
exits 2
err_has '.jsonl'
run export $sample $sample
exits 2
err 'memsnap: export: expected one file'
check 'leaves no file behind' test -z "$(ls -d table.* 2>/dev/null)"

# hostile text: a name that would be a formula, a quote, an escape sequence, bytes that are no text
cat >hostile.json <<'END'
{"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 8, "stream": 0,
"user_metadata": "=cmd|'/C calc'!A0", "compile_context": "\u001b[31m\u202e\"a\",\r\nb",
"frames": [{"name": "@f", "filename": "x.py", "line": 3}]}]]}
END
run export --table events hostile.json
exits 0
golden export-hostile.csv
run export --table events --format jsonl hostile.json
golden export-hostile.jsonl

# a database: tests/accept/database.py reads it
for output in named.sqlite named.sqlite3 named.db; do
    run export $sample -o $output
    grep -q 'was built without SQLite' .run/err && break
    exits 0
    no_out
    no_err
    check 'is a database' test "$(head -c 15 $output)" = 'SQLite format 3'
done
run export --format sqlite $sample
exits 2
err 'memsnap: export: a database needs a file: name it with -o'
run export --table events $sample -o other.sqlite
exits 2
err 'memsnap: export: --table does not apply to a database, which has all tables'
run export --at peak $sample -o other.sqlite
exits 2
run export --format sqlite $sample -o /dev/stderr
exits 2
run export hostile.json -o other.sqlite --device 7
exits 2
check 'leaves no database behind' test -z "$(ls -d other.* 2>/dev/null)"

# a reader that stops early, and a full disk
"$MEMSNAP" export --table events $sample | head -n 1 >.run/out
out_has 'device,event,action'
if [ -w /dev/full ]; then
    run export --table events $sample -o /dev/full
    exits 5
    one_err_line
fi
finish

# Another kind of file is named.
run export samples/decoder.layers.json.gz
exits 3
err 'memsnap: samples/decoder.layers.json.gz: expected an allocator snapshot, not a layer trace'
run export samples/decoder.operators.pickle.gz
exits 3
err 'memsnap: samples/decoder.operators.pickle.gz: expected an allocator snapshot, not memory curves of MemoryTracker'
