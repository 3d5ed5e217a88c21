#!/bin/sh
# Valid files, and all the ways in which a file can be the wrong one.
. "${srcdir:=.}/tests/cli/lib.sh"

sample=samples/train-loop.pickle.gz

# bad FILE STATUS TEXT: the file is refused in one line that names it.
bad() {
    run analyze "$1"
    exits "$2"
    no_out
    one_err_line
    err_has "memsnap: $1: $3"
}

bad no-such-file 5 'No such file or directory'
mkdir folder
bad folder 3 'no file in this folder is of a kind that this command reads'
run flame folder
exits 3
err_has 'no file in this folder is of a kind that this command reads'

# Files that a training run leaves beside what memsnap reads: what they are, and what to record.
echo '<html><head><title>GPU Memory Timeline HTML</title></head>' >timeline.html
bad timeline.html 3 "expected a pickle or JSON, not a picture of torch.profiler's memory timeline: export_memory_timeline()"
cp samples/training.averages.txt .
run check --max-peak 1GiB training.averages.txt
exits 3
err_has "not a table of torch.profiler's operators, which 'memsnap analyze' reads"
echo '{"schema": "1.1.1-chakra.0.0.4", "pid": 3, "nodes": [{"id": 1, "name": "process", "ctrl_deps": 1}]}' >execution.json
bad execution.json 3 'expected an allocator snapshot, not an execution trace of torch.profiler, which has no memory: export_chrome_trace()'
echo 'Iteration 2 training_step Peak FSDP memory stats:' >fsdp.log
bad fsdp.log 3 'line 1: the log is cut off: expected a line of dashes at its end'
: >empty
bad empty 3 ''
echo 'Traceback (most recent call last):' >text
bad text 3 ''
gzip -dc "$sample" >whole.pickle
head -c 100000 whole.pickle >cut.pickle
bad cut.pickle 3 'byte 100000: '
head -c 20000 "$sample" >cut.gz
bad cut.gz 3 ''
printf '\200\004}\224.' >dict.pickle
bad dict.pickle 3 ''
printf '\200\004K\001.' >number.pickle
bad number.pickle 3 ''
printf '{"segments": [' >cut.json
bad cut.json 3 'byte '
printf '\004\042\115\030 and more' >snapshot.lz4
bad snapshot.lz4 3 'expected a pickle or JSON, not LZ4 data (decompress it first)'
printf '\200\002\212\012\154\374\234\106\371\040\152\250\120\031.' >model.pt
bad model.pt 3 'expected a pickle or JSON, not a file of torch.save()'
printf '\070\001\000\000\000\000\000\000{"weight":{"dtype":"F32"}}' >model.safetensors
bad model.safetensors 3 'expected a pickle or JSON, not a safetensors file'
printf '\377\376{\000' | gzip >utf-16.json.gz
bad utf-16.json.gz 3 'expected a pickle or JSON, not a text in UTF-16 (convert it to UTF-8 first)'
if [ "$(id -u)" != 0 ]; then
    : >secret
    chmod 0 secret
    bad secret 5 'Permission denied'
fi

# The name is escaped, too.
name=$(printf 'new\nline\033[2J\342\200\256')
run analyze "$name"
exits 5
err 'memsnap: new\nline\x1b[2J\u{202e}: No such file or directory'
cp samples/history-off.pickle "$name"
run analyze "$name"
exits 0
out_has 'new\nline\x1b[2J\u{202e} ('

# Standard input, compressed or not, is the same capture.
run analyze "$sample"
exits 0
tail -n +3 .run/out >file.txt
run analyze - <"$sample"
exits 0
no_err
out_has 'standard input'
tail -n +3 .run/out >stdin.txt
check 'reports standard input like a file' cmp file.txt stdin.txt
run analyze - <whole.pickle
exits 0
tail -n +3 .run/out >stdin.txt
check 'reports uncompressed input like compressed' cmp file.txt stdin.txt
run analyze samples/train-loop.json.gz
exits 0
tail -n +3 .run/out >json.txt
check 'reports JSON like a pickle' cmp file.txt json.txt
run analyze - </dev/null
exits 3
one_err_line
err_has 'memsnap: standard input: '
status=0
last='memsnap analyze - <&-'
"$MEMSNAP" analyze - <&- >.run/out 2>.run/err || status=$?
exits 5
one_err_line

# No file named.
mkdir none
cd none || exit 99
ln -s ../.run .run
run analyze
exits 2
no_out
err_has 'torch.cuda.memory._record_memory_history()'
err_has 'torch.cuda.memory._dump_snapshot("snapshot.pickle")'
MEMSNAP_INPUT=../samples/leak.pickle.gz
export MEMSNAP_INPUT
run analyze
exits 0
no_err
out_has '../samples/leak.pickle.gz'
unset MEMSNAP_INPUT
cp ../samples/history-off.pickle older.bin
cp ../samples/leak.pickle.gz newer.bin
echo 'not a capture' >newest.pickle
touch -d '2020-01-01' older.bin
touch -d '2021-01-01' newer.bin
run analyze
exits 0
err 'memsnap: no file named; reading newer.bin, the newest snapshot in the current folder'
out_has 'newer.bin'
mv newer.bin ./-
run analyze
exits 0
err 'memsnap: no file named; reading ./-, the newest snapshot in the current folder'
i=0
while [ $i -lt 40 ]; do # more than one process looks into
    i=$((i + 1))
    echo 'not a capture either' >other$i
done
run analyze
exits 0
err 'memsnap: no file named; reading ./-, the newest snapshot in the current folder'
cd ..

# Several: a bad one stops nobody, and the first that failed gives the status.
run analyze "$sample" empty no-such-file samples/leak.pickle.gz
exits 3
check 'complains once for each bad file' test "$(wc -l <.run/err)" -eq 2
golden several.txt
run analyze no-such-file empty
exits 5
no_out
run analyze "$sample" "$sample"
exits 0
no_err

# The output and its order do not depend on the number of files read at a time.
mkdir -p runs/lr-1e-3/rank0 runs/lr-1e-3/rank1 runs/lr-1e-4/rank0
files=
for i in 1 2 3; do
    for run in lr-1e-3/rank0 lr-1e-3/rank1 lr-1e-4/rank0; do
        cp "$sample" "runs/$run/$i.pickle"
        files="$files runs/$run/$i.pickle"
    done
    files="$files runs/none$i samples/two-devices.pickle.gz empty samples/leak.pickle.gz"
done
for format in text json; do
    for jobs in 1 2 3 16 0; do
        # shellcheck disable=SC2086 # a list of words
        run analyze --format "$format" --jobs "$jobs" $files - <samples/oom.pickle.gz
        exits 5
        if [ "$jobs" = 1 ]; then
            cp .run/out one-by-one
            cp .run/err one-by-one-err
        fi
        check "prints with --jobs $jobs what it prints with 1" cmp one-by-one .run/out
        check "complains with --jobs $jobs as with 1" cmp one-by-one-err .run/err
    done
done
check 'complains once for each bad file' test "$(wc -l <.run/err)" -eq 6
run analyze --device 0 --top 1 runs/*/*/1.pickle runs/none
exits 5
sed -n '/^Comparison/,$p' .run/out >.run/comparison
mv .run/comparison .run/out
golden comparison.txt
run analyze - "$sample" - <"$sample"
exits 2
no_out
err 'memsnap: standard input (-) can be read only once'

# More files than may be open: the soft limit is raised, the hard limit is reported.
# shellcheck disable=SC3045,SC2086 # where ulimit has no -S and -H there is nothing to test
if (ulimit -S -n 16) 2>/dev/null; then
    last='ulimit -S -n 16; memsnap analyze (more files)'
    status=0
    (ulimit -S -n 16 && "$MEMSNAP" analyze --format json $files - <"$sample" >.run/out 2>.run/err) ||
        status=$?
    exits 5
    check 'complains only of the bad files' test "$(wc -l <.run/err)" -eq 6
    last='ulimit -n 16; memsnap analyze -o out (more files)'
    status=0
    (ulimit -S -n 16 && ulimit -H -n 16 && "$MEMSNAP" analyze -o out $files >.run/out 2>.run/err) ||
        status=$?
    exits 4
    no_out
    one_err_line
    err_has 'ulimit -n'
    check 'leaves no output behind' test -z "$(ls -d out* 2>/dev/null)"
fi

# Limits and devices.
run analyze --max-memory 64KiB "$sample"
exits 4
no_out
one_err_line
run analyze --max-memory 1GiB "$sample"
exits 0
run analyze --device 7 samples/two-devices.pickle.gz
exits 2
no_out
err 'memsnap: samples/two-devices.pickle.gz: the file has no device 7 (devices: 0, 1)'
run analyze --at 99999999 "$sample"
exits 2
no_out
one_err_line

finish
