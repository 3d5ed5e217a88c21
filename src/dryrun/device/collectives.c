/* Collective operations of NCCL, as if every other rank had sent what this one sends. */
#include <stdbool.h>
#include <string.h>

#include "dryrun/device/communicator.h"
#include "dryrun/device/state.h"
#include "dryrun/device/values.h"

#define BROADCASTS_MOST 64 /* broadcasts in a group; with more ranks, values are not known */

/* ncclDataType_t, from NCCL's documentation. */
enum { TYPE_INT32 = 2, TYPE_INT64 = 4, TYPE_FLOAT = 7, TYPE_DOUBLE = 8 };

/* ncclRedOp_t; the others leave equal values as they are, or are rare. */
enum { OPERATION_SUM = 0 };

static size_t element_size(int type)
{
    static const unsigned char sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && (size_t)type < sizeof(sizes) ? sizes[type] : 8;
}

#define SCALE(type)                                                                                \
    for (size_t i = 0; i < size; i += sizeof(type)) {                                              \
        type value;                                                                                \
        memcpy(&value, bytes + i, sizeof(value));                                                  \
        value *= (type)ranks;                                                                      \
        memcpy(bytes + i, &value, sizeof(value));                                                  \
    }                                                                                              \
    return true;

/* The sum of equal values of all ranks. False for types that are rarely sent to count something. */
static bool multiply(unsigned char *bytes, size_t size, int type, int ranks)
{
    switch (type) {
    case TYPE_INT32:
        SCALE(uint32_t)
    case TYPE_INT64:
        SCALE(uint64_t)
    case TYPE_FLOAT:
        SCALE(float)
    case TYPE_DOUBLE:
        SCALE(double)
    default:
        return false;
    }
}

static int reduce(const void *from, void *to, size_t count, int type, int operation, int ranks)
{
    unsigned char bytes[VALUE_BYTES_MOST];
    size_t size = count * element_size(type);
    if (operation != OPERATION_SUM || ranks == 1)
        values_move(to, from, size);
    else if (ranks > 0 && size <= sizeof(bytes) && values_get(bytes, from, size) &&
             multiply(bytes, size, type, ranks))
        values_put(to, bytes, size);
    else
        values_drop(to, size);
    return CUDA_OK;
}

API int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
                      const struct communicator *communicator)
{
    return reduce(from, to, count, type, operation, communicator->ranks);
}

API int ncclReduce(const void *from, void *to, size_t count, int type, int operation, int root,
                   const struct communicator *communicator)
{
    if (root == communicator->rank)
        reduce(from, to, count, type, operation, communicator->ranks);
    return CUDA_OK;
}

API int ncclReduceScatter(const char *from, void *to, size_t count, int type, int operation,
                          const struct communicator *communicator)
{
    size_t part = (size_t)communicator->rank * count * element_size(type);
    return reduce(from + part, to, count, type, operation, communicator->ranks);
}

/* The same values from every rank, or those of this one where the number of ranks is not known. */
static int spread(const void *from, char *to, size_t size, const struct communicator *communicator)
{
    unsigned char bytes[VALUE_BYTES_MOST];
    size_t count = (size_t)communicator->ranks;
    if (count == 0) {
        values_move(to + (size_t)communicator->rank * size, from, size);
    } else if (size > sizeof(bytes) / count || !values_get(bytes, from, size)) {
        values_drop(to, size * count);
    } else {
        for (size_t i = 1; i < count; i++)
            memcpy(bytes + i * size, bytes, size);
        values_put(to, bytes, size * count);
    }
    return CUDA_OK;
}

API int ncclAllGather(const void *from, char *to, size_t count, int type,
                      const struct communicator *communicator)
{
    return spread(from, to, count * element_size(type), communicator);
}

API int ncclGather(const void *from, char *to, size_t count, int type, int root,
                   const struct communicator *communicator)
{
    return root == communicator->rank ? spread(from, to, count * element_size(type), communicator)
                                      : CUDA_OK;
}

API int ncclScatter(const char *from, void *to, size_t count, int type, int root,
                    const struct communicator *communicator)
{
    size_t size = count * element_size(type);
    if (root == communicator->rank)
        values_move(to, from + (size_t)communicator->rank * size, size);
    else
        values_drop(to, size);
    return CUDA_OK;
}

/* Each rank gets from each what it sends to it. */
API int ncclAlltoAll(const void *from, void *to, size_t count, int type,
                     const struct communicator *communicator)
{
    size_t size = count * element_size(type) * (size_t)communicator->ranks;
    values_move(to, from, size);
    return CUDA_OK;
}

API int ncclBcast(void)
{
    return CUDA_OK;
}

/* An exchange between all ranks is made of pairs of a send and a receive with the same rank. */
static __thread struct {
    const void *from;
    size_t size;
    int peer;
} sent;

API int ncclSend(const void *from, size_t count, int type, int peer)
{
    sent.from = from;
    sent.size = count * element_size(type);
    sent.peer = peer;
    return CUDA_OK;
}

API int ncclRecv(void *to, size_t count, int type, int peer)
{
    size_t size = count * element_size(type);
    if (sent.from && sent.size == size && sent.peer == peer)
        values_move(to, sent.from, size);
    else
        values_drop(to, size);
    sent.from = NULL;
    return CUDA_OK;
}

/* all_gather() is a group of broadcasts, one from each rank, in the order of the ranks. This rank's
 * own one tells what the others send. */
static __thread struct {
    int depth;
    const void *own;
    size_t size; /* size of `own` */
    size_t count;
    struct {
        void *to;
        size_t size;
    } others[BROADCASTS_MOST];
} group;

API int ncclGroupStart(void)
{
    if (group.depth++ == 0) {
        group.own = NULL;
        group.count = 0;
    }
    return CUDA_OK;
}

API int ncclGroupEnd(void)
{
    if (group.depth > 0 && --group.depth > 0)
        return CUDA_OK;
    for (size_t i = 0; group.own && i < group.count; i++)
        if (group.others[i].size == group.size)
            values_move(group.others[i].to, group.own, group.size);
    group.own = NULL;
    group.count = 0;
    return CUDA_OK;
}

/* A single broadcast sends what this rank has in the same place. */
API int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
                      const struct communicator *communicator)
{
    size_t size = count * element_size(type);
    values_move(to, from, size);
    if (group.depth == 0)
        return CUDA_OK;
    if (root == communicator->rank) {
        group.own = from;
        group.size = size;
    } else if (group.count < BROADCASTS_MOST) {
        group.others[group.count].to = to;
        group.others[group.count++].size = size;
    }
    return CUDA_OK;
}

API int ncclRedOpCreatePreMulSum(int *operation)
{
    *operation = 100; /* no built-in operation */
    return CUDA_OK;
}

API int ncclRedOpDestroy(void)
{
    return CUDA_OK;
}
