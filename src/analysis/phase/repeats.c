#include "analysis/phase/repeats.h"

#include <stdlib.h>

#include "model/curve_cursor.h"

#define SEQUENCE       8    /* sizes in a row that make a sequence */
#define LEAST_TIMES    4    /* occurrences of a sequence */
#define MOST_TIMES     4096 /* occurrences; with more, an iteration would have too few allocations */
#define LEAST_DISTANCE 8    /* allocations from one occurrence to the next */
/* At least 1/4 of the allocations that an iteration has at once are freed at its end. */
#define LEAST_FREED 4
#define LEAST_ALIKE 8          /* sequences with the same number of occurrences */
#define ALLOCATIONS (4u << 20) /* in a trace; with more, only annotations show its steps */
#define FACTOR      0x9e3779b97f4a7c15u

struct sequence {
    uint64_t hash;  /* of its sizes */
    uint32_t first; /* its first lifetime */
};

struct sequences {
    struct sequence *items; /* ordered by hash, then by place in the trace */
    size_t count, capacity;
};

/* A number that changes along the trace, and its highest value since the last iteration ended. */
struct level {
    int64_t now, most;
};

/* A position in the trace. */
struct reader {
    struct curve_cursor cursor;
    struct level bytes, count; /* of active memory */
};

static int compare_sequences(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static uint64_t hash_at(const struct timeline *timeline, size_t first)
{
    uint64_t hash = 0;
    for (size_t i = first; i < first + SEQUENCE; i++) {
        hash = (hash ^ trace_size(timeline->trace, timeline->lifetimes[i].alloc)) * FACTOR;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool list(struct sequences *sequences, const struct timeline *timeline, struct error *err)
{
    size_t count = timeline->lifetime_count - SEQUENCE + 1;
    if (!vec_reserve(sequences->items, sequences->capacity, count, timeline->snapshot->budget, err))
        return false;
    for (size_t i = 0; i < count; i++)
        sequences->items[i] = (struct sequence){hash_at(timeline, i), (uint32_t)i};
    sequences->count = count;
    qsort(sequences->items, count, sizeof(*sequences->items), compare_sequences);
    return true;
}

static size_t times_of(const struct sequences *sequences, size_t at)
{
    size_t end = at;
    while (end < sequences->count && sequences->items[end].hash == sequences->items[at].hash)
        end++;
    return end - at;
}

/* True if the occurrences have similar distances and the trace ends before another one is due. The
 * first distance may differ, because the first step makes optimizer states. */
static bool is_regular(const struct sequence *items, size_t times, size_t lifetimes)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (size_t i = 2; i < times; i++) {
        uint32_t distance = items[i].first - items[i - 1].first;
        least = distance < least ? distance : least;
        most = distance > most ? distance : most;
    }
    return least >= LEAST_DISTANCE && most / 2 <= least &&
           lifetimes - items[times - 1].first <= 2 * (size_t)most &&
           items[0].first <= 2 * (size_t)most;
}

/* The number of iterations, which is the number of occurrences that most sequences have; 0 if none.
 */
static size_t count_iterations(const struct sequences *sequences, size_t lifetimes)
{
    uint32_t alike[MOST_TIMES + 1] = {0};
    size_t best = 0;
    for (size_t i = 0, times; i < sequences->count; i += times) {
        times = times_of(sequences, i);
        if (times >= LEAST_TIMES && times <= MOST_TIMES &&
            is_regular(&sequences->items[i], times, lifetimes))
            alike[times]++;
    }
    for (size_t times = LEAST_TIMES; times <= MOST_TIMES; times++)
        if (alike[times] >= LEAST_ALIKE && alike[times] >= alike[best])
            best = times;
    return best;
}

/* The occurrences of the first sequence that occurs `times` times. */
static const struct sequence *first_of(const struct sequences *sequences, size_t times,
                                       size_t lifetimes)
{
    const struct sequence *best = NULL;
    for (size_t i = 0, count; i < sequences->count; i += count) {
        const struct sequence *items = &sequences->items[i];
        count = times_of(sequences, i);
        if (count == times && is_regular(items, times, lifetimes) &&
            (!best || items->first < best->first))
            best = items;
    }
    return best;
}

/* The first lifetime at which iteration `i` may end. The first occurrence may be much earlier,
 * where the model is made. */
static size_t search_from(const struct sequence *items, size_t i)
{
    size_t usual = items[2].first - items[1].first;
    return i == 0 && items[1].first - items[0].first > usual ? items[1].first - usual
                                                             : items[i].first;
}

/* The end of an iteration, as far as it is known. */
struct low {
    uint32_t item;
    struct level bytes, count; /* `most` is that of the iteration */
};

static void set_level(struct level *level, int64_t now)
{
    level->now = now;
    level->most = now > level->most ? now : level->most;
}

/* Reads on to item `end`, and finds the last item after which the fewest bytes are active. */
static struct low find_low(struct reader *reader, uint32_t begin, uint32_t end)
{
    struct low low = {.item = begin, .bytes = {.now = INT64_MAX}};
    while (reader->cursor.item < end) {
        uint32_t item = (uint32_t)reader->cursor.item;
        int64_t sign = reader->cursor.signs.of[reader->cursor.trace->action[item]];
        set_level(&reader->count, reader->count.now + sign);
        set_level(&reader->bytes, curve_cursor_step(&reader->cursor));
        if (item < begin || reader->bytes.now > low.bytes.now)
            continue;
        int64_t most_bytes = low.bytes.most, most_count = low.count.most;
        low = (struct low){item, reader->bytes, reader->count};
        low.bytes.most = most_bytes > low.bytes.most ? most_bytes : low.bytes.most;
        low.count.most = most_count > low.count.most ? most_count : low.count.most;
        reader->bytes.most = reader->bytes.now;
        reader->count.most = reader->count.now;
    }
    return low;
}

/* True if a step ends here: it frees many allocations that were live at once, and more bytes than
 * it keeps. Layers of one pass repeat like steps do, but keep what they make, or have little
 * memory. */
static bool ends_step(const struct low *low, int64_t bytes_before)
{
    int64_t risen = low->bytes.most - bytes_before, fallen = low->bytes.most - low->bytes.now;
    return low->count.most - low->count.now >= LEAST_FREED && fallen >= risen / 2;
}

static bool add_marks(struct step_marks *marks, const struct timeline *timeline,
                      const struct sequence *items, size_t times, struct error *err)
{
    struct reader reader = {.cursor = curve_cursor_begin(timeline)};
    int64_t before = 0; /* bytes at the end of the previous iteration */
    for (size_t i = 0; i + 1 < times; i++) {
        struct low low = find_low(&reader, timeline->lifetimes[search_from(items, i)].alloc,
                                  timeline->lifetimes[items[i + 1].first].alloc);
        if (i > 0 && !ends_step(&low, before)) {
            marks->count = 0;
            return true;
        }
        before = low.bytes.now;
        struct step_mark mark = {
            .begin = low.item, .end = low.item + 1, .has_start = true, .has_end = true};
        if (!vec_reserve(marks->items, marks->capacity, marks->count + 1, marks->budget, err))
            return false;
        marks->items[marks->count++] = mark;
    }
    return true;
}

bool repeats_find(struct step_marks *marks, const struct timeline *timeline, struct error *err)
{
    struct sequences sequences = {0};
    size_t lifetimes = timeline->lifetime_count;
    if (lifetimes < SEQUENCE || lifetimes > ALLOCATIONS)
        return true;
    bool ok = list(&sequences, timeline, err);
    size_t times = ok ? count_iterations(&sequences, lifetimes) : 0;
    if (times > 0)
        ok = add_marks(marks, timeline, first_of(&sequences, times, lifetimes), times, err);
    vec_free(sequences.items, sequences.capacity, sizeof(*sequences.items),
             timeline->snapshot->budget);
    return ok;
}
