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

/* hump_chain.c: how blocks go.
 * The share of blocks that end in the reverse order of their birth. */
double hump_reversed_share(const struct saved *saved, size_t count);
#define HUMP_REVERSED 0.75 /* of blocks saved for a backward pass, at least */
static inline bool hump_is_reversed(const struct saved *saved, size_t count)
{
    return hump_reversed_share(saved, count) >= HUMP_REVERSED;
}

/* The share of blocks between whose end and that of the one before something is made, as by a
 * backward pass; what a program drops ends at once. `saved` are in order of birth, also after. */
double hump_gradual_share(const struct timeline *timeline, struct saved *saved, size_t count);
#define HUMP_GRADUAL 0.5

/* A forward pass under checkpoints makes humps that are no passes, and leaves the inputs of the
 * checkpoints, which pattern->chain collects before each annotated step: brings it up to date for a
 * hump. */
bool hump_follow_chain(struct pattern *pattern, const struct hump *hump, struct error *err);
/* True if the blocks of the chain go one by one in the reverse order: the pass saves them. */
bool hump_has_chain(const struct pattern *pattern);
/* Begins another chain after a hump that is in a pair of passes. */
void hump_end_chain(struct pattern *pattern, const struct hump *hump);

/* Adds the last hump if it is a pair of passes that makes no gradients of weights, now that nothing
 * nests in it. */
bool hump_add_probe(struct pattern *pattern, struct error *err);

#endif
