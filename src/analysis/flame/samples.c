#include "analysis/flame/samples.h"

#include <stdlib.h>

#include "model/device.h"
#include "model/live.h"

/* Samples while they are made. */
struct maker {
    struct flame_samples *samples;
    const struct flame_options *options;
    struct phases phases;
    int64_t *clock; /* by item: time_us, never decreasing; only for FLAME_BYTES_TIME */
    size_t clock_capacity;
};

static bool too_much(struct error *err)
{
    return error_set(err, STATUS_BAD_INPUT, "the sums of sizes and times are too large");
}

static uint32_t root_of(const struct maker *maker, const struct live *live)
{
    if (maker->options->by == FLAME_BY_CATEGORY || maker->options->with_categories)
        return live_category(&maker->samples->set, live);
    if (maker->options->by == FLAME_BY_STACK)
        return 0;
    if (!live->in_trace)
        return FLAME_ROOT_BEFORE;
    uint32_t item = maker->samples->set.timeline->lifetimes[live->index].alloc;
    uint32_t run = phases_run_of(&maker->phases, item);
    return run == NO_RUN ? PHASE_UNKNOWN : maker->phases.runs[run].phase;
}

/* Adds to the weight of the stacks of an allocation. */
static bool add(struct maker *maker, const struct live *live, live_weight weight, struct error *err)
{
    struct flame_samples *samples = maker->samples;
    uint32_t index, root;
    if (maker->options->by != FLAME_BY_ANNOTATION)
        root = root_of(maker, live);
    else if (!live_note_text(samples->set.timeline, live, &root, err))
        return false;
    return live_bundles_add(&samples->bundles, &samples->set, live, root, weight, &index, err);
}

static bool add_live(struct maker *maker, struct error *err)
{
    const struct timeline *timeline = maker->samples->set.timeline;
    struct live_list list;
    int64_t item;
    if (!when_item(&maker->options->at, timeline, maker->samples->set.sites, NULL, &item, err) ||
        !timeline_live(timeline, item, &list, err))
        return false;
    maker->samples->unexplained_bytes = list.unexplained_bytes;
    bool ok = true;
    for (size_t i = 0; ok && i < list.count; i++)
        ok = add(maker, &list.items[i], list.items[i].size, err);
    live_list_release(&list);
    return ok;
}

/* Reads the time of each item. Times that decrease or are missing are replaced by the previous
 * time. */
static bool read_clock(struct maker *maker, struct error *err)
{
    const struct trace *trace = maker->samples->set.timeline->trace;
    size_t first = 0;
    while (first < trace->count && trace_time(trace, first) == TIME_NONE)
        first++;
    if (first == trace->count && trace->count > 0)
        return error_set(err, STATUS_USAGE,
                         "the events of %s carry no time: bytes times time is not known",
                         DEVICE_WORDS(maker->samples->set.timeline->device));
    if (!vec_reserve(maker->clock, maker->clock_capacity, trace->count + 1,
                     maker->samples->bundles.budget, err))
        return false;
    int64_t now = first < trace->count ? trace_time(trace, first) : 0;
    for (size_t i = 0; i < trace->count; i++) {
        if (trace_time(trace, i) > now)
            now = trace_time(trace, i);
        maker->clock[i] = now;
    }
    return true;
}

/* The weight of an allocation that is live from item `from` (-1: before the trace) up to `to`. */
static bool weigh(const struct maker *maker, uint64_t size, int64_t from, uint32_t to,
                  live_weight *weight, struct error *err)
{
    size_t count = maker->samples->set.timeline->trace->count;
    *weight = maker->options->weight == FLAME_COUNT ? 1 : size;
    if (maker->options->weight != FLAME_BYTES_TIME)
        return true;
    *weight = 0;
    if (count == 0)
        return true;
    int64_t begin = maker->clock[from < 0 ? 0 : from];
    int64_t end = maker->clock[to == EVENT_NEVER ? count - 1 : to];
    uint64_t duration = (uint64_t)end - (uint64_t)begin;
    return end <= begin || !__builtin_mul_overflow((live_weight)size, duration, weight) ||
           too_much(err);
}

static bool add_lifetimes(struct maker *maker, struct error *err)
{
    const struct timeline *timeline = maker->samples->set.timeline;
    live_weight weight;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        struct live live = live_of_lifetime(timeline, i);
        if (!weigh(maker, live.size, lifetime->alloc, lifetime->free_completed, &weight, err) ||
            !add(maker, &live, weight, err))
            return false;
    }
    return true;
}

static bool add_preexisting(struct maker *maker, struct error *err)
{
    const struct timeline *timeline = maker->samples->set.timeline;
    live_weight weight;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        struct live live = live_of_preexisting(timeline, i);
        if (preexisting->in_active &&
            (!weigh(maker, live.size, -1, preexisting->free_completed, &weight, err) ||
             !add(maker, &live, weight, err)))
            return false;
    }
    return true;
}

static bool add_all(struct maker *maker, struct error *err)
{
    switch (maker->options->weight) {
    case FLAME_LIVE:
        return add_live(maker, err);
    case FLAME_BYTES_TIME:
        return read_clock(maker, err) && add_preexisting(maker, err) && add_lifetimes(maker, err);
    case FLAME_ALLOCATED:
    case FLAME_COUNT:
        break;
    }
    return add_lifetimes(maker, err);
}

static bool find_roots(struct maker *maker, struct error *err)
{
    const struct timeline *timeline = maker->samples->set.timeline;
    enum flame_by by = maker->options->by;
    if ((by == FLAME_BY_STACK && !maker->options->with_categories) || by == FLAME_BY_ANNOTATION)
        return true;
    return phases_build(&maker->phases, timeline, maker->samples->set.sites, err) &&
           (by == FLAME_BY_PHASE ||
            categories_assign(timeline, maker->samples->set.sites, &maker->phases,
                              &maker->samples->categories, err));
}

bool flame_samples_make(struct flame_samples *samples, const struct timeline *timeline,
                        struct site_table *sites, const struct flame_options *options,
                        struct error *err)
{
    struct maker maker = {.samples = samples, .options = options};
    *samples = (struct flame_samples){.set = {.timeline = timeline, .sites = sites}};
    samples->set.categories = &samples->categories;
    live_bundles_init(&samples->bundles, timeline->snapshot->budget);
    bool ok = find_roots(&maker, err) && add_all(&maker, err);
    vec_free(maker.clock, maker.clock_capacity, sizeof(*maker.clock), samples->bundles.budget);
    phases_release(&maker.phases);
    if (!ok)
        flame_samples_release(samples);
    return ok;
}

void flame_samples_release(struct flame_samples *samples)
{
    live_bundles_release(&samples->bundles);
    categories_release(&samples->categories);
    *samples = (struct flame_samples){0};
}

bool flame_samples_at(const struct flame_samples *samples, size_t index,
                      struct flame_sample *sample, struct error *err)
{
    const struct live_bundle *bundle = &samples->bundles.items[index];
    struct live_source source;
    struct site own;
    if (!live_source_of(&samples->set, &bundle->example, &source, err) ||
        !site_of(samples->set.sites, bundle->own, &own, err))
        return false;
    *sample = (struct flame_sample){
        .weight = bundle->weight,
        .own = bundle->own,
        .forward = source.source == SOURCE_FORWARD ? source.shown : STACK_NONE,
        .op = source.site.op,
        .root = bundle->kind,
        .is_before = source.source == SOURCE_BEFORE,
        .has_python = own.any_python_frame != NO_FRAME,
        .has_backward = own.has_backward,
    };
    return true;
}
