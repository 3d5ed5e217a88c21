#!/bin/sh
# memsnap analyze --with-trace: a snapshot and a profiler trace of the same run. tests/accept/joined.py
# compares the figures.
. "${srcdir:=.}/tests/cli/lib.sh"

trace=samples/joined.pt.trace.json.gz
run analyze --with-trace $trace samples/joined.pickle.gz
exits 0
no_err
golden joined.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
run analyze --format json --with-trace $trace samples/joined.pickle.gz
exits 0
out_has '"joined":{"trace":"samples/joined.pt.trace.json.gz","allocations":58,"inside":58,"matched":58,"live_matched":19,"by_time":true,'
out_has '"times":"host"'
run analyze --format json samples/joined.pickle.gz
exits 0
out_has_not '"joined"'
out_has_not '"module"'

# Part of the snapshot: what the trace has outside of it is counted.
run analyze --format json --range 200:300 --with-trace $trace samples/joined.pickle.gz
exits 0
check 'counts what is inside' sh -c 'tr "," "\n" <.run/out | grep -q "^\"matched\":[1-4][0-9]$"'

# Without times the order must do.
if [ -n "${PYTHON3-}" ]; then
    "$PYTHON3" -c 'import gzip, pickle
s = pickle.load(gzip.open("samples/joined.pickle.gz"))
for event in s["device_traces"][0]:
    del event["time_us"]
pickle.dump(s, open("timeless.pickle", "wb"))'
    run analyze --with-trace $trace timeless.pickle
    exits 0
    check 'says so' sh -c 'tr -s "\n " " " <.run/out | grep -q "58 of the 58 allocations .* matched, by their order only"'
fi

# Other runs, and other files.
run analyze --with-trace samples/training.pt.trace.json.gz samples/joined.pickle.gz
exits 3
one_err_line
err_has 'samples/joined.pickle.gz: the profiler trace is of another run, or of another part of this one: only '
no_out
run analyze --with-trace samples/leak.pickle.gz samples/joined.pickle.gz
exits 3
err 'memsnap: samples/leak.pickle.gz: expected a profiler trace, not an allocator snapshot'
run analyze --with-trace absent.json samples/joined.pickle.gz
exits 5
one_err_line
run analyze --with-trace $trace $trace
exits 2
err_has '--with-trace joins an allocator snapshot, not a profile'
run analyze --with-trace $trace samples/decoder.layers.json.gz
exits 2
err_has '--with-trace does not apply to a layer trace'
run analyze --with-trace $trace --summary s samples/joined.pickle.gz
exits 2
err_has '--with-trace cannot be combined with --summary'
echo '{"traceEvents": [{"ph": "i", "name": "[memory]", "ts": 1, "args": {"Bytes": 512, "Device Id": 0}}, {}]}' >2021.json
run analyze --with-trace 2021.json samples/joined.pickle.gz
exits 3
err_has '2021.json: the profiler trace has no addresses to join it by'
# No allocations of the device.
echo '{"traceEvents": [{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "ts": 1, "args":
    {"Bytes": 512, "Addr": 512, "Device Type": 0, "Device Id": -1}}, {}]}' >cpu.json
run analyze --with-trace cpu.json samples/joined.pickle.gz
exits 0
out_has 'Joined with cpu.json: no allocations of this device to compare.'
finish
