#define _GNU_SOURCE /* qsort_r */
#include "analysis/diff/side.h"

#include <stdlib.h>

#include "analysis/diff/annotations.h"
#include "analysis/diff/side_sites.h"
#include "analysis/growth/dropped_graphs.h"
#include "analysis/growth/retained_graphs.h"
#include "analysis/report/notices.h"

/* State while a capture is reduced to its side. */
struct reduction {
    struct diff_side *side;
    struct live_set set;
    struct phases phases;
    struct categories categories;
    struct live_list live;
    struct translation translation;
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
    side->knows_peak = timeline_knows_peak(timeline);
    side->has_events = trace->count > 0;
    side->is_unused = timeline_is_unused(timeline);
    side->event = trace_file_event(trace, item);
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
    return diff_sites_make(side, set, &reduction->translation, err) &&
           diff_annotations_sum(side, set, &reduction->translation, err) &&
           take_holes(reduction, unit, err) && take_settings(reduction, timeline->snapshot, err) &&
           notices_make(timeline, set->unexplained_bytes, unit, &side->notices, &side->notice_count,
                        err);
}

/* Frees what belongs to one moment. */
static void forget_moment(struct reduction *reduction)
{
    live_list_release(&reduction->live);
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

/* Sets what graphs keep for nothing, if the moment is the peak. */
static bool find_graphs(const struct reduction *reduction, struct error *err)
{
    const struct live_set *set = &reduction->set;
    struct dropped_graphs dropped = {0};
    struct retained_graphs retained = {0};
    if (!reduction->side->is_peak)
        return true;
    bool ok = dropped_graphs_find(&dropped, set->timeline, set->sites, set->categories,
                                  &reduction->phases, err) &&
              retained_graphs_find(&retained, set->timeline, set->sites, set->categories,
                                   &reduction->phases, dropped.is_dropped, err);
    reduction->side->dropped_bytes = dropped.at_peak_bytes;
    reduction->side->retained_bytes = retained.at_peak_bytes;
    dropped_graphs_release(&dropped);
    retained_graphs_release(&retained);
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
              reduce(&reduction, item, options->unit, err) && find_graphs(&reduction, err);
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
    vec_free(side->annotations, side->annotation_capacity, sizeof(*side->annotations),
             side->budget);
    free(side->notices);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        if (side->in_phase[phase])
            diff_side_release(side->in_phase[phase]);
        free(side->in_phase[phase]);
    }
    *side = (struct diff_side){0};
}

/* Makes a side without stacks of `count` call sites. `take` sets *is_site to false for what is
 * none.
 */
typedef bool take_site(const void *from, size_t i, struct translation *translation,
                       struct diff_site *site, bool *is_site, struct error *err);

static bool make_bare(struct diff_side *side, uint32_t device, const void *from, size_t count,
                      take_site *take, struct translation *translation, struct error *err)
{
    struct diff_side made = {.device = device, .budget = translation->budget};
    bool ok = vec_reserve(made.sites, made.site_capacity, count + 1, made.budget, err);
    for (size_t i = 0; ok && i < count; i++) {
        bool is_site = true;
        ok = take(from, i, translation, &made.sites[made.site_count], &is_site, err);
        made.site_count += ok && is_site;
    }
    translation_release(translation);
    if (ok)
        *side = made;
    else
        diff_side_release(&made);
    return ok;
}

struct report_sites {
    const struct device_report *report;
    const struct site_table *sites;
};

static bool take_row(const void *from, size_t i, struct translation *translation,
                     struct diff_site *site, bool *is_site, struct error *err)
{
    const struct report_sites *rows = from;
    const struct site_row *row = &rows->report->sites[i];
    *site = (struct diff_site){.bytes = row->group.bytes, .count = row->group.count};
    *is_site = !row->is_remainder;
    return row->is_remainder ||
           diff_place_of(translation, rows->sites, &row->group, &site->place, err);
}

bool diff_side_of_report(struct diff_side *side, const struct device_report *report,
                         const struct site_table *sites, struct symbols *shared,
                         struct budget *budget, struct error *err)
{
    const struct report_sites rows = {report, sites};
    struct translation translation = {
        .from = site_table_symbols(sites), .to = shared, .budget = budget};
    if (!make_bare(side, report->timeline->device, &rows, report->site_count, take_row,
                   &translation, err))
        return false;
    side->phase = phase_at(&report->phases, report->at_item);
    return true;
}

static bool take_copy(const void *from, size_t i, struct translation *translation,
                      struct diff_site *site, bool *is_site, struct error *err)
{
    const struct diff_side *side = from;
    struct diff_place *place = &site->place;
    *site = side->sites[i];
    *is_site = true;
    return translate_string(translation, place->file, &place->file, err) &&
           translate_string(translation, place->function, &place->function, err) &&
           translate_string(translation, place->op, &place->op, err) &&
           translate_string(translation, place->node, &place->node, err);
}

bool diff_side_copy(struct diff_side *copy, const struct diff_side *side,
                    const struct symbols *from, struct symbols *shared, struct budget *budget,
                    struct error *err)
{
    struct translation translation = {.from = from, .to = shared, .budget = budget};
    return make_bare(copy, side->device, side, side->site_count, take_copy, &translation, err);
}
