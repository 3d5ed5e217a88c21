#include "analysis/report/report.h"

#include <stdlib.h>

#include "analysis/findings/oom_finding.h"
#include "analysis/oom/attempt.h"
#include "analysis/oom/larger.h"
#include "analysis/oom/next.h"
#include "analysis/oom/pass.h"
#include "analysis/oom/replay.h"
#include "analysis/oom/rest.h"
#include "analysis/oom/state.h"
#include "analysis/pool/device_memory.h"
#include "analysis/report/grouping.h"
#include "analysis/report/notices.h"
#include "analysis/report/rows.h"
#include "base/background.h"

#define ASIDE_FROM 50000 /* allocations; with fewer, a thread costs more than it saves */

static bool choose_moment(struct device_report *report, const struct when *when,
                          struct site_table *sites, struct error *err)
{
    const struct timeline *timeline = report->timeline;
    int64_t peak = timeline->active.peak_event, item;
    if (!when_item(when, timeline, sites, &report->phases, &item, err))
        return false;
    timeline_moment(timeline, peak, &report->peak);
    report->at = report->peak;
    if (item != peak)
        timeline_moment(timeline, item, &report->at);
    report->at_item = item;
    return true;
}

static int compare_category_rows(const void *a, const void *b)
{
    const struct category_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->category < y->category ? -1 : x->category > y->category;
}

static void sum_categories(struct device_report *report, const struct live_set *set)
{
    struct category_row rows[CATEGORY_LIMIT];
    for (int i = 0; i < CATEGORY_LIMIT; i++)
        rows[i] = (struct category_row){.category = (enum category)i};
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        enum category category = live_category(set, live);
        struct category_row *row = &rows[category];
        if (category != CATEGORY_UNKNOWN &&
            reason_confidence(live_reason(set, live)) == CONFIDENCE_LOW) {
            row->low_bytes += (int64_t)live->size;
            if (!live->in_trace || live->stack == STACK_NONE)
                row->unseen_bytes += (int64_t)live->size;
        }
        row->bytes += (int64_t)live->size;
        row->count++;
    }
    rows[CATEGORY_COUNT].bytes = set->unexplained_bytes;
    for (int i = 0; i < CATEGORY_LIMIT; i++)
        if (rows[i].count > 0 || rows[i].bytes != 0)
            report->categories[report->category_count++] = rows[i];
    if (report->category_count > 0)
        qsort(report->categories, report->category_count, sizeof(rows[0]), compare_category_rows);
}

/* Larger first; among equals, older first. */
static int compare_live(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->in_trace != y->in_trace)
        return x->in_trace ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool is_worth_a_thread(const struct timeline *timeline)
{
    return timeline->lifetime_count >= ASIDE_FROM && budget_is_ample(timeline->snapshot->budget);
}

/* What needs the curves and phases, but no categories. */
static bool read_curves(void *self, struct error *err)
{
    struct device_report *report = self;
    return phase_rows_make(&report->phase_rows, report->timeline, &report->phases, &report->steps,
                           err);
}

static bool assign_categories(struct device_report *report, struct site_table *sites,
                              struct error *err)
{
    const struct timeline *timeline = report->timeline;
    struct background curves;
    background_begin(&curves, read_curves, report, is_worth_a_thread(timeline));
    bool ok = categories_assign(timeline, sites, &report->phases, &report->all, err);
    return background_end(&curves, ok, err) && ok;
}

/* Finds the out-of-memory errors, and what each of them asks for and could have had. */
static bool find_ooms(struct device_report *report, const struct live_set *set,
                      const struct report_options *options, struct error *err)
{
    const struct timeline *timeline = report->timeline;
    const struct phases *phases = &report->phases;
    struct ooms *ooms = &report->ooms;
    const struct oom_question question = {options->device_bytes, options->unit,
                                          phases_have(phases, PHASE_BACKWARD)};
    if (!ooms_make(set, &question, ooms, err) ||
        !oom_replay_add(ooms, timeline, set->sites, options->unit, err) ||
        !oom_larger_add(ooms, timeline, set->sites, &report->steps, err) ||
        !logits_find(&report->logits, timeline, set->sites, err) ||
        !attention_find(&report->attention, timeline, set->sites, phases, err))
        return false;
    attention_mark_ooms(&report->attention, ooms);
    logits_mark_ooms(&report->logits, ooms);
    oom_attempt_add(ooms, timeline, set->sites, &report->steps, &report->all, options->unit);
    oom_rest_add(ooms, timeline, phases, &report->steps, &report->all);
    oom_pass_add(ooms, timeline, phases, &report->steps, &report->all);
    bool ok = oom_state_add(ooms, timeline, set->sites, phases, &report->all, err);
    oom_next_add(ooms, steps_are_calls(&report->steps) ? "forward pass" : "step", options->unit);
    return ok;
}

/* Fills in everything about the moment: categories, call sites, largest allocations. */
static bool sum_up(struct device_report *report, struct live_set *set, struct live_list *live,
                   const struct report_options *options, struct error *err)
{
    if (!assign_categories(report, set->sites, err) || !report_baseline_make(report, err) ||
        !timeline_live(report->timeline, report->at_item, live, err))
        return false;
    if (live->count > 0)
        qsort(live->items, live->count, sizeof(*live->items), compare_live);
    live_set_take(set, live);
    set->categories = &report->all;
    sum_categories(report, set);
    return report_rows_make(report, set, options->top, err) &&
           report_groups_make(report, set, options, err) &&
           fragmentation_make(set, &report->at, options->unit, &report->fragmentation, err) &&
           find_ooms(report, set, options, err);
}

struct gradient_finder {
    struct device_report *report;
    struct site_table *sites;
    const struct held_gradients *held;
};

/* Queries only facts about stacks, which the table has from the categories, and no symbols: others
 * may add symbols meanwhile. */
static bool find_gradients(void *self, struct error *err)
{
    const struct gradient_finder *finder = self;
    struct device_report *report = finder->report;
    return growth_find_gradients(&report->growth, report->timeline, finder->sites, &report->all,
                                 &report->phases, finder->held, err);
}

static bool find_results(struct device_report *report, struct site_table *sites,
                         const struct held_gradients *held, struct error *err)
{
    const struct timeline *timeline = report->timeline;
    struct result_windows windows;
    if (!result_windows_find(&windows, timeline, &report->all, &report->phases, &report->steps,
                             err))
        return false;
    bool ok = kept_results_find(&report->kept, timeline, sites, &report->all, &report->phases,
                                &report->steps, held, &windows, report->dropped.is_dropped,
                                report->retained.is_retained, err) &&
              piled_results_find(&report->piled, timeline, sites, &report->all, &report->phases,
                                 &report->steps, &windows, report->dropped.is_dropped, err);
    result_windows_release(&windows);
    return ok;
}

static bool find_held(struct device_report *report, struct site_table *sites,
                      const struct held_gradients *held, struct error *err)
{
    const struct timeline *timeline = report->timeline;
    return (timeline->device == DEVICE_HOST ||
            pending_find(&report->pending, timeline, &report->peak, sites, &report->all, err)) &&
           unused_passes_find(&report->unused, timeline, sites, &report->phases, err) &&
           dropped_graphs_find(&report->dropped, timeline, sites, &report->all, &report->phases,
                               err) &&
           retained_graphs_find(&report->retained, timeline, sites, &report->all, &report->phases,
                                report->dropped.is_dropped, err) &&
           find_results(report, sites, held, err);
}

static bool compare_steps(struct device_report *report, struct site_table *sites, struct error *err)
{
    struct held_gradients held;
    struct gradient_finder finder = {report, sites, &held};
    struct background gradients;
    struct stacks_include known;
    if (!site_stacks_include(sites, &known, err) ||
        !held_gradients_find(&held, report->timeline, sites, &report->phases, &report->all, err))
        return false;
    background_begin(&gradients, find_gradients, &finder, is_worth_a_thread(report->timeline));
    bool ok = find_held(report, sites, &held, err);
    ok = background_end(&gradients, ok, err) && ok;
    held_gradients_release(&held);
    return ok && growth_find(&report->growth, report->timeline, sites, &report->all,
                             &report->phases, &report->steps, report->dropped.is_dropped, err);
}

static bool find(struct device_report *report, const struct live_set *set,
                 const struct report_options *options, struct error *err)
{
    bool is_peak = report->at_item == report->timeline->active.peak_event;
    if (report->timeline->device == DEVICE_HOST)
        return true;
    const struct evidence_of_all evidence = {.sites = set->sites,
                                             .at_peak = is_peak ? set : NULL,
                                             .peak = &report->peak,
                                             .phases = &report->phases,
                                             .phase_rows = &report->phase_rows,
                                             .steps = &report->steps,
                                             .unused = &report->unused,
                                             .growth = &report->growth,
                                             .pending = &report->pending,
                                             .attention = &report->attention,
                                             .logits = &report->logits,
                                             .dropped = &report->dropped,
                                             .retained = &report->retained,
                                             .kept = &report->kept,
                                             .piled = &report->piled,
                                             .fragmentation = &report->fragmentation,
                                             .unit = options->unit};
    if (!findings_make(&report->findings, &evidence, err))
        return false;
    oom_finding_add(&report->ooms, &report->findings, &report->peak, options->unit);
    return true;
}

struct device_report *device_report_build(const struct timeline *timeline, struct site_table *sites,
                                          const struct report_options *options, struct error *err)
{
    struct device_report *report = calloc(1, sizeof(*report));
    if (!report) {
        error_out_of_memory(err);
        return NULL;
    }
    report->timeline = timeline;
    struct live_set set = {.timeline = timeline, .sites = sites};
    struct live_list live = {0};
    bool ok =
        (timeline->device == DEVICE_HOST ||
         device_memory_check(timeline, options->device_bytes, err)) &&
        phases_build(&report->phases, timeline, sites, err) &&
        steps_find(&report->steps, timeline, &report->phases, err) &&
        choose_moment(report, &options->at, sites, err) &&
        sum_up(report, &set, &live, options, err) && compare_steps(report, sites, err) &&
        find(report, &set, options, err) &&
        annotations_open(timeline, report->at_item, &report->annotations, err) &&
        annotations_open(timeline, timeline->active.peak_event, &report->peak_annotations, err) &&
        notices_make(timeline, set.unexplained_bytes, options->unit, &report->notices,
                     &report->notice_count, err);
    live_list_release(&live);
    if (!ok) {
        device_report_destroy(report);
        return NULL;
    }
    return report;
}

void device_report_destroy(struct device_report *report)
{
    if (!report)
        return;
    report_rows_release(report);
    steps_release(&report->steps);
    growth_release(&report->growth);
    pending_release(&report->pending);
    attention_release(&report->attention);
    logits_release(&report->logits);
    dropped_graphs_release(&report->dropped);
    retained_graphs_release(&report->retained);
    piled_results_release(&report->piled);
    kept_results_release(&report->kept);
    categories_release(&report->all);
    phase_rows_release(&report->phase_rows);
    phases_release(&report->phases);
    fragmentation_release(&report->fragmentation);
    ooms_release(&report->ooms);
    findings_release(&report->findings);
    free(report->annotations.items);
    free(report->peak_annotations.items);
    free(report->notices);
    free(report);
}
