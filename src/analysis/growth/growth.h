/* What survives from step to step, by call site and category: what grows, what came once, what
 * stopped growing. Only complete steps are compared, by what is live (active curve) at their ends;
 * with fewer than GROWTH_LEAST of them nothing is said to grow. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_GROWTH_H
#define MEMSNAP_ANALYSIS_GROWTH_GROWTH_H

#include "analysis/code/labels.h"
#include "analysis/growth/fit.h"
#include "analysis/growth/gradients.h"
#include "analysis/phase/steps.h"

#define GROWTH_LEAST 3
#define GROWTH_ROWS  100 /* most rows that are kept */

struct growth_row {
    /* fit.bytes_per_step is for one step, also where not every step is compared. */
    struct growth_fit fit;
    enum category category;
    stack_id stack; /* STACK_NONE for GROWTH_KEPT_GRADIENTS, and where there is none */
    struct site site;
    struct label label;
    int64_t bytes_at_first; /* at the end of the first compared step */
    int64_t bytes_at_end;   /* at the end of the last */
    uint64_t blocks_at_end; /* allocations */
    /* What the active peak would lose without it, in bytes: of GROWTH_GROWING what earlier steps
     * left; of GROWTH_KEPT_GRADIENTS see growth_gradients.h; of the others 0. */
    int64_t save_bytes;
};

struct growth {
    size_t compared; /* how many step ends */
    size_t complete; /* how many steps are complete: more, where that is above GROWTH_STEPS */
    /* By kind, then the most bytes a step, or at the end, first. */
    struct growth_row *rows;
    size_t row_count;
    size_t rows_left_out; /* above GROWTH_ROWS */
    /* Of all that is GROWTH_GROWING: */
    int64_t bytes_per_step;
    size_t growing; /* how many sites: more than rows, where some were left out */
    int64_t activation_bytes_per_step;
    int64_t graph_bytes_per_step; /* activations, and what may be some */
    int64_t save_bytes;
    /* NO_ROW, or one that grows by allocations of at most 16 bytes, while activations grow: most
     * likely a loss that is kept with its graph. */
    size_t scalar_row;
    struct stale_gradients gradients;
};

#define NO_ROW SIZE_MAX

bool growth_find(struct growth *growth, const struct timeline *timeline, struct site_table *sites,
                 const struct categories *categories, const struct phases *phases,
                 const struct steps *steps, struct error *err);
void growth_release(struct growth *growth);

#endif
