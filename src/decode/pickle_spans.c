#include "decode/pickle_spans.h"

#include <string.h>

#include "base/hash.h"

#define RECENT (sizeof((struct span_cache *)0)->recent / sizeof(uint32_t))

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
    arena_release(&cache->bytes);
    arena_init(&cache->bytes, budget);
    cache->count = 1;
    memset(cache->recent, 0, sizeof cache->recent);
    if (cache->bucket_count > 0)
        memset(cache->buckets, 0, cache->bucket_count * sizeof *cache->buckets);
}

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
    uint32_t follower = cache->spans[last].follower;
    if (matches(cache, follower, bytes, available))
        return follower;
    for (size_t i = 0; i < RECENT; i++)
        if (matches(cache, cache->recent[i], bytes, available))
            return cache->recent[i];
    return 0;
}

static uint32_t *bucket_of(const struct span_cache *cache, const uint8_t *bytes, size_t size)
{
    return &cache->buckets[hash_bytes(bytes, size, hash_seed()) & (cache->bucket_count - 1)];
}

uint32_t spans_find(const struct span_cache *cache, const uint8_t *bytes, size_t size)
{
    if (cache->bucket_count == 0)
        return 0;
    uint32_t index = *bucket_of(cache, bytes, size);
    while (index != 0 && !(cache->spans[index].size == size &&
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
        uint32_t *bucket = bucket_of(cache, cache->spans[i].bytes, cache->spans[i].size);
        cache->spans[i].next = *bucket;
        *bucket = i;
    }
    return true;
}

bool spans_add(struct span_cache *cache, const uint8_t *bytes, size_t size, stack_id stack,
               uint32_t *index, struct error *err)
{
    if (cache->count >= cache->bucket_count && !rehash(cache, err))
        return false;
    if (!vec_grow((void **)&cache->spans, &cache->capacity, cache->count + 1, sizeof *cache->spans,
                  cache->bytes.budget, err))
        return false;
    uint8_t *copy = arena_alloc(&cache->bytes, size, err);
    if (copy == NULL)
        return false;
    memcpy(copy, bytes, size);
    uint32_t *bucket = bucket_of(cache, bytes, size);
    *index = (uint32_t)cache->count++;
    cache->spans[*index] =
        (struct span){.bytes = copy, .size = (uint32_t)size, .stack = stack, .next = *bucket};
    *bucket = *index;
    return true;
}

void spans_met(struct span_cache *cache, uint32_t index)
{
    if (index == cache->recent[0])
        return;
    if (cache->recent[0] != 0)
        cache->spans[cache->recent[0]].follower = index;
    memmove(cache->recent + 1, cache->recent, (RECENT - 1) * sizeof(uint32_t));
    cache->recent[0] = index;
}
