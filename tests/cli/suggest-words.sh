#!/bin/sh
# What memsnap suggest says of unusual traces, and what it refuses.
. "${srcdir:=.}/tests/cli/lib.sh"

# rows FILE [NAME ACTIVATIONS MORE]...: a layer trace of modules that ran forward in this order; MORE
# are the members of its rows that need not be there.
rows() {
    file=$1
    shift
    printf '{"traces": [' >"$file"
    comma=
    while [ $# -gt 0 ]; do
        printf '%s{"module_name": "%s", "module_params": 0, "allocated": 0, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_diff": %s, "memory_activations": %s}, %s}' \
            "$comma" "$1" "$2" "$2" "$3" >>"$file"
        comma=,
        shift 3
    done
    printf ']}' >>"$file"
}

# The root, whose name is empty, is told, and no Python pretends to wrap it.
rows root.json '' 100 '"saved_activations": 1000000' m0 100 '"saved_activations": 900000' \
    m1 100 '"saved_activations": 900000' m2 100 '"saved_activations": 900000'
run suggest --budget 90% root.json
exits 0
out_has '  (the model)       1  976.56 KiB'
out_has '# The model itself is in this plan'
out_has_not 'names = {'
run suggest --checkpoints 2 root.json
exits 0
out_has '  (the model)  '
out_has_not 'plan = ['

finish
