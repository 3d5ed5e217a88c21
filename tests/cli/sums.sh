#!/bin/sh
# Reports of nearly empty captures, and of captures whose parts do not add up.
. "${srcdir:=.}/tests/cli/lib.sh"

# capture SEGMENT_SIZE BLOCKS EVENTS: a snapshot of one segment at 4096, in capture.json.
capture() {
    printf '{"segments": [{"device": 0, "address": 4096, "total_size": %s, "stream": 0,
        "segment_type": "large", "blocks": [%s]}], "device_traces": [[%s]]}\n' "$1" "$2" "$3" >capture.json
}

# block ADDRESS SIZE REQUESTED STATE, event ACTION ADDRESS SIZE
block() {
    printf '{"address": %s, "size": %s, "requested_size": %s, "state": "%s"}' "$@"
}
event() {
    printf '{"action": "%s", "addr": %s, "size": %s, "stream": 0, "frames": [
        {"name": "forward", "filename": "/home/user/model.py", "line": 3}]}' "$@"
}

# Nothing was ever allocated: no advice about gradients.
capture 2097152 "$(block 4096 2097152 0 inactive)" "$(event segment_alloc 4096 2097152)"
run analyze capture.json
exits 0
out_has 'Live when the snapshot was taken: 0 B in 0 allocations'
out_has_not 'Gradients live'
out_has_not 'zero_grad'

# Blocks that are not all of their segment, or more than it.
capture 20971520 "$(block 4096 512 512 active_allocated)" \
    "$(event segment_alloc 4096 20971520), $(event alloc 4096 512)"
run analyze capture.json
exits 0
out_has 'inactive        0 B  in the file, whose blocks and segments do not add up'
out_has 'warning: the blocks of the dump leave out 20.00 MiB of the 20.00 MiB reserved:'
run analyze --format json capture.json
exits 0
out_has '"unexplained_bytes":20971008'
out_has '"warnings":["device 0: the blocks of the dump leave out 20.00 MiB of the 20.00 MiB reserved'
capture 2097152 "$(block 4096 20971520 512 active_allocated)" \
    "$(event segment_alloc 4096 2097152), $(event alloc 4096 512)"
run analyze capture.json
exits 0
out_has 'warning: the blocks of the dump are 18.00 MiB larger than the segments they'
run diff capture.json capture.json
exits 0
out_has 'the blocks of the dump are 18.00 MiB larger'
# One segment too many bytes and another as many too few do not cancel out.
printf '{"segments": [
    {"device": 0, "address": 4096, "total_size": 2097152, "stream": 0, "segment_type": "large", "blocks": [%s]},
    {"device": 0, "address": 20971520, "total_size": 2097152, "stream": 0, "segment_type": "large", "blocks": [%s]}],
    "device_traces": []}\n' "$(block 4096 1048576 512 active_allocated)" \
    "$(block 20971520 3145728 0 inactive)" >two.json
run analyze two.json
exits 0
out_has 'warning: the blocks of the dump leave out 1.00 MiB of the 4.00 MiB reserved:'
out_has 'warning: the blocks of the dump are 1.00 MiB larger than the segments they'

# More segments are made in the trace than the dump has.
capture 2097152 "$(block 4096 512 512 active_allocated), $(block 4608 2096640 0 inactive)" \
    "$(event segment_alloc 4096 2097152), $(event segment_alloc 4194304 8388608), $(event alloc 4096 512)"
run analyze --format json capture.json
exits 0
out_has '"reserved":{"start_bytes":-8388608'
out_has '"warnings":["device 0: computed back from the segments of the dump, reserved memory falls to 8.00 MiB below 0:'

# The same below 0 at the peak: its headline has no share of what was reserved then.
capture 2097152 "$(block 4096 512 512 active_allocated), $(block 4608 2096640 0 inactive)" \
    "$(event segment_alloc 4096 2097152), $(event alloc 4096 512), $(event segment_alloc 4194304 8388608)"
run analyze capture.json
exits 0
check 'a headline without a share' grep -qx 'Device 0: peak 512 B' .run/out

# A free before the range, of another size than was allocated: a row of the baseline has the rest.
capture 2097152 "$(block 4096 512 512 active_allocated), $(block 4608 2096640 0 inactive)" \
    "$(event alloc 8192 1000), $(event free_requested 8192 1000), $(event free_completed 8192 400), $(event alloc 4096 512)"
run analyze --range 3: capture.json
exits 0
out_has 'baseline     600 B  allocated before the range'
out_has 'From before the range: 600 B'
out_has '600 B      0  unexplained  -           freed before the range with a size'
run analyze --range 3: --format json capture.json
exits 0
out_has '"active":{"baseline_bytes":600,'
out_has '"baseline":[{"category":"unexplained","bytes":600,"count":0}]'

# Sizes beyond any memory: neither a curve nor the difference of two may exceed 64 bits.
for size in 4611686018427387904 9223372036854775807; do
    capture 2097152 "$(block 4096 512 512 active_allocated), $(block 4608 2096640 0 inactive)" \
        "$(event alloc 4096 512), $(event free_completed 8192 $size)"
    for way in 'text' 'json'; do
        run analyze --format $way capture.json
        exits 3
        err_has 'the sizes on device 0 add up to 2^62 bytes and more'
    done
done

finish
