#include "dryrun/core/space.h"

#include <stdlib.h>
#include <string.h>

/* The index of the first block that ends after the address; `count` if there is none. */
static size_t find_index(const struct space *space, uint64_t address)
{
    size_t low = 0, high = space->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (space->taken[middle].address + space->taken[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(struct space *space, size_t at, struct space_block block)
{
    if (space->count == space->capacity) {
        size_t capacity = space->capacity ? 2 * space->capacity : 64;
        struct space_block *taken = realloc(space->taken, capacity * sizeof(*taken));
        if (!taken)
            return false;
        space->taken = taken;
        space->capacity = capacity;
    }
    memmove(space->taken + at + 1, space->taken + at, (space->count - at) * sizeof(block));
    space->taken[at] = block;
    space->count++;
    return true;
}

static uint64_t round_up(uint64_t number, uint64_t align)
{
    return (number + align - 1) & ~(align - 1);
}

uint64_t space_take(struct space *space, uint64_t size, uint64_t align)
{
    uint64_t at = round_up(space->base, align), end = space->base + space->size;
    size_t i = 0;
    if (size == 0 || size > space->size)
        return 0;
    for (; i < space->count && space->taken[i].address < at + size; i++)
        at = round_up(space->taken[i].address + space->taken[i].size, align);
    if (at > end || end - at < size || !insert(space, i, (struct space_block){at, size}))
        return 0;
    return at;
}

bool space_take_at(struct space *space, uint64_t address, uint64_t size)
{
    return insert(space, find_index(space, address), (struct space_block){address, size});
}

uint64_t space_give_back(struct space *space, uint64_t address)
{
    size_t i = find_index(space, address);
    if (i == space->count || space->taken[i].address != address)
        return 0;
    uint64_t size = space->taken[i].size;
    space->count--;
    memmove(space->taken + i, space->taken + i + 1, (space->count - i) * sizeof(*space->taken));
    return size;
}

const struct space_block *space_find(const struct space *space, uint64_t address)
{
    size_t i = find_index(space, address);
    if (i == space->count || address < space->taken[i].address)
        return NULL;
    return &space->taken[i];
}

bool space_holds(const struct space *space, uint64_t address)
{
    return address >= space->base && address - space->base < space->size;
}

void space_release(struct space *space)
{
    free(space->taken);
    *space = (struct space){0};
}
