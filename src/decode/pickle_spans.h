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
    uint32_t followers[2]; /* spans that came next the last times, newest first */
    uint32_t next;         /* span of the same bucket, 0: none */
    uint32_t hash;
};

struct span_cache {
    struct span *spans; /* [0] is unused */
    size_t count, capacity;
    uint32_t *buckets;
    size_t bucket_count; /* a power of two, or 0 */
    uint32_t recent[4];  /* the last spans met, newest first */
    uint32_t strangers;  /* lists since the last one that was known */
    struct arena bytes;
};

void spans_init(struct span_cache *cache, struct budget *budget);
void spans_release(struct span_cache *cache);
/* Forgets all spans, keeps the memory of the tables. */
void spans_clear(struct span_cache *cache);

/* The span that starts at `bytes`, of which `available` may be read: guessed from what came before.
 * Returns its index, 0 when no guess is right. */
uint32_t spans_guess(const struct span_cache *cache, const uint8_t *bytes, size_t available);
/* Whether to look this list up at all: where one list after another is new, asking and remembering
 * costs time and memory for nothing, so only now and then is one tried. */
bool spans_worthwhile(struct span_cache *cache);
uint32_t spans_hash(const uint8_t *bytes, size_t size);
/* The span of exactly these bytes, 0 when unknown. */
uint32_t spans_find(const struct span_cache *cache, const uint8_t *bytes, size_t size,
                    uint32_t hash);
/* Remembers what spans_find() did not know. */
bool spans_add(struct span_cache *cache, const uint8_t *bytes, size_t size, uint32_t hash,
               stack_id stack, struct error *err);
/* Tells the cache that this known span came now, for its next guess. */
void spans_met(struct span_cache *cache, uint32_t index);

#endif
