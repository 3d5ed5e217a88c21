/* The gradients of every sample of a batch, which torch.func.vmap() of grad() makes: each weight
 * has one block of them, as large as the weight times the number of samples. */
#ifndef MEMSNAP_ANALYSIS_PHASE_SAMPLE_GRADIENTS_H
#define MEMSNAP_ANALYSIS_PHASE_SAMPLE_GRADIENTS_H

#include <stddef.h>
#include <stdint.h>

/* The number of samples with which `blocks` (sizes in bytes) may be the gradients of nearly all
 * weights (sizes in bytes); 0 if there is no such number. Sorts both lists. */
uint32_t samples_by_sizes(uint64_t *weights, size_t weight_count, uint64_t *blocks,
                          size_t block_count);

#endif
