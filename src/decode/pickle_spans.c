#include "decode/pickle_spans.h"

#include <string.h>

#include "base/hash.h"

#define FOLLOWERS (sizeof((struct span *)0)->followers / sizeof(uint32_t))
#define RECENT    (sizeof((struct span_cache *)0)->recent / sizeof(uint32_t))

void spans_init(struct span_cache *cache, struct budget *budget)
{
    *cache = (struct span_cache){.count = 1};
    arena_init(&cache->bytes, budget);
}

void spans_release(struct span_cache *cache)
{
    vec_free(cache->spans, cache->capacity, sizeof *cache->spans, cache->bytes.budget);
    vec_free(cache->buckets, cache->bucket_count, sizeof *cache->buckets, cache->bytes.budget);
    arena_release(&cache->bytes);
}

void spans_clear(struct span_cache *cache)
{
    struct budget *budget = cache->bytes.budget;
    if (cache->count == 1)
        return;
    arena_release(&cache->bytes);
    arena_init(&cache->bytes, budget);
    /* not kept for next time: clearing many buckets again and again would take long */
    vec_free(cache->buckets, cache->bucket_count, sizeof *cache->buckets, budget);
    cache->buckets = NULL;
    cache->bucket_count = 0;
    cache->count = 1;
    memset(cache->recent, 0, sizeof cache->recent);
}

/* After so many unknown lists in a row, one in so many is still looked up. */
#define STRANGERS_MAX   4096
#define STRANGERS_TRIED 64

static bool matches(const struct span_cache *cache, uint32_t index, const uint8_t *bytes,
                    size_t available)
{
    const struct span *span = &cache->spans[index];
    return index != 0 && span->size <= available && memcmp(span->bytes, bytes, span->size) == 0;
}

uint32_t spans_guess(const struct span_cache *cache, const uint8_t *bytes, size_t available)
{
    uint32_t last = cache->recent[0];
    if (last == 0)
        return 0;
    for (size_t i = 0; i < FOLLOWERS; i++)
        if (matches(cache, cache->spans[last].followers[i], bytes, available))
            return cache->spans[last].followers[i];
    for (size_t i = 0; i < RECENT; i++)
        if (matches(cache, cache->recent[i], bytes, available))
            return cache->recent[i];
    return 0;
}

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

/* Twice as many buckets (vec_grow doubles exactly), every span in its new one. */
static bool rehash(struct span_cache *cache, struct error *err)
{
    size_t grown = cache->bucket_count;
    if (!vec_grow((void **)&cache->buckets, &cache->bucket_count, grown == 0 ? 1024 : grown * 2,
                  sizeof *cache->buckets, cache->bytes.budget, err))
        return false;
    memset(cache->buckets, 0, cache->bucket_count * sizeof *cache->buckets);
    for (uint32_t i = 1; i < cache->count; i++) {
        uint32_t *bucket = bucket_of(cache, cache->spans[i].hash);
        cache->spans[i].next = *bucket;
        *bucket = i;
    }
    return true;
}

/* The span came now: the next guess starts from it. */
static void follow(struct span_cache *cache, uint32_t index)
{
    if (index == cache->recent[0])
        return;
    uint32_t *followers = cache->spans[cache->recent[0]].followers; /* of [0] too: never read */
    if (followers[0] != index) {
        followers[1] = followers[0];
        followers[0] = index;
    }
    memmove(cache->recent + 1, cache->recent, (RECENT - 1) * sizeof(uint32_t));
    cache->recent[0] = index;
}

void spans_met(struct span_cache *cache, uint32_t index)
{
    cache->strangers = 0;
    follow(cache, index);
}

bool spans_add(struct span_cache *cache, const uint8_t *bytes, size_t size, uint32_t hash,
               stack_id stack, struct error *err)
{
    if (cache->count >= cache->bucket_count && !rehash(cache, err))
        return false;
    if (!vec_grow((void **)&cache->spans, &cache->capacity, cache->count + 1, sizeof *cache->spans,
                  cache->bytes.budget, err))
        return false;
    if (cache->count == 1)
        cache->spans[0] = (struct span){0};
    uint8_t *copy = arena_alloc(&cache->bytes, size, err);
    if (copy == NULL)
        return false;
    memcpy(copy, bytes, size);
    uint32_t *bucket = bucket_of(cache, hash);
    uint32_t index = (uint32_t)cache->count++;
    cache->spans[index] = (struct span){
        .bytes = copy, .size = (uint32_t)size, .stack = stack, .next = *bucket, .hash = hash};
    *bucket = index;
    follow(cache, index);
    return true;
}
