#!/bin/sh
# memsnap suggest on devices: the answer equals that of the CPU, which also replaces a failing device.
. "${srcdir:=.}/tests/cli/lib.sh"
fake=${MEMSNAP%/*}/tests/unit/cuda

# suggest BACKEND: what it says is in .run, and who computed apart.
suggest() {
    run suggest --model rotor --budget 520MiB --slots 60 --format json --backend "$1" \
        samples/decoder.layers.json.gz
    exits 0
    grep -o '"backend":"[a-z]*"' .run/out >.run/who
    sed 's/"backend":"[a-z]*"//' .run/out >.run/answer
}

same_by() {
    check "is the answer of the CPU" cmp cpu.answer .run/answer
    check "was computed by $1" grep -qF "\"backend\":\"$1\"" .run/who
}

falls_back() {
    same_by cpu
    err "memsnap: $1; using the CPU instead"
}

suggest cpu
no_err
cp .run/answer cpu.answer
same_by cpu
suggest auto # too small for any device
no_err
same_by cpu

OCL_ICD_VENDORS=$PWD/none suggest opencl
if grep -q 'no OpenCL platform' .run/err; then
    falls_back 'opencl: no OpenCL platform is installed'
fi
run backends
cp .run/out backends
if grep -q '^opencl  *yes' backends; then
    suggest opencl
    no_err
    same_by opencl
else
    echo 'skipped: OpenCL, which has no driver here'
fi
if grep -q 'not in this build' backends; then
    suggest cuda
    falls_back 'cuda: not in this build (no nvcc)'
    echo 'skipped: CUDA, which is not in this build'
    finish
fi

LD_LIBRARY_PATH=$fake
export LD_LIBRARY_PATH
suggest cuda
no_err
same_by cuda
FAKE_CUDA_FAILS=cuInit suggest cuda
falls_back 'cuda: no CUDA device'
FAKE_CUDA_FAILS=cuMemAlloc_v2 suggest cuda
falls_back 'cuda: cuMemAlloc: out of memory (error 2)'
FAKE_CUDA_FAILS=cuModuleLoadData suggest cuda
falls_back 'cuda: its driver is older than the CUDA of this build'
FAKE_CUDA_FAILS=cuLaunchKernel suggest cuda
falls_back 'cuda: cuLaunchKernel: something failed (error 719)'
FAKE_CUDA_MIB=64 suggest cuda
check 'says how large the table is' grep -Eq \
    '^memsnap: cuda: a table of [0-9.]+ KiB does not fit the 0 B that are free' .run/err
same_by cpu
FAKE_CUDA_CRASHES=cuLaunchKernel suggest cuda
falls_back 'cuda: its process has ended: the driver crashed, or was killed'
FAKE_CUDA_CRASHES=cuInit suggest auto
no_err
finish
