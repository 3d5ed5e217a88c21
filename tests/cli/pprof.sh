#!/bin/sh
# Memory profiles of JAX, in pprof's format.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/jax.pprof.gz .
run analyze jax.pprof.gz
if grep -q 'was built without protobuf-c' .run/err; then
    exits 2
    one_err_line
    echo 'skipped the rest: built without protobuf-c'
    finish
fi
exits 0
no_err
golden pprof.txt
gzip -dc jax.pprof.gz >jax.pprof
run analyze --format json jax.pprof
exits 0
out_has '"format":"device-memory-profile","bytes":'
out_has '"encoding":"protobuf","compression":"none"'
out_has '"peak_bytes":1310720,"peak_event":-1,"end_bytes":1310720}'
out_has_not '"reserved"'

# bad BYTES MESSAGE: a value type of count, then BYTES
bad() {
    printf "\\012\\004\\010\\001\\020\\002$1" >bad.pprof
    run analyze bad.pprof
    exits 3
    no_out
    err "memsnap: bad.pprof: $2"
}
damaged() {
    bad "$1" "byte $2 of a pprof profile, found $3"
}
damaged '\022\001\377\377' "8: expected a field's number and wire type in 'sample'" 'its end'
damaged '\022\001\000' "8: expected a field's number and wire type in 'sample'" 'number 0'
damaged '\022\002\010\200' "9: expected a number in 'location_id'" 'its end'
damaged '\022\003\012\001\200' "10: expected a number in 'location_id'" 'its end'
damaged '\022\012\012\001' "8: expected 10 bytes in 'sample'" 2
damaged '\022\000\020\001' "8: expected a text or a message in 'sample'" 'another wire type'
damaged '\022\000\015\001\002' "8: expected a text or a message in 'sample_type'" 'another wire type'
damaged '\022\000\175\001\002' "9: expected 4 bytes in 'profile'" 2
damaged '\022\000\173' "8: expected a field of wire type 0, 1, 2 or 5 in 'profile'" another
damaged '\022\000\170\377\377\377\377\377\377\377\377\377\377\001' "9: expected a number in 'profile'" 'a longer number'
bad '\022\000\062\001a' 'expected a memory profile, found a profile without values in bytes'
bad '\022\000\062\000\062\005count\062\005bytes\012\002\020\002\012\002\020\001\022\002\022\000\377' \
    "byte 36: expected a field's number and wire type in 'profile' of a pprof profile, found its end"
# texts "", "count", "bytes"; one value of -1 bytes
bad '\022\014\022\012\377\377\377\377\377\377\377\377\377\001\062\000\062\005bytes\062\005bytes' \
    'expected bytes that are live, found -1'

run check --max-peak 1MiB jax.pprof
exits 1
run diff jax.pprof jax.pprof.gz
exits 0
out_has 'Live memory at the moments compared: 1.25 MiB in both'
run flame jax.pprof
exits 0
out_has 'record_jax.py:67 main;record_jax.py:18 weights'
run suggest jax.pprof
exits 3
err_has "not a memory profile in pprof's format"
run plot --kind segments -o a.svg jax.pprof
exits 2
finish
