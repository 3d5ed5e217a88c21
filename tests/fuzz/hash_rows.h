/* A sink that keeps one number of all rows: equal rows, equal number. */
#ifndef MEMSNAP_TESTS_FUZZ_HASH_ROWS_H
#define MEMSNAP_TESTS_FUZZ_HASH_ROWS_H

#include "decode/core/rows.h"

struct row_hash {
    const struct symbols *symbols;
    uint64_t hash;
    stack_id *stacks; /* of the events so far; to be freed */
    size_t event_count, capacity;
};

struct row_sink hash_rows(struct row_hash *into);

#endif
