/* What a flame graph sums up: weights by stack. */
#ifndef MEMSNAP_ANALYSIS_FLAME_SAMPLES_H
#define MEMSNAP_ANALYSIS_FLAME_SAMPLES_H

#include "analysis/flame/flame.h"
#include "analysis/live/source.h"
#include "base/idtable.h"

__extension__ typedef unsigned __int128 flame_sum;

/* Allocations that share stacks and root. */
struct flame_sample {
    flame_sum weight;
    stack_id own, forward; /* forward: STACK_NONE where it does not count */
    string_id op;          /* or STRING_EMPTY */
    uint32_t root;         /* enum category or enum phase, FLAME_ROOT_BEFORE; 0 without roots */
    bool is_before;        /* no stack, and allocated before the trace */
    bool has_python, has_backward; /* the own stack */
};

#define FLAME_ROOT_BEFORE 1000 /* as a phase */

struct flame_samples {
    struct flame_sample *items;
    size_t count, capacity;
    struct idtable table;
    int64_t unexplained_bytes;
    struct budget *budget; /* not owned */
};

bool flame_samples_make(struct flame_samples *samples, const struct timeline *timeline,
                        struct site_table *sites, const struct flame_options *options,
                        struct error *err);
void flame_samples_release(struct flame_samples *samples);

#endif
