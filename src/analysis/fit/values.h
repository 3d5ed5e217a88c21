/* The values that --fit may try: a range or a list of whole numbers. */
#ifndef MEMSNAP_ANALYSIS_FIT_VALUES_H
#define MEMSNAP_ANALYSIS_FIT_VALUES_H

#include <stddef.h>

#include "base/error.h"

#define FIT_LISTED_MOST 64
#define FIT_NAME_SIZE   64

struct fit_values {
    char name[FIT_NAME_SIZE]; /* of the variable */
    const char *text;         /* what follows the name and "="; not owned */
    bool is_list;             /* every value is tried */
    size_t count;             /* at least 1; values ascend */
    uint64_t first, step;     /* of a range with equal distances; step 0: see `listed` */
    uint64_t listed[FIT_LISTED_MOST];
};

/* Parses NAME=8,16,32, NAME=1..1024, NAME=8..1024+8 (every eighth) or NAME=1..1024*2 (doubled each
 * time). `values` points into `text`. STATUS_USAGE for anything else, and for an empty range. */
bool fit_values_parse(const char *text, struct fit_values *values, struct error *err);

/* The value with this index, which is below `count`. */
uint64_t fit_value(const struct fit_values *values, size_t index);

#endif
