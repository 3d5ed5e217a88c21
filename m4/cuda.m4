# MEMSNAP_NVCC_ARCHITECTURES
# Sets NVCC_ARCHITECTURES to the targets of a kernel: PTX for the oldest architecture that nvcc knows and
# for Hopper, whose instructions are faster, which drivers compile for all newer cards; and machine code
# for the cards that train large models. Empty if $NVCC cannot compile, for example without a C++
# compiler.
AC_DEFUN([MEMSNAP_NVCC_ARCHITECTURES], [
  AC_CACHE_CHECK([what $NVCC compiles for], [memsnap_cv_nvcc_architectures],
    [memsnap_cv_nvcc_architectures=
     memsnap_known=`$NVCC --list-gpu-arch 2>/dev/null | $SED -n 's/^compute_\(@<:@0-9@:>@*\)$/\1/p' | sort -n`
     memsnap_oldest=`AS_ECHO(["$memsnap_known"]) | $SED q`
     AS_VAR_IF([memsnap_oldest], [], [],
       [AS_VAR_SET([memsnap_cv_nvcc_architectures],
          ["-gencode arch=compute_$memsnap_oldest,code=compute_$memsnap_oldest"])
        for memsnap_card in 80 90; do
          AS_ECHO(["$memsnap_known"]) | grep "^$memsnap_card\$" >/dev/null || continue
          AS_VAR_APPEND([memsnap_cv_nvcc_architectures],
            [" -gencode arch=compute_$memsnap_card,code=sm_$memsnap_card"])
          AS_VAR_IF([memsnap_card], [90],
            [AS_VAR_APPEND([memsnap_cv_nvcc_architectures],
               [" -gencode arch=compute_90,code=compute_90"])])
        done
        AS_ECHO(['extern "C" __global__ void nothing(int *at) { *at = 0; }']) >conftest.cu
        AS_IF([$NVCC $memsnap_cv_nvcc_architectures $NVCCFLAGS --fatbin -o conftest.fatbin \
                 conftest.cu >&AS_MESSAGE_LOG_FD 2>&1 && test -s conftest.fatbin],
          [], [memsnap_cv_nvcc_architectures=])
        rm -f conftest.cu conftest.fatbin])])
  AC_SUBST([NVCC_ARCHITECTURES], [$memsnap_cv_nvcc_architectures])
])
