/* Predictions of `memsnap shard --format json`: strategies side by side, or with --sweep the
 * largest batch that fits for many numbers of ranks. */
#ifndef MEMSNAP_MODEL_SHARD_FILE_H
#define MEMSNAP_MODEL_SHARD_FILE_H

#include "decode/core/input.h"

#define SHARD_FILE_NAME 16

/* Of what is live at a peak. */
enum shard_file_part {
    SHARD_FILE_PARAMETERS,
    SHARD_FILE_GRADIENTS,
    SHARD_FILE_STATE,
    SHARD_FILE_ACTIVATIONS,
    SHARD_FILE_BUFFERS,
    SHARD_FILE_PARTS,
};

struct shard_file_row {
    char name[SHARD_FILE_NAME]; /* of the strategy: letters and digits */
    uint64_t peak_bytes;        /* a rank, the highest */
    uint64_t traffic_bytes;     /* a rank sends in a step */
    /* side by side */
    bool is_checkpointed;
    uint64_t parts[SHARD_FILE_PARTS]; /* at the peak of the highest rank */
    /* sweep */
    uint64_t world;
    uint64_t largest_batch; /* 0: not even the smallest fits */
    bool is_last;           /* no larger one was tried */
};

struct shard_file {
    uint64_t gpu_bytes; /* 0: not given */
    uint64_t world;     /* side by side */
    bool is_sweep;
    char recommended[SHARD_FILE_NAME]; /* empty: none */
    bool is_recommended_checkpointed;
    struct shard_file_row *rows; /* in the order of the file; at least one */
    size_t count, capacity;
    struct budget *budget; /* owned */
};

/* Closes the input and takes over its budget, also on failure. NULL on failure. */
struct shard_file *shard_file_load(struct input *input, struct error *err);
void shard_file_destroy(struct shard_file *file); /* NULL is allowed */

#endif
