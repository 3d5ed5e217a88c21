#define _GNU_SOURCE /* qsort_r */
#include "analysis/diff/side.h"

#include <stdlib.h>

#include "analysis/diff/symbols.h"
#include "analysis/live/sites.h"
#include "analysis/report/notices.h"

/* State while a capture is reduced to its side. */
struct reduction {
    struct diff_side *side;
    struct live_set set;
    struct phases phases;
    struct categories categories;
    struct live_list live;
    struct site_groups groups;
    struct part *parts; /* by group, then by stack */
    size_t part_count, part_capacity;
    struct translation translation;
};

/* The bytes that a bundle adds to a stack of its site. */
struct part {
    uint32_t group;
    stack_id stack;
    int64_t bytes;
    uint64_t count;
};

const char *diff_phase_name(unsigned phase)
{
    return phase == DIFF_PHASE_UNEXPLAINED ? "unexplained" : live_phase_name(phase);
}

static void add(struct diff_sum *sum, int64_t bytes, uint64_t count)
{
    sum->bytes += bytes;
    sum->count += count;
}

static enum phase phase_at(const struct phases *phases, int64_t item)
{
    uint32_t run = item < 0 ? NO_RUN : phases_run_of(phases, (uint32_t)item);
    return run == NO_RUN ? PHASE_UNKNOWN : (enum phase)phases->runs[run].phase;
}

static void sum_up(struct reduction *reduction)
{
    struct diff_side *side = reduction->side;
    const struct live_set *set = &reduction->set;
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        unsigned phase = live_phase(set, &reduction->phases, live);
        add(&side->phases[phase], (int64_t)live->size, 1);
        add(&side->categories[live_category(set, live)], (int64_t)live->size, 1);
    }
    add(&side->categories[CATEGORY_COUNT], set->unexplained_bytes, 0);
    add(&side->phases[DIFF_PHASE_UNEXPLAINED], set->unexplained_bytes, 0);
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static bool add_part(struct reduction *reduction, const struct live_bundle *bundle,
                     struct error *err)
{
    struct live_source source;
    if (!live_source_of(&reduction->set, &bundle->example, &source, err))
        return false;
    reduction->parts[reduction->part_count++] =
        (struct part){bundle->group, source.shown, (int64_t)bundle->weight, bundle->count};
    return true;
}

static bool make_parts(struct reduction *reduction, struct error *err)
{
    const struct live_set *set = &reduction->set;
    struct live_bundles bundles;
    if (!site_groups_bundle(set, &bundles, NULL, err))
        return false;
    bool ok =
        site_groups_of(set, &bundles, &reduction->groups, err) &&
        vec_reserve(reduction->parts, reduction->part_capacity, bundles.count, bundles.budget, err);
    for (size_t i = 0; ok && i < bundles.count; i++)
        ok = add_part(reduction, &bundles.items[i], err);
    live_bundles_release(&bundles);
    if (ok && reduction->part_count > 0)
        qsort(reduction->parts, reduction->part_count, sizeof(*reduction->parts), compare_parts);
    return ok;
}

/* Names a call site in the symbols of the translation. */
static bool place_of(struct translation *translation, const struct site_table *sites,
                     const struct site_group *group, struct diff_place *place, struct error *err)
{
    const struct live_source *source = &group->source;
    frame_id frame, shared;
    *place = (struct diff_place){
        .kind = source->shown == STACK_NONE ? DIFF_STACKLESS : DIFF_NATIVE,
        .category = (uint8_t)group->category,
        .source = (uint8_t)source->source,
    };
    if (!translate_string(translation, source->site.op, &place->op, err) ||
        !translate_string(translation, source->site.node, &place->node, err))
        return false;
    if (!site_frame(sites, source->shown, &source->site, &frame)) {
        place->has_backward = source->site.has_backward;
        place->function =
            place->has_backward && place->node != STRING_EMPTY ? place->node : place->op;
        return true;
    }
    if (!translate_frame(translation, frame, false, &shared, err))
        return false;
    struct frame named = symbols_frame_at(translation->to, shared);
    place->kind = DIFF_PYTHON;
    place->file = named.file;
    place->function = named.name;
    place->line = named.line;
    place->node = STRING_EMPTY;
    return true;
}

/* The stack that stands for a site, for its label. */
static bool source_of(struct reduction *reduction, const struct live_source *from,
                      struct diff_site *site, struct error *err)
{
    struct live_source *source = &site->source;
    *source = *from;
    source->own = STACK_NONE; /* not needed, so not translated */
    source->site.op = site->place.op;
    return translate_string(&reduction->translation, from->site.node, &source->site.node, err) &&
           translate_stack(&reduction->translation, from->shown, false, &source->shown, err);
}

static bool add_stack(struct reduction *reduction, struct diff_site *site, const struct part *part,
                      struct error *err)
{
    struct diff_side *side = reduction->side;
    struct diff_stack made = {.bytes = 0};
    if (!translate_stack(&reduction->translation, part->stack, false, &made.stack, err) ||
        !translate_stack(&reduction->translation, part->stack, true, &made.bare, err) ||
        !vec_push(side->stacks, side->stack_count, side->stack_capacity, side->budget, err, made))
        return false;
    site->stack_count++;
    return true;
}

/* Adds the site of a group, with its stacks. *next is the first part of the group, and is moved to
 * that of the next group. */
static bool add_site(struct reduction *reduction, uint32_t group, size_t *next, struct error *err)
{
    struct diff_side *side = reduction->side;
    const struct site_group *from = &reduction->groups.items[group];
    struct diff_site site = {
        .bytes = from->bytes, .count = from->count, .first_stack = side->stack_count};
    if (!place_of(&reduction->translation, reduction->set.sites, from, &site.place, err) ||
        !source_of(reduction, &from->source, &site, err))
        return false;
    size_t end = reduction->part_count;
    for (; *next < end && reduction->parts[*next].group == group; ++*next) {
        const struct part *part = &reduction->parts[*next];
        bool is_new = site.stack_count == 0 || part->stack != part[-1].stack;
        if (is_new && !add_stack(reduction, &site, part, err))
            return false;
        side->stacks[side->stack_count - 1].bytes += part->bytes;
        side->stacks[side->stack_count - 1].count += part->count;
    }
    side->has_python = side->has_python || site.place.kind == DIFF_PYTHON;
    side->has_operators = side->has_operators || site.place.op != STRING_EMPTY;
    if (site.place.kind != DIFF_STACKLESS)
        side->placed_bytes += site.bytes;
    else if (site.place.source == SOURCE_BEFORE)
        side->before_bytes += site.bytes;
    side->sites[side->site_count++] = site;
    return true;
}

static bool make_sites(struct reduction *reduction, struct error *err)
{
    struct diff_side *side = reduction->side;
    size_t count = reduction->groups.count, next = 0;
    if (!vec_reserve(side->sites, side->site_capacity, count + 1, side->budget, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_site(reduction, (uint32_t)i, &next, err))
            return false;
    if (reduction->set.unexplained_bytes != 0)
        side->sites[side->site_count++] = (struct diff_site){
            .place = {.kind = DIFF_UNEXPLAINED, .category = CATEGORY_UNKNOWN},
            .source.site = {.user_frame = NO_FRAME, .any_python_frame = NO_FRAME},
            .bytes = reduction->set.unexplained_bytes,
            .first_stack = side->stack_count};
    return true;
}

static int compare_settings(const void *a, const void *b, void *symbols)
{
    const struct diff_setting *x = a, *y = b;
    int order = symbols_compare(symbols, x->key, y->key);
    return order ? order : symbols_compare(symbols, x->value, y->value);
}

static bool take_settings(struct reduction *reduction, const struct snapshot *snapshot,
                          struct error *err)
{
    struct diff_side *side = reduction->side;
    if (!vec_reserve(side->settings, side->setting_capacity, snapshot->setting_count, side->budget,
                     err))
        return false;
    for (size_t i = 0; i < snapshot->setting_count; i++) {
        struct diff_setting *setting = &side->settings[i];
        if (!translate_string(&reduction->translation, snapshot->settings[i].key, &setting->key,
                              err) ||
            !translate_string(&reduction->translation, snapshot->settings[i].value, &setting->value,
                              err))
            return false;
        side->setting_count++;
    }
    if (side->setting_count > 0)
        qsort_r(side->settings, side->setting_count, sizeof(*side->settings), compare_settings,
                reduction->translation.to);
    return true;
}

static void take_moment(struct diff_side *side, const struct timeline *timeline, int64_t item)
{
    const struct trace *trace = timeline->trace;
    timeline_moment(timeline, item, &side->at);
    side->device = timeline->device;
    side->is_peak = item == timeline->active.peak_event;
    side->has_events = trace->count > 0;
    side->event = item < 0 ? -1 : (int64_t)trace->first_event + item;
    side->delay_us = TIME_NONE;
    side->reserved_peak_bytes = timeline->reserved.peak_bytes;
    if (item >= 0) {
        int64_t first = trace->edge.present ? trace->edge.first_time_us : trace_time(trace, 0),
                delay;
        if (first != TIME_NONE && trace_time(trace, (size_t)item) != TIME_NONE &&
            !__builtin_sub_overflow(trace_time(trace, (size_t)item), first, &delay))
            side->delay_us = delay;
    }
}

static bool take_holes(struct reduction *reduction, enum unit unit, struct error *err)
{
    struct diff_side *side = reduction->side;
    const struct timeline *timeline = reduction->set.timeline;
    struct fragmentation fragmentation;
    if (!fragmentation_make(&reduction->set, &side->at, unit, &fragmentation, err))
        return false;
    const struct cut_up *then = fragmentation_then(&fragmentation, timeline, &side->at);
    if (then) {
        const struct pool_row *total = &then->pools.total;
        side->unused_known = true;
        side->unused_bytes = (int64_t)(total->inactive_split_bytes + total->releasable_bytes);
        side->is_cut_up = cut_up_is_notable(then);
    }
    fragmentation_release(&fragmentation);
    return true;
}

/* Sums up what is live after an item. The phases and categories of the reduction are made. */
static bool reduce(struct reduction *reduction, int64_t item, enum unit unit, struct error *err)
{
    struct diff_side *side = reduction->side;
    struct live_set *set = &reduction->set;
    const struct timeline *timeline = set->timeline;
    if (!timeline_live(timeline, item, &reduction->live, err))
        return false;
    take_moment(side, timeline, item);
    live_set_take(set, &reduction->live);
    side->phase = phase_at(&reduction->phases, item);
    sum_up(reduction);
    return make_parts(reduction, err) && make_sites(reduction, err) &&
           take_holes(reduction, unit, err) && take_settings(reduction, timeline->snapshot, err) &&
           notices_make(timeline, set->unexplained_bytes, unit, &side->notices, &side->notice_count,
                        err);
}

/* Frees what belongs to one moment. */
static void forget_moment(struct reduction *reduction)
{
    site_groups_release(&reduction->groups);
    vec_free(reduction->parts, reduction->part_capacity, sizeof(*reduction->parts),
             reduction->set.timeline->snapshot->budget);
    live_list_release(&reduction->live);
    reduction->groups = (struct site_groups){0};
    reduction->parts = NULL;
    reduction->part_count = reduction->part_capacity = 0;
    reduction->live = (struct live_list){0};
}

static bool reduce_in_phases(struct reduction *reduction, enum unit unit, struct error *err)
{
    struct diff_side *peak = reduction->side;
    bool ok = true;
    for (int phase = PHASE_DATA + 1; ok && phase < PHASE_COUNT; phase++) {
        int64_t item =
            when_phase_peak(reduction->set.timeline, &reduction->phases, (enum phase)phase);
        if (item < 0 || peak->phase == (enum phase)phase)
            continue;
        struct diff_side *side = calloc(1, sizeof(*side));
        if (!side)
            return error_out_of_memory(err);
        peak->in_phase[phase] = side;
        side->budget = peak->budget;
        reduction->side = side;
        ok = reduce(reduction, item, unit, err);
        forget_moment(reduction);
    }
    reduction->side = peak;
    return ok;
}

static bool prepare(struct reduction *reduction, const struct when *when, int64_t *item,
                    struct error *err)
{
    struct live_set *set = &reduction->set;
    bool ok = phases_build(&reduction->phases, set->timeline, set->sites, err) &&
              when_item(when, set->timeline, set->sites, &reduction->phases, item, err) &&
              categories_assign(set->timeline, set->sites, &reduction->phases,
                                &reduction->categories, err);
    set->categories = &reduction->categories;
    return ok;
}

bool diff_side_make(struct diff_side *side, const struct timeline *timeline,
                    struct site_table *sites, const struct report_options *options, bool in_phases,
                    struct symbols *shared, struct budget *budget, struct error *err)
{
    struct diff_side made = {.budget = budget};
    struct reduction reduction = {
        .side = &made,
        .set = {.timeline = timeline, .sites = sites},
        .translation = {.from = timeline->snapshot->symbols,
                        .to = shared,
                        .budget = timeline->snapshot->budget},
    };
    int64_t item;
    bool ok = prepare(&reduction, &options->at, &item, err) &&
              reduce(&reduction, item, options->unit, err);
    forget_moment(&reduction);
    ok = ok && (!in_phases || reduce_in_phases(&reduction, options->unit, err));
    translation_release(&reduction.translation);
    categories_release(&reduction.categories);
    phases_release(&reduction.phases);
    if (!ok) {
        diff_side_release(&made);
        return false;
    }
    *side = made;
    return true;
}

void diff_side_release(struct diff_side *side)
{
    vec_free(side->sites, side->site_capacity, sizeof(*side->sites), side->budget);
    vec_free(side->stacks, side->stack_capacity, sizeof(*side->stacks), side->budget);
    vec_free(side->settings, side->setting_capacity, sizeof(*side->settings), side->budget);
    free(side->notices);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        if (side->in_phase[phase])
            diff_side_release(side->in_phase[phase]);
        free(side->in_phase[phase]);
    }
    *side = (struct diff_side){0};
}

bool diff_side_of_report(struct diff_side *side, const struct device_report *report,
                         const struct site_table *sites, struct symbols *shared,
                         struct budget *budget, struct error *err)
{
    struct diff_side made = {.device = report->timeline->device, .budget = budget};
    struct translation translation = {
        .from = site_table_symbols(sites), .to = shared, .budget = budget};
    bool ok = vec_reserve(made.sites, made.site_capacity, report->site_count + 1, budget, err);
    for (size_t i = 0; ok && i < report->site_count; i++) {
        const struct site_row *row = &report->sites[i];
        struct diff_site site = {.bytes = row->group.bytes, .count = row->group.count};
        if (row->is_remainder)
            continue;
        ok = place_of(&translation, sites, &row->group, &site.place, err);
        if (ok)
            made.sites[made.site_count++] = site;
    }
    translation_release(&translation);
    if (ok)
        *side = made;
    else
        diff_side_release(&made);
    return ok;
}

bool diff_side_copy(struct diff_side *copy, const struct diff_side *side,
                    const struct symbols *from, struct symbols *shared, struct budget *budget,
                    struct error *err)
{
    struct diff_side made = {.device = side->device, .budget = budget};
    struct translation translation = {.from = from, .to = shared, .budget = budget};
    bool ok = vec_reserve(made.sites, made.site_capacity, side->site_count + 1, budget, err);
    for (size_t i = 0; ok && i < side->site_count; i++) {
        struct diff_site site = side->sites[i];
        struct diff_place *place = &site.place;
        ok = translate_string(&translation, place->file, &place->file, err) &&
             translate_string(&translation, place->function, &place->function, err) &&
             translate_string(&translation, place->op, &place->op, err) &&
             translate_string(&translation, place->node, &place->node, err);
        if (ok)
            made.sites[made.site_count++] = site;
    }
    translation_release(&translation);
    if (ok)
        *copy = made;
    else
        diff_side_release(&made);
    return ok;
}
