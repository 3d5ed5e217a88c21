/* Blocks of the sizes of weights that are freed in a row, with no allocation in between, as
 * zero_grad() frees gradients. For analysis/phase only. */
#ifndef MEMSNAP_ANALYSIS_PHASE_GRADIENT_ROWS_H
#define MEMSNAP_ANALYSIS_PHASE_GRADIENT_ROWS_H

#include "analysis/phase/passes.h"

struct gradient_row {
    uint32_t first, last; /* items: the frees of the row */
    uint32_t cut;         /* the item from which on its blocks are scratch space of the step */
    uint32_t latest;      /* item: the birth of the last gradient */
    uint32_t since;       /* the same without a few that were made right before the row */
    uint32_t begin, end;  /* items of the optimizer step, which may be empty */
    uint32_t count;       /* of gradients */
    double bytes;
    uint64_t hash; /* of the sizes in their order */
    bool is_kept;  /* for freed_gradients.c */
};

struct gradient_rows {
    const struct timeline *timeline; /* not owned */
    struct gradient_row *items;      /* in order of time */
    size_t count, capacity;
    uint32_t *freed; /* by item: the number of the lifetime that it frees, plus one; or 0 */
    bool *is_member; /* by lifetime: it has the size of a weight */
    size_t freed_capacity, member_capacity;
    struct gradient_row scratch; /* the last row of scratch space only */
    size_t walked;               /* items so far, for row_steps.c */
    uint64_t seed;
    struct budget *budget; /* not owned */
};

/* Finds all rows of at least four gradients. The pattern tells the sizes of weights. Release *rows
 * after an error, too. */
bool gradient_rows_find(struct gradient_rows *rows, const struct pattern *pattern,
                        struct error *err);
/* Bytes of a lifetime. */
static inline uint64_t gradient_rows_size(const struct gradient_rows *rows, size_t index)
{
    const struct timeline *timeline = rows->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

/* The birth of the gradient of the row that an item frees; EVENT_NEVER if it frees none. */
uint32_t gradient_rows_birth(const struct gradient_rows *rows, const struct gradient_row *row,
                             uint32_t item);
void gradient_rows_release(struct gradient_rows *rows);

#endif
