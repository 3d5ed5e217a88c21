/* A small training without stacks, but with annotated optimizer steps, for tests of evaluations. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_CATEGORY_BARE_TRAINING_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_CATEGORY_BARE_TRAINING_H

#include "unit/analysis/category/bare_events.h"

#define WEIGHT 4000u /* bytes of the first weight; each further one is larger by 1 */
#define LAYERS 6u

static inline void make_weights(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        capture_block(&capture, 1 + i, WEIGHT + i, "");
}

static inline void train(unsigned steps)
{
    for (unsigned step = 0; step < steps; step++) {
        born(10, 90);
        for (unsigned i = 0; i < LAYERS; i++)
            born(20 + i, 600 + i);
        for (unsigned i = LAYERS; i-- > 0;) {
            born(30 + i, WEIGHT + i);
            freed(20 + i, 600 + i);
        }
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        born(60, 16);
        freed(60, 16);
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        for (unsigned i = 0; i < LAYERS; i++)
            freed(30 + i, WEIGHT + i);
        freed(10, 90);
    }
}

/* Makes and frees blocks as a model does that computes without gradients. */
static inline void compute(unsigned blocks)
{
    for (unsigned i = 0; i < blocks; i++) {
        born(50, 800 + i);
        freed(50, 800 + i);
    }
}

#endif
