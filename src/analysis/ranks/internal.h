/* Call sites of rows as numbers that can be compared. Internal to analysis/ranks. */
#ifndef MEMSNAP_ANALYSIS_RANKS_INTERNAL_H
#define MEMSNAP_ANALYSIS_RANKS_INTERNAL_H

#include "analysis/ranks/ranks.h"

static inline int64_t rank_peak(const struct rank_row *row)
{
    return row->device->peak_bytes;
}

/* Memory of one call site, operator and category. */
struct site_key {
    uint64_t key; /* a hash of the names */
    int64_t bytes;
    const struct summary_site *site;
};

/* The sites of each row, ascending by key, each key once. */
struct site_keys {
    struct site_key *items;
    size_t *starts; /* row_count + 1 */
};

bool site_keys_make(struct site_keys *keys, const struct ranks *ranks, struct error *err);
void site_keys_release(struct site_keys *keys);

/* The part of the higher peak that two rows have in common, from 0 to 1. */
double site_keys_common(const struct site_keys *keys, const struct ranks *ranks, size_t a,
                        size_t b);

/* Fills groups and members. */
bool ranks_group(struct ranks *ranks, const struct site_keys *keys, struct error *err);
/* Fills outliers. */
bool ranks_find_outliers(struct ranks *ranks, const struct site_keys *keys, struct error *err);

#endif
