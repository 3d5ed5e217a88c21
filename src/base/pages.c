#define _GNU_SOURCE /* for mremap */
#include "base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Precedes every block. */
struct header {
    size_t size;   /* size of the block */
    size_t mapped; /* size of the mapping, a multiple of PAGES_HUGE; 0: allocated by malloc */
};

#define CACHE_LINE  ((size_t)64)
#define MALLOC_HEAD sizeof(struct header)
#define MAPPED_HEAD CACHE_LINE /* keeps the block aligned to a cache line */

/* Under the address sanitizer every block comes from malloc, so that it has guards around it. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define GUARDED     true
#define MAPPED_FROM SIZE_MAX
#else
#define GUARDED     false
#define MAPPED_FROM PAGES_HUGE
#endif

/* A remainder of at least this size gets a huge page of its own, which is faster than small pages.
 */
#define WORTH_HUGE (PAGES_HUGE / 4)

static struct header *header_of(void *block)
{
    return (struct header *)block - 1;
}

/* The start of the allocation that holds the block. */
static void *memory_of(void *block)
{
    return (char *)block - (header_of(block)->mapped ? MAPPED_HEAD : MALLOC_HEAD);
}

static void *block_in(void *memory, size_t head, struct header header)
{
    void *block = (char *)memory + head;
    *header_of(block) = header;
    return block;
}

/* Reserves `size` bytes of address space, aligned to PAGES_HUGE; `size` is a multiple of it. */
static char *reserve(size_t size)
{
    char *start =
        mmap(NULL, size + PAGES_HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)start & (PAGES_HUGE - 1);
    if (before > 0)
        munmap(start, before);
    munmap(start + before + size, PAGES_HUGE - before);
    return start + before;
}

/* Moves the mapping to an address aligned for huge pages, or to any address if the address space
 * has no room for both. */
static void *grow_mapping(void *old, size_t old_size, size_t size)
{
    char *place = reserve(size);
    void *moved = MAP_FAILED;
    if (place)
        moved = mremap(old, old_size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    if (place && moved == MAP_FAILED)
        munmap(place, size);
    if (moved == MAP_FAILED)
        moved = mremap(old, old_size, size, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
}

static void *resize_mapped(void *block, size_t size)
{
    if (size > SIZE_MAX - MAPPED_HEAD - 2 * PAGES_HUGE)
        return NULL;
    size_t mapped = (size + MAPPED_HEAD + PAGES_HUGE - 1) & ~(PAGES_HUGE - 1);
    size_t old = block ? header_of(block)->mapped : 0;
    void *memory = old > 0 ? grow_mapping(memory_of(block), old, mapped) : reserve(mapped);
    if (!memory)
        return NULL;
    if (old == 0)
        madvise(memory, mapped, MADV_HUGEPAGE); /* only advice: may fail */
    void *made = block_in(memory, MAPPED_HEAD, (struct header){size, mapped});
    if (block && old == 0) {
        memcpy(made, block, header_of(block)->size);
        pages_free(block);
    }
    return made;
}

void *pages_resize(void *block, size_t size)
{
    bool is_mapped = block && header_of(block)->mapped != 0;
    if (is_mapped || size >= MAPPED_FROM)
        return resize_mapped(block, size);
    if (size > SIZE_MAX - MALLOC_HEAD)
        return NULL;
    void *memory = realloc(block ? memory_of(block) : NULL, size + MALLOC_HEAD);
    return memory ? block_in(memory, MALLOC_HEAD, (struct header){size, 0}) : NULL;
}

void pages_free(void *block)
{
    if (block && header_of(block)->mapped != 0)
        munmap(memory_of(block), header_of(block)->mapped);
    else if (block)
        free(memory_of(block));
}

void *pages_aligned(size_t size)
{
    size_t huge = size & ~(PAGES_HUGE - 1);
    void *memory;
    if (!GUARDED && size - huge >= WORTH_HUGE && huge <= SIZE_MAX - PAGES_HUGE)
        size = huge += PAGES_HUGE;
    if (posix_memalign(&memory, huge > 0 ? PAGES_HUGE : CACHE_LINE, size) != 0)
        return NULL;
    if (huge > 0)
        madvise(memory, huge, MADV_HUGEPAGE); /* only advice: may fail */
    return memory;
}
