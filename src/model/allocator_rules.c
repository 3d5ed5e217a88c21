#include "model/allocator_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/snapshot.h"

#define FIRST_DIVISION_LOG 20 /* 1 MiB */

static bool size_number(struct text text, uint64_t *number)
{
    uint64_t value = 0;
    if (text.size == 0)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9' ||
            __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.bytes[i] - '0'), &value))
            return false;
    }
    *number = value;
    return true;
}

static uint64_t number_setting(const struct snapshot *snapshot, const char *key, uint64_t otherwise)
{
    struct text text;
    uint64_t number;
    return snapshot_setting(snapshot, key, &text) && size_number(text, &number) ? number
                                                                                : otherwise;
}

struct allocator_rules allocator_rules_of(const struct snapshot *snapshot)
{
    struct allocator_rules rules = {.is_known = snapshot->setting_count > 0};
    struct text text;
    if (snapshot_setting(snapshot, "expandable_segments", &text))
        rules.expandable_segments = strcasecmp(text.bytes, "true") == 0;
    rules.max_split_size = number_setting(snapshot, "max_split_size", UINT64_MAX);
    if (snapshot_setting(snapshot, "garbage_collection_threshold", &text)) {
        double value = strtod(text.bytes, NULL);
        rules.gc_threshold = value > 0 && value <= 1 ? value : 0;
    }
    for (unsigned i = 0; i < ALLOCATOR_DIVISIONS; i++) {
        char key[48];
        snprintf(key, sizeof(key), "roundup_power2_divisions.%u", 1u << i);
        rules.divisions[i] = number_setting(snapshot, key, 0);
    }
    return rules;
}

uint64_t allocator_round_up(uint64_t size, uint64_t granule)
{
    uint64_t up;
    if (__builtin_add_overflow(size, granule - 1, &up))
        return UINT64_MAX;
    return up - up % granule;
}

static unsigned log2_floor(uint64_t value)
{
    return 63u - (unsigned)__builtin_clzll(value);
}

/* Rounds up to the next of `divisions` equal steps between two powers of two. */
static uint64_t round_to_division(uint64_t size, uint64_t divisions)
{
    unsigned log = log2_floor(size), steps = log2_floor(divisions);
    uint64_t floor = UINT64_C(1) << log;
    if (size == floor)
        return size;
    if (steps > log)
        return log == 63 ? UINT64_MAX : floor << 1;
    return allocator_round_up(size, floor >> steps);
}

uint64_t allocator_round(const struct allocator_rules *rules, uint64_t requested)
{
    if (requested < ALLOCATOR_MIN_BLOCK)
        return ALLOCATOR_MIN_BLOCK;
    unsigned log = log2_floor(requested), index = 0, last = ALLOCATOR_DIVISIONS - 1;
    if (log > FIRST_DIVISION_LOG)
        index = log - FIRST_DIVISION_LOG < last ? log - FIRST_DIVISION_LOG : last;
    uint64_t divisions = rules->divisions[index];
    if (divisions > 1 && requested / ALLOCATOR_MIN_BLOCK >= divisions &&
        requested > ALLOCATOR_MIN_BLOCK * divisions)
        return round_to_division(requested, divisions);
    return allocator_round_up(requested, ALLOCATOR_MIN_BLOCK);
}

uint64_t allocator_segment_size(uint64_t rounded)
{
    if (allocator_is_small(rounded))
        return ALLOCATOR_SMALL_SEGMENT;
    if (rounded < ALLOCATOR_OWN_SEGMENT)
        return ALLOCATOR_LARGE_SEGMENT;
    return allocator_round_up(rounded, ALLOCATOR_ROUND_LARGE);
}
