#!/bin/sh
# Available back ends, with and without drivers, and with a test driver that misbehaves.
. "${srcdir:=.}/tests/cli/lib.sh"
fake=${MEMSNAP%/*}/tests/unit/cuda

run backends --help
exits 0
golden help-backends.txt
check 'keeps within 80 columns' test -z "$(awk 'length > 80' .run/out)"

run backends --frobnicate
exits 2
run backends --format xml
exits 2
err "memsnap: backends: invalid format 'xml' (expected text or json)"
run backends file
exits 2
err "memsnap: backends: unexpected argument 'file'"

# without any driver
mkdir empty broken
: >broken/libcuda.so.1
: >broken/libOpenCL.so.1
OCL_ICD_VENDORS=$PWD/empty
LD_LIBRARY_PATH=$PWD/broken
export OCL_ICD_VENDORS LD_LIBRARY_PATH
run backends
exits 0
no_err
check 'has a line for the cpu' grep -q '^cpu  *yes  ' .run/out
check 'has a line for opencl' grep -q '^opencl  *no .*libOpenCL.so.1: file too short' .run/out
out_has '--backend auto stays on the cpu here, and misses little'
run backends --format json
exits 0
out_has '{"schema":"memsnap.backends/1","backends":[{"name":"cpu","usable":true,"runs_on":"'
out_has '{"name":"opencl","usable":false,"runs_on":null,"is_cpu":null,"why_not":"'
if [ -n "${PYTHON3-}" ]; then
    check 'is JSON' "$PYTHON3" -m json.tool .run/out
fi

# OpenCL's loader without a driver, if it is there
unset LD_LIBRARY_PATH
run backends
check 'tells of no driver' grep -Eq \
    '^opencl  *no  *(no OpenCL platform is installed|libOpenCL.so.1 not found)' .run/out
unset OCL_ICD_VENDORS

# CUDA, by a driver of our own
run backends --format json
if grep -q 'not in this build' .run/out; then
    echo 'skipped: CUDA, which is not in this build'
    finish
fi
LD_LIBRARY_PATH=$fake
export LD_LIBRARY_PATH
run backends
exits 0
check 'finds the GPU' grep -q '^cuda  *yes  *Abacus, compute capability 75.76, 16 processors' .run/out
out_has '--backend auto takes a GPU where that should save time'
run backends --format json
out_has '{"name":"cuda","usable":true,"runs_on":"Abacus, compute capability 75.76, 16 processors","is_cpu":false,"why_not":null}'

FAKE_CUDA_NAME=$(printf 'a\033[31mb\302\205"')
export FAKE_CUDA_NAME
run backends
out_has 'a\x1b[31mb\u{85}",'
run backends --format json
out_has '"runs_on":"a\u001b[31mb\u0085\",'
unset FAKE_CUDA_NAME

FAKE_CUDA_FAILS=cuInit run backends
exits 0
check 'says that there is no GPU' grep -q '^cuda  *no  *no CUDA device' .run/out
FAKE_CUDA_CRASHES=cuInit run backends
exits 0
no_err
check 'outlives the driver' grep -q '^cuda  *no  *its process has ended: the driver crashed' .run/out
check 'has all the others' test "$(grep -cE '^(cpu|opencl) ' .run/out)" -eq 2
finish
