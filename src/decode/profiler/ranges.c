#include "decode/profiler/ranges.h"

#include <string.h>

#include "base/hash.h"
#include "decode/profiler/profile.h"
#include "decode/profiler/range_bytes.h"

void ranges_init(struct ranges *ranges, struct budget *budget)
{
    *ranges = (struct ranges){.budget = budget};
}

static void free_run(struct range_run *run, struct budget *budget)
{
    vec_free(run->bytes, run->capacity, sizeof(*run->bytes), budget);
    run->bytes = NULL;
    run->size = run->capacity = 0;
}

void ranges_release(struct ranges *ranges)
{
    struct budget *budget = ranges->budget;
    for (size_t i = 0; i < ranges->run_count; i++)
        free_run(&ranges->runs[i], budget);
    vec_free(ranges->runs, ranges->run_capacity, sizeof(*ranges->runs), budget);
    vec_free(ranges->threads, ranges->thread_capacity, sizeof(*ranges->threads), budget);
    vec_free(ranges->labels, ranges->label_capacity, sizeof(*ranges->labels), budget);
    idtable_release(&ranges->label_index, budget);
    ranges_init(ranges, budget);
}

static bool is_label(const void *items, uint32_t id, const void *wanted)
{
    const struct range_label *label = &((const struct range_label *)items)[id], *other = wanted;
    return label->name == other->name && label->calls == other->calls &&
           label->from == other->from && label->kind == other->kind;
}

static bool find_label(struct ranges *ranges, const struct range_label *label, uint32_t *id,
                       struct error *err)
{
    uint64_t word = (uint64_t)label->calls << 32 | label->name;
    uint32_t tag = (uint32_t)(hash_word(word, (uint64_t)label->from << 8 | label->kind) >> 32);
    if (idtable_find(&ranges->label_index, tag, is_label, ranges->labels, label, id))
        return true;
    *id = (uint32_t)ranges->label_count;
    return vec_push(ranges->labels, ranges->label_count, ranges->label_capacity, ranges->budget,
                    err, *label) &&
           idtable_add(&ranges->label_index, tag, *id, ranges->budget, err);
}

static bool follows(const struct range_run *run, const struct profile_range *range)
{
    return range->start_ns > run->start_ns ||
           (range->start_ns == run->start_ns && range->duration_ns <= run->duration_ns);
}

static bool new_run(struct ranges *ranges, struct range_thread *thread, struct error *err)
{
    if (!vec_push(ranges->runs, ranges->run_count, ranges->run_capacity, ranges->budget, err,
                  (struct range_run){.duration_ns = RANGE_LONGEST}))
        return false;
    uint32_t run = (uint32_t)(ranges->run_count - 1);
    if (thread->run_count++ == 0)
        thread->first = run;
    else
        ranges->runs[thread->last].next = run;
    thread->last = thread->chosen = run;
    return true;
}

/* Finds the run of a thread that a range continues. Of several, that with the latest start leaves
 * the fewest runs. */
static bool choose_run(struct ranges *ranges, struct range_thread *thread,
                       const struct profile_range *range, struct error *err)
{
    const struct range_run *best = NULL;
    uint32_t at = thread->first;
    for (uint32_t i = 0; i < thread->run_count; i++, at = ranges->runs[at].next) {
        const struct range_run *run = &ranges->runs[at];
        if (follows(run, range) && (!best || run->start_ns > best->start_ns)) {
            best = run;
            thread->chosen = at;
        }
    }
    if (best)
        return true;
    if (thread->run_count < RUNS_MOST)
        return new_run(ranges, thread, err);
    thread->chosen = thread->last;
    ranges->runs[thread->chosen].is_jumbled = true;
    return true;
}

static bool append(struct ranges *ranges, struct range_run *run, uint32_t label,
                   const struct profile_range *range, struct error *err)
{
    if (!vec_reserve(run->bytes, run->capacity, run->size + RANGE_BYTES_MOST, ranges->budget, err))
        return false;
    uint8_t *to = run->bytes + run->size;
    to = put_number(to, (uint64_t)label << 1 | (range->sequence != 0));
    to = put_difference(to, (uint64_t)range->start_ns, (uint64_t)run->start_ns);
    to = put_number(to, (uint64_t)range->duration_ns);
    if (range->sequence != 0) {
        to = put_difference(to, range->sequence, run->sequence);
        run->sequence = range->sequence;
    }
    run->size = (size_t)(to - run->bytes);
    run->start_ns = range->start_ns;
    run->duration_ns = range->duration_ns;
    run->count++;
    return true;
}

static bool find_thread(struct ranges *ranges, size_t thread, struct error *err)
{
    size_t count = ranges->thread_count;
    if (thread < count)
        return true;
    if (!vec_reserve(ranges->threads, ranges->thread_capacity, thread + 1, ranges->budget, err))
        return false;
    memset(ranges->threads + count, 0, (thread + 1 - count) * sizeof(*ranges->threads));
    ranges->thread_count = thread + 1;
    return true;
}

bool ranges_add(struct ranges *ranges, size_t thread, const struct profile_range *range,
                struct error *err)
{
    struct profile_range bounded = *range;
    uint32_t label;
    if (ranges->count == RANGES_MOST)
        return error_set(err, STATUS_LIMIT, "more than %u ranges", RANGES_MOST);
    if (bounded.duration_ns > RANGE_LONGEST)
        bounded.duration_ns = RANGE_LONGEST;
    if (!find_thread(ranges, thread, err) || !find_label(ranges, &range->label, &label, err) ||
        !choose_run(ranges, &ranges->threads[thread], &bounded, err) ||
        !append(ranges, &ranges->runs[ranges->threads[thread].chosen], label, &bounded, err))
        return false;
    ranges->count++;
    return true;
}

/* A range of a run that is being sorted. */
struct jumbled_range {
    struct profile_range range;
    uint32_t label;
};

static bool starts_before(const void *self, uint32_t a, uint32_t b)
{
    const struct jumbled_range *x = &((const struct jumbled_range *)self)[a],
                               *y = &((const struct jumbled_range *)self)[b];
    if (x->range.start_ns != y->range.start_ns)
        return x->range.start_ns < y->range.start_ns;
    return x->range.duration_ns > y->range.duration_ns;
}

/* Writes the run again in the order of `order`. */
static bool write_sorted(struct ranges *ranges, struct range_run *run,
                         const struct jumbled_range *items, const uint32_t *order,
                         struct error *err)
{
    uint32_t count = run->count;
    run->size = 0;
    run->count = run->sequence = 0;
    run->start_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct jumbled_range *item = &items[order[i]];
        if (!append(ranges, run, item->label, &item->range, err))
            return false;
    }
    run->is_jumbled = false;
    return true;
}

static bool sort_run(struct ranges *ranges, struct range_run *run, struct error *err)
{
    struct jumbled_range *items = NULL;
    uint32_t *order = NULL;
    size_t item_capacity = 0, order_capacity = 0;
    struct budget *budget = ranges->budget;
    struct range_stream stream = range_stream_begin(run);
    bool ok = vec_reserve(items, item_capacity, run->count, budget, err) &&
              vec_reserve(order, order_capacity, run->count, budget, err);
    for (uint32_t i = 0; ok && i < run->count; i++) {
        uint32_t label = range_stream_next(&stream, ranges->labels);
        items[i] = (struct jumbled_range){stream.head, label};
        order[i] = i;
    }
    ok = ok && profile_sort(order, run->count, starts_before, items, budget, err) &&
         write_sorted(ranges, run, items, order, err);
    vec_free(items, item_capacity, sizeof(*items), budget);
    vec_free(order, order_capacity, sizeof(*order), budget);
    return ok;
}

bool ranges_finish(struct ranges *ranges, struct error *err)
{
    uint32_t before = 0;
    for (size_t i = 0; i < ranges->run_count; i++)
        if (ranges->runs[i].is_jumbled && !sort_run(ranges, &ranges->runs[i], err))
            return false;
    for (size_t i = 0; i < ranges->thread_count; i++) {
        struct range_thread *thread = &ranges->threads[i];
        uint32_t run = thread->first;
        thread->ranges_before = before;
        for (uint32_t j = 0; j < thread->run_count; j++, run = ranges->runs[run].next)
            before += ranges->runs[run].count;
    }
    return true;
}
