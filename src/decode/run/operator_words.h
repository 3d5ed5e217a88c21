/* The titles and the cells of the tables that torch.profiler prints. */
#ifndef MEMSNAP_DECODE_RUN_OPERATOR_WORDS_H
#define MEMSNAP_DECODE_RUN_OPERATOR_WORDS_H

#include "decode/run/operator_rows.h"

enum operator_cell {
    CELL_NAME,
    CELL_OVERLOAD,
    CELL_PERCENT,
    CELL_TIME,
    CELL_BYTES,
    CELL_CALLS,
    CELL_NODE,
    CELL_SHAPES,
    CELL_REST, /* the source, or FLOPs, whose order differs from that of their titles */
};

struct operator_column {
    enum operator_cell cell;
    int figure;         /* an enum operator_figure; -1: not kept */
    struct text device; /* "CUDA"; empty: the CPU, or no device */
};

/* Titles of torch 1.4 to 2.15: "Self CUDA", "CPU total %", "Self CUDA Mem". */
bool operator_title_parse(struct text title, struct operator_column *column);

/* "1.349ms" */
bool operator_time_parse(struct text text, int64_t *nanoseconds, int64_t *slack);
/* "531.07" and "MB", which is 2^20 bytes. Old versions of torch write "Mb"; `*is_old` tells which
 * of the two spellings the unit has. */
bool operator_size_parse(struct text number, struct text unit, int64_t *bytes, int64_t *slack,
                         bool *is_old);
/* "-1.32%", "NaN", "0" */
bool operator_share_parse(struct text text);

#endif
