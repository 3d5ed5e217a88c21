/* Communicators of NCCL. The other ranks need not exist. */
#include <stdlib.h>
#include <string.h>

#include "dryrun/device/communicator.h"
#include "dryrun/device/state.h"

API int cudaMalloc(void **address, size_t size);
API int cudaFree(void *address);

/* Data type of the id that ranks exchange. It is passed by value. */
struct unique_id {
    char bytes[128];
};

static int make(struct communicator **made, int ranks, int rank)
{
    *made = calloc(1, sizeof(**made));
    if (!*made)
        return 1;
    **made = (struct communicator){ranks, rank};
    return CUDA_OK;
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

API int ncclCommInitRank(struct communicator **made, int ranks, struct unique_id id, int rank)
{
    return make(made, ranks, rank);
}

API int ncclCommInitRankConfig(struct communicator **made, int ranks, struct unique_id id, int rank)
{
    return make(made, ranks, rank);
}

API int ncclCommInitRankScalable(struct communicator **made, int ranks, int rank)
{
    return make(made, ranks, rank);
}

API int ncclCommInitAll(struct communicator **made, int count)
{
    int status = CUDA_OK;
    for (int i = 0; i < count && status == CUDA_OK; i++)
        status = make(&made[i], count, i);
    return status;
}

/* The numbers of ranks by color that the recorder has told, the latest of each place. Where
 * PyTorch chooses the color out of its sight, it tells that of the next color instead. */
#define COLORS    4096
#define ANY_COLOR (-1)
static struct {
    int color, ranks;
} colors[COLORS];
static int ranks_of_next;

API void memsnap_dryrun_color(int color, int ranks)
{
    unsigned place = (unsigned)color % COLORS;
    pthread_mutex_lock(&machine.lock);
    if (color == ANY_COLOR) {
        ranks_of_next = ranks;
    } else {
        colors[place].color = color;
        colors[place].ranks = ranks;
    }
    pthread_mutex_unlock(&machine.lock);
}

/* 0: not known */
static int ranks_of_color(int color)
{
    unsigned place = (unsigned)color % COLORS;
    pthread_mutex_lock(&machine.lock);
    bool is_told = colors[place].color == color && colors[place].ranks > 0;
    int ranks = is_told ? colors[place].ranks : ranks_of_next;
    pthread_mutex_unlock(&machine.lock);
    return ranks;
}

/* NCCL asks every rank how many of them have the same color. A negative color is none. */
API int ncclCommSplit(const struct communicator *of, int color, int key, struct communicator **made)
{
    *made = NULL;
    return color < 0 ? CUDA_OK : make(made, ranks_of_color(color), key);
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

/* PyTorch 2.4 asks even where a split made none, and ignores the status. */
#define NCCL_INVALID_ARGUMENT 4

API int ncclCommCount(const struct communicator *communicator, int *count)
{
    if (!communicator)
        return NCCL_INVALID_ARGUMENT;
    *count = communicator->ranks;
    return CUDA_OK;
}

API int ncclCommUserRank(const struct communicator *communicator, int *rank)
{
    if (!communicator)
        return NCCL_INVALID_ARGUMENT;
    *rank = communicator->rank;
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
