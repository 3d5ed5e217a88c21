/* The stacks of a flame graph, with their weights. */
#ifndef MEMSNAP_ANALYSIS_FLAME_SAMPLES_H
#define MEMSNAP_ANALYSIS_FLAME_SAMPLES_H

#include "analysis/flame/flame.h"
#include "analysis/live/bundles.h"

#define FLAME_ROOT_BEFORE 1000 /* as a phase: allocated before the trace */

/* The kind of a bundle is its root: enum category; enum phase or FLAME_ROOT_BEFORE; string_id of
 * the annotations; 0 without roots. */
struct flame_samples {
    struct live_bundles bundles;
    struct live_set set;
    struct categories categories;
    int64_t unexplained_bytes;
};

/* The presentation of one bundle. */
struct flame_sample {
    live_weight weight;
    stack_id own, forward; /* forward: STACK_NONE where it names no user code */
    string_id op;          /* or STRING_EMPTY */
    uint32_t root;
    bool is_before;                /* no stack, and allocated before the trace */
    bool has_python, has_backward; /* the own stack */
};

bool flame_samples_make(struct flame_samples *samples, const struct timeline *timeline,
                        struct site_table *sites, const struct flame_options *options,
                        struct error *err);
void flame_samples_release(struct flame_samples *samples);

bool flame_samples_at(const struct flame_samples *samples, size_t index,
                      struct flame_sample *sample, struct error *err);

#endif
