/* A model of a few layers, and its copies, in blocks from before the trace that stay. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_CATEGORY_STANDING_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_CATEGORY_STANDING_H

#include "unit/analysis/capture.h"

#define LAYERS 4u
#define FLAT   (LAYERS * SIZE + 600u) /* all layers */
#define SIZE   4000u                  /* of the first layer; no size is twice another */

struct standing {
    struct capture capture;
    uint64_t next; /* the address of the next block */
};

void standing_init(struct standing *standing);
void standing_release(struct standing *standing);

void standing_block(struct standing *standing, uint64_t size);
/* A copy of the model, `wide` times as large; returns its first address. */
uint64_t standing_model(struct standing *standing, unsigned wide);
/* A step of the optimizer, with its annotation unless that is NULL. */
void standing_optimize(struct standing *standing, const char *optimizer);
/* A step of the model, with an annotation of the optimizer unless that is NULL. Its gradients come
 * in ascending order of size. */
void standing_step(struct standing *standing, const char *optimizer);
/* Checks the category of `count` allocations, at addresses one after another. */
void standing_expect(struct standing *standing, uint64_t first, unsigned count,
                     enum category category);

#endif
