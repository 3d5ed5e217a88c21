#!/bin/sh
# memsnap diff
. "${srcdir:=.}/tests/cli/lib.sh"

a=samples/train-loop.pickle.gz
b=samples/leak.pickle.gz
files=$(dirname "$cli")/files

run diff --help
exits 0
no_err
golden help-diff.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"

# the whole report, and each part of it
run diff $a $b
exits 0
no_err
golden diff.txt
run diff --by site --top 3 --stacks --units MiB $a samples/recorded/leak-losses.pickle.gz
exits 0
golden diff-stacks.txt
run diff --by category $a $b
exits 0
golden diff-category.txt
COLUMNS=50 run diff $a $b
exits 0
golden diff-narrow.txt
check 'keeps within 50 columns' test -z "$(awk 'length > 50' .run/out)"
run diff --at end $a samples/kept-gradients.pickle.gz
exits 0
out_has 'Live memory at the end grew by'
run diff --at-a 2000 --at-b end $b $b
exits 0
out_has 'Device 0: event 2,000 in A, the end in B'
out_has 'Live memory at the moments compared'
# unused is what analyze calls inactive; without its section on fragmentation there is none to see
out_has 'Reserved but unused memory is 145.13 MiB in B and 78.30 MiB in A.'
run diff --at-b end samples/recorded/oom-batch.pickle.gz samples/pinned.pickle.gz
exits 0
out_has 'Device 0: the peak in A, the end in B'
out_has 'Reserved but unused memory is 572.00 MiB in B and 34.60 MiB in A: memsnap'
out_has 'analyze --at end shows the fragmentation in B.'
run diff --format json --at end $b samples/pinned.pickle.gz
exits 0
out_has '"unused_bytes":152181248'
out_has '"unused_bytes":599785472'
run diff --at 2000 $a $b
exits 0
out_has 'Device 0: live memory at event 2,000'
run diff --range 0:2000 --at end $a $b # what lies in holes does not follow
exits 0
out_has_not 'nothing uses'
run diff --by phase --range 500:900 $a $b # before the range is not before the recording
exits 0
out_has_not before_recording
run diff --stacks $a $b
exits 0
out_has '`memsnap analyze --explain`'
out_has_not '--stacks shows'

# peaks in different phases: like with like, unless --at is given; programs get both
checkpointed=samples/labelled/checkpointed-adamw.pickle.gz
plain=samples/labelled/transformer-adamw.pickle.gz
run diff --top 5 $checkpointed $plain
exits 0
golden diff-like.txt
run diff $plain $checkpointed # the higher peak names the phase, on either side
exits 0
out_has 'The peak of backward shrank by 21.31 MiB'
run diff --at peak $checkpointed $plain
out_has 'The peak grew by 21.17 MiB'
out_has 'warning: The peaks are in different phases: forward in A, backward in B.'
out_has_not 'peaks of backward'
run diff --at backward $checkpointed $plain
out_has '+21.31 MiB  26.86 MiB  48.16 MiB  active then'
run diff --format json $checkpointed $plain
out_has '"at":"peak","a_input"'
out_has '"a_bytes":28303968,"b_bytes":50501932,"delta_bytes":22197964,"a":'
out_has '"same_phase":{"phase":"backward","a_bytes":28161628,"b_bytes":50501932,"delta_bytes":22340304'
run diff --format json --at peak $checkpointed $plain
out_has_not same_phase
run diff --format json $a $b
out_has_not same_phase
run diff samples/labelled/inference.pickle.gz $plain # which has no backward pass
exits 0
out_has 'live memory at the peaks'
out_has 'The peak grew by 35.97 MiB'

# the same, nothing
run diff $a $a
exits 0
out_has 'The peak: 295.43 MiB in both.'
out_has 'sites without a change)'
out_has_not 'Next steps'

# how it was recorded
run diff samples/history-off.pickle $a
exits 0
out_has 'Only B has stacks'
out_has 'Device 0: live memory in the snapshot of A, and at the peak of B'
out_has 'Live memory at the moments compared grew'
out_has 'warning: The peak of A is not known, because allocations were not recorded.'
run diff samples/history-off.pickle samples/history-off.pickle
exits 0
out_has 'Device 0: live memory in the snapshots'
out_has_not 'peaks'
run diff samples/two-devices.pickle.gz $a
exits 0
out_has 'A has 2 devices and B 1'
out_has 'Only B has C++ stacks'
run diff samples/labelled/cnn-sgd-late.pickle.gz samples/labelled/cnn-sgd.pickle.gz
exits 0
out_has 'was allocated before the'
run diff $a samples/expandable.pickle.gz
out_has 'Settings that differ'
out_has 'expandable_segments'

# anomaly mode on one side
if [ -n "${PYTHON3:-}" ]; then
    "$PYTHON3" - "$a" anomaly.pickle <<'EOF'
import gzip, pickle, sys
capture = pickle.load(gzip.open(sys.argv[1]))
for trace in capture["device_traces"]:
    for event in trace:
        if any("evaluate_function" in frame["name"] for frame in event.get("frames", ())):
            event["forward_frames"] = ['  File "/home/user/train/model.py", line 53, in forward\n    return x\n']
pickle.dump(capture, open(sys.argv[2], "wb"))
EOF
    run diff --at backward "$a" anomaly.pickle
    exits 0
    out_has 'Only B was recorded in anomaly mode'
    run diff --at backward anomaly.pickle anomaly.pickle
    exits 0
    out_has_not 'anomaly mode'
fi
run diff --at backward "$a" "$a"
out_has_not 'anomaly mode'

# where one function allocates nearly all memory, its callers are the call sites, as in analyze and export
grabbed()
{
    printf '{"action":"alloc","addr":%s,"size":%s,"stream":0,"frames":[{"name":"grab","filename":"/a/pool.py","line":3},
        {"name":"setup","filename":"/a/app.py","line":%s}]}' "$1" "$2" "$3"
}
printf '{"segments":[],"device_traces":[[%s,%s]]}' "$(grabbed 4096 1000 7)" "$(grabbed 8192 500 8)" >grab.json
printf '{"segments":[],"device_traces":[[%s,%s]]}' "$(grabbed 4096 1000 7)" "$(grabbed 8192 900 8)" >grab2.json
run diff grab.json grab2.json
exits 0
out_has 'app.py:8 setup'
out_has_not 'pool.py:3'
run export --table sites grab.json
exits 0
out_has 'app.py:8 setup'

# devices
run diff samples/two-devices.pickle.gz samples/two-devices.pickle.gz
exits 0
out_has 'Device 0:'
out_has 'Device 1:'
if [ -n "${PYTHON3:-}" ]; then
    "$PYTHON3" - "samples/two-devices.pickle.gz" unused.pickle <<'EOF'
import gzip, pickle, sys
capture = pickle.load(gzip.open(sys.argv[1]))
capture["segments"] = [segment for segment in capture["segments"] if segment["device"] == 0]
capture["device_traces"][1] = [{"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": 1, "frames": []}]
pickle.dump(capture, open(sys.argv[2], "wb"))
EOF
    run diff unused.pickle unused.pickle
    exits 0
    out_has 'Device 1: not used'
fi
run diff --device 1 samples/two-devices.pickle.gz samples/two-devices.pickle.gz
exits 0
out_has_not 'Device 0:'
run diff --device 0:1 samples/two-devices.pickle.gz samples/two-devices.pickle.gz
exits 0
out_has 'Device 0 of A and device 1 of B'
run diff --device 1 $a samples/two-devices.pickle.gz
exits 2
no_out
err "memsnap: $a: the file has no device 1 (devices: 0)"
printf '{"segments":[],"device_traces":[[],[{"action":"alloc","addr":4096,"size":3,"stream":0}]]}' >one.json
run diff $a one.json
exits 0
out_has 'no device is in both: device 0 of A is compared with device 1 of B'

# a limit
run diff --fail-over 100MiB $a $b
exits 1
no_err
out_has 'failed: B exceeds A by more than 100.00 MiB (--fail-over 100MiB).'
run diff --fail-over 136012832 $a $b
exits 0
run diff --fail-over 136012831 $a $b
exits 1
run diff --fail-over 5% $a $b
exits 1
run diff --fail-over 50% $a $b
exits 0
out_has 'no more than'
run diff --fail-over 1 $b $a
exits 0

# formats
run diff --format json --top 2 $a $b
exits 0
check 'is one line' test "$(wc -l <.run/out)" -eq 1
out_has '"schema":"memsnap.diff/1","at":"peak"'
out_has '"delta_bytes":136012832'
run diff --format csv --top 3 $a $b
exits 0
golden diff-site.csv
run diff --format csv --by category $a $b
golden diff-category.csv
run diff --format csv --by phase $a $b
golden diff-phase.csv
run diff --format json -o out.json $a $b
exits 0
no_out
check 'writes a file' test -s out.json

# annotations
cat >before.json <<'END'
{"segments": [], "device_traces": [[
 {"action": "alloc", "addr": 4096, "size": 512, "stream": 0},
 {"action": "annotate", "addr": 4096, "size": 512, "stream": 0, "user_metadata": "weight"},
 {"action": "alloc", "addr": 8192, "size": 100, "stream": 0}]]}
END
sed 's/"size": 512/"size": 812/; s/weight/bias\\u001b/
    s/0}\]/0}, {"action": "alloc", "addr": 12288, "size": 50, "stream": 0}]/' before.json >after.json
run diff --by annotation before.json after.json
out_has '+812 B      -  812 B  0 > 1  bias\x1b'
out_has '-512 B  512 B      -  1 > 0  weight'
out_has '+50 B  100 B  150 B  1 > 2  (no annotation)'
run diff --by annotation --top 1 before.json after.json
out_has '-462 B  612 B  150 B      2  (2 more)'
run diff before.json after.json
out_has 'By annotation'
run diff --format csv --by annotation before.json after.json
out_has '0,0,weight,512,0,-512,1,0'
run diff --format json before.json after.json
out_has '"annotations":[{"name":"bias\u001b","a_bytes":0,"b_bytes":812,"delta_bytes":812,"a_count":0,"b_count":1}'
run diff $a $b
out_has_not 'annotation'

# standard input
run diff - $b <$a
exits 0
out_has 'A: standard input'
run diff $a - <$b
exits 0
out_has 'B: standard input'
run diff - - <$a
exits 2
no_out
err 'memsnap: standard input (-) can be read only once'

# names that would steer a terminal, or a spreadsheet
printf '{"segments":[],"device_traces":[[{"action":"alloc","addr":4096,"size":3,"stream":0,"frames":[{"name":"f\\u001b[31m\\"x","filename":"=cmd|a,b.py","line":1}]}]],"allocator_settings":{"k\\u001b[31m":"v\\u202e"}}' >hostile.json
run diff hostile.json $a
exits 0
check 'has no control character' lacks "$(printf '\033')" .run/out
run diff --format csv hostile.json one.json
exits 0
golden diff-hostile.csv
run diff --format json hostile.json one.json
exits 0
check 'has no control character' lacks "$(printf '\033')" .run/out

# wrong usage
for arguments in '' "$a" "$a $b $a"; do
    # shellcheck disable=SC2086 # several words
    run diff $arguments
    exits 2
    no_out
    err 'memsnap: diff: expected two files'
done
run diff --by nothing $a $b
exits 2
err "memsnap: diff: invalid table 'nothing' (expected site, category, phase or annotation)"
run diff --format yaml $a $b
exits 2
err "memsnap: diff: invalid format 'yaml' (expected text, json or csv)"
run diff --fail-over much $a $b
exits 2
err "memsnap: diff: invalid limit 'much' (for example 100MiB or 5%)"
run diff --fail-over -5% $a $b
exits 2
run diff --stacks --format csv $a $b
exits 2
run diff --by site --format json $a $b
exits 2
run diff --device 1:x $a $b
exits 2
err "memsnap: diff: invalid --device 'x' (expected a whole number)"
run diff --at 99999999 $a $b
exits 2
no_out
one_err_line
err_has "$a:"
run diff --at-b 99999999 $a $b
exits 2
err_has "$b:"

# files that cannot be compared
run diff $a missing.pickle
exits 5
no_out
err 'memsnap: missing.pickle: No such file or directory'
run diff missing.pickle $a
exits 5
err 'memsnap: missing.pickle: No such file or directory'
run diff $a "$files/bad-cut.pickle"
exits 3
no_out
one_err_line
err_has 'bad-cut.pickle: '
run diff "$files/bad-cut.pickle" $a
exits 3
one_err_line
run diff -o kept.txt $a "$files/bad-garbage.json"
exits 3
check 'leaves no file' test ! -e kept.txt
run diff samples/fsdp.layers.pickle $a
exits 2
no_out
err 'memsnap: samples/fsdp.layers.pickle: the file is a layer trace, but the other file is not'
run diff $a samples/fsdp.layers.pickle
exits 2
err 'memsnap: samples/fsdp.layers.pickle: the file is a layer trace, but the other file is not'
run diff $a samples/decoder.operators.pickle.gz
exits 2
no_out
one_err_line
err_has 'expected an allocator snapshot or a layer trace, not memory curves of MemoryTracker'
run diff --at end samples/fsdp.layers.pickle samples/fsdp.layers.pickle
exits 2
err 'memsnap: samples/fsdp.layers.pickle: --at does not apply to a layer trace, only to allocator snapshots'

# layer traces
run diff samples/decoder.layers.json.gz samples/fsdp.layers.pickle
exits 0
no_err
golden diff-layers.txt
gzip -dc samples/decoder.layers.json.gz | sed 's/"memory_activations": *67108864/"memory_activations": 167108864/; s/"blocks\.0\./"blocks._fsdp_wrapped_module.0./g; s/"head"/"lm_head"/g' >changed.json
run diff --top 3 samples/decoder.layers.json.gz changed.json
exits 0
golden diff-layers-changed.txt
run diff --format csv samples/decoder.layers.json.gz changed.json
exits 0
golden diff-layers.csv
run diff --format json samples/decoder.layers.json.gz changed.json
exits 0
out_has '"schema":"memsnap.diff/1","format":"layer-trace"'
run diff --fail-over 0 samples/decoder.layers.json.gz samples/fsdp.layers.pickle
exits 0
run diff --fail-over 200MiB samples/fsdp.layers.pickle samples/decoder.layers.json.gz
exits 1
echo '{"traces": []}' >empty.json
run diff empty.json samples/decoder.layers.json.gz
exits 0
out_has 'from 0 B to'
run diff empty.json empty.json
exits 0
out_has 'No module changed.'
run diff --max-memory 100KiB $a $b
exits 4
no_out
one_err_line

finish
