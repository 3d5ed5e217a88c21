/* The part of the CUDA driver API that memsnap calls, with the names and values of its reference
 * (NVIDIA, "CUDA Driver API"). The build needs neither headers nor libraries of CUDA. The ABI of a
 * function with the suffix _v2 does not change. */
#ifndef MEMSNAP_SOLVE_CUDA_API_H
#define MEMSNAP_SOLVE_CUDA_API_H

#include <stddef.h>

typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
};

enum {
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
};

/* X(name, exported name, parameters) */
#define CUDA_FUNCTIONS(X)                                                                          \
    X(cuInit, "cuInit", (unsigned))                                                                \
    X(cuGetErrorString, "cuGetErrorString", (int, const char **))                                  \
    X(cuDeviceGetCount, "cuDeviceGetCount", (int *))                                               \
    X(cuDeviceGet, "cuDeviceGet", (CUdevice *, int))                                               \
    X(cuDeviceGetName, "cuDeviceGetName", (char *, int, CUdevice))                                 \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice))                        \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))               \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                       \
    X(cuCtxSetCurrent, "cuCtxSetCurrent", (CUcontext))                                             \
    X(cuCtxSynchronize, "cuCtxSynchronize", (void))                                                \
    X(cuModuleLoadData, "cuModuleLoadData", (CUmodule *, const void *))                            \
    X(cuModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))          \
    X(cuMemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                                       \
    X(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                        \
    X(cuMemFree, "cuMemFree_v2", (CUdeviceptr))                                                    \
    X(cuMemcpyHtoD, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))                        \
    X(cuMemcpyDtoH, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))                              \
    X(cuLaunchKernel, "cuLaunchKernel",                                                            \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
       void **, void **))

struct cuda_api {
#define FUNCTION(name, exported, parameters) int(*name) parameters;
    CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

#endif
