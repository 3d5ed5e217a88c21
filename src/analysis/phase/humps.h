/* Rises and falls of the number of blocks saved for a backward pass. For humps.c only. */
#ifndef MEMSNAP_ANALYSIS_PHASE_HUMPS_H
#define MEMSNAP_ANALYSIS_PHASE_HUMPS_H

#include "analysis/phase/passes.h"

/* One rise and fall of the count. */
struct hump {
    uint32_t first, top, end; /* items; `top` is the first that reaches the highest count */
    uint32_t turn;            /* from forward to backward */
};

/* Notes the largest hump. */
bool hump_measure(struct pattern *pattern, const struct hump *hump, struct error *err);

/* A hump is a pair of passes if its blocks go in the reverse order, and its fall makes blocks of
 * the sizes of weights: gradients. It is part of the backward pass before it if it nests in that:
 * checkpointing recomputes a part of the forward. Otherwise the forward pass goes on. Humps come in
 * order, after all of them have been measured. */
bool hump_add(struct pattern *pattern, const struct hump *hump, struct error *err);

/* hump_chain.c: in which order blocks are freed.
 * The share of blocks that are freed in the reverse order of their birth. At least HUMP_REVERSED of
 * the blocks that a forward pass saves are. */
double hump_reversed_share(const struct saved *saved, size_t count);
#define HUMP_REVERSED 0.75
static inline bool hump_is_reversed(const struct saved *saved, size_t count)
{
    return hump_reversed_share(saved, count) >= HUMP_REVERSED;
}

/* The share of blocks that are freed gradually: since the block before was freed, something else
 * was allocated. A backward pass frees blocks so; what a program drops is freed at once. `saved` is
 * in order of birth, before and after. */
double hump_gradual_share(const struct timeline *timeline, struct saved *saved, size_t count);
#define HUMP_GRADUAL 0.5 /* at least, in a backward pass */

/* The layers of a forward pass under checkpoints make humps that are no passes. The inputs of the
 * checkpoints stay. pattern->chain collects such blocks, in programs with annotated steps. This
 * function adds those that were made before the hump, and removes those that have been freed. */
bool hump_follow_chain(struct pattern *pattern, const struct hump *hump, struct error *err);
/* True if the blocks of the chain are freed one by one, in the reverse order: then a forward pass
 * saves them. */
bool hump_has_chain(const struct pattern *pattern);
/* Begins another chain after a hump that is in a pair of passes. */
void hump_end_chain(struct pattern *pattern, const struct hump *hump);

/* Adds the last hump if it is a probe (struct passes). Called when no further hump nests in it. */
bool hump_add_probe(struct pattern *pattern, struct error *err);

#endif
