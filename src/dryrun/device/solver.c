/* cuSOLVER's queries for the size of a workspace. cuSOLVER documents no formulas, so these are the
 * sizes that LAPACK documents for its routines of the same names, with its usual block size. The
 * routines themselves compute nothing, and the status that they leave on the GPU reads as success.
 */
#include "dryrun/device/state.h"

#define BLOCK 64 /* columns of a block, LAPACK's NB */

/* cudaDataType. */
enum {
    TYPE_FLOAT = 0,
    TYPE_DOUBLE = 1,
    TYPE_COMPLEX_FLOAT = 4,
    TYPE_COMPLEX_DOUBLE = 5,
};

static size_t element_size(int type)
{
    return type == TYPE_FLOAT ? 4 : type == TYPE_COMPLEX_DOUBLE ? 16 : 8;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Sizes in elements. */

/* A panel of columns: in place in LAPACK, for its blocks on a GPU. */
static int64_t for_panel(int64_t rows)
{
    return BLOCK * rows;
}

/* xGESVD: 3 min + max, or (m + n) NB to make the matrix bidiagonal. */
static int64_t for_singular_values(int64_t m, int64_t n)
{
    return 3 * smaller(m, n) + (m + n) * BLOCK;
}

/* Jacobi's method works on a copy of the matrix and gathers the vectors of the right side. */
static int64_t for_jacobi(int64_t m, int64_t n)
{
    return m * n + n * n + m + n;
}

/* xSYEVD: 1 + 6 n + 2 n^2 with eigenvectors, otherwise 2 n + 1 and NB columns. */
static int64_t for_eigenvalues(int with_vectors, int64_t n)
{
    return with_vectors ? 1 + 6 * n + 2 * n * n : 1 + 2 * n + for_panel(n);
}

static int answer(int *size, int64_t elements)
{
    *size = elements > INT32_MAX ? INT32_MAX : elements < 1 ? 1 : (int)elements;
    return CUDA_OK;
}

static int answer_bytes(size_t *on_device, size_t *on_host, int64_t elements, int type)
{
    *on_device = (size_t)(elements < 1 ? 1 : elements) * element_size(type);
    *on_host = 0;
    return CUDA_OK;
}

/* Names of routines for symmetric matrices and orthogonal ones differ for complex numbers. */
#define ROUTINES(T, SY, OR)                                                                        \
    API int cusolverDn##T##potrf_bufferSize(void *handle, int triangle, int n, void *a, int lda,   \
                                            int *size)                                             \
    {                                                                                              \
        return answer(size, for_panel(n));                                                         \
    }                                                                                              \
    API int cusolverDn##T##getrf_bufferSize(void *handle, int m, int n, void *a, int lda,          \
                                            int *size)                                             \
    {                                                                                              \
        return answer(size, for_panel(m));                                                         \
    }                                                                                              \
    API int cusolverDn##T##sytrf_bufferSize(void *handle, int n, void *a, int lda, int *size)      \
    {                                                                                              \
        return answer(size, for_panel(n));                                                         \
    }                                                                                              \
    API int cusolverDn##T##geqrf_bufferSize(void *handle, int m, int n, void *a, int lda,          \
                                            int *size)                                             \
    {                                                                                              \
        return answer(size, for_panel(n));                                                         \
    }                                                                                              \
    API int cusolverDn##T##OR##gqr_bufferSize(void *handle, int m, int n, int k, void *a, int lda, \
                                              void *tau, int *size)                                \
    {                                                                                              \
        return answer(size, for_panel(n));                                                         \
    }                                                                                              \
    API int cusolverDn##T##OR##mqr_bufferSize(void *handle, int side, int operation, int m, int n, \
                                              int k, void *a, int lda, void *tau, void *c,         \
                                              int ldc, int *size)                                  \
    {                                                                                              \
        return answer(size, for_panel(side == 0 ? n : m));                                         \
    }                                                                                              \
    API int cusolverDn##T##gesvd_bufferSize(void *handle, int m, int n, int *size)                 \
    {                                                                                              \
        return answer(size, for_singular_values(m, n));                                            \
    }                                                                                              \
    API int cusolverDn##T##gesvdj_bufferSize(void *handle, int vectors, int economy, int m, int n, \
                                             void *a, int lda, void *s, void *u, int ldu, void *v, \
                                             int ldv, int *size)                                   \
    {                                                                                              \
        return answer(size, for_jacobi(m, n));                                                     \
    }                                                                                              \
    API int cusolverDn##T##gesvdjBatched_bufferSize(                                               \
        void *handle, int vectors, int m, int n, void *a, int lda, void *s, void *u, int ldu,      \
        void *v, int ldv, int *size, void *parameters, int batch)                                  \
    {                                                                                              \
        return answer(size, for_jacobi(m, n) * batch);                                             \
    }                                                                                              \
    API int cusolverDn##T##gesvdaStridedBatched_bufferSize(                                        \
        void *handle, int vectors, int rank, int m, int n, void *a, int lda, int64_t a_stride,     \
        void *s, int64_t s_stride, void *u, int ldu, int64_t u_stride, void *v, int ldv,           \
        int64_t v_stride, int *size, int batch)                                                    \
    {                                                                                              \
        return answer(size, for_jacobi(m, n) * batch);                                             \
    }                                                                                              \
    API int cusolverDn##T##SY##evd_bufferSize(void *handle, int vectors, int triangle, int n,      \
                                              void *a, int lda, void *w, int *size)                \
    {                                                                                              \
        return answer(size, for_eigenvalues(vectors, n));                                          \
    }                                                                                              \
    API int cusolverDn##T##SY##evj_bufferSize(void *handle, int vectors, int triangle, int n,      \
                                              void *a, int lda, void *w, int *size)                \
    {                                                                                              \
        return answer(size, for_jacobi(n, n));                                                     \
    }                                                                                              \
    API int cusolverDn##T##SY##evjBatched_bufferSize(void *handle, int vectors, int triangle,      \
                                                     int n, void *a, int lda, void *w, int *size,  \
                                                     void *parameters, int batch)                  \
    {                                                                                              \
        return answer(size, for_jacobi(n, n) * batch);                                             \
    }
ROUTINES(S, sy, or)
ROUTINES(D, sy, or)
ROUTINES(C, he, un)
ROUTINES(Z, he, un)

/* Functions for all types, with sizes in bytes. */

API int cusolverDnXpotrf_bufferSize(void *handle, void *parameters, int triangle, int64_t n,
                                    int type, void *a, int64_t lda, int computation,
                                    size_t *on_device, size_t *on_host)
{
    return answer_bytes(on_device, on_host, for_panel(n), type);
}

API int cusolverDnXgeqrf_bufferSize(void *handle, void *parameters, int64_t m, int64_t n, int type,
                                    void *a, int64_t lda, int tau_type, void *tau, int computation,
                                    size_t *on_device, size_t *on_host)
{
    return answer_bytes(on_device, on_host, for_panel(n), type);
}

API int cusolverDnXgetrf_bufferSize(void *handle, void *parameters, int64_t m, int64_t n, int type,
                                    void *a, int64_t lda, int computation, size_t *on_device,
                                    size_t *on_host)
{
    return answer_bytes(on_device, on_host, for_panel(m), type);
}

API int cusolverDnXsyevd_bufferSize(void *handle, void *parameters, int vectors, int triangle,
                                    int64_t n, int type, void *a, int64_t lda, int w_type, void *w,
                                    int computation, size_t *on_device, size_t *on_host)
{
    return answer_bytes(on_device, on_host, for_eigenvalues(vectors, n), type);
}

API int cusolverDnXsyevBatched_bufferSize(void *handle, void *parameters, int vectors, int triangle,
                                          int64_t n, int type, void *a, int64_t lda, int w_type,
                                          void *w, int computation, size_t *on_device,
                                          size_t *on_host, int64_t batch)
{
    return answer_bytes(on_device, on_host, for_eigenvalues(vectors, n) * batch, type);
}

API int cusolverDnXsytrs_bufferSize(void *handle, int triangle, int64_t n, int64_t columns,
                                    int type, void *a, int64_t lda, void *pivots, int b_type,
                                    void *b, int64_t ldb, size_t *on_device, size_t *on_host)
{
    return answer_bytes(on_device, on_host, n, type);
}

/* xGEEV: 4 n, or (2 + NB) n in blocks. */
API int cusolverDnXgeev_bufferSize(void *handle, void *parameters, int left, int right, int64_t n,
                                   int type, void *a, int64_t lda, int w_type, void *w, int vl_type,
                                   void *vl, int64_t ldvl, int vr_type, void *vr, int64_t ldvr,
                                   int computation, size_t *on_device, size_t *on_host)
{
    return answer_bytes(on_device, on_host, (2 + BLOCK) * n, type);
}
