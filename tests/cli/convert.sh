#!/bin/sh
# memsnap convert
. "$srcdir/tests/cli/lib.sh"

json=samples/decoder.layers.json.gz
pickle=samples/fsdp.layers.pickle

run convert -h
exits 0
golden help-convert.txt

# there and back is the same, whichever way it is asked for
for from in $json $pickle samples/gpt.layers.json.gz; do
    run convert $from
    exits 0
    no_err
    cp .run/out a.json
    run convert a.json -o a.msgpack
    exits 0
    no_out
    run convert --to msgpack - <a.json
    check 'is the same msgpack' cmp .run/out a.msgpack
    run convert a.msgpack
    check 'is the same JSON' cmp .run/out a.json
    gzip -kf a.msgpack
    run convert --to=json -o b.json a.msgpack.gz
    exits 0
    check 'is the same JSON' cmp a.json b.json
done

# in the names of the keys, and of modules, anything goes
cat >odd.json <<'END'
{"traces": [{"module_name": "\u0000\ud800\u202e\"", "module_params": 1, "allocated": 2,
"reserved": 3, "is_forward": true, "all_gathered": 0, "cumul_all_gathered": 0, "co\u001blour": 1,
"event": {"memory_diff": -4611686018427387903, "memory_activations": 4611686018427387903, "x": [],
"forward_us": 0.1, "backward_us": 3.0}}]}
END
run convert odd.json
exits 0
err 'memsnap: odd.json: unknown keys were left out: co\x1blour, x'
out_has '"memory_diff":-4611686018427387903,"memory_activations":4611686018427387903'
out_has '"forward_us":0.1,"backward_us":3,'
cp .run/out odd2.json
run convert odd2.json -o odd.msgpack
no_err
run convert odd.msgpack
check 'is the same JSON' cmp .run/out odd2.json

# after an error the existing output file is unchanged
echo before >kept.json
printf '{"traces":[{"module_name":1}]}' >bad.json
run convert bad.json -o kept.json
exits 3
err 'memsnap: bad.json: byte 26: expected a string for module_name, found a number'
check 'leaves the file alone' grep -qx before kept.json
run convert samples/leak.pickle.gz
exits 3
err 'memsnap: samples/leak.pickle.gz: expected a layer trace, not an allocator snapshot'
run convert --max-memory 64KiB $pickle
exits 4
one_err_line
run convert none.json
exits 5
one_err_line

run convert
exits 2
err 'memsnap: convert: expected one file, or - for standard input'
run convert a.json b.json
exits 2
run convert --to yaml a.json
exits 2
err "memsnap: convert: invalid format 'yaml' (expected json or msgpack)"
finish
