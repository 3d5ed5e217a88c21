/* The out-of-memory errors that a log decoder hands out. */
#ifndef MEMSNAP_DECODE_LOG_ROWS_H
#define MEMSNAP_DECODE_LOG_ROWS_H

#include "base/symbols.h"
#include "decode/log/lines.h"

#define OOM_PROCESSES_MOST 16 /* one message lists every process on the device */
#define OOM_BACKEND_SIZE   16

/* The part of PyTorch, or of a library below it, that refused the request. */
enum oom_source {
    OOM_SOURCE_ALLOCATOR, /* the caching allocator: the text has the state of its memory */
    OOM_SOURCE_ASYNC,     /* backend:cudaMallocAsync */
    OOM_SOURCE_FRACTION,  /* the caching allocator, before it asked the device */
    OOM_SOURCE_HUGE,      /* the caching allocator, for more than 2^60 bytes */
    OOM_SOURCE_DRIVER,    /* a call to the driver outside of the allocator */
    OOM_SOURCE_LIBRARY,   /* cuBLAS, cuDNN and similar libraries */
    OOM_SOURCE_HOST,      /* the allocator of the CPU's memory */
    OOM_SOURCE_OLD,       /* PyTorch before 1.0, which states no sizes */
    OOM_SOURCE_BUFFER,    /* MPS, for more than a buffer may have */
    OOM_SOURCE_FRAMEWORK, /* the allocator of another framework: TensorFlow, JAX, CuPy */
    OOM_SOURCE_CACHE,     /* vLLM, which found no room for its cache of keys and values */
    /* Texts that are not about the device's memory */
    OOM_SOURCE_ON_CHIP, /* shared memory of a multiprocessor, in a kernel of Triton's */
    OOM_SOURCE_WORKER,  /* the system killed a process, such as a worker of a DataLoader */
    OOM_SOURCE_SHM,     /* /dev/shm is full */
    OOM_SOURCE_EXIT, /* a worker of a DataLoader is gone, for a reason that the text leaves out */
};

/* A size as a text states it. Texts round: the true size is at most `slack` away. */
struct stated_size {
    bool is_stated; /* if not, the rest is 0 */
    uint64_t bytes; /* UINT64_MAX if it is more than that */
    uint64_t slack;
};

struct oom_process {
    uint64_t pid;
    struct stated_size used;
};

/* The text of one error. Sizes that the text leaves out are not stated. */
struct oom_message {
    uint64_t line;       /* number of its first line, from 1 */
    uint64_t offset;     /* of that line in the decoded bytes */
    uint64_t column;     /* of the text in the line, from 0 */
    int64_t rank;        /* of the process, from the prefix of the line, or -1 */
    int64_t pid;         /* the same */
    int64_t device;      /* or -1 */
    string_id container; /* of the process, from the prefix; or STRING_EMPTY */
    enum oom_source source;
    char backend[OOM_BACKEND_SIZE]; /* "CUDA", "HIP", "XPU", "MPS", "JAX"; empty for the CPU */
    string_id exception;            /* "torch.OutOfMemoryError", or STRING_EMPTY */
    stack_id stack;                 /* from the traceback above it */

    struct stated_size requested; /* as the allocator rounded it */
    struct stated_size total, free;
    struct stated_size allowed;   /* by torch.cuda.set_per_process_memory_fraction(), or for MPS */
    struct stated_size allocated; /* by PyTorch; includes `private_pools` */
    struct stated_size
        private_pools;              /* free blocks of private pools, such as those of CUDA graphs */
    struct stated_size unallocated; /* reserved by PyTorch, free, in other pools */
    struct stated_size reserved;    /* texts before 2.1: allocated and unallocated together */
    struct stated_size own_process; /* all memory of this process */
    struct stated_size other;       /* MPS: of this process, outside of PyTorch's allocator */
    struct stated_size
        block_limit; /* the largest block that the driver allocates, or that a kernel has on chip */
    struct stated_size reserve; /* address space of an expandable segment, if it was too small */
    struct oom_process processes[OOM_PROCESSES_MOST];
    size_t process_count;
    uint64_t more_processes; /* listed in the text, but not here */
    bool is_expandable;      /* the text says that expandable_segments is enabled */
    bool is_custom_pool;     /* the allocator of a MemPool refused */
};

struct oom_sink {
    void *self;
    /* Called in the order of the log for each rank, but not among ranks. */
    bool (*message)(void *self, const struct oom_message *message, struct error *err);
    /* Called for every line of the log, in order; NULL: unwanted. */
    bool (*line)(void *self, const struct log_line *line, struct error *err);
};

#endif
