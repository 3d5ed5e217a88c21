#include <stdlib.h>

#include "analysis/joint/internal.h"
#include "base/bisect.h"

#define SEQUENCE    4    /* allocations that are compared at once */
#define SAMPLES     256  /* of such sequences of the trace */
#define EACH_MOST   4096 /* equal ones of the snapshot for one of them */
#define WINDOW_US   400  /* differences of times within it are taken to be the same */
#define WINDOW_NONE 0
#define HASH_STEP   UINT64_C(0x9e3779b97f4a7c15)

struct sequence {
    uint64_t hash;
    uint32_t first;
};

/* A sequence that both inputs have. */
struct meeting {
    int64_t key; /* difference of times, or the place */
    int64_t place;
};

static uint64_t hash_of(const struct joint_items *of, size_t first, size_t length)
{
    uint64_t hash = 0;
    for (size_t i = first; i < first + length; i++)
        hash = ((hash ^ of->items[i].addr) * HASH_STEP) ^ (hash >> 29);
    return hash;
}

static int by_hash(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int by_key(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static size_t first_at_least(const struct sequence *sequences, size_t count, uint64_t hash)
{
    return count > 0 ? bisect_less_64(&sequences->hash, sizeof(*sequences), count, hash) : 0;
}

struct meetings {
    struct meeting *items;
    size_t count, capacity;
};

static bool meet(struct meetings *meetings, const struct joint_items *snapshot,
                 const struct joint_items *trace, const struct sequence *sequences, size_t count,
                 size_t length, struct budget *budget, struct error *err)
{
    size_t last = trace->count - length + 1;
    size_t step = last > SAMPLES ? last / SAMPLES : 1;
    for (size_t at = 0; at < last; at += step) {
        uint64_t hash = hash_of(trace, at, length);
        size_t i = first_at_least(sequences, count, hash), end = i + EACH_MOST;
        for (; i < count && i < end && sequences[i].hash == hash; i++) {
            const struct joint_item *a = &snapshot->items[sequences[i].first];
            const struct joint_item *b = &trace->items[at];
            struct meeting meeting = {.place = (int64_t)sequences[i].first - (int64_t)at};
            meeting.key = a->time_us == TIME_NONE ? meeting.place : joint_apart(a, b);
            if (joint_fits(a, b) && !vec_push(meetings->items, meetings->count, meetings->capacity,
                                              budget, err, meeting))
                return false;
        }
    }
    return true;
}

/* Takes the places in whose windows most sequences meet. */
static void choose(struct joint_places *places, struct meetings *meetings, int64_t window)
{
    struct {
        size_t votes;
        int64_t place;
    } best[PLACES_MOST] = {{0, 0}};
    if (meetings->count > 1)
        qsort(meetings->items, meetings->count, sizeof(*meetings->items), by_key);
    for (size_t first = 0, end; first < meetings->count; first = end) {
        for (end = first; end < meetings->count &&
                          meetings->items[end].key - meetings->items[first].key <= window;)
            end++;
        size_t lowest = 0;
        for (size_t i = 1; i < PLACES_MOST; i++)
            if (best[i].votes < best[lowest].votes)
                lowest = i;
        if (end - first > best[lowest].votes) {
            best[lowest].votes = end - first;
            best[lowest].place = meetings->items[first + (end - first) / 2].place;
        }
    }
    for (size_t i = 0; i < PLACES_MOST; i++)
        if (best[i].votes > 0)
            places->items[places->count++] = best[i].place;
}

bool joint_find_places(struct joint_places *places, const struct joint_items *snapshot,
                       const struct joint_items *trace, struct budget *budget, struct error *err)
{
    struct sequence *sequences = NULL;
    struct meetings meetings = {0};
    size_t capacity = 0, shorter = snapshot->count < trace->count ? snapshot->count : trace->count;
    size_t length = shorter < SEQUENCE ? shorter : SEQUENCE;
    places->count = 0;
    if (length == 0)
        return true;
    size_t count = snapshot->count - length + 1;
    bool has_times = snapshot->items[0].time_us != TIME_NONE;
    bool ok = vec_reserve(sequences, capacity, count, budget, err);
    for (size_t i = 0; ok && i < count; i++)
        sequences[i] = (struct sequence){hash_of(snapshot, i, length), (uint32_t)i};
    if (ok && count > 1)
        qsort(sequences, count, sizeof(*sequences), by_hash);
    ok = ok && meet(&meetings, snapshot, trace, sequences, count, length, budget, err);
    if (ok)
        choose(places, &meetings, has_times ? WINDOW_US : WINDOW_NONE);
    vec_free(sequences, capacity, sizeof(*sequences), budget);
    vec_free(meetings.items, meetings.capacity, sizeof(*meetings.items), budget);
    return ok;
}
