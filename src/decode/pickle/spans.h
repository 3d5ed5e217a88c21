/* Caches frame lists by their bytes.
 *
 * If all frames of a list are references into the memo, its bytes identify its stack, and can be
 * looked up by hash. Usually that is unnecessary: traces are loops, so the sequence of lists is
 * recorded, and while it repeats, the next list is predicted from the record. The cache is valid
 * until a memo entry is overwritten; run.c then clears it. */
#ifndef MEMSNAP_DECODE_PICKLE_SPANS_H
#define MEMSNAP_DECODE_PICKLE_SPANS_H

#include <string.h>

#include "base/arena.h"
#include "base/symbols.h"

struct span {
    const uint8_t *bytes; /* from after the MARK to the APPENDS, which is included */
    uint32_t size;
    stack_id stack;
    uint32_t next; /* next span of the same bucket, 0: none */
    uint32_t hash;
};

#define SPAN_LIMIT (UINT32_C(1) << 28)
#define SPAN_NOTES 16 /* a note is below this */

/* A span and the caller's note on its event: the number of the event's pattern. Both are compared
 * with the recorded sequence. Where many equal lists follow each other, the notes tell the
 * position.
 */
typedef uint32_t met_span;

static inline met_span met_span_make(uint32_t span, uint32_t note)
{
    return note << 28 | span;
}

static inline uint32_t met_span_index(met_span met)
{
    return met & (SPAN_LIMIT - 1);
}

static inline uint32_t met_span_note(met_span met)
{
    return met >> 28;
}

#define SPAN_HISTORY (UINT64_C(1) << 17) /* in spans: several training steps */
#define SPAN_PLACES  4096

struct span_cache {
    struct span *spans; /* [0] is unused */
    size_t count, capacity;
    uint32_t *buckets;
    size_t bucket_count; /* a power of two, or 0 */
    uint32_t strangers;  /* lists since the last known one */
    met_span *history;   /* a ring of SPAN_HISTORY; NULL before the first */
    uint64_t met;        /* total number recorded */
    uint64_t forgotten;  /* positions before this one are invalid */
    uint64_t replay;     /* position whose span is expected next; equal to `met`: none is */
    uint64_t *places;    /* [SPAN_PLACES]: by the hash of two consecutive spans, the position after
                            their last occurrence */
    struct arena bytes;
};

void spans_init(struct span_cache *cache, struct budget *budget);
void spans_release(struct span_cache *cache);
/* Removes all spans, but keeps the memory of the tables. */
void spans_clear(struct span_cache *cache);

/* The predicted next span, if there is a prediction. */
static inline bool spans_expect(const struct span_cache *cache, met_span *next)
{
    if (cache->replay == cache->met)
        return false;
    *next = cache->history[cache->replay % SPAN_HISTORY];
    return true;
}

/* The predicted span if it starts at `bytes`, of which `available` may be read; else 0. */
static inline uint32_t spans_guess(const struct span_cache *cache, const uint8_t *bytes,
                                   size_t available)
{
    met_span next;
    if (!spans_expect(cache, &next))
        return 0;
    uint32_t index = met_span_index(next);
    const struct span *span = &cache->spans[index];
    return span->size <= available && memcmp(span->bytes, bytes, span->size) == 0 ? index : 0;
}

/* True if this list should be looked up. When many lists in a row are new, lookups waste time and
 * memory, so only some are tried. */
bool spans_worthwhile(struct span_cache *cache);
uint32_t spans_hash(const uint8_t *bytes, size_t size);
/* The span of exactly these bytes, 0 when unknown. */
uint32_t spans_find(const struct span_cache *cache, const uint8_t *bytes, size_t size,
                    uint32_t hash);
/* Adds and records a span that spans_find() did not know. */
bool spans_add(struct span_cache *cache, const uint8_t *bytes, size_t size, uint32_t hash,
               stack_id stack, uint32_t note, struct error *err);

/* Like spans_met(), for a span that was not predicted: predicts the next ones from the last place
 * where the last two spans occurred. */
void spans_relocate(struct span_cache *cache, met_span met);

/* Records the occurrence of a known span. `note` is below SPAN_NOTES. */
static inline void spans_met(struct span_cache *cache, uint32_t index, uint32_t note)
{
    met_span met = met_span_make(index, note), expected;
    cache->strangers = 0;
    if (!spans_expect(cache, &expected) || expected != met) {
        spans_relocate(cache, met);
    } else {
        cache->history[cache->met++ % SPAN_HISTORY] = met;
        cache->replay++;
    }
}

#endif
