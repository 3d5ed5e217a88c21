/* Predictions of `memsnap shard --format json`: strategies side by side, or with --sweep the
 * largest batch that fits for many numbers of ranks. */
#ifndef MEMSNAP_MODEL_SHARD_FILE_H
#define MEMSNAP_MODEL_SHARD_FILE_H

#include "decode/core/input.h"

#define SHARD_FILE_NAME 16
#define SHARD_FILE_UNIT 80 /* bytes of the name of a module that are kept */

/* Of what is live at a peak. */
enum shard_file_part {
    SHARD_FILE_PARAMETERS,
    SHARD_FILE_GRADIENTS,
    SHARD_FILE_STATE,
    SHARD_FILE_ACTIVATIONS,
    SHARD_FILE_BUFFERS,
    SHARD_FILE_PARTS,
};

/* A column of the curve of a strategy's highest rank. */
struct shard_file_column {
    uint64_t parts[SHARD_FILE_PARTS];
};

/* The curve of some ranks: the sum of all kinds in each column. */
struct shard_file_line {
    uint64_t first_rank, last_rank;
    size_t first, count; /* heights */
};

struct shard_file_row {
    char name[SHARD_FILE_NAME]; /* of the strategy: letters and digits */
    uint64_t peak_bytes;        /* a rank, the highest */
    uint64_t traffic_bytes;     /* a rank sends in a step */
    bool runs;                  /* false: its code would stop */
    /* side by side */
    bool is_checkpointed;
    uint64_t parts[SHARD_FILE_PARTS];  /* at the peak of the highest rank */
    size_t first_column, column_count; /* of the file; 0 columns: written without --curve */
    size_t peak_column;                /* of those */
    bool has_units;                    /* some column has the name of one */
    char peak_phase[SHARD_FILE_NAME];
    char peak_unit[SHARD_FILE_UNIT]; /* raw bytes; empty: outside of the units, or unknown */
    size_t first_line, line_count;
    /* sweep */
    uint64_t world;
    uint64_t largest_batch; /* 0: not even the smallest fits, or its code would stop */
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
    struct shard_file_column *columns;
    size_t column_count, column_capacity;
    struct shard_file_line *lines;
    size_t line_count, line_capacity;
    uint64_t *heights;
    size_t height_count, height_capacity;
    struct budget *budget; /* owned */
};

/* Closes the input and takes over its budget, also on failure. NULL on failure. */
struct shard_file *shard_file_load(struct input *input, struct error *err);
void shard_file_destroy(struct shard_file *file); /* NULL is allowed */

#endif
