/* Flat buffers: some frameworks keep all parameters, all gradients and each state of the optimizer
 * in one block each, and give modules views of them. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_FLAT_BUFFERS_H
#define MEMSNAP_ANALYSIS_CATEGORY_FLAT_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of a flat buffer by what stays alone, given the ascending sizes of all blocks that stay:
 * three to eight of one size, or of it and twice it, hold most bytes, few others are large, and no
 * other size has as many, as two tables with their states do. 0 if none do. */
uint64_t flat_buffer_size(const uint64_t *sizes, size_t count);

/* True if a block is as large as the buffer, in the same type (`width` 1) or a wider one (2). The
 * allocator rounds sizes up, so twice a size may be a little more than the size of the double. */
bool flat_buffer_fits(uint64_t size, uint64_t buffer, unsigned width);

#endif
