#!/bin/sh
# What the report says of captures of next to nothing, and of those whose parts do not add up.
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
out_has 'Live at the peak: 0 B in 0 allocations'
out_has_not 'Gradients live'
out_has_not 'zero_grad'

finish
