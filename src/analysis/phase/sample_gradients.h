/* The gradients of every sample of a batch, which torch.func.vmap() of grad() makes: each weight
 * has one block of them, as large as the weight times the number of samples. */
#ifndef MEMSNAP_ANALYSIS_PHASE_SAMPLE_GRADIENTS_H
#define MEMSNAP_ANALYSIS_PHASE_SAMPLE_GRADIENTS_H

#include <stddef.h>
#include <stdint.h>

/* The number of samples by which the blocks of these sizes may be gradients of nearly all weights;
 * 0 if there is none. Sorts both lists. */
uint32_t samples_by_sizes(uint64_t *weights, size_t weight_count, uint64_t *blocks,
                          size_t block_count);

#endif
