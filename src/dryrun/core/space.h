/* A range of addresses from which blocks are taken and given back. */
#ifndef MEMSNAP_DRYRUN_CORE_SPACE_H
#define MEMSNAP_DRYRUN_CORE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct space_block {
    uint64_t address, size;
};

struct space {
    uint64_t base, size;
    struct space_block *taken; /* ascending addresses */
    size_t count, capacity;
};

/* Takes a block at the lowest free address that is a multiple of `align`, a power of two (first
 * fit). The same calls thus give the same addresses in every run. Returns 0 if nothing fits, if
 * `size` is 0, or if memory runs out. */
uint64_t space_take(struct space *space, uint64_t size, uint64_t align);
/* Takes a block at an address that the caller knows to be free. The address may lie outside of the
 * range. False if memory runs out. */
bool space_take_at(struct space *space, uint64_t address, uint64_t size);
/* Returns the size of the block that begins at the address; 0 if there is none. */
uint64_t space_give_back(struct space *space, uint64_t address);
/* The block that holds the address; NULL: none. */
const struct space_block *space_find(const struct space *space, uint64_t address);
/* True if the address lies in the range, free or taken. */
bool space_holds(const struct space *space, uint64_t address);
void space_release(struct space *space);

#endif
