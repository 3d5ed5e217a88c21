/* What is known of a flame graph's tree once all its stacks are in. */
#ifndef MEMSNAP_ANALYSIS_FLAME_ORDER_H
#define MEMSNAP_ANALYSIS_FLAME_ORDER_H

#include "analysis/flame/flame.h"

/* Weight that one category has in the stacks that end at a node. */
struct flame_mark {
    uint64_t weight;
    uint32_t node;
    uint8_t category;
};

/* Totals, and the order of children. */
bool flame_order(struct flame *flame, struct error *err);
/* The category that holds most of each node, the first among equals. */
bool flame_order_categories(struct flame *flame, const struct flame_mark *marks, size_t count,
                            struct error *err);

#endif
