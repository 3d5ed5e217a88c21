/* Flat buffers. Some frameworks keep all parameters in one block, all gradients in another, and
 * each optimizer state in another, and give modules views of these blocks. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_FLAT_BUFFERS_H
#define MEMSNAP_ANALYSIS_CATEGORY_FLAT_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of a flat buffer, or 0 if there is none. `sizes` has the sizes of all blocks that stay,
 * in ascending order. There is a flat buffer if three to eight blocks have one size, or that size
 * and twice that size, and hold most of the bytes. No more other blocks may be large, and no other
 * size may have equally many blocks, as two tables with their states would. */
uint64_t flat_buffer_size(const uint64_t *sizes, size_t count);

/* True if a block is as large as the buffer, in the same type (`width` 1) or in one twice as wide
 * (`width` 2). The allocator rounds sizes up, so twice the size of the buffer may be slightly more
 * than the size of the wider block. */
bool flat_buffer_fits(uint64_t size, uint64_t buffer, unsigned width);

#endif
