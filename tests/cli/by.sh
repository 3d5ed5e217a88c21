#!/bin/sh
# Live memory grouped by something else than the call site.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/train-loop.pickle.gz samples/recorded/oom-graph-pools.pickle.gz .

# table TITLE: keeps only the table whose last column has this title.
table() {
    sed -n "/^ .*size .*count  $1\$/,/^\$/p" .run/out >.run/part
    mv .run/part .run/out
}

for by in module pool phase stream; do
    run analyze --by $by --top 2 train-loop.pickle.gz
    exits 0
    no_err
    table $by
    cat .run/out >>all
done
run analyze --by pool oom-graph-pools.pickle.gz
table pool
cat .run/out >>all
mv all .run/out
golden by.txt

# sum KEY: the sum of all "bytes" of the rows in "by", of one device.
sum() {
    sed -n 's/.*"by":{"key":"'"$1"'","rows":\[\([^]]*\)\]}.*/\1/p' .run/out | grep -o '"bytes":-\{0,1\}[0-9]*' |
        awk -F: '{ sum += $2 } END { printf "%.0f\n", sum }'
}

# Rows sum to the live total, at any moment, in any range, and with a remainder.
for options in '--top 1' '--top 0' '--at end --top 2' '--at 300 --top 1' '--range 200: --top 1' \
    '--range 100:900 --top 0'; do
    # shellcheck disable=SC2086 # several words
    run analyze --format json --at peak $options train-loop.pickle.gz
    total=$(sed -n 's/.*"categories":\[\([^]]*\)\].*/\1/p' .run/out | grep -o '"bytes":-\{0,1\}[0-9]*' |
        awk -F: '{ sum += $2 } END { printf "%.0f\n", sum }')
    sed 's/.*"sites":\(.*\),"largest":.*/\1/' .run/out >sites
    out_has_not '"by":'
    for by in category metadata module pool stream phase annotation; do
        # shellcheck disable=SC2086
        run analyze --format json --by $by --at peak $options train-loop.pickle.gz
        exits 0
        check "$by sums to the total" test "$(sum $by)" = "$total"
        sed 's/.*"sites":\(.*\),"by":.*/\1/' .run/out >with
        check 'call sites are unchanged' cmp sites with
    done
done

# Metadata is that of the event; the innermost forward function counts.
cat >named.json <<'EOF'
{"segments": [{"device": 0, "address": 4096, "total_size": 4096, "stream": 7, "segment_type": "small",
  "segment_pool_id": [0, 3], "blocks": [
   {"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated"},
   {"address": 5120, "size": 1024, "requested_size": 900, "state": "active_allocated"},
   {"address": 6144, "size": 1024, "requested_size": 600, "state": "active_allocated"},
   {"address": 7168, "size": 1024, "requested_size": 70, "state": "active_allocated"}]}],
 "device_traces": [[
   {"action": "alloc", "addr": 4096, "size": 1000, "stream": 7, "user_metadata": "one\u001b[31m", "frames": [
     {"name": "helper", "filename": "a/net.py", "line": 3},
     {"name": "Block.forward", "filename": "a/net.py", "line": 9},
     {"name": "Net.forward", "filename": "b/net.py", "line": 1}]},
   {"action": "alloc", "addr": 5120, "size": 900, "stream": 7, "user_metadata": "(no metadata)", "frames": [
     {"name": "Net.forward", "filename": "b/net.py", "line": 2}]},
   {"action": "alloc", "addr": 6144, "size": 600, "stream": 7, "frames": [
     {"name": "fast_forward", "filename": "b/net.py", "line": 5}]},
   {"action": "annotate", "addr": 5120, "size": 900, "stream": 7, "user_metadata": "weight <\u001b>"},
   {"action": "annotate", "addr": 5120, "size": 900, "stream": 7, "user_metadata": "twice"}]]}
EOF
run analyze --format json --by module named.json
out_has '{"bytes":1000,"count":1,"name":"a/net.py Block.forward"},{"bytes":900,"count":1,"name":"b/net.py Net.forward"},{"bytes":670,"count":2,"name":"(in no forward function)"}'
run analyze --format json --by metadata named.json
out_has '"name":"one\u001b[31m"},{"bytes":900,"count":1,"name":"(no metadata)"},{"bytes":670,"count":2,"name":"(no metadata)"}'
run analyze --by metadata named.json
out_has 'one\x1b[31m'
run analyze --format json --by annotation named.json
out_has '"rows":[{"bytes":1670,"count":3,"name":"(no annotation)"},{"bytes":900,"count":1,"name":"weight <\u001b>; twice"}]'
run export --table blocks named.json
check 'blocks have annotations' test "$(grep -c '; twice' .run/out)" -eq 1
run analyze --by annotation named.json
out_has 'weight <\x1b>; twice'
for text in memsnap:workspace 'memsnap:workspace of cuBLAS'; do
    sed "s/twice/$text/" named.json >noted.json
    run analyze --format json --by category noted.json
    out_has '{"bytes":900,"count":1,"name":"workspace"}'
done
sed 's/twice/memsnap:workspaces/' named.json >noted.json
run analyze --format json --by category noted.json
out_has_not '"name":"workspace'

# Outside of compiled regions PyTorch writes "N/A"; other recordings have no such text.
sed 's/"user_metadata": "one\\u001b\[31m"/"compile_context": "0\/1"/
    s/"user_metadata": "(no metadata)"/"compile_context": "N\/A"/' named.json >compiled.json
run analyze --format json --by compile compiled.json
out_has '"key":"compile","rows":[{"bytes":1570,"count":3,"name":"(in no compiled region)"},{"bytes":1000,"count":1,"name":"0/1"}]'
run analyze --by compile compiled.json
out_has 'compiled region'
run analyze --format json --by pool named.json
out_has '"rows":[{"bytes":2570,"count":4,"name":"small, private pool (0, 3)"}]'
run analyze --format json --by stream --range 0:2 named.json
out_has '"rows":[{"bytes":1900,"count":2,"name":"0x7"},{"bytes":70,"count":1,"name":"(stream not known)"}]'
run analyze --format json --by phase named.json
out_has '{"bytes":70,"count":1,"name":"before_recording"}'

# Metadata that is no text is shown as Python prints it, and exported as that text.
sed 's/"one\\u001b\[31m"/{"step": 7, "of": ["\\u001b", null]}/' named.json >values.json
run analyze --format json --by metadata values.json
out_has '"bytes":1000,"count":1,"name":"{'"'step': 7, 'of': ['\\\\x1b', None]}"'"'
run export --as snapshot -o again.pickle values.json
exits 0
run analyze --format json --by metadata again.pickle
out_has '"bytes":1000,"count":1,"name":"{'"'step': 7, 'of': ['\\\\x1b', None]}"'"'

run analyze --by colour named.json
exits 2
err 'memsnap: analyze: invalid --by '\''colour'\'' (expected site, category, metadata, module, pool, stream, phase, annotation or compile)'
run analyze --by pool --stacks named.json
exits 2
err 'memsnap: analyze: --stacks needs --by site'

finish
