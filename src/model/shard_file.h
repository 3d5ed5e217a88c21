/* Predictions of `memsnap shard --format json`: strategies side by side, or with --sweep the
 * largest batch that fits for many numbers of ranks. */
#ifndef MEMSNAP_MODEL_SHARD_FILE_H
#define MEMSNAP_MODEL_SHARD_FILE_H

#include "decode/core/input.h"

#define SHARD_FILE_NAME 16
#define SHARD_FILE_UNIT 80 /* bytes for the name of a unit; a longer one is cut */

/* The kinds of memory that are live at a peak. */
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
    size_t first, count; /* in `heights`: bytes, one for each column */
};

struct shard_file_row {
    char name[SHARD_FILE_NAME]; /* of the strategy: letters and digits */
    uint64_t peak_bytes;        /* of the rank with the highest peak */
    uint64_t traffic_bytes;     /* that a rank sends in a step */
    bool runs;                  /* false: the printed code would stop with an error */
    bool is_of_use;             /* false: there is one rank, and this is not the plain program */
    /* side by side */
    bool is_checkpointed;
    uint64_t parts[SHARD_FILE_PARTS];  /* at the peak of the highest rank */
    size_t first_column, column_count; /* in `columns`; no columns: written without --curve */
    size_t peak_column;                /* counted from first_column */
    bool has_units;                    /* some column names a unit */
    char peak_phase[SHARD_FILE_NAME];
    char peak_unit[SHARD_FILE_UNIT]; /* raw bytes; empty: outside of the units, or unknown */
    size_t first_line, line_count;   /* in `lines`: the curves of ranks */
    /* sweep */
    uint64_t world;
    uint64_t largest_batch; /* 0: not even the smallest fits, or the two flags forbid it */
    bool is_last;           /* largest_batch is the largest that was tried */
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

/* Reads an input that has not been read yet. Closes it and takes over its budget, also on failure.
 * NULL on failure. */
struct shard_file *shard_file_load(struct input *input, struct error *err);
void shard_file_destroy(struct shard_file *file); /* NULL is allowed */

#endif
