/* Which ranks of a run have no capture, and which have several. */
#include "analysis/ranks/ranks.h"

/* Ranks beyond this are more likely numbers of something else. */
#define RANK_MOST INT64_C(1000000)

void ranks_find_missing(const struct ranks *ranks, struct rank_gaps *gaps)
{
    int64_t before = -1;
    const struct summary *last = NULL;
    *gaps = (struct rank_gaps){0};
    for (size_t i = 0; i < ranks->row_count; i++) {
        const struct summary *summary = ranks->rows[i].summary;
        int64_t rank = summary->rank;
        if (rank < 0 || rank > RANK_MOST || summary == last)
            continue; /* without a rank, or another device of the same capture */
        last = summary;
        if (rank == before) {
            gaps->repeated += gaps->repeats_of != rank + 1;
            gaps->repeats_of = rank + 1;
            continue;
        }
        if (rank > before + 1) {
            gaps->missing += (uint64_t)(rank - before - 1);
            if (gaps->count < RANK_GAPS)
                gaps->items[gaps->count++] = (struct rank_gap){before + 1, rank - 1};
        }
        before = rank;
    }
}
