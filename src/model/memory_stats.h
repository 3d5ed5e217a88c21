/* The counters that torch.cuda.memory_stats() left in a file, or memory_summary() in a log: one row
 * for each call. Immutable once loaded. */
#ifndef MEMSNAP_MODEL_MEMORY_STATS_H
#define MEMSNAP_MODEL_MEMORY_STATS_H

#include "decode/core/input.h"
#include "decode/core/sniff.h"
#include "decode/stats/rows.h"

struct memory_stats {
    struct stats_row *rows; /* in file order */
    size_t count, capacity;

    /* the input itself */
    enum encoding encoding; /* ENCODING_TEXT: a log */
    enum compression compression;
    int protocol;          /* of a pickle */
    uint64_t input_bytes;  /* size of the file as stored (compressed, if it is) */
    struct budget *budget; /* owned */
};

/* Reads an input that has not been read yet. Closes the input and takes over its budget, also on
 * failure. NULL on failure. For the tables in a log see model/oom_log.h. */
struct memory_stats *memory_stats_load_input(struct input *input, struct error *err);
void memory_stats_destroy(struct memory_stats *stats); /* NULL is allowed */

#endif
