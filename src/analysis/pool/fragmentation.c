#include "analysis/pool/fragmentation.h"

#define NOTABLE 10 /* a tenth of what is reserved */

/* Sums gathered while segments are visited. */
struct gather {
    struct cut_up *cut_up;
    struct advice_sums sums;
    struct pins *pins; /* NULL if not wanted */
};

static bool take(void *self, const struct layout_segment *segment, struct error *err)
{
    struct gather *gather = self;
    advice_sums_add(&gather->sums, segment);
    return pool_rows_add(&gather->cut_up->pools, segment, NULL, err) &&
           (!gather->pins || pins_add(gather->pins, segment, err));
}

static void finish(struct gather *gather, enum unit unit)
{
    advice_make(&gather->sums, &gather->cut_up->pools, unit, gather->cut_up->advice);
    pool_rows_finish(&gather->cut_up->pools);
}

static bool make_dump(const struct live_set *set, enum unit unit, struct fragmentation *made,
                      struct error *err)
{
    const struct timeline *timeline = set->timeline;
    struct pins pins;
    struct gather gather = {&made->dump, {.rules = timeline->snapshot->rules}, &pins};
    const struct layout_visitor visitor = {&gather, take};
    pins_init(&pins, timeline->snapshot->budget);
    bool ok = layout_of_dump(timeline->snapshot, timeline->device, &visitor, err) &&
              pins_resolve_dump(&pins, timeline, err) &&
              pin_rows_make(&pins, set, PIN_ROWS_MOST, &made->pinned, err);
    finish(&gather, unit);
    pins_release(&pins);
    return ok;
}

/* True if the moment is the end of the trace, which is the dump. */
static bool is_at_dump(const struct timeline *timeline, const struct moment *moment)
{
    const struct trace *trace = timeline->trace;
    return moment->item == (int64_t)trace->count - 1 && trace_has_end(trace);
}

static bool visit_moment(const struct live_set *set, const struct moment *moment,
                         const struct layout_visitor *visitor, struct fragmentation *made,
                         struct error *err)
{
    const struct timeline *timeline = set->timeline;
    if (is_at_dump(timeline, moment) && timeline->flaws.active_minus_dump_bytes == 0)
        return layout_of_dump(timeline->snapshot, timeline->device, visitor, err);
    if (!layout_at(timeline, moment->item, set->items, set->count, false, visitor,
                   &made->moment_doubts, err))
        return false;
    made->no_moment = layout_doubts_text(&made->moment_doubts, moment->reserved_bytes);
    return true;
}

static bool make_moment(const struct live_set *set, const struct moment *moment, enum unit unit,
                        struct fragmentation *made, struct error *err)
{
    const struct timeline *timeline = set->timeline;
    struct gather gather = {&made->moment, {.rules = timeline->snapshot->rules}, NULL};
    const struct layout_visitor visitor = {&gather, take};
    if (timeline->trace->count == 0)
        return true;
    if (!visit_moment(set, moment, &visitor, made, err))
        return false;
    made->has_moment = !made->no_moment;
    finish(&gather, unit);
    return true;
}

bool cut_up_is_notable(const struct cut_up *cut_up)
{
    const struct pool_row *total = &cut_up->pools.total;
    return total->inactive_split_bytes > total->reserved_bytes / NOTABLE;
}

bool fragmentation_make(const struct live_set *set, const struct moment *moment, enum unit unit,
                        struct fragmentation *fragmentation, struct error *err)
{
    struct budget *budget = set->timeline->snapshot->budget;
    struct fragmentation made = {.has_moment = false};
    pool_rows_init(&made.dump.pools, budget);
    pool_rows_init(&made.moment.pools, budget);
    if (!make_dump(set, unit, &made, err) || !make_moment(set, moment, unit, &made, err)) {
        fragmentation_release(&made);
        return false;
    }
    *fragmentation = made;
    return true;
}

const struct cut_up *fragmentation_then(const struct fragmentation *fragmentation,
                                        const struct timeline *timeline,
                                        const struct moment *moment)
{
    if (fragmentation->has_moment)
        return &fragmentation->moment;
    return is_at_dump(timeline, moment) ? &fragmentation->dump : NULL;
}

void fragmentation_release(struct fragmentation *fragmentation)
{
    pool_rows_release(&fragmentation->dump.pools);
    pool_rows_release(&fragmentation->moment.pools);
    pin_rows_release(&fragmentation->pinned);
}
