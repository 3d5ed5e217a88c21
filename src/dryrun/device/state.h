/* The GPUs of a dry run, common to all of the stand-in's libraries.
 *
 * The stand-in implements entry points of CUDA and of libraries above it. Memory is counted and has
 * addresses, but nothing backs it. Kernels do nothing, and copies from a GPU give zeros. */
#ifndef MEMSNAP_DRYRUN_DEVICE_STATE_H
#define MEMSNAP_DRYRUN_DEVICE_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dryrun/core/cards.h"
#include "dryrun/core/space.h"

/* An entry point that the program finds by name. A function may declare fewer parameters than it is
 * called with: calling conventions allow that on the machines that the stand-in is built for. */
#define API __attribute__((visibility("default")))

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* Statuses with the same value in the runtime and in the driver. */
enum {
    CUDA_OK = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_INVALID_DEVICE = 101,
    CUDA_NOT_READY = 600,
    CUDA_NOT_SUPPORTED = 801,
};

enum { DEVICES_MOST = 16 };

struct device {
    uint64_t used;         /* bytes of memory in use */
    uint64_t most;         /* the most so far */
    struct space memory;   /* addresses of cudaMalloc() */
    struct space reserved; /* addresses of cuMemAddressReserve() */
};

struct machine {
    struct card card;
    uint64_t other; /* bytes in use by the context and by other processes */
    int device_count;
    int runtime_version; /* like 12080 */
    int dnn_version, nccl_version;
    bool is_lenient;      /* unknown functions return success */
    uint64_t values_read; /* copies from a GPU to the host */
    struct device devices[DEVICES_MOST];
    struct space pinned;     /* addresses of cudaHostAlloc() */
    struct space streams;    /* handles: each is the address of its struct stream */
    struct space registered; /* memory that cudaHostRegister() registered, at any address */
    pthread_mutex_t lock;    /* of everything above that changes while the program runs */
};

extern struct machine machine;

/* Reserves the addresses, once. Every entry point that needs them calls it. */
void machine_start(void);

/* The device of the calling thread. */
int device_current(void);
void device_select(int device);

/* Counts memory of a device as used, or as free again. False if there is not enough. The caller
 * holds machine.lock. */
bool device_charge(int device, uint64_t bytes);
void device_discharge(int device, uint64_t bytes);

/* The device whose memory the address lies in; -1 if it lies in none. */
int address_device(const void *address);
/* True for host memory from cudaHostAlloc() or cudaHostRegister(). Takes machine.lock. */
bool address_is_pinned(const void *address);

/* Records an error for cudaGetLastError() and returns it. */
int runtime_fail(int status);

/* The address of an entry point of the driver, or of a stub that answers for it. */
void *entry_point(const char *name);

/* Called by stubs: answers a function that the stand-in does not implement. */
API int memsnap_dryrun_unknown(void *first, const char *name);

/* Ends the program, which asked for something that a dry run cannot answer. */
void dryrun_stop(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
