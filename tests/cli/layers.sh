#!/bin/sh
# memsnap analyze of layer traces, and of files saved by MemoryTracker
. "$srcdir/tests/cli/lib.sh"

# cut short: the reports are golden, so what they say is checked by reading them
run analyze samples/decoder.layers.json.gz
exits 0
no_err
golden layers.txt
run analyze --top 4 --ranks 64 --units MiB samples/decoder.layers.json.gz
golden layers-top.txt
run analyze --top 0 samples/fsdp.layers.pickle
golden layers-fsdp.txt
run analyze samples/decoder.operators.pickle.gz
exits 0
golden operators.txt
COLUMNS=50 run analyze samples/fsdp.layers.pickle
exits 0
golden layers-narrow.txt

# the same trace in every form gives the same figures
run analyze --format json samples/fsdp.layers.pickle
exits 0
sed 's/"input":{[^}]*},//' .run/out >wanted.json
for to in json msgpack; do
    run convert samples/fsdp.layers.pickle -o fsdp.$to
    run analyze --format json fsdp.$to
    exits 0
    sed 's/"input":{[^}]*},//' .run/out >found.json
    check "is the same from $to" cmp found.json wanted.json
done
run analyze - <fsdp.msgpack
exits 0
out_has 'standard input ('
out_has ' KiB, msgpack)'
run analyze --format json fsdp.msgpack
out_has '"input":{"path":"fsdp.msgpack","format":"layer-trace",'
out_has '"encoding":"msgpack","compression":"none"}'

# several files, of all kinds
run analyze --jobs 2 samples/decoder.layers.json.gz samples/leak.pickle.gz none.json fsdp.json \
    samples/decoder.operators.pickle.gz
exits 5
one_err_line
sed -n '/^Comparison/,$p' .run/out >comparison
mv comparison .run/out
golden layers-comparison.txt

# options that mean nothing here
for option in --device=0 --at=end --range=1:2 --stacks; do
    run analyze $option fsdp.json
    exits 2
    no_out
    err "memsnap: fsdp.json: ${option%=*} does not apply to a layer trace, only to allocator snapshots"
done
run analyze --format json --allocations fsdp.json
exits 2
err 'memsnap: fsdp.json: --allocations does not apply to a layer trace, only to allocator snapshots'
run analyze --range 1: samples/decoder.operators.pickle.gz
exits 2
run analyze --ranks 4 samples/leak.pickle.gz
exits 2
err 'memsnap: samples/leak.pickle.gz: --ranks does not apply to an allocator snapshot, only to layer traces'
run analyze --ranks 1 fsdp.json
exits 2
err "memsnap: analyze: invalid --ranks '1' (expected at least 2)"

# row NAME FORWARD DIFF ACTIVATIONS: one trace
row() {
    event="\"memory_activations\": $4"
    [ "$2" = false ] || event="\"memory_diff\": $3, $event"
    printf '{"module_name": "%s", "module_params": 10, "allocated": 100, "reserved": 200,
"is_forward": %s, "all_gathered": 0, "cumul_all_gathered": 0, "event": {%s}}' "$1" "$2" "$event"
}
traces() {
    printf '{"traces": [%s]}' "$1" >t.json
    run analyze t.json
    exits 0
}

traces ''
out_has 'warning: no traces in it: did the model run between monitor() and'
run analyze --format json t.json
exits 0
out_has '"traces":{"count":0,"forward":0,"backward":0,"modules":0},"total_activation'
traces "$(row a false 0 5)"
out_has 'warning: no forward traces: activations are unknown'
traces "$(row a true 5 5), $(row a true 5 5), $(row '' false 0 3)"
out_has_not 'ran forward more than once'
out_has '(the model)'
traces "$(row a true 5 5), $(row a true 5 5)"
out_has 'warning: 1 module ran forward more than once'
out_has 'warning: no backward traces: the peak of a training step may be higher'
traces "$(row a true 4194304 8388608), $(row a false 0 3)"
out_has 'warning: most activations are twice what was allocated, as for bfloat16:'
traces "$(row a true 8388608 4194304), $(row a false 0 3)"
out_has 'warning: most activations are half as large as what was allocated, as for'
traces "$(row a true 8388608 8388608), $(row a false 0 3)"
out_has_not 'warning'
# the wrappers of FSDP and of checkpointing have no line; text is escaped
traces "$(row '_fsdp_wrapped_module.a._checkpoint_wrapped_module.b' true 5 5), $(row 'x\u001b[31my' false 0 3)"
out_has ' a.b'
out_has 'x\x1b[31my'
finish
