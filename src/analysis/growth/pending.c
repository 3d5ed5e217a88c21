#include "analysis/growth/pending.h"

#include <stdlib.h>

#include "analysis/live/sites.h"

#define WEIGHT_MOST ((uint64_t)1 << 30)

/* A free that had to wait. */
struct waiting {
    uint32_t group; /* its call site */
    uint32_t index; /* in collector.items */
    bool stream_known, at_peak, unfinished;
    int64_t stream;
    uint64_t size;
    int64_t us;
};

struct collector {
    const struct timeline *timeline;
    int64_t first_time,
        last_time; /* times of the first and the last event; TIME_NONE if no event has a time */
    struct live *items;
    struct waiting *waits;
    size_t count, items_capacity, waits_capacity;
    struct budget *budget; /* not owned */
};

static int64_t add_bytes(int64_t sum, uint64_t size)
{
    int64_t total;
    return size > INT64_MAX || __builtin_add_overflow(sum, (int64_t)size, &total) ? INT64_MAX
                                                                                  : total;
}

static void find_times(struct collector *collector)
{
    const struct trace *trace = collector->timeline->trace;
    size_t first = 0, last = trace->count;
    while (first < trace->count && trace_time(trace, first) == TIME_NONE)
        first++;
    while (last > first && trace_time(trace, last - 1) == TIME_NONE)
        last--;
    collector->first_time = first < last ? trace_time(trace, first) : TIME_NONE;
    collector->last_time = first < last ? trace_time(trace, last - 1) : TIME_NONE;
}

/* Microseconds between the request and the completion of a free. A request before the trace counts
 * from the beginning of the trace, a completion after the trace up to its end. -1 if a time is
 * missing, or if the completion followed the request at once: then the thread was interrupted, and
 * no stream waited. */
static inline int64_t waited(const struct collector *collector, uint32_t requested,
                             uint32_t completed)
{
    const struct trace *trace = collector->timeline->trace;
    if (requested != EVENT_NEVER && completed == requested + 1) /* most of them */
        return -1;
    int64_t from = requested == EVENT_NEVER ? collector->first_time : trace_time(trace, requested);
    int64_t to = completed == EVENT_NEVER ? collector->last_time : trace_time(trace, completed);
    int64_t us;
    return from == TIME_NONE || to == TIME_NONE || __builtin_sub_overflow(to, from, &us) ? -1 : us;
}

static bool add(struct collector *collector, struct live live, uint32_t requested,
                uint32_t completed, int64_t us, struct error *err)
{
    const struct timeline *timeline = collector->timeline;
    const struct snapshot *snapshot = timeline->snapshot;
    size_t need = collector->count + 1;
    if (!vec_reserve(collector->items, collector->items_capacity, need, collector->budget, err) ||
        !vec_reserve(collector->waits, collector->waits_capacity, need, collector->budget, err))
        return false;
    int64_t peak = timeline->active.peak_event;
    struct waiting *waiting = &collector->waits[collector->count];
    *waiting = (struct waiting){
        .index = (uint32_t)collector->count,
        .size = live.size,
        .us = us,
        .unfinished = completed == EVENT_NEVER,
        .at_peak =
            (requested == EVENT_NEVER || (int64_t)requested <= peak) && (int64_t)completed > peak,
    };
    uint32_t known = requested != EVENT_NEVER ? requested : completed;
    if (known != EVENT_NEVER && trace_extra(timeline->trace, known) < snapshot->extra_count) {
        waiting->stream_known = true;
        waiting->stream = snapshot->extras[trace_extra(timeline->trace, known)].stream;
    }
    live.size = live.size < WEIGHT_MOST ? live.size : WEIGHT_MOST;
    collector->items[collector->count++] = live;
    return true;
}

static bool collect(struct collector *collector, struct error *err)
{
    const struct timeline *timeline = collector->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        bool before = preexisting->in_active && !preexisting->in_allocated;
        if (preexisting->free_requested == EVENT_NEVER && !before)
            continue;
        int64_t us = waited(collector, preexisting->free_requested, preexisting->free_completed);
        if (us > PENDING_LEAST_US &&
            !add(collector, live_of_preexisting(timeline, i), preexisting->free_requested,
                 preexisting->free_completed, us, err))
            return false;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (lifetime->free_requested == EVENT_NEVER)
            continue;
        int64_t us = waited(collector, lifetime->free_requested, lifetime->free_completed);
        if (us > PENDING_LEAST_US &&
            !add(collector, live_of_lifetime(timeline, i), lifetime->free_requested,
                 lifetime->free_completed, us, err))
            return false;
    }
    return true;
}

static int compare_waits(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->stream_known != y->stream_known)
        return x->stream_known ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* A row before its labels are made. */
struct sum {
    struct pending_row row;
    uint32_t group;
};

static int compare_sums(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    if (x->row.bytes != y->row.bytes)
        return x->row.bytes > y->row.bytes ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->row.stream_known != y->row.stream_known)
        return x->row.stream_known ? -1 : 1;
    return (x->row.stream > y->row.stream) - (x->row.stream < y->row.stream);
}

/* Sums the sorted waits by call site and stream. Returns the number of sums. */
static size_t sum_waits(const struct collector *collector, struct sum *sums)
{
    size_t count = 0;
    for (size_t i = 0; i < collector->count; i++) {
        const struct waiting *wait = &collector->waits[i];
        if (i == 0 || wait->group != wait[-1].group ||
            wait->stream_known != wait[-1].stream_known || wait->stream != wait[-1].stream)
            sums[count++] =
                (struct sum){.row = {.stream_known = wait->stream_known, .stream = wait->stream},
                             .group = wait->group};
        struct pending_row *row = &sums[count - 1].row;
        row->count++;
        row->bytes = add_bytes(row->bytes, wait->size);
        if (wait->at_peak)
            row->bytes_at_peak = add_bytes(row->bytes_at_peak, wait->size);
        if (wait->us > row->longest_us)
            row->longest_us = wait->us;
    }
    qsort(sums, count, sizeof(*sums), compare_sums);
    return count;
}

static bool make_rows(struct pending_frees *pending, const struct live_set *set,
                      const struct site_groups *groups, const struct sum *sums, size_t count,
                      struct error *err)
{
    struct label_files files;
    struct buffer text = BUFFER_INIT;
    size_t rows = count < PENDING_ROWS ? count : PENDING_ROWS;
    bool ok = true;
    pending->rows = calloc(rows + 1, sizeof(*pending->rows));
    if (!pending->rows)
        return error_out_of_memory(err);
    pending->rows_left_out = count - rows;
    label_files_init(&files, site_table_symbols(set->sites), groups->budget);
    for (size_t i = 0; ok && i < rows; i++)
        ok = live_source_note_file(set, &groups->items[sums[i].group].source, &files, err);
    if (ok)
        label_files_settle(&files);
    for (; ok && pending->row_count < rows; pending->row_count++) {
        const struct sum *sum = &sums[pending->row_count];
        const struct site_group *group = &groups->items[sum->group];
        struct pending_row *row = &pending->rows[pending->row_count];
        *row = sum->row;
        row->stack = group->source.shown;
        row->site = group->source.site;
        row->category = group->category;
        ok = live_source_make_label(set, &group->source, &files, &text, &row->label, err);
    }
    label_files_release(&files);
    buffer_release(&text);
    return ok;
}

static bool group_waits(struct pending_frees *pending, struct collector *collector,
                        struct live_set *set, struct error *err)
{
    struct site_groups groups = {0};
    uint32_t *members = NULL;
    struct sum *sums = NULL;
    size_t members_capacity = 0, sums_capacity = 0;
    set->items = collector->items;
    set->count = collector->count;
    bool ok = vec_reserve(members, members_capacity, collector->count, collector->budget, err) &&
              vec_reserve(sums, sums_capacity, collector->count, collector->budget, err) &&
              site_groups_make_members(set, &groups, members, err);
    if (ok) {
        for (size_t i = 0; i < collector->count; i++)
            collector->waits[i].group = members[i];
        qsort(collector->waits, collector->count, sizeof(*collector->waits), compare_waits);
        size_t count = sum_waits(collector, sums);
        ok = make_rows(pending, set, &groups, sums, count, err);
    }
    vec_free(members, members_capacity, sizeof(*members), collector->budget);
    vec_free(sums, sums_capacity, sizeof(*sums), collector->budget);
    site_groups_release(&groups);
    return ok;
}

bool pending_find(struct pending_frees *pending, const struct timeline *timeline,
                  const struct moment *peak, struct site_table *sites,
                  const struct categories *categories, struct error *err)
{
    struct pending_frees made = {0};
    struct collector collector = {.timeline = timeline, .budget = timeline->snapshot->budget};
    struct live_set set = {.timeline = timeline, .sites = sites, .categories = categories};
    bool differ = timeline->by_action[ACTION_FREE_REQUESTED] > 0 &&
                  peak->active_bytes > peak->allocated_bytes;
    if (differ &&
        __builtin_sub_overflow(peak->active_bytes, peak->allocated_bytes, &made.at_peak_bytes))
        made.at_peak_bytes = INT64_MAX;
    find_times(&collector);
    bool ok = collect(&collector, err);
    for (size_t i = 0; ok && i < collector.count; i++) {
        made.count++;
        made.unfinished += collector.waits[i].unfinished;
        made.bytes = add_bytes(made.bytes, collector.waits[i].size);
        if (collector.waits[i].us > made.longest_us)
            made.longest_us = collector.waits[i].us;
    }
    ok = ok && (collector.count == 0 || group_waits(&made, &collector, &set, err));
    vec_free(collector.items, collector.items_capacity, sizeof(*collector.items), collector.budget);
    vec_free(collector.waits, collector.waits_capacity, sizeof(*collector.waits), collector.budget);
    if (!ok) {
        pending_release(&made);
        return false;
    }
    *pending = made;
    return true;
}

void pending_release(struct pending_frees *pending)
{
    free(pending->rows);
    *pending = (struct pending_frees){0};
}
