/* Results of `memsnap dryrun --fit`: runs of a program with several values of a variable, on
 * stand-ins for one or more GPUs. */
#ifndef MEMSNAP_MODEL_FIT_H
#define MEMSNAP_MODEL_FIT_H

#include "base/arena.h"
#include "decode/core/input.h"

enum fit_result { FIT_FITS, FIT_OUT_OF_MEMORY, FIT_FAILED, FIT_RESULTS };

extern const char *const fit_result_names[FIT_RESULTS]; /* "fits", "out-of-memory", "failed" */

struct fit_run {
    uint64_t value;
    unsigned result;       /* enum fit_result */
    bool has_peaks;        /* the run left a snapshot */
    uint64_t active_bytes; /* peak of the device that used most; until memory ran out, if it did */
    uint64_t reserved_bytes;
    uint64_t ooms;       /* times that memory ran out, including those the program survived */
    uint64_t host_bytes; /* largest resident set of a process of the run; 0: unknown */
    uint64_t duration_us;
    const char *failure; /* FIT_FAILED: how the program ended; NULL otherwise */
};

struct fit_gpu {
    const char *name;      /* as in --gpu */
    const char *product;   /* as CUDA reports it */
    uint64_t memory_bytes; /* total */
    uint64_t other_bytes;  /* the part that the context and other processes use */
    struct fit_run *runs;  /* ascending by value, each value once */
    size_t run_count, run_capacity;
};

struct fit {
    const char *variable;
    const char *values;   /* as the user wrote them: "1..1024" */
    const char **command; /* with "{VARIABLE}" for the value */
    size_t command_count, command_capacity;
    uint64_t steps; /* optimizer steps after which a run ends; 0: it ends by itself */
    struct fit_gpu *gpus;
    size_t gpu_count, gpu_capacity;
    struct arena texts;
    struct budget *budget; /* owned */
};

/* The bytes that the program can use. */
static inline uint64_t fit_available(const struct fit_gpu *gpu)
{
    return gpu->memory_bytes > gpu->other_bytes ? gpu->memory_bytes - gpu->other_bytes : 0;
}

/* Empty; takes over the malloc'ed budget. NULL if out of memory. */
struct fit *fit_create_within(struct budget *budget, struct error *err);
/* The same with a budget of its own. */
struct fit *fit_create(size_t max_memory, struct error *err);
void fit_destroy(struct fit *fit); /* NULL is allowed */

/* Reads results in JSON from an input that has not been read yet. Closes the input and takes over
 * its budget, also on failure. NULL on failure. */
struct fit *fit_load_input(struct input *input, struct error *err);

/* A copy that belongs to `fit`; NULL if out of memory. */
const char *fit_copy_text(struct fit *fit, const char *text, size_t size, struct error *err);
/* Appends a copy of a word to the command. */
bool fit_add_word(struct fit *fit, const char *word, struct error *err);
/* Appends a GPU, without copying its texts. */
bool fit_add_gpu(struct fit *fit, const struct fit_gpu *gpu, struct error *err);
/* Adds a run in the order of values, or replaces the run with the same value. */
bool fit_add_run(struct fit *fit, struct fit_gpu *gpu, const struct fit_run *run,
                 struct error *err);

#endif
