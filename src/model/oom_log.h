/* The out-of-memory errors of a log, and its tables of memory_summary(). Immutable once loaded. */
#ifndef MEMSNAP_MODEL_OOM_LOG_H
#define MEMSNAP_MODEL_OOM_LOG_H

#include "decode/core/input.h"
#include "decode/log/rows.h"
#include "decode/stats/rows.h"

#define OOM_LOG_MOST 10000 /* errors that are kept */

struct oom_entry {
    struct oom_message message; /* of the first occurrence */
    uint64_t count;             /* how often the log has this text for this rank and container */
};

struct oom_log {
    struct oom_entry *items; /* by line */
    size_t count;
    uint64_t total;           /* distinct errors, including those that are not kept */
    struct stats_row *tables; /* by line; only of oom_log_load_all() */
    size_t table_count, table_capacity;
    struct symbols *symbols;

    /* the input itself */
    uint64_t lines;
    enum compression compression;
    uint64_t input_bytes;  /* size of the file as stored (compressed, if it is) */
    struct budget *budget; /* owned */
};

/* Reads a log that has not been read yet. Closes the input and takes over its budget, also on
 * failure. NULL on failure. A log without errors is not a failure. */
struct oom_log *oom_log_load_input(struct input *input, struct error *err);
/* Reads the tables, too. A bad cell in one is a failure. */
struct oom_log *oom_log_load_all(struct input *input, struct error *err);
void oom_log_destroy(struct oom_log *log); /* NULL is allowed */

#endif
