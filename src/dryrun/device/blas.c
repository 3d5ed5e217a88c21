/* cuBLAS, cuBLASLt and cuFFT. PyTorch allocates the workspaces of the first two itself. */
#include <stdlib.h>
#include <string.h>

#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

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

/* Batches of factorizations, which leave a status on the host. */
#define BATCHES(T)                                                                                 \
    API int cublas##T##geqrfBatched(void *handle, int m, int n, void *a, int lda, void *tau,       \
                                    int *info)                                                     \
    {                                                                                              \
        *info = 0;                                                                                 \
        values_forget();                                                                           \
        return CUDA_OK;                                                                            \
    }                                                                                              \
    API int cublas##T##gelsBatched(void *handle, int operation, int m, int n, int columns,         \
                                   void *a, int lda, void *c, int ldc, int *info)                  \
    {                                                                                              \
        *info = 0;                                                                                 \
        values_forget();                                                                           \
        return CUDA_OK;                                                                            \
    }
BATCHES(S)
BATCHES(D)
BATCHES(C)
BATCHES(Z)

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

/* cuFFT. */

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

/* cudaDataType of the complex numbers that a transform works on. */
static size_t complex_size(int type)
{
    enum { REAL_DOUBLE = 1, REAL_HALF = 2, COMPLEX_DOUBLE = 5, COMPLEX_HALF = 6 };
    return type == REAL_DOUBLE || type == COMPLEX_DOUBLE ? 16
           : type == REAL_HALF || type == COMPLEX_HALF   ? 4
                                                         : 8;
}

static bool has_small_factors(int64_t n)
{
    static const int factors[] = {2, 3, 5, 7};
    for (int i = 0; i < 4; i++)
        while (n > 1 && n % factors[i] == 0)
            n /= factors[i];
    return n <= 1;
}

/* cuFFT documents that a plan's work area holds intermediate results, of up to 8 times the data.
 * Here it holds the data once, and 8 times the data for lengths with factors over 7. */
API int cufftXtMakePlanMany(int plan, int rank, const int64_t *n, void *in, int64_t in_stride,
                            int64_t in_distance, int in_type, void *out, int64_t out_stride,
                            int64_t out_distance, int out_type, int64_t batch, size_t *workspace)
{
    bool is_real = in_type <= 2 || out_type <= 2, is_smooth = true;
    size_t elements = (size_t)batch;
    for (int i = 0; i < rank; i++) {
        elements *= (size_t)(is_real && i == rank - 1 ? n[i] / 2 + 1 : n[i]);
        is_smooth = is_smooth && has_small_factors(n[i]);
    }
    *workspace = elements * complex_size(in_type) * (is_smooth ? 1 : 8);
    return CUDA_OK;
}

/* Copies of MAGMA. */

API int cublasGetMatrixAsync(int rows, int columns, int size, void *from, int from_rows, char *to,
                             int to_rows)
{
    for (int i = 0; i < columns; i++)
        memset(to + (size_t)i * (size_t)to_rows * (size_t)size, 0, (size_t)rows * (size_t)size);
    return CUDA_OK;
}

API int cublasGetVectorAsync(int count, int size, void *from, int from_step, char *to, int step)
{
    for (int i = 0; i < count; i++)
        memset(to + (size_t)i * (size_t)step * (size_t)size, 0, (size_t)size);
    return CUDA_OK;
}
