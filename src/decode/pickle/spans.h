/* Frame lists by their bytes.
 *
 * Where all frames of a list are references into the memo, the bytes of the
 * list name its stack: they are looked up as they stand, by hash. Mostly they need
 * not be: traces are loops, so what came is written down, and while the same comes
 * again, the next list is the one that came next then. Holds as long as no memo entry
 * is overwritten; memo_ops.c clears the cache then. */
#ifndef MEMSNAP_DECODE_PICKLE_SPANS_H
#define MEMSNAP_DECODE_PICKLE_SPANS_H

#include <string.h>

#include "base/arena.h"
#include "base/symbols.h"

struct span {
    const uint8_t *bytes; /* from behind the MARK to the APPENDS, both included at the end only */
    uint32_t size;
    stack_id stack;
    uint32_t next; /* span of the same bucket, 0: none */
    uint32_t hash;
};

#define SPAN_LIMIT (UINT32_C(1) << 28)
#define SPAN_NOTES 16

/* A span and a note of the caller's on the event it came with. Both count when what comes is
 * compared with what came: within many lists that are equal, the notes tell where we are. */
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

#define SPAN_HISTORY (UINT64_C(1) << 17) /* spans: some steps of a training */
#define SPAN_PLACES  4096

struct span_cache {
    struct span *spans; /* [0] is unused */
    size_t count, capacity;
    uint32_t *buckets;
    size_t bucket_count; /* a power of two, or 0 */
    uint32_t strangers;  /* lists since the last one that was known */
    met_span *history;   /* a ring of SPAN_HISTORY; NULL before the first */
    uint64_t met;        /* how many were */
    uint64_t forgotten;  /* those before this one are not to be looked at */
    uint64_t replay;     /* the one that came where we are now; `met`: unknown */
    uint64_t *places;    /* SPAN_PLACES: what to replay after two spans, by their hash */
    struct arena bytes;
};

void spans_init(struct span_cache *cache, struct budget *budget);
void spans_release(struct span_cache *cache);
/* Forgets all spans, keeps the memory of the tables. */
void spans_clear(struct span_cache *cache);

/* What will probably come next, as far as it is known. */
static inline bool spans_expect(const struct span_cache *cache, met_span *next)
{
    if (cache->replay == cache->met)
        return false;
    *next = cache->history[cache->replay % SPAN_HISTORY];
    return true;
}

/* The span that starts at `bytes`, of which `available` may be read, if it is the one expected;
 * else 0. */
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

/* Whether to look this list up at all: where one list after another is new, asking and remembering
 * costs time and memory for nothing, so only now and then is one tried. */
bool spans_worthwhile(struct span_cache *cache);
uint32_t spans_hash(const uint8_t *bytes, size_t size);
/* The span of exactly these bytes, 0 when unknown. */
uint32_t spans_find(const struct span_cache *cache, const uint8_t *bytes, size_t size,
                    uint32_t hash);
/* Remembers what spans_find() did not know, and meets it. */
bool spans_add(struct span_cache *cache, const uint8_t *bytes, size_t size, uint32_t hash,
               stack_id stack, uint32_t note, struct error *err);

/* The same as spans_met() for what was not expected: finds out where to go on. */
void spans_relocate(struct span_cache *cache, met_span met);

/* Tells the cache that this known span came now. `note` is below SPAN_NOTES. */
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
