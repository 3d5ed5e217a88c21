#!/bin/sh
# memsnap oom
. "$srcdir/tests/cli/lib.sh"

log=samples/ranks.log

run oom --help
exits 0
golden help-oom.txt

run oom $log
exits 0
no_err
golden oom-log.txt
cp .run/out told.txt
gzip -c $log >log.gz
run oom log.gz
exits 0
sed 's/log.gz/samples\/ranks.log/' .run/out >unpacked.txt
check 'is the same compressed' cmp told.txt unpacked.txt
run oom - <$log
exits 0
out_has 'standard input: 2 out-of-memory errors in 22 lines'
mkfifo pipe
cat $log >pipe &
run oom <pipe
exits 0
out_has 'standard input: 2 out-of-memory errors in 22 lines'
run oom $log --units MiB --top 1
exits 0
out_has '2,048.00 MiB requested'
out_has '1 more rank ran out of memory'
out_has_not 'rank 0,'
run oom $log -o report.txt
exits 0
no_out
check 'writes the file' cmp told.txt report.txt

run oom --format json $log
exits 0
no_err
golden oom-log.json

# two containers without ranks, and two processes in one of them
sed -n 's/^\[rank[0-9]*\]: \(torch.OutOfMemoryError.*\)/\1/p' $log | sed 1q >one.txt
{ sed 's/^/trainer-1  | /' one.txt; sed 's/^/trainer-2  | /' one.txt
  sed 's/^/trainer-2  | (W pid=7) /; s/to allocate [0-9]*/to allocate 1/' one.txt; } >containers.log
run oom containers.log
exits 0
out_has '3 out-of-memory errors in 3 lines'
out_has 'trainer-1, GPU'
out_has 'trainer-2, GPU'
out_has 'trainer-2, process 7, GPU'
out_has_not 'earlier'
run oom --format json containers.log
out_has '"pid":7,"container":"trainer-2"'

# errors that are not about PyTorch's memory on the device
printf 'DataLoader worker (pid 7) is killed by signal: Killed. \n' >killed.log
run oom killed.log
exits 0
out_has "the CPU's memory ran out"
out_has_not 'record a snapshot'
run oom --format json killed.log
exits 0
out_has '"source":"worker"'
out_has '"verdict":"host_memory"'
printf 'out of resource: shared memory, Required: 131072, Hardware limit: 101376.\n' >triton.log
run oom triton.log
exits 0
out_has "the device's memory is not the cause"

# as PowerShell redirects the output of a program
if [ -n "${PYTHON3-}" ]; then
    "$PYTHON3" -c 'import sys; open(sys.argv[2], "wb").write(open(sys.argv[1], "rb").read().decode().encode("utf-16"))' \
        $log utf-16.log
    run oom utf-16.log
    exits 0
    sed 's/utf-16.log/samples\/ranks.log/' .run/out >from-utf-16.txt
    check 'is the same in UTF-16' cmp told.txt from-utf-16.txt
fi
# cut off
printf 'CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 14.74 GiB of which 640.12 MiB is free.\n' >cut.log
run oom cut.log
exits 0
out_has "640.12 MiB of the device's 14.74 GiB were free; the rest of the text, which"
# another back end
printf 'RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 57.23 GiB already allocated; 57.23 GiB current active; 1.20 GiB free; 58.90 GiB reserved in total by PyTorch)\n' >npu.log
run oom npu.log
exits 0
out_has 'next: set PYTORCH_NPU_ALLOC_CONF=max_split_size_mb:128 before the program'

# everything that fits neither way
printf 'step 1\nstep 2\n' >healthy.log
run oom healthy.log
exits 3
err 'memsnap: healthy.log: no out-of-memory error of PyTorch in 2 lines'
: >empty.log
run oom empty.log
exits 3
err 'memsnap: empty.log: no out-of-memory error of PyTorch in 0 lines'
run oom samples/oom.pickle.gz
exits 3
err "memsnap: samples/oom.pickle.gz: expected a log, not an allocator snapshot; see 'memsnap analyze'"
run oom </dev/null
exits 2
err 'memsnap: oom: expected one log, or - for standard input'
run oom $log $log
exits 2
run oom missing.log
exits 5
run oom --format xml $log
exits 2
err "memsnap: oom: invalid format 'xml' (expected text or json)"
run oom --max-memory 64KiB $log
exits 4

# analyze looks for errors in a log, too
for words in 'step 1' '[rank0]: Traceback (most recent call last):' '[2026-11-22 10:00:00] step 1'; do
    echo "$words" >some.log
    run analyze some.log
    exits 3
    one_err_line
    err_has 'not a text file without out-of-memory errors'
done
echo '{"a": 1}' >some.json
run analyze some.json
exits 3
err_has_not 'out-of-memory'

# nothing in a log controls the terminal
printf '  File "/a/\033[31mb.py", line 1, in \302\233f\342\200\256\nCUDA out of memory. Tried to allocate 1.00 GiB\n' >evil.log
run oom evil.log
exits 0
out_has 'b.py:1 \u{9b}f\u{202e}'
check 'steers no terminal' sh -c '! tr -d "\n" <.run/out | LC_ALL=C grep -q "[[:cntrl:]]"'
run oom --format json evil.log
exits 0
check 'steers no terminal' sh -c '! tr -d "\n" <.run/out | LC_ALL=C grep -q "[[:cntrl:]]"'

finish
