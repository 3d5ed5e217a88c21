/* Sizes of the gradients of every sample of a batch: those of the weights, times one number. */
#ifndef MEMSNAP_ANALYSIS_PHASE_SAMPLE_SIZES_H
#define MEMSNAP_ANALYSIS_PHASE_SAMPLE_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAST_SIZES 3 /* sizes of weights that have such gradients */

/* Sizes in bytes; different and ascending after sizes_make_distinct(), which the other functions
 * ask for. */
struct sizes {
    uint64_t *items;
    size_t count, capacity;
};

void sizes_make_distinct(struct sizes *sizes);
bool sizes_hold(const struct sizes *sizes, uint64_t size);

/* True if `count` of `sizes` sizes of weights, which are `covered` of `all` bytes, are nearly all
 * weights. */
bool are_enough_sizes(size_t count, size_t sizes, double covered, double all);

/* The number of samples for which gradients of the most bytes of weights are among the sizes of
 * blocks that are freed; 0 if they are too few. There is at least one weight. */
uint32_t samples_find(const struct sizes *weights, const struct sizes *freed);

/* The number of samples with which `blocks` (sizes in bytes) may be the gradients of nearly all
 * weights (sizes in bytes); 0 if there is no such number. Sorts both lists. */
uint32_t samples_by_sizes(uint64_t *weights, size_t weight_count, uint64_t *blocks,
                          size_t block_count);

#endif
