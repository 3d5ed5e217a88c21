/* A layer trace in memory: the records of FairScale's LayerwiseMemoryTracker, or of memsnap's
 * recorder, for every leaf module that ran forward or backward, in execution order. Immutable once
 * loaded.
 *
 * Rows and their members are described in decode/layers/rows.h. Over a whole trace the magnitudes
 * of each member add up to less than 2^62, so that neither a sum over rows nor a sum of two members
 * can overflow. A module that runs twice has two forward rows. There may be no rows at all. */
#ifndef MEMSNAP_MODEL_LAYER_TRACE_H
#define MEMSNAP_MODEL_LAYER_TRACE_H

#include "decode/core/input.h"
#include "decode/core/sniff.h"
#include "decode/layers/rows.h"

#define LAYER_TRACE_UNKNOWN_KEYS 16

struct layer_trace {
    const struct layer_row *rows; /* `count` of them, fewer than UINT32_MAX */
    size_t count, forward_count;
    struct layer_facts facts;
    const uint32_t *storage_numbers; /* of all lists of rows, each below storage_count */
    size_t storage_number_count;
    const struct layer_storage *storages; /* each made by a forward row */
    size_t storage_count;
    const struct layer_operator *operators; /* each of a forward row; may be none */
    size_t operator_count;
    uint64_t present;        /* layer_row.present of all rows combined with OR */
    struct symbols *symbols; /* the module names */
    string_id unknown_keys[LAYER_TRACE_UNKNOWN_KEYS]; /* the first few, without duplicates */
    size_t unknown_key_count;
    bool more_unknown_keys;

    /* the input itself */
    enum encoding encoding;
    enum compression compression;
    int protocol;          /* -1 if the file is not a pickle */
    uint64_t input_bytes;  /* size of the file as stored (compressed, if it is) */
    struct budget *budget; /* owned */
};

/* Reads and closes `fd`, taking at most `max_memory` bytes (0: budget_default_limit()). NULL on
 * failure; a file of another kind gives STATUS_BAD_INPUT. */
struct layer_trace *layer_trace_load(int fd, size_t max_memory, struct error *err);
/* Like layer_trace_load(), from memory that the caller keeps. */
struct layer_trace *layer_trace_load_memory(const void *bytes, size_t size, size_t max_memory,
                                            struct error *err);
/* Like layer_trace_load(), from an input that has not been read yet. Closes the input and takes
 * over its budget, also on failure. */
struct layer_trace *layer_trace_load_input(struct input *input, struct error *err);
void layer_trace_destroy(struct layer_trace *trace); /* NULL is allowed */

static inline struct text layer_name(const struct layer_trace *trace, const struct layer_row *row)
{
    return symbols_text(trace->symbols, row->module_name);
}

/* True if `word` is one of the row's traits. */
bool layer_has_trait(const struct layer_trace *trace, const struct layer_row *row,
                     const char *word);

#endif
