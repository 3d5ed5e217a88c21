#!/bin/sh
# A folder in place of files.
. "${srcdir:=.}/tests/cli/lib.sh"

mkdir -p runs/b/deep runs/a runs/empty none
cp samples/leak.pickle.gz runs/b/deep/leak.pickle.gz
cp samples/training.pt.trace.json.gz runs/a/
cp samples/decoder.layers.json.gz runs/
echo 'hello' >runs/notes.txt
printf '\000\001' >runs/b/core
cp samples/leak.pickle.gz runs/.hidden
ln -s b/deep/leak.pickle.gz runs/link.pickle.gz
ln -s ../runs runs/b/loop

# Every known file once, in order of the names; others are counted.
run analyze --format json runs
exits 0
err 'memsnap: runs: 2 files of other kinds left out; --verbose names them'
grep -o '"path":"[^"]*"' .run/out >paths
cat >wanted <<'END'
"path":"runs/a/training.pt.trace.json.gz"
"path":"runs/b/deep/leak.pickle.gz"
"path":"runs/decoder.layers.json.gz"
END
check 'reads each known file once' diff -u wanted paths

run analyze --verbose --top 1 runs/
exits 0
err_has 'memsnap: runs/b/core: left out: this command does not read unknown binary data'
err_has 'memsnap: runs/notes.txt: left out: this command does not read a text file'
err_has_not 'files of other kinds'
out_has 'Comparison of files in runs/'

# Files of other kinds are named, with what to record in their place.
mkdir -p others
gzip -dc samples/ddp/rank_1.execution.json.gz >others/rank0_et.json
printf '{"learning_rate": 0.1}' >others/config.json
printf '<html><title>GPU Memory Timeline HTML</title>' >others/memory.html
run analyze --verbose others runs/b
exits 3
err 'memsnap: others/rank0_et.json: left out: this command does not read an execution trace of torch.profiler, which has no memory: export_chrome_trace() of profile(profile_memory=True) has it
memsnap: others/config.json: left out: this command does not read an unknown kind of json
memsnap: others/memory.html: left out: this command does not read a picture of torch.profiler'"'"'s memory timeline: export_memory_timeline() writes what memsnap reads to a name that ends in .raw.json.gz
memsnap: others: no file in this folder is of a kind that this command reads'

# What a rank left: its trace and the list of its segments are reported, once each.
cp -r samples/ddp ddp
run analyze ddp
exits 0
err 'memsnap: ddp: 1 file of other kinds left out; --verbose names them'
check 'reports the trace once' [ "$(grep -c 'Profile of torch.profiler: rank 1 of 2' .run/out)" = 1 ]
check 'reports the list once' [ "$(grep -c '^ddp/rank_1.segments.pickle.gz (' .run/out)" = 1 ]
run analyze --format json samples/ddp
check 'both end with the same memory' [ "$(grep -c '"active_bytes":1180672' .run/out)" = 2 ]

# Beside files that are named.
run analyze --format json samples/leak.pickle.gz runs/b
exits 0
check 'reads both' test "$(grep -c . .run/out)" = 2

# An empty file that is named like a capture is one that could not be written. Others are left out.
mkdir -p crashed/rank0 crashed/rank1
cp samples/leak.pickle.gz crashed/rank0
: >crashed/rank1/leak.pickle
: >crashed/rank1/stdout.log
run ranks crashed
exits 3
err 'memsnap: crashed: 1 file of other kinds left out; --verbose names them
memsnap: crashed/rank1/leak.pickle: expected a pickle or JSON, not an empty file'
out_has '1 capture; 1 file could not be read'
run analyze --rank 0 crashed
exits 0
run flame crashed
exits 0

run analyze none
exits 3
err 'memsnap: none: no file in this folder is of a kind that this command reads'
run analyze runs/empty samples/leak.pickle.gz
exits 3
no_out
finish
