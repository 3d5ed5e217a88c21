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

#endif
