/* Totals, order and categories of a flame graph's tree, once all stacks have been added. */
#ifndef MEMSNAP_ANALYSIS_FLAME_ORDER_H
#define MEMSNAP_ANALYSIS_FLAME_ORDER_H

#include "analysis/flame/flame.h"

/* The weight of one category in the stacks that end at a node. */
struct flame_mark {
    uint64_t weight;
    uint32_t node;
    uint8_t category;
};

/* Computes the totals, and sorts the children of every node. */
bool flame_order(struct flame *flame, struct error *err);
/* Finds the category with the most weight in each node; among equals, the first. */
bool flame_order_categories(struct flame *flame, const struct flame_mark *marks, size_t count,
                            struct error *err);

#endif
