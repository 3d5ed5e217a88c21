#include "decode/pickle/spans.h"

#include <string.h>

#include "base/hash.h"

void spans_init(struct span_cache *cache, struct budget *budget)
{
    *cache = (struct span_cache){.count = 1};
    arena_init(&cache->bytes, budget);
}

void spans_release(struct span_cache *cache)
{
    vec_free(cache->spans, cache->capacity, sizeof *cache->spans, cache->bytes.budget);
    vec_free(cache->buckets, cache->bucket_count, sizeof *cache->buckets, cache->bytes.budget);
    vec_free(cache->history, cache->history ? SPAN_HISTORY : 0, sizeof *cache->history,
             cache->bytes.budget);
    vec_free(cache->places, cache->places ? SPAN_PLACES : 0, sizeof *cache->places,
             cache->bytes.budget);
    arena_release(&cache->bytes);
}

void spans_clear(struct span_cache *cache)
{
    struct budget *budget = cache->bytes.budget;
    if (cache->count == 1)
        return;
    arena_release(&cache->bytes);
    arena_init(&cache->bytes, budget);
    /* freed rather than kept, because clearing many buckets repeatedly would take long */
    vec_free(cache->buckets, cache->bucket_count, sizeof *cache->buckets, budget);
    cache->buckets = NULL;
    cache->bucket_count = 0;
    cache->count = 1;
    cache->forgotten = cache->replay = cache->met;
}

/* Limits lookups: after many unknown lists in a row, only one in up to this many is looked up. */
#define STRANGERS_MAX   4096
#define STRANGERS_TRIED 64

bool spans_worthwhile(struct span_cache *cache)
{
    cache->strangers++;
    return cache->strangers < STRANGERS_MAX || cache->strangers % STRANGERS_TRIED == 0;
}

uint32_t spans_hash(const uint8_t *bytes, size_t size)
{
    return (uint32_t)hash_bytes(bytes, size, hash_seed());
}

static uint32_t *bucket_of(const struct span_cache *cache, uint32_t hash)
{
    return &cache->buckets[hash & (cache->bucket_count - 1)];
}

uint32_t spans_find(const struct span_cache *cache, const uint8_t *bytes, size_t size,
                    uint32_t hash)
{
    if (cache->bucket_count == 0)
        return 0;
    uint32_t index = *bucket_of(cache, hash);
    while (index != 0 && !(cache->spans[index].hash == hash && cache->spans[index].size == size &&
                           memcmp(cache->spans[index].bytes, bytes, size) == 0))
        index = cache->spans[index].next;
    return index;
}

/* Doubles the number of buckets (vec_grow doubles exactly) and redistributes the spans. */
static bool rehash(struct span_cache *cache, struct error *err)
{
    size_t grown = cache->bucket_count;
    if (!vec_reserve(cache->buckets, cache->bucket_count, grown == 0 ? 1024 : grown * 2,
                     cache->bytes.budget, err))
        return false;
    memset(cache->buckets, 0, cache->bucket_count * sizeof *cache->buckets);
    for (uint32_t i = 1; i < cache->count; i++) {
        uint32_t *bucket = bucket_of(cache, cache->spans[i].hash);
        cache->spans[i].next = *bucket;
        *bucket = i;
    }
    return true;
}

/* Returns false if memory runs out. */
static bool make_history(struct span_cache *cache)
{
    struct error ignored;
    struct budget *budget = cache->bytes.budget;
    size_t history = 0, places = 0;
    if (cache->history != NULL)
        return true;
    if (cache->places == NULL) {
        if (!vec_reserve(cache->places, places, SPAN_PLACES, budget, &ignored))
            return false;
        memset(cache->places, 0, SPAN_PLACES * sizeof *cache->places);
    }
    return vec_reserve(cache->history, history, SPAN_HISTORY, budget, &ignored);
}

void spans_relocate(struct span_cache *cache, met_span met)
{
    if (!make_history(cache))
        return;
    met_span before = 0;
    if (cache->met != cache->forgotten)
        before = cache->history[(cache->met - 1) % SPAN_HISTORY];
    uint64_t hash = hash_word((uint64_t)before << 32 | met, hash_seed());
    uint64_t *place = &cache->places[hash % SPAN_PLACES];
    cache->history[cache->met++ % SPAN_HISTORY] = met;
    bool remembered = *place > cache->forgotten && cache->met - *place < SPAN_HISTORY;
    cache->replay = remembered ? *place : cache->met;
    *place = cache->met;
}

bool spans_add(struct span_cache *cache, const uint8_t *bytes, size_t size, uint32_t hash,
               stack_id stack, uint32_t note, struct error *err)
{
    if (cache->count == SPAN_LIMIT)
        return true;
    if (cache->count >= cache->bucket_count && !rehash(cache, err))
        return false;
    if (!vec_reserve(cache->spans, cache->capacity, cache->count + 1, cache->bytes.budget, err))
        return false;
    uint8_t *copy = arena_alloc(&cache->bytes, size, err);
    if (copy == NULL)
        return false;
    memcpy(copy, bytes, size);
    uint32_t *bucket = bucket_of(cache, hash);
    uint32_t index = (uint32_t)cache->count++;
    cache->spans[index] = (struct span){
        .bytes = copy, .size = (uint32_t)size, .stack = stack, .next = *bucket, .hash = hash};
    *bucket = index;
    spans_relocate(cache, met_span_make(index, note));
    return true;
}
