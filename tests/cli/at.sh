#!/bin/sh
# --at with the names of phases and annotations, in every command that has it
. "$srcdir/tests/cli/lib.sh"

a=samples/train-loop.pickle.gz

# the phases of a step have their peaks in the report
run analyze $a
for phase in 186.38:forward@1 258.79:forward 223.02:backward@1 295.43:backward@2 \
    195.31:optimizer 195.31:optimizer_step@3; do
    out_has " ${phase%%:*} MiB"
done
for phase in 186.38:forward@1 258.79:forward 223.02:backward@1 295.43:backward@2 \
    195.31:optimizer 195.31:optimizer_step@3 295.43:ProfilerStep#1 295.43:ProfilerStep#1@1; do
    run analyze --at "${phase#*:}" --top 1 $a
    exits 0
    check "is the moment of ${phase#*:}" grep -q "^  --at  *${phase%%:*} MiB" .run/out
done

# events without times: annotations cannot be placed, but stacks show the same steps
if [ -n "${PYTHON3-}" ]; then
    "$PYTHON3" - "$a" timeless.pickle <<'EOF'
import gzip, pickle, sys
capture = pickle.load(gzip.open(sys.argv[1]))
for event in capture["device_traces"][0]:
    del event["time_us"]
pickle.dump(capture, open(sys.argv[2], "wb"))
EOF
    run analyze --at ProfilerStep#1 timeless.pickle
    exits 2
    err 'memsnap: timeless.pickle: --at ProfilerStep#1: the events of device 0 have no times, so it is not known where annotations are'
    run analyze --format json timeless.pickle
    out_has '"recognised_by":"optimizer_phase"'
fi

# all commands find the same moment
run analyze --at forward --format json $a
out_has '"event":1611'
run flame --at forward $a
check 'weighs what is live then' test \
    "$(awk '{ sum += $NF } END { printf "%d", sum }' .run/out)" = "$(
        "$MEMSNAP" analyze --at forward --format json $a |
            sed 's/.*"at":{"event":1611,[^}]*"active_bytes":\([0-9]*\).*/\1/')"
run diff --at forward $a $a
exits 0
out_has 'live memory at the peak of forward'
run diff --at-a forward --at-b backward@2 $a $a
out_has 'the peak of forward in A, the peak of backward@2 in B'
run diff --format json --at forward $a $a
out_has '"at":"forward"'
run export --table sites --at forward --format jsonl $a
exits 0
run check --max-peak 1GiB --max-category activation=100MiB --at optimizer $a
exits 0
run check --max-peak 1GiB --max-category activation=100MiB --at backward $a
exits 1
run plot --kind sites --at forward --script s $a
exits 0

# the text of an annotated allocation: while one of those with this text is active
cat >annotated.json <<'END_OF_FILE'
{"device_traces": [[
 {"action": "alloc", "addr": 4096, "size": 100, "stream": 0},
 {"action": "annotate", "addr": 4096, "size": 100, "stream": 0, "user_metadata": "batch"},
 {"action": "free_requested", "addr": 4096, "size": 100, "stream": 0},
 {"action": "free_completed", "addr": 4096, "size": 100, "stream": 0},
 {"action": "alloc", "addr": 12288, "size": 900, "stream": 0},
 {"action": "free_requested", "addr": 12288, "size": 900, "stream": 0},
 {"action": "free_completed", "addr": 12288, "size": 900, "stream": 0},
 {"action": "alloc", "addr": 8192, "size": 200, "stream": 0},
 {"action": "annotate", "addr": 8192, "size": 200, "stream": 0, "user_metadata": "batch"},
 {"action": "annotate", "addr": 8192, "size": 200, "stream": 0, "user_metadata": "batch"},
 {"action": "alloc", "addr": 16384, "size": 50, "stream": 0}]],
 "segments": [{"device": 0, "address": 0, "total_size": 2097152, "stream": 0, "blocks": [
  {"address": 8192, "size": 512, "requested_size": 200, "state": "active_allocated"},
  {"address": 16384, "size": 512, "requested_size": 50, "state": "active_allocated"}]}]}
END_OF_FILE
for moment in batch:250 batch@1:100 batch@2:250; do
    run analyze --at "${moment%:*}" annotated.json
    exits 0
    check "is the moment of ${moment%:*}" grep -q "^  --at  *${moment#*:} B" .run/out
done
run analyze --at batch@3 annotated.json
exits 2
err 'memsnap: annotated.json: --at batch@3: device 0 has only 2 of these'
run analyze --at bach annotated.json
exits 2
err_has 'no such phase or annotation, only batch'

# a device that has no such moment, beside one that has it: text, JSON, and in none
sed 's/^{/{"host_traces": [{"action": "alloc", "addr": 4096, "size": 16, "stream": 0}], /' \
    annotated.json >host.json
run analyze --at batch host.json
exits 0
out_has 'Not shown: --at batch: host memory has no such phase or annotation, only events'
out_has 'Live at event 10 of 11'
run analyze --at 9 --format json host.json
exits 0
out_has '"not shown: event 9 is not among the events 0 to 0 of host memory"]'
run analyze --at 99 host.json
exits 2
one_err_line

# wrong names
run analyze --at forward@7 $a
exits 2
err "memsnap: $a: --at forward@7: device 0 has only 6 of these"
run analyze --at fourward $a
exits 2
err "memsnap: $a: --at fourward: device 0 has no such phase or annotation, only other, forward, backward, optimizer_step, ProfilerStep#0, Optimizer.step#AdamW.step, ..."
run analyze --at forward samples/history-off.pickle
exits 2
one_err_line
run analyze --at '' $a
exits 2
run analyze --at +noon $a
exits 2
err_has "'+noon'"
run diff --at "$(printf 'a\033[31m')" $a $a
exits 2
err_has 'a\x1b[31m'

finish
