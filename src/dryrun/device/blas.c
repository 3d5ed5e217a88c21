/* cuBLAS, cuBLASLt and cuFFT. PyTorch allocates the workspaces of the first two itself. */
#include <stdlib.h>
#include <string.h>

#include "dryrun/device/state.h"

/* Values of cublasGetVersion(), which begin with the major version of CUDA. */
static int blas_version(void)
{
    return machine.runtime_version / 1000 * 10000 + 401;
}

API int cublasGetVersion_v2(void *handle, int *version)
{
    *version = blas_version();
    return CUDA_OK;
}

API size_t cublasLtGetVersion(void)
{
    return (size_t)blas_version();
}

API int cublasGetMathMode(void *handle, int *mode)
{
    *mode = 0;
    return CUDA_OK;
}

API int cublasGetPointerMode_v2(void *handle, int *mode)
{
    *mode = 0;
    return CUDA_OK;
}

API const char *cublasGetStatusString(int status)
{
    return status ? "CUBLAS_STATUS_INTERNAL_ERROR" : "CUBLAS_STATUS_SUCCESS";
}

/* cublasLtMatmulHeuristicResult_t: an algorithm that needs no workspace. */
struct lt_result {
    uint64_t algorithm[8];
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
};

API int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c,
                                       void *d, void *preference, int wanted,
                                       struct lt_result *result, int *got)
{
    *got = 0;
    if (wanted > 0) {
        *result = (struct lt_result){.waves = 1};
        *got = 1;
    }
    return CUDA_OK;
}

API int cublasLtMatmulAlgoCheck(void *handle, void *operation, void *a, void *b, void *c, void *d,
                                void *algorithm, struct lt_result *result)
{
    *result = (struct lt_result){.waves = 1};
    return CUDA_OK;
}

API int cublasLtMatmulAlgoConfigGetAttribute(void *algorithm, int attribute, void *value,
                                             size_t size, size_t *written)
{
    if (value)
        memset(value, 0, size);
    if (written)
        *written = size;
    return CUDA_OK;
}

/* cuFFT. Plans need no workspace here; NVIDIA's need one for some lengths. */

API int cufftCreate(int *plan)
{
    static int last;
    *plan = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return CUDA_OK;
}

API int cufftDestroy(void)
{
    return CUDA_OK;
}

API int cufftXtMakePlanMany(int plan, int rank, void *n, void *in, int64_t in_stride,
                            int64_t in_distance, int in_type, void *out, int64_t out_stride,
                            int64_t out_distance, int out_type, int64_t batch, size_t *workspace)
{
    *workspace = 0;
    return CUDA_OK;
}

API int cusparseGetVersion(void *handle, int *version)
{
    *version = machine.runtime_version;
    return CUDA_OK;
}

API const char *cusparseGetErrorString(int status)
{
    return status ? "CUSPARSE_STATUS_INTERNAL_ERROR" : "CUSPARSE_STATUS_SUCCESS";
}
