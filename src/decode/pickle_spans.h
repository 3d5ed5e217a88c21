/* Frame lists by their bytes.
 *
 * Where all frames of a list are references into the memo, the bytes of the
 * list name its stack: they are looked up as they stand, first among the stacks
 * that came after the same stack before (traces are loops), then by hash. Holds
 * as long as no memo entry is overwritten; pickle_memo_put() clears the cache then. */
#ifndef MEMSNAP_DECODE_PICKLE_SPANS_H
#define MEMSNAP_DECODE_PICKLE_SPANS_H

#include "base/arena.h"
#include "base/symbols.h"

struct span {
    const uint8_t *bytes; /* from behind the MARK to the APPENDS, both included at the end only */
    uint32_t size;
    stack_id stack;
    uint32_t follower; /* span that came next the last time */
    uint32_t next;     /* span of the same bucket, 0: none */
};

struct span_cache {
    struct span *spans; /* [0] is unused */
    size_t count, capacity;
    uint32_t *buckets;
    size_t bucket_count; /* a power of two, or 0 */
    uint32_t recent[4];  /* the last spans met, newest first */
    struct arena bytes;
};

void spans_init(struct span_cache *cache, struct budget *budget);
void spans_release(struct span_cache *cache);
/* Forgets all spans, keeps the memory of the tables. */
void spans_clear(struct span_cache *cache);

/* The span that starts at `bytes`, of which `available` may be read: guessed from what came before.
 * Returns its index, 0 when no guess is right. */
uint32_t spans_guess(const struct span_cache *cache, const uint8_t *bytes, size_t available);
/* The span of exactly these bytes, 0 when unknown. */
uint32_t spans_find(const struct span_cache *cache, const uint8_t *bytes, size_t size);
/* Remembers what spans_find() did not know. */
bool spans_add(struct span_cache *cache, const uint8_t *bytes, size_t size, stack_id stack,
               uint32_t *index, struct error *err);
/* Tells the cache that this span came now, for its next guess. */
void spans_met(struct span_cache *cache, uint32_t index);

#endif
