#!/bin/sh
# memsnap dryrun: options, and the stand-in for CUDA below a made-up torch. With $MEMSNAP_TORCH, a Python that
# has PyTorch's CUDA build, below the real one too.
. "${srcdir:=.}/tests/cli/lib.sh"
source=$cli/dryrun
built=${MEMSNAP%/*}/tests/cli/dryrun

run dryrun --help
exits 0
golden help-dryrun.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"
run dryrun --list
exits 0
golden dryrun-list.txt

run dryrun
exits 2
err "memsnap: dryrun: missing command; try 'memsnap dryrun -- python train.py'"
run dryrun --gpu h1000 -- true
exits 2
err "memsnap: dryrun: invalid --gpu 'h1000' (a name of memsnap dryrun --list, or a size like 24GiB)"
run dryrun --other-use lots -- true
exits 2
err "memsnap: dryrun: invalid size 'lots' (for example 512MiB)"
run dryrun --devices 0 -- true
exits 2
err "memsnap: dryrun: invalid --devices '0' (expected at least 1)"
run dryrun --world 0 -- true
exits 2
err "memsnap: dryrun: invalid --world '0' (expected at least 1)"
run dryrun --world 4 --rank 4 -- true
exits 2
err 'memsnap: dryrun: invalid --rank 4 (the ranks of --world 4 are 0 to 3)'
run dryrun --stacks some -- true
exits 2
err "memsnap: dryrun: invalid --stacks 'some' (expected python or all)"
run dryrun --format xml -- true
exits 2
err "memsnap: dryrun: invalid --format 'xml' (expected text or json)"

if [ ! -e "${MEMSNAP%/*}/libmemsnap-dryrun.so" ]; then
    run dryrun -- true
    exits 5
    err_has 'in the folder where memsnap was built'
    echo 'skipped the rest: the stand-in for CUDA was not built'
    finish
fi
if [ -z "${PYTHON3-}" ]; then
    echo 'skipped the rest: there is no Python'
    finish
fi

. "$source/torch.sh"
cp "$source/train.py" .

# dry ARGUMENT...: runs memsnap dryrun, which must leave nothing behind.
dry() {
    run dryrun "$@"
    leaves_no_folder
    check 'leaves no unfinished file' test -z "$(find . -maxdepth 1 -name '*.pickle.*')"
}

"$PYTHON3" "$source/conditions.py" "$cli/../../src/dryrun" >.run/out 2>&1 || :
check 'decides without values' grep -qx 'all is right' .run/out

# A program that fits.
dry -- "$PYTHON3" train.py 100
exits 0
out_has 'devices 1'
out_has 'step 3'
out_has_not 'step 4'
out_has 'dryrun.pickle ('
out_has 'Device 0: peak 200.00 MiB'
err 'memsnap: dryrun: stopped the program after 4 optimizer steps
memsnap: dryrun: the snapshot is in dryrun.pickle'
mv dryrun.pickle first.pickle
dry --devices 3 "$PYTHON3" train.py 100
exits 0
out_has 'devices 3'
check 'has the same addresses in every run' cmp first.pickle dryrun.pickle
dry --steps 5 -o recorded.pickle -- "$PYTHON3" train.py 100
dry --steps 5 -o recording.pickle -- "$PYTHON3" train.py 100 record
exits 0
check 'a program that records by itself loses nothing' cmp recorded.pickle recording.pickle
check 'and has its own snapshot' test -s own.pickle
dry --steps 5 -o state.pickle -- "$PYTHON3" train.py 100 state
exits 0
"$PYTHON3" -c 'import pickle
events = pickle.load(open("state.pickle", "rb"))["device_traces"][0]
print([len(event["frames"]) for event in events[:4]], len(events))' >state.txt
check 'the context of a program that records by itself is followed' grep -qx '\[1, 1, 0, 0\] 27' state.txt
dry --steps 5 --late 2 -o late.pickle -- "$PYTHON3" train.py 100
exits 0
out_has 'step 4'
out_has_not 'step 5'
out_has 'baseline  100.00 MiB'
dry --steps 0 -o all.pickle -- "$PYTHON3" train.py 100 catch
exits 0
out_has 'step 5'
err_has 'memory ran out once, and the program went on'
dry --steps 0 -o all.pickle -- "$PYTHON3" train.py 100 catch-last
exits 1
dry -o all.pickle -- "$PYTHON3" train.py 100 catch
exits 0
err_has 'memory ran out once, and the program went on'
PINNED=8192
export PINNED
dry -o pinned.pickle -- "$PYTHON3" train.py 100
unset PINNED
out_has 'Host memory: peak 8.00 KiB'
dry --format json -o json.pickle -- "$PYTHON3" train.py 100
exits 0
err_has 'step 2'
check 'prints only JSON' "$PYTHON3" -m json.tool .run/out

# One rank of many.
dry --world 20 --rank 13 -o rank.pickle -- sh -c 'echo "$RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE, machine $GROUP_RANK, $MASTER_ADDR:$MASTER_PORT" && exec "$@"' sh "$PYTHON3" train.py 100
exits 0
out_has '13 of 20, 5 of 8, machine 1, 127.0.0.1:29500'
out_has 'devices 8'
dry --world 3 --devices 2 --rank 2 -o rank.pickle -- sh -c 'echo "$LOCAL_RANK of $LOCAL_WORLD_SIZE, machine $GROUP_RANK of $GROUP_WORLD_SIZE" && exec "$@"' sh "$PYTHON3" train.py 100
exits 0
out_has '0 of 2, machine 1 of 2'
RANK=1 dry -o none.pickle -- "$PYTHON3" train.py 100
exits 3
err 'memsnap: dryrun: no process with the rank of --rank used CUDA (see the variable RANK)'
RANK=1 dry --rank 1 -o rank.pickle -- "$PYTHON3" train.py 100
exits 0

# Processes that end otherwise than Python does.
dry -o left.pickle -- "$PYTHON3" train.py 100 leave
exits 0
out_has 'Device 0: peak 100.00 MiB'
dry -o replaced.pickle -- "$PYTHON3" train.py 100 replace
exits 0
out_has 'Device 0: peak 400.00 MiB'
dry -o ranks.pickle -- "$PYTHON3" train.py 100 ranks
exits 0
out_has 'others [0, 0]'
dry -o thread.pickle -- "$PYTHON3" train.py 100 thread
exits 0
check 'does not wait for threads' test ! -e lingered
dry --steps 5 --late 7 -o none.pickle -- "$PYTHON3" train.py 100
exits 3
err 'memsnap: dryrun: recording did not begin: the program made 5 optimizer steps, fewer than --late'

# Memory runs out.
dry --gpu 1GiB -o oom.pickle -- "$PYTHON3" train.py 100 hoard
exits 1
err_has 'torch.OutOfMemoryError'
out_has '512.00 MiB of the device'
dry --gpu 1GiB --other-use 100MiB -o oom.pickle -- "$PYTHON3" train.py 100 hoard
exits 0
dry --gpu 1GiB --other-use 2GiB -o oom.pickle -- "$PYTHON3" train.py 100 hoard
exits 1

# Values, and functions that the stand-in does not implement.
dry -o a.pickle -- "$PYTHON3" train.py 100 read
exits 0
out_has 'own value 5'
out_has 'value 0'
err_has 'read values from the GPU once, and got zeros'
line=$(grep -n 'print("value"' train.py | cut -d: -f1)
err_has "dryrun:   1 time at train.py:$line: print(\"value\", torch.read_value(address))"
# Neither the recorder's lines nor Python's own are the program's.
mkdir recorder
printf 'def call(function, argument):\n    return function(argument)\n' >recorder/memsnap_record.py
PYTHONPATH=$PYTHONPATH:$here/recorder
dry -o a.pickle -- "$PYTHON3" train.py 100 read-within
exits 0
err_has "dryrun:   1 time at train.py:$(grep -n 'with contextlib' train.py | cut -d: -f1): with contextlib"
dry -o a.pickle -- "$PYTHON3" train.py 100 create
exits 0
out_has 'create 0'
dry -o a.pickle -- "$PYTHON3" train.py 100 frobnicate
exits 0
out_has 'frobnicate 0'
dry -o a.pickle -- "$PYTHON3" train.py 100 extend
exits 0
out_has 'extend 0'
dry -o none.pickle -- "$PYTHON3" train.py 100 get
exits 5
err 'memsnap: dryrun: the program called cusparseGetThing, which the stand-in for CUDA does not implement; --lenient lets such functions return success
memsnap: dryrun: the dry run ended the program, as it says above'
dry --lenient -o a.pickle -- "$PYTHON3" train.py 100 get
exits 0
out_has 'get 0'

# Entry points whose answers have meaning.
run_calls() {
    check "answers calls of $1" "$built/calls" "${MEMSNAP%/*}/libmemsnap-dryrun.so" "$1"
}
run_calls nccl
run_calls solver
run_calls kernel

# Programs that fail, and that cannot be run.
dry -o failed.pickle -- "$PYTHON3" train.py 100 fail
exits 5
err_has 'memsnap: dryrun: the program failed with status 7'
check 'keeps the snapshot' test -s failed.pickle
dry -o failed.pickle -- "$PYTHON3" train.py 100 interrupt
exits 5
err_has 'memsnap: dryrun: the program ended with KeyboardInterrupt'
dry -o failed.pickle -- "$PYTHON3" train.py 100 select
exits 5
err_has 'memsnap: dryrun: the program selects GPU 2, but this dry run has 1; use --devices 3'
dry --devices 3 -o chosen.pickle -- "$PYTHON3" train.py 100 select
exits 0
dry -o none.pickle -- "$PYTHON3" train.py 100 crash
exits 5
err_has 'memsnap: dryrun: the program was ended by signal 11'
on_terminal 80 '' /bin/sh -c 'stty -a >before; "$@"; stty -a >after' sh "$MEMSNAP" dryrun -o none.pickle -- "$PYTHON3" train.py 100 crash
check 'restores the terminal' cmp before after
on_terminal 80 '' /bin/sh -c 'set -m; "$@" & wait "$!"' sh "$MEMSNAP" dryrun -o failed.pickle -- "$PYTHON3" train.py 100 fail
exits 5
mkfifo pipe
dry -o pipe -- "$PYTHON3" train.py 100
exits 5
err 'memsnap: dryrun: cannot write pipe: not a regular file'
check 'keeps the pipe' test -p pipe
ln -s target.pickle link.pickle
dry -o link.pickle -- "$PYTHON3" train.py 100
exits 0
check 'writes through the link' test -h link.pickle -a -s target.pickle

dry -o none.pickle -- "$PYTHON3" -c 'print(1)'
exits 3
err 'memsnap: dryrun: the program did not import torch (python -E, -I and -S hide it from memsnap, and so does a command that sets PYTHONPATH)'
dry -o none.pickle -- "$PYTHON3" -c 'import torch'
exits 3
err 'memsnap: dryrun: the program did not use CUDA'
dry -o none.pickle -- ./train.py
exits 2
err "memsnap: dryrun: cannot run ./train.py; did you mean 'python ./train.py'?"
dry -o none.pickle -- ./nothing
exits 2
err 'memsnap: dryrun: cannot run ./nothing: No such file or directory'
dry -o no/such/folder.pickle -- "$PYTHON3" train.py 100
exits 5
one_err_line
no_out
check 'writes nothing' test ! -e none.pickle

# Signals reach the program, and the folder goes away.
"$MEMSNAP" dryrun -o none.pickle -- "$PYTHON3" train.py 100 wait >.run/out 2>.run/err &
process=$!
for _ in $(seq 600); do
    [ ! -e waiting ] || break
    sleep 0.1
done
kill -TERM "$process"
status=0
wait "$process" || status=$?
check 'ends by the signal' test "$status" -ge 128
check 'leaves no folder' test -z "$(ls tmp)"
check 'writes nothing' test ! -e none.pickle

# The environment: the user's own sitecustomize, other programs, and a Python child.
echo 'print("own sitecustomize")' >site/sitecustomize.py
dry -o a.pickle -- "$PYTHON3" train.py 100 child
exits 0
out_has 'own sitecustomize'
out_has 'preload <>'
out_has 'child has 1'
out_has 'Device 0: peak 200.00 MiB'
err_has 'only the first process that used CUDA was recorded; another one used it, too'
rm site/sitecustomize.py

# Settings with which PyTorch records nothing.
BACKEND=cudaMallocAsync dry -o none.pickle -- "$PYTHON3" train.py 100
exits 3
err_has "PyTorch records no memory with its allocator's backend cudaMallocAsync; try --alloc-conf backend:native"

# Builds without CUDA, and damaged libraries.
echo '__version__ = "2.8.0+cpu"; cuda = None' >site/torch/version.py
dry -o none.pickle -- "$PYTHON3" train.py 100
exits 3
err "memsnap: dryrun: torch 2.8.0+cpu in $here/site/torch is built without CUDA; a dry run needs PyTorch's CUDA build, which needs no GPU to install"
echo '__version__ = "2.8.0+rocm6.4"; cuda = None; hip = "6.4.43482"' >site/torch/version.py
dry -o none.pickle -- "$PYTHON3" train.py 100
exits 3
err "memsnap: dryrun: torch 2.8.0+rocm6.4 in $here/site/torch is built for ROCm; a dry run needs PyTorch's CUDA build, which needs no GPU to install"
cp "$source/torch/version.py" site/torch/
head -c 1000 "$built/libtorch_cuda.so" >site/torch/lib/libtorch_cuda.so
dry -o none.pickle -- "$PYTHON3" train.py 100
exits 3
err_has 'libtorch_cuda.so: a section of the ELF file lies outside the file'
rm site/torch/lib/libtorch_cuda.so
dry -o none.pickle -- "$PYTHON3" train.py 100
exits 3
err "memsnap: dryrun: torch in $here/site/torch has no shared objects"

unset PYTHONPATH
if [ -z "${MEMSNAP_TORCH-}" ]; then
    echo 'skipped the real torch: MEMSNAP_TORCH names no Python that has it'
    finish
fi
cp "$source/real.py" .
dry --format json -o real.pickle -- "$MEMSNAP_TORCH" real.py
exits 0
check "has torch's own peak" "$PYTHON3" -c '
import json, re
own = re.search(r"peak (\d+) reserved (\d+)", open(".run/err").read())
device = json.load(open(".run/out"))["devices"][0]
assert own and int(own[1]) == device["allocated"]["peak_bytes"] and int(own[2]) == device["reserved"]["peak_bytes"], (own, device["allocated"])'
cp "$source/launched.py" "$source/mesh.py" "$source/ranks.py" "$source/operators.py" .
dry -o operators.pickle -- "$MEMSNAP_TORCH" operators.py
exits 0
out_has 'all operators ran'
dry --world 8 --rank 3 --format json -o ranks.pickle -- "$MEMSNAP_TORCH" ranks.py
exits 0
err_has 'rank 3 of 8'
dry --world 8 --rank 3 -o mesh.pickle -- "$MEMSNAP_TORCH" mesh.py
exits 0
out_has 'replicas 6.0'
out_has 'shards 12.0'
dry --world 2 --rank 1 -o none.pickle -- "$MEMSNAP_TORCH" -c '
import torch.distributed as dist
dist.init_process_group("nccl")
dist.recv_object_list([None], src=0)'
exits 3
err_has 'memsnap: dryrun: the program receives an object from another rank, and --world runs one rank alone; '
dry --devices 2 --rank 1 -o launched.pickle -- "$MEMSNAP_TORCH" -m torch.distributed.run --standalone --nproc-per-node 2 launched.py
exits 0
out_has 'rank 0 made its steps'
out_has 'rank 1 made its steps'
dry --gpu 640MiB -o real.pickle -- "$MEMSNAP_TORCH" real.py
exits 1
err_has 'OutOfMemoryError'
finish
