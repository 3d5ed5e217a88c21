#!/bin/sh
# memsnap dryrun --fit: options, results and failures, with a made-up torch.
. "${srcdir:=.}/tests/cli/lib.sh"
source=$cli/dryrun
built=${MEMSNAP%/*}/tests/cli/dryrun

run dryrun --fit BATCH=1..8 -- python train.py 64
exits 2
err "memsnap: dryrun: the command does not contain {BATCH}; try 'python train.py --batch {BATCH}'"
run dryrun --fit BATCH=9..8 -- python train.py '{BATCH}'
exits 2
err "memsnap: dryrun: invalid --fit 'BATCH=9..8': the range is empty"
run dryrun --fit BATCH=lots -- python train.py '{BATCH}'
exits 2
err "memsnap: dryrun: invalid --fit 'BATCH=lots' (for example BATCH=1..1024, BATCH=8..256+8, BATCH=1..1024*2 or BATCH=8,16,32)"
run dryrun --fit BATCH=8,8 -- python train.py '{BATCH}'
exits 2
err 'memsnap: dryrun: invalid --fit: the values must ascend, but 8 follows 8'
run dryrun --fit BATCH=1..8 --gpu a100,h1000 -- python train.py '{BATCH}'
exits 2
err "memsnap: dryrun: invalid --gpu 'h1000' (a name of memsnap dryrun --list, or a size like 24GiB)"
run dryrun --fit BATCH=1..8 --gpu a100 --gpu t4,a100 -- python train.py '{BATCH}'
exits 2
err 'memsnap: dryrun: invalid --gpu: a100 twice'
run dryrun --fit BATCH=1..8 --gpu 1GiB --other-use 2GiB -- python train.py '{BATCH}'
exits 2
err 'memsnap: dryrun: --gpu 1GiB has no more memory than others use (--other-use)'
run dryrun --gpu a100,t4 -- python train.py
exits 2
err 'memsnap: dryrun: more than one GPU needs --fit, as in --fit BATCH=1..1024'
run dryrun --timeout 5 -- python train.py
exits 2
err 'memsnap: dryrun: --timeout needs --fit, as in --fit BATCH=1..1024'
run dryrun --fit BATCH=1..8 --jobs 0 -- python train.py '{BATCH}'
exits 2
err "memsnap: dryrun: invalid --jobs '0' (expected at least 1)"

if [ ! -e "${MEMSNAP%/*}/libmemsnap-dryrun.so" ] || [ -z "${PYTHON3-}" ]; then
    echo 'skipped the rest: the stand-in for CUDA was not built, or there is no Python'
    finish
fi

. "$source/torch.sh"
cp "$source/fit.py" .

# fit ARGUMENT...: runs memsnap dryrun --fit, which must leave no folder behind.
fit() {
    run dryrun --fit "$@"
    leaves_no_folder
}

# tells EXPRESSION: true of the results in JSON.
tells() {
    check "results: $1" "$PYTHON3" -c "
import json, sys
fit = json.load(open('.run/out'))
gpu = fit['gpus'][0]
values = [run['value'] for run in gpu['runs']]
sys.exit(not ($1))"
}

# gone: the process that hung has ended, or waits as a zombie for init.
gone() {
    ! grep -q ') [^ZX]' "/proc/$(cat hanging)/stat" 2>/dev/null
}

# Half of 16 GiB - 512 MiB, in MiB: 7936.
fit MIB=1..100000 --gpu 16GiB -- "$PYTHON3" fit.py '{MIB}'
exits 0
no_err
out_has '--fit MIB=1..100000, 4 optimizer steps of:'
out_has 'largest MIB that fits is 7936; 7937 runs out of memory'
out_has_not 'not monotone'
check 'finds the largest' grep -Eq '7936  fits +15.50 GiB +15.50 GiB +100.0%' .run/out
check 'tries the next' grep -Eq '7937  out of memory' .run/out
fit MIB=1..100000 --gpu 16GiB --format json -- "$PYTHON3" fit.py '{MIB}'
exits 0
tells 'fit["schema"] == "memsnap.fit/1" and fit["command"][1:] == ["fit.py", "{MIB}"] and fit["variable"] == "MIB"'
tells 'gpu["largest"] == 7936 and gpu["limit"] == 7937 and gpu["not_monotone"] == [] and len(values) < 8'
tells 'all(run["peak_active_bytes"] == run["value"] << 21 for run in gpu["runs"] if run["result"] == "fits")'

# Several GPUs, in parallel, with the snapshots.
fit MIB=1..100000 --gpu t4,16GiB --gpu 1GiB --jobs 3 --format json -o kept -- "$PYTHON3" fit.py '{MIB}'
exits 0
tells '[gpu["largest"] for gpu in fit["gpus"]] == [7202, 7936, 256]'
check 'keeps the results' cmp .run/out kept/fit.json
run analyze kept/16GiB-7936.pickle
exits 0
out_has 'peak 15.50 GiB'
fit MIB=1..100000 --gpu t4,1GiB -- "$PYTHON3" fit.py '{MIB}'
exits 0
check 'compares the GPUs' grep -Eq '^1GiB +1.00 GiB +256 +512.00 MiB +512.00 MiB  memory' .run/out

# Lists and steps.
fit MIB=100,200,300,20000 --gpu 1GiB --format json -- "$PYTHON3" fit.py '{MIB}'
exits 0
tells 'values == [100, 200, 300, 20000] and gpu["largest"] == 200'
fit MIB=10..1000+10 --gpu 1GiB --format json -- "$PYTHON3" fit.py '{MIB}'
tells 'gpu["largest"] == 250 and gpu["limit"] == 260'
fit 'MIB=1..1024*2' --gpu 1GiB --format json -- "$PYTHON3" fit.py 'x{MIB}' 
exits 5
fit 'MIB=1..1024*2' --gpu 1GiB --format json -- "$PYTHON3" fit.py '{MIB}'
tells 'gpu["largest"] == 256 and gpu["limit"] == 512'
fit MIB=1..200 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}'
exits 0
out_has 'larger ones may fit too'

# Memory that is not monotone, and memory that runs out while the program goes on.
fit MIB=100,101,102,200,201,210 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}' wave
exits 0
out_has 'all values tried fit; 101 runs out of memory, but 210 fits'
out_has 'Memory is not monotone in MIB.'
out_has_not 'tries each of them'
fit MIB=100,101,102,200,201,210 --gpu 1GiB --format json -- "$PYTHON3" fit.py '{MIB}' wave
tells 'gpu["largest"] == 100 and gpu["limit"] == 101 and gpu["fits_above_limit"] == 210'
fit MIB=101,102 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}' wave
exits 1
out_has 'out of memory, but 102 fits'
fit MIB=10,11,12 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}' wave
exits 0
out_has 'Peak active falls'
fit MIB=10 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}' survive
exits 0
out_has 'MIB=10: memory ran out once, and the program went on'

# The smallest value does not fit, or the program fails with it.
fit MIB=300..400 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}'
exits 1
out_has 'fits: 300 runs out of memory'
fit MIB=1..400 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}' raise
exits 5
no_out
err_has 'Traceback'
err_has 'memsnap: dryrun: with MIB=1, the program failed with status 1 (ValueError: batch 1 is larger than the data)'
fit MIB=1..400 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}' kill
exits 5
err_has 'the program was ended by signal 9'
fit MIB=1..400 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}' print
exits 5
err_has 'the end'
check 'does not print all of it' test "$(wc -c <.run/err)" -lt 10000
check 'does not control the terminal' sh -c '! grep -q "$(printf "\033")" .run/err'
fit MIB=1..400 --gpu 1GiB -- "$PYTHON3" -c 'print({MIB})'
exits 3
err_has 'memsnap: dryrun: the program did not import torch'
fit MIB=1..400 --gpu 1GiB -- ./nothing '{MIB}'
exits 2
err 'memsnap: dryrun: cannot run ./nothing: No such file or directory'

# The program fails with a larger value.
fit MIB=1..400 --gpu 1GiB -- "$PYTHON3" fit.py '{MIB}' raise 150
exits 5
out_has 'with 151 the'
out_has 'MIB=151: the program failed with status 1'
err 'memsnap: dryrun: on 1GiB, with MIB=151, the program failed with status 1 (ValueError: batch 151 is larger than the data)'

# A program that hangs, with a process of its own that does.
fit MIB=100..400 --gpu 1GiB --timeout 1 -- "$PYTHON3" fit.py '{MIB}' hang
exits 5
err_has 'memsnap: dryrun: with MIB=100, the program did not end within 1 s'
check 'leaves no process' gone

# A signal ends all programs, and nothing half done stays.
rm -f hanging
"$MEMSNAP" dryrun --fit MIB=100..400 --gpu 1GiB,2GiB --jobs 2 -o left -- "$PYTHON3" fit.py '{MIB}' hang 100 \
    >.run/out 2>.run/err &
process=$!
for _ in $(seq 600); do
    [ ! -e hanging ] || break
    sleep 0.1
done
kill -TERM "$process"
status=0
wait "$process" || status=$?
last='memsnap dryrun --fit, and SIGTERM'
check 'ends by the signal' test "$status" -ge 128
no_out
check 'leaves no folder' test -z "$(ls tmp)"
check 'leaves no process' gone
check 'keeps complete snapshots only' test -z "$(ls -A left | grep -v '^[12]GiB-[0-9]*[.]pickle$')"
check 'keeps a snapshot' test -s left/2GiB-100.pickle

# Ctrl-C on a terminal.
rm -rf hanging left
last='Ctrl-C during memsnap dryrun --fit'
"$PYTHON3" "$cli/press_interrupt.py" hanging "$MEMSNAP" dryrun --fit MIB=100..400 --gpu 1GiB -o left -- "$PYTHON3" fit.py '{MIB}' hang \
    >.run/out 2>.run/err
out_has 'signal 2 terminal same'
check 'leaves no folder' test -z "$(ls tmp)"
check 'leaves no process' gone
check 'leaves no results' test -z "$(ls -A left)"

# Folders that cannot be made.
: >file
fit MIB=1..400 --gpu 1GiB -o file -- "$PYTHON3" fit.py '{MIB}'
exits 5
err 'memsnap: dryrun: cannot create the folder file: it is a file'

# Progress on a terminal only.
on_terminal 80 '' "$MEMSNAP" dryrun --fit MIB=1..400 --gpu 1GiB -- "$PYTHON3" -c '
import sys, time
time.sleep(1.5)
sys.argv = ["fit.py", "{MIB}"]
exec(open("fit.py").read())'
exits 0
out_has 'runs done; MIB='
finish
