/* cuSPARSE: sizes of workspaces, and of results. Its documentation gives no formulas. */
#include "dryrun/device/state.h"

enum { SMALL = 4096 }; /* bytes of a workspace that holds no more than a few numbers a row */

API int cusparseGetVersion(void *handle, int *version)
{
    *version = machine.runtime_version;
    return CUDA_OK;
}

API const char *cusparseGetErrorString(int status)
{
    return status ? "CUSPARSE_STATUS_INTERNAL_ERROR" : "CUSPARSE_STATUS_SUCCESS";
}

/* Products and solutions. */

API int cusparseSpMM_bufferSize(void *handle, int of_a, int of_b, void *alpha, void *a, void *b,
                                void *beta, void *c, int type, int algorithm, size_t *size)
{
    *size = SMALL;
    return CUDA_OK;
}

API int cusparseSDDMM_bufferSize(void *handle, int of_a, int of_b, void *alpha, void *a, void *b,
                                 void *beta, void *c, int type, int algorithm, size_t *size)
{
    *size = SMALL;
    return CUDA_OK;
}

API int cusparseSpMV_bufferSize(void *handle, int of_a, void *alpha, void *a, void *x, void *beta,
                                void *y, int type, int algorithm, size_t *size)
{
    *size = SMALL;
    return CUDA_OK;
}

API int cusparseSpSM_bufferSize(void *handle, int of_a, int of_b, void *alpha, void *a, void *b,
                                void *c, int type, int algorithm, void *description, size_t *size)
{
    *size = SMALL;
    return CUDA_OK;
}

API int cusparseSpSV_bufferSize(void *handle, int of_a, void *alpha, void *a, void *x, void *y,
                                int type, int algorithm, void *description, size_t *size)
{
    *size = SMALL;
    return CUDA_OK;
}

/* The product of two sparse matrices is empty, as every value read from the GPU is zero. */
API int cusparseSpGEMM_workEstimation(void *handle, int of_a, int of_b, void *alpha, void *a,
                                      void *b, void *beta, void *c, int type, int algorithm,
                                      void *description, size_t *size)
{
    *size = SMALL;
    return CUDA_OK;
}

API int cusparseSpGEMM_compute(void *handle, int of_a, int of_b, void *alpha, void *a, void *b,
                               void *beta, void *c, int type, int algorithm, void *description,
                               size_t *size)
{
    *size = SMALL;
    return CUDA_OK;
}

API int cusparseSpMatGetSize(void *matrix, int64_t *rows, int64_t *columns, int64_t *nonzero)
{
    *rows = *columns = *nonzero = 0;
    return CUDA_OK;
}

/* Sorting: the keys and the permutation once more. */
API int cusparseXcoosort_bufferSizeExt(void *handle, int m, int n, int nonzero, void *rows,
                                       void *columns, size_t *size)
{
    *size = (size_t)nonzero * 2 * sizeof(int) + SMALL;
    return CUDA_OK;
}

API int cusparseXcsrsort_bufferSizeExt(void *handle, int m, int n, int nonzero, void *rows,
                                       void *columns, size_t *size)
{
    return cusparseXcoosort_bufferSizeExt(handle, m, n, nonzero, rows, columns, size);
}

/* Sums: no element in common, the most that the result can have. */
#define SUM(T)                                                                                     \
    API int cusparse##T##csrgeam2_bufferSizeExt(                                                   \
        void *handle, int m, int n, void *alpha, void *a, int a_nonzero, void *a_values,           \
        void *a_rows, void *a_columns, void *beta, void *b, int b_nonzero, void *b_values,         \
        void *b_rows, void *b_columns, void *c, void *c_values, void *c_rows, void *c_columns,     \
        size_t *size)                                                                              \
    {                                                                                              \
        *size = SMALL;                                                                             \
        return CUDA_OK;                                                                            \
    }
SUM(S)
SUM(D)
SUM(C)
SUM(Z)

API int cusparseXcsrgeam2Nnz(void *handle, int m, int n, void *a, int a_nonzero, void *a_rows,
                             void *a_columns, void *b, int b_nonzero, void *b_rows, void *b_columns,
                             void *c, void *c_rows, int *nonzero)
{
    *nonzero = a_nonzero + b_nonzero;
    return CUDA_OK;
}

/* Triangular matrices in blocks; no pivot is ever zero. */
#define BLOCKS(T)                                                                                  \
    API int cusparse##T##bsrsv2_bufferSize(void *handle, int direction, int operation, int rows,   \
                                           int blocks, void *a, void *values, void *starts,        \
                                           void *columns, int block, void *info, int *size)        \
    {                                                                                              \
        *size = SMALL;                                                                             \
        return CUDA_OK;                                                                            \
    }                                                                                              \
    API int cusparse##T##bsrsm2_bufferSize(                                                        \
        void *handle, int direction, int of_a, int of_x, int rows, int columns_of_x, int blocks,   \
        void *a, void *values, void *starts, void *columns, int block, void *info, int *size)      \
    {                                                                                              \
        *size = SMALL;                                                                             \
        return CUDA_OK;                                                                            \
    }
BLOCKS(S)
BLOCKS(D)
BLOCKS(C)
BLOCKS(Z)

static int no_zero_pivot(int *position)
{
    *position = -1;
    return CUDA_OK;
}

API int cusparseXbsrsv2_zeroPivot(void *handle, void *info, int *position)
{
    return no_zero_pivot(position);
}

API int cusparseXbsrsm2_zeroPivot(void *handle, void *info, int *position)
{
    return no_zero_pivot(position);
}
