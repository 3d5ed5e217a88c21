# Makes layer traces. Sourced, after lib.sh.

# trace NAME [NAME BYTES...]: a layer trace of modules that ran forward in this order.
trace() {
    file=$1
    shift
    printf '{"traces": [' >"$file"
    comma=
    while [ $# -gt 0 ]; do
        printf '%s{"module_name": "%s", "module_params": 0, "allocated": 0, "reserved": 0, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "event": {"memory_diff": %s, "memory_activations": %s}}' \
            "$comma" "$1" "$2" "$2" >>"$file"
        comma=,
        shift 2
    done
    printf ']}' >>"$file"
}
