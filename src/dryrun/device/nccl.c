/* NCCL, for a world of one rank: every rank has received what it sent. */
#include <stdlib.h>
#include <string.h>

#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

API int cudaMalloc(void **address, size_t size);
API int cudaFree(void *address);

static int make(void **communicator, int ranks)
{
    if (ranks != 1)
        dryrun_stop("the program uses NCCL with %d ranks; a dry run knows only one", ranks);
    *communicator = calloc(1, 64);
    return *communicator ? CUDA_OK : 1;
}

API int ncclGetVersion(int *version)
{
    *version = machine.nccl_version ? machine.nccl_version : 22703;
    return CUDA_OK;
}

API int ncclGetUniqueId(void *id)
{
    memset(id, 0, 128);
    return CUDA_OK;
}

API int ncclCommInitRank(void **communicator, int ranks)
{
    return make(communicator, ranks);
}

API int ncclCommInitRankConfig(void **communicator, int ranks)
{
    return make(communicator, ranks);
}

API int ncclCommInitRankScalable(void **communicator, int ranks)
{
    return make(communicator, ranks);
}

API int ncclCommInitAll(void **communicators, int count)
{
    for (int i = 0; i < count; i++)
        if (!(communicators[i] = calloc(1, 64)))
            return 1;
    return CUDA_OK;
}

API int ncclCommSplit(void *of, int color, int key, void **communicator)
{
    return make(communicator, 1);
}

API int ncclCommDestroy(void *communicator)
{
    free(communicator);
    return CUDA_OK;
}

API int ncclCommAbort(void *communicator)
{
    free(communicator);
    return CUDA_OK;
}

API int ncclCommFinalize(void)
{
    return CUDA_OK;
}

API int ncclCommGetAsyncError(void *communicator, int *status)
{
    *status = CUDA_OK;
    return CUDA_OK;
}

API int ncclCommCount(void *communicator, int *count)
{
    *count = 1;
    return CUDA_OK;
}

API int ncclCommUserRank(void *communicator, int *rank)
{
    *rank = 0;
    return CUDA_OK;
}

API const char *ncclGetErrorString(int status)
{
    return status ? "unhandled cuda error" : "no error";
}

API const char *ncclGetLastError(void)
{
    return "";
}

API int ncclMemAlloc(void **address, size_t size)
{
    return cudaMalloc(address, size);
}

API int ncclMemFree(void *address)
{
    return cudaFree(address);
}

API int ncclCommRegister(void *communicator, void *address, size_t size, void **handle)
{
    *handle = address;
    return CUDA_OK;
}

API int ncclCommDeregister(void)
{
    return CUDA_OK;
}

/* Collective operations. */
#define NOTHING(function)                                                                          \
    API int function(void)                                                                         \
    {                                                                                              \
        return CUDA_OK;                                                                            \
    }
NOTHING(ncclGroupStart)
NOTHING(ncclGroupEnd)
NOTHING(ncclBcast)
NOTHING(ncclSend)
NOTHING(ncclRecv)
NOTHING(ncclRedOpCreatePreMulSum)
NOTHING(ncclRedOpDestroy)

/* Bytes of an element of ncclDataType_t. */
static size_t element_size(int type)
{
    static const unsigned char sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && (size_t)type < sizeof(sizes) ? sizes[type] : 8;
}

#define COPY(function)                                                                             \
    API int function(const void *from, void *to, size_t count, int type)                           \
    {                                                                                              \
        values_move(to, from, count *element_size(type));                                          \
        return CUDA_OK;                                                                            \
    }
COPY(ncclAllGather)
COPY(ncclAllReduce)
COPY(ncclAlltoAll)
COPY(ncclBroadcast)
COPY(ncclGather)
COPY(ncclReduce)
COPY(ncclReduceScatter)
COPY(ncclScatter)
