#!/bin/sh
# What newer versions of PyTorch record, or leave out on request.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/newest/*.pickle.gz samples/train-loop.pickle.gz .

# Keeps the part of a report before its advice, which other tests compare.
without_advice() {
    sed '/^  \(Growth\|Fragmentation\|Possible savings\)/,$d' .run/out >.run/part
    mv .run/part .run/out
}

# Anomaly mode: the forward line to which memory of the backward pass belongs.
run analyze --top 8 anomaly.pickle.gz
exits 0
no_err
out_has 'Host memory: peak 1.00 MiB'
without_advice
golden recording-anomaly.txt
run flame anomaly.pickle.gz
exits 0
out_has ';(its backward);'
out_has_not 'host memory'

# Annotations of tensors.
out_has_not 'unknown actions'
run analyze --format json --allocations --top 0 anomaly.pickle.gz
out_has '"annotation":"parameter 3"'
run analyze --top 0 anomaly.pickle.gz
out_has ' parameter 3'
run analyze --explain train.py:55 --top 0 anomaly.pickle.gz
out_has 'parameter 3'
run export anomaly.pickle.gz
out_has ',stack,forward_stack,annotation'
out_has ',parameter 3'
printf 'mine: annotation ^parameter [12]$\n' >rules
run analyze --rules rules --format json --allocations anomaly.pickle.gz
out_has '"category":"mine","confidence":"high","reason":"annotated","annotation":"parameter 2"'
out_has_not '"category":"mine","confidence":"high","reason":"annotated","annotation":"parameter 3"'
cat >named.json <<'EOF'
{"segments": [{"device": 0, "address": -4096, "total_size": 2048, "segment_pool_id": 1, "blocks": [
   {"address": -4096, "size": 1024, "requested_size": 1000, "state": "active_allocated"},
   {"address": -3072, "size": 1024, "requested_size": 900, "state": "active_allocated"}]}],
 "device_traces": [[{"action": "annotate", "addr": -4096, "size": 1000, "user_metadata": "first"},
   {"action": "annotate", "addr": -4096, "size": 1000, "user_metadata": "memsnap:input"},
   {"action": "alloc", "addr": -3072, "size": 900},
   {"action": "empty_cache"},
   {"action": "annotate", "addr": -3072, "size": 900, "user_metadata": "memsnap:no such category"}]]}
EOF
run analyze --format json --allocations named.json
exits 0
out_has '"category":"input","confidence":"high","reason":"annotated","annotation":"first; memsnap:input"'
out_has '"bytes":900,"born_event":2,"freed_event":-1,"category":"unknown"'
out_has_not 'unknown actions'

# Annotations from before a range, also of an address that was annotated for another allocation.
cat >cut.json <<'EOF'
{"segments": [{"device": 0, "address": 4096, "total_size": 4096, "blocks": [
   {"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated"},
   {"address": 5120, "size": 1024, "requested_size": 900, "state": "active_allocated"},
   {"address": 6144, "size": 1024, "requested_size": 800, "state": "active_allocated"}]}],
 "device_traces": [[{"action": "annotate", "addr": 4096, "size": 1000, "user_metadata": "older"},
   {"action": "alloc", "addr": 5120, "size": 500},
   {"action": "annotate", "addr": 5120, "size": 500, "user_metadata": "gone"},
   {"action": "free_requested", "addr": 5120, "size": 500},
   {"action": "free_completed", "addr": 5120, "size": 500},
   {"action": "alloc", "addr": 5120, "size": 900},
   {"action": "annotate", "addr": 5120, "size": 900, "user_metadata": "second"},
   {"action": "annotate", "addr": 5120, "size": 900, "user_metadata": "first"},
   {"action": "note", "addr": 5120, "size": 900, "user_metadata": "not an annotation"},
   {"action": "annotate", "addr": 5120, "size": 900, "user_metadata": "inside"},
   {"action": "alloc", "addr": 6144, "size": 800}]]}
EOF
for range in : 8: 9: 10:; do
    case $range in
    :) run analyze --format json --allocations cut.json ;;
    *) run analyze --format json --allocations --range $range cut.json ;;
    esac
    exits 0
    sed 's/.*"allocations":\[//' .run/out >.run/part
    mv .run/part .run/out
    out_has '"bytes":1000,"born_event":-1,"freed_event":-1,"category":"unknown","confidence":"low","reason":"undecided","annotation":"older"}'
    case $range in
    10:) out_has '"bytes":900,"born_event":5,"freed_event":-1,"category":"unknown","confidence":"low","reason":"undecided","annotation":"second; first; inside"}' ;;
    *) out_has '"annotation":"second; first; inside"}' ;;
    esac
    test $range = : || out_has_not gone
done

# Host memory is a device of its own name.
run analyze --device host --format json anomaly.pickle.gz
exits 0
out_has '"devices":[],"host":{"device":-1,'
for command in flame 'check --max-peak 2MiB' 'plot --out host.html' 'analyze --at end'; do
    # shellcheck disable=SC2086 # the options are several words
    run $command --device host anomaly.pickle.gz
    exits 0
done
run diff --device host anomaly.pickle.gz anomaly.pickle.gz
exits 0
out_has 'Host memory: live memory at the peaks'
run check --max-peak 512KiB --device host anomaly.pickle.gz
exits 1
cat >host-only.json <<'EOF'
{"segments": [{"device": 0, "address": 4096, "total_size": 2048, "blocks": [
   {"address": 4096, "size": 2048, "requested_size": 2000, "state": "active_allocated"}]}],
 "device_traces": [[]], "host_segments": [],
 "host_traces": [{"action": "alloc", "addr": 1, "size": 100}, {"action": "free_requested", "addr": 1, "size": 100},
   {"action": "free_completed", "addr": 1, "size": 100}]}
EOF
run flame host-only.json
out_has '(no stack recorded) 100'
run check --max-peak 1KiB host-only.json
exits 1
run export --table events --device host anomaly.pickle.gz
exits 0
out_has '-1,0,segment_alloc,'
run analyze --device host train-loop.pickle.gz
exits 2
err_has 'the file has no host memory (devices: 0)'
run suggest --device host anomaly.pickle.gz
exits 3
err_has 'only pinned host memory was recorded'

# skip_actions: a choice, not damage.
run analyze --top 8 skip-free-completed.pickle.gz
exits 0
no_err
without_advice
golden recording-skip-free-completed.txt
run analyze --top 8 skip-alloc.pickle.gz
exits 0
no_err
without_advice
golden recording-skip-alloc.txt
run analyze --format json skip-free-completed.pickle.gz
out_has '"recording":{"unrecorded":["free_completed"],"active_until":"free_requested"'
run analyze --at backward --format json skip-free-completed.pickle.gz
out_has '"at":{"event":391,"time_us":1750000000011047,"active_bytes":193940484,'
run suggest skip-alloc.pickle.gz
exits 3
err_has 'without allocs or frees (skip_actions)'

# A trace without segment_alloc does not say whether its segments are older than it. Its events have
# no times.
cat >segments.json <<'EOF'
{"segments": [{"device": 0, "address": 1073741824, "total_size": 419430400, "blocks": [
   {"address": 1073741824, "size": 41943040, "state": "inactive"},
   {"address": 1115684864, "size": 41943040, "requested_size": 41943040, "state": "active_allocated"},
   {"address": 1157627904, "size": 41943040, "state": "inactive"},
   {"address": 1199570944, "size": 146800640, "requested_size": 146800640, "state": "active_allocated"},
   {"address": 1346371584, "size": 146800640, "state": "inactive"}]}],
 "device_traces": [[
   {"action": "alloc", "addr": 1073741824, "size": 41943040},
   {"action": "alloc", "addr": 1115684864, "size": 41943040},
   {"action": "alloc", "addr": 1157627904, "size": 41943040},
   {"action": "free_requested", "addr": 1073741824, "size": 41943040},
   {"action": "free_completed", "addr": 1073741824, "size": 41943040},
   {"action": "free_requested", "addr": 1157627904, "size": 41943040},
   {"action": "free_completed", "addr": 1157627904, "size": 41943040},
   {"action": "alloc", "addr": 1199570944, "size": 146800640}]]}
EOF
run analyze segments.json
exits 0
out_has 'events  8 without times, in the order of the file: 4 alloc'
out_has 'first event, or whose segment_alloc was not recorded (skip_actions)'
again='{"action": "segment_free", "addr": 8589934592, "size": 20971520}'
again="$again, $(echo "$again" | sed s/free/alloc/), $again"
sed "s/\"device_traces\": \[\[/&$again,/" segments.json >again.json
run analyze again.json
exits 0
out_has 'in segments that were reserved before the'
out_has_not 'skip_actions'
sed 's/"action": "alloc"/&, "time_us": 1/' segments.json >timed.json
run analyze timed.json
out_has_not 'without times'

# Recording began at a free: the headline and the tables are of the same moment.
cat >late.json <<'EOF'
{"segments": [{"device": 0, "address": 4096, "total_size": 4096, "blocks": [
   {"address": 4096, "size": 1024, "requested_size": 1024, "state": "active_allocated"}]}],
 "device_traces": [[{"action": "free_requested", "addr": 5120, "size": 512},
   {"action": "free_completed", "addr": 5120, "size": 512}]]}
EOF
run analyze late.json
exits 0
out_has 'Device 0: 1.50 KiB in use before the first event'
out_has 'Live before the first event: 1.50 KiB in 2 allocations'

# skip_actions=["segment_alloc"]: nothing lived before the trace, and a segment made while events
# were recorded has a stack.
frames='[{"filename": "/a/train.py", "line": 3, "name": "<module>"}]'
segments() { # STACK ADDRESS-OF-AN-ALLOCATION
    cat >segments.json <<EOF
{"segments": [{"device": 0, "address": 4096, "total_size": 4096, "frames": $1, "blocks": [
   {"address": 4096, "size": 1024, "requested_size": 1024, "state": "active_allocated"}]}],
 "device_traces": [[{"action": "alloc", "addr": $2, "size": 1024, "frames": $frames}]]}
EOF
    run analyze segments.json
    exits 0
}
segments "$frames" 4096
out_has 'Device 0: peak 1.00 KiB, 25.0% of the 4.00 KiB reserved at the end'
out_has 'warning: segment_alloc was not recorded (skip_actions): how much was reserved'
run analyze --format json segments.json
out_has '"reserved_is_assumed":true'
segments '[]' 4096
out_has '25.0% of the 4.00 KiB reserved then'
out_has_not 'segment_alloc was'
segments "$frames" 5120 # the block at 4096 is from before the trace
out_has_not 'segment_alloc was'
run analyze --format json segments.json
out_has_not 'reserved_is_assumed'

# Metadata of any type is as Python prints it.
if [ -n "${PYTHON3-}" ]; then
    "$PYTHON3" - <<'EOF'
import pickle
values = [2**70, -2**70, {1, 2}, set(), frozenset([3]), {None: bytearray(b"x")}, 1 << 2000]
trace = [{"action": "alloc", "addr": 4096 * (i + 1), "size": 4096 - i, "user_metadata": value}
         for i, value in enumerate(values)]
pickle.dump({"segments": [], "device_traces": [trace]}, open("metadata.pickle", "wb"), 5)
EOF
    run analyze --by metadata metadata.pickle
    exits 0
    for text in 1180591620717411303424 -1180591620717411303424 '{1, 2}' 'set()' 'frozenset({3})' \
        "{None: bytearray(b'x')}" '<an int beyond 64 bits>'; do
        out_has "  $text"
    done
fi

finish
