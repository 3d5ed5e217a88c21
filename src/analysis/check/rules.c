#include "analysis/check/rules.h"

#include <stdio.h>
#include <string.h>

#include "analysis/check/internal.h"
#include "analysis/code/site_pattern.h"
#include "analysis/replay/figure.h"
#include "model/device.h"

static int64_t peak_of_allocated(struct judge *judge)
{
    if (judge->capture == CHECK_OF_SNAPSHOT)
        return judge->peak->timeline->active.peak_bytes;
    if (judge->capture == CHECK_OF_SUMMARY)
        return judge->summary->peak_bytes;
    if (judge->capture == CHECK_OF_LAYERS)
        return judge->layers->allocated.bytes;
    judge->point = judge->curves->allocated;
    return judge->curves->curves->points[judge->point].allocated;
}

static bool judge_peak(struct judge *judge, struct check_row *row)
{
    row->value = peak_of_allocated(judge);
    return true;
}

static bool blame_peak(struct judge *judge, struct check_row *row)
{
    return check_blame_rows(judge, judge->peak, NULL, row) &&
           check_advise(judge, judge->peak, FINDING_KINDS, row);
}

/* Judges the settings of the rule, not those of the recording. */
static bool judge_replayed(struct judge *judge, struct check_row *row)
{
    struct replay_peak peak;
    if (judge->capture != CHECK_OF_SNAPSHOT) {
        judge->not_judged = "only allocator snapshots can be replayed";
        return true;
    }
    if (!replay_peak_make(judge->peak->timeline, judge->question->sites, judge->rule->subject,
                          &peak, judge->err))
        return false;
    row->value = (int64_t)peak.bytes;
    snprintf(judge->words, sizeof(judge->words), "%s", peak.why);
    judge->not_judged = peak.is_known ? NULL : judge->words;
    return true;
}

static bool judge_reserved(struct judge *judge, struct check_row *row)
{
    if (judge->rule->is_replayed)
        return judge_replayed(judge, row);
    if (judge->capture == CHECK_OF_SNAPSHOT) {
        row->value = judge->peak->timeline->reserved.peak_bytes;
    } else if (judge->capture == CHECK_OF_SUMMARY) {
        row->value = judge->summary->reserved_peak_bytes;
    } else if (judge->capture == CHECK_OF_LAYERS) {
        row->value = judge->layers->reserved.bytes;
    } else {
        judge->point = judge->curves->reserved;
        row->value = judge->curves->curves->points[judge->point].reserved;
    }
    return true;
}

static bool blame_reserved(struct judge *judge, struct check_row *row)
{
    return check_blame_rows(judge, judge->peak, NULL, row) &&
           (judge->rule->is_replayed ||
            check_advise(judge, judge->peak, FINDING_FRAGMENTATION, row));
}

/* Holes are fewest where memory is fullest, and a limit that holds then may not hold at the end. */
static bool warn_of_end(struct judge *judge, const struct check_row *row)
{
    const struct device_report *report = judge->at;
    const struct pool_row *end = &report->fragmentation.dump.pools.total;
    const struct check_limit *limit = &judge->rule->limit;
    int64_t holes = (int64_t)end->inactive_split_bytes, whole = (int64_t)end->reserved_bytes;
    char size[UNITS_TEXT_SIZE];
    if (judge->question->moment_given || row->value > check_limit_bytes(limit, row->whole) ||
        !trace_has_end(report->timeline->trace) || holes <= check_limit_bytes(limit, whole))
        return true;
    return check_add_warning(
        judge->result, judge->err,
        "%s: %s was checked at the peak; at the end, %s lie in holes, %.1f%% of reserved "
        "memory: --at end checks that, and --at peak silences this warning",
        DEVICE_WORDS(report->timeline->device), judge->rule->kind->name,
        units_bytes(size, holes, judge->question->unit), 100.0 * (double)holes / (double)whole);
}

static bool judge_fragmentation(struct judge *judge, struct check_row *row)
{
    const struct fragmentation *fragmentation = &judge->at->fragmentation;
    const struct cut_up *cut_up =
        fragmentation_then(fragmentation, judge->at->timeline, &judge->at->at);
    if (!cut_up) {
        judge->not_judged = fragmentation->no_moment
                                ? fragmentation->no_moment
                                : "the layout of memory at that moment is not known";
        return true;
    }
    row->value = (int64_t)cut_up->pools.total.inactive_split_bytes;
    row->whole = (int64_t)cut_up->pools.total.reserved_bytes;
    if (row->whole == 0)
        judge->not_judged = "nothing is reserved at that moment";
    return row->whole == 0 || warn_of_end(judge, row);
}

/* Blames the blocks that keep most segments with holes; the bytes are those of the segments. */
static bool blame_fragmentation(struct judge *judge, struct check_row *row)
{
    const struct pin_rows *pinned = &judge->at->fragmentation.pinned;
    if (pinned->count > 0 && row->value > 0) {
        const struct pin_row *pin = &pinned->items[0];
        struct site site;
        if (!site_of(judge->question->sites, pin->stack, &site, judge->err) ||
            !check_blame_site(judge, pin->stack, &site, pin->label, (int64_t)pin->pinned_bytes,
                              row))
            return false;
    }
    return check_advise(judge, judge->at, FINDING_FRAGMENTATION, row);
}

/* Version 1 of summaries does not tell which steps are complete; at most the first and the last are
 * not. */
static bool summary_has_steps(const struct summary_device *device)
{
    struct summary_step_figures figures;
    if (!*device->steps_from)
        return device->steps >= GROWTH_LEAST + 2;
    summary_measure_steps(device, &figures);
    return figures.complete >= GROWTH_LEAST;
}

static void require_steps(struct judge *judge)
{
    bool has_steps = judge->capture == CHECK_OF_SUMMARY
                         ? summary_has_steps(judge->summary)
                         : judge->at->growth.compared >= GROWTH_LEAST;
    if (!has_steps)
        judge->not_judged = "the trace has fewer than 3 complete steps";
}

static bool judge_growth(struct judge *judge, struct check_row *row)
{
    require_steps(judge);
    row->value = judge->capture == CHECK_OF_SUMMARY ? judge->summary->growth_bytes
                                                    : judge->at->growth.bytes_per_step;
    return true;
}

static bool judge_leaks(struct judge *judge, struct check_row *row)
{
    require_steps(judge);
    row->value = (int64_t)judge->at->growth.growing;
    return true;
}

/* Bytes a step of all growing call sites in the line of code of `row`. */
static int64_t growth_of_line(const struct judge *judge, const struct growth_row *row)
{
    const struct growth *growth = &judge->at->growth;
    const struct site_table *sites = judge->question->sites;
    frame_id wanted, frame;
    int64_t bytes = 0;
    if (!site_frame(sites, row->stack, &row->site, &wanted))
        return row->fit.bytes_per_step;
    for (size_t i = 0; i < growth->row_count; i++)
        if (growth->rows[i].fit.kind == GROWTH_GROWING &&
            site_frame(sites, growth->rows[i].stack, &growth->rows[i].site, &frame) &&
            frame == wanted &&
            __builtin_add_overflow(bytes, growth->rows[i].fit.bytes_per_step, &bytes))
            bytes = INT64_MAX;
    return bytes;
}

static bool blame_growth(struct judge *judge, struct check_row *row)
{
    const struct growth *growth = &judge->at->growth;
    if (growth->growing > 0 && growth->row_count > 0) {
        const struct growth_row *most = &growth->rows[growth_holder(growth)];
        if (!check_blame_site(judge, most->stack, &most->site, most->label.full,
                              growth_of_line(judge, most), row))
            return false;
    }
    return check_advise(judge, judge->peak, FINDING_GROWTH, row);
}

static bool is_of_category(void *self, const struct site_row *row)
{
    const struct judge *judge = self;
    return row->group.category == judge->rule->category;
}

static bool judge_category(struct judge *judge, struct check_row *row)
{
    enum category category = judge->rule->category;
    if (judge->capture == CHECK_OF_LAYERS) {
        row->value = judge->layers->total_activations;
        if (category != CATEGORY_ACTIVATION || row->value <= 0)
            judge->not_judged = judge->rule->kind->absence;
        return true;
    }
    if (judge->capture == CHECK_OF_SUMMARY) {
        bool found;
        row->value = check_summary_category(judge->summary, category, &found);
        judge->is_absent = !found;
        return true;
    }
    for (size_t i = 0; i < judge->at->category_count; i++)
        if (judge->at->categories[i].category == category)
            row->value = judge->at->categories[i].bytes;
    judge->is_absent = !check_category_occurs(judge->at, category);
    return true;
}

static bool blame_category(struct judge *judge, struct check_row *row)
{
    static const struct {
        enum category category;
        enum finding_kind finding;
    } findings[] = {
        {CATEGORY_ACTIVATION, FINDING_ACTIVATIONS},
        {CATEGORY_GRADIENT, FINDING_GRADIENTS},
        {CATEGORY_OPTIMIZER_STATE, FINDING_OPTIMIZER_STATE},
    };
    bool ok = check_blame_rows(judge, judge->at, is_of_category, row);
    for (size_t i = 0; ok && i < sizeof(findings) / sizeof(findings[0]); i++)
        if (findings[i].category == judge->rule->category)
            ok = check_advise(judge, judge->at, findings[i].finding, row);
    return ok;
}

static bool matches_pattern(void *self, const struct site_row *row)
{
    struct judge *judge = self;
    struct text label = {row->label.full, strlen(row->label.full)};
    return pattern_matches_site(judge->rule->subject, judge->question->sites,
                                row->group.source.shown, &row->group.source.site, label,
                                &judge->scratch);
}

static bool judge_site(struct judge *judge, struct check_row *row)
{
    size_t index = (size_t)(judge->rule - judge->question->rules->items);
    bool found = false;
    for (size_t i = 0; i < judge->at->site_count; i++) {
        const struct site_row *site = &judge->at->sites[i];
        if (site->is_remainder || !matches_pattern(judge, site))
            continue;
        row->value += site->group.bytes;
        found = true;
    }
    if (judge->scratch.failed)
        return error_out_of_memory(judge->err);
    /* The search takes long, and one device where the pattern occurs is enough. */
    if (!found && !judge->result->held[index] &&
        !check_site_occurs(judge->at, judge->question->sites, judge->rule->subject, &found,
                           judge->err))
        return false;
    judge->is_absent = !found;
    return true;
}

static bool blame_site(struct judge *judge, struct check_row *row)
{
    return check_blame_rows(judge, judge->at, matches_pattern, row);
}

static const struct baseline_device *device_before(const struct judge *judge, int64_t device)
{
    const struct check_baseline *baseline = judge->question->baseline;
    return baseline ? check_baseline_find(baseline, judge->question->rank, device) : NULL;
}

static bool judge_increase(struct judge *judge, struct check_row *row)
{
    const struct check_baseline *baseline = judge->question->baseline;
    const struct baseline_device *before = device_before(judge, row->device);
    if (!before) {
        judge->not_judged = !baseline || !baseline->by_rank ? "the baseline has no such device"
                            : judge->question->rank < 0
                                ? "the rank, by which its baseline is found, is not known"
                                : "the baseline has no such device of this rank";
        return true;
    }
    row->whole = before->peak_bytes;
    row->value = peak_of_allocated(judge) - before->peak_bytes;
    return true;
}

static bool blame_increase(struct judge *judge, struct check_row *row)
{
    const struct baseline_device *before = device_before(judge, row->device);
    return !judge->question->baseline->symbols || check_blame_increase(judge, before, row);
}

static bool judge_after_suggest(struct judge *judge, struct check_row *row)
{
    if (judge->layers->total_activations <= 0) {
        judge->not_judged = judge->rule->kind->absence;
        return true;
    }
    return judge->question->suggest(judge->layers->trace, judge->rule->checkpoints, &row->value,
                                    judge->err);
}

static bool judge_oom(struct judge *judge, struct check_row *row)
{
    if (judge->capture == CHECK_OF_SUMMARY) {
        row->value = (int64_t)judge->summary->ooms;
        if (judge->summary->events == 0 && row->value == 0)
            judge->not_judged = "no events were recorded";
        return true;
    }
    row->value = (int64_t)judge->at->ooms.total;
    for (size_t i = 0; i < judge->at->notice_count; i++)
        if (judge->at->notices[i].kind == NOTICE_NO_EVENTS && row->value == 0)
            judge->not_judged = "no events were recorded";
    return true;
}

/* Blames the request of the last event, which most likely ended the run. */
static bool blame_oom(struct judge *judge, struct check_row *row)
{
    const struct ooms *ooms = &judge->at->ooms;
    struct site site;
    if (ooms->count == 0)
        return true;
    const struct oom_row *last = &ooms->items[ooms->count - 1];
    return site_of(judge->question->sites, last->stack, &site, judge->err) &&
           check_blame_site(judge, last->stack, &site, last->asker, (int64_t)last->requested_bytes,
                            row) &&
           check_copy_words(&row->why, last->sentence, judge->err) &&
           check_copy_words(&row->next, last->next, judge->err);
}

#define NO_STEPS "the file holds fewer than 3 complete steps, so growth cannot be measured"

const struct check_kind check_kinds[CHECK_KINDS + 1] = {
    {.name = "max-peak",
     .argument = "SIZE",
     .help = "limit the active peak of each device",
     .example = "70GiB",
     .takes = CHECK_TAKES_SIZE,
     .captures = CHECK_OF_ANY,
     .absence = "the file has no device",
     .judge = judge_peak,
     .blame = blame_peak},
    {.name = "max-reserved",
     .argument = "SIZE",
     .help = "limit the memory that the allocator reserves",
     .example = "76GiB",
     .takes = CHECK_TAKES_SIZE,
     .captures = CHECK_OF_ANY,
     .absence = "the file has no device",
     .judge = judge_reserved,
     .blame = blame_reserved},
    {.name = "max-fragmentation",
     .argument = "SIZE|P%",
     .help = "limit the memory in holes between blocks in use, in\n"
             "bytes or as a percentage of the reserved memory",
     .example = "30% or 2GiB",
     .takes = CHECK_TAKES_SIZE_OR_SHARE,
     .captures = CHECK_OF_SNAPSHOT,
     .at_most_whole = "holes never exceed reserved memory",
     .absence = "the layout of memory at that moment is not known; try --at end",
     .judge = judge_fragmentation,
     .blame = blame_fragmentation},
    {.name = "max-growth",
     .argument = "SIZE",
     .help = "limit the growth from step to step, in bytes per step",
     .example = "0 or 1MiB",
     .takes = CHECK_TAKES_SIZE,
     .unit = CHECK_BYTES_A_STEP,
     .captures = CHECK_OF_SNAPSHOT | CHECK_OF_SUMMARY,
     .absence = NO_STEPS,
     .judge = judge_growth,
     .blame = blame_growth},
    {.name = "max-category",
     .argument = "NAME=SIZE",
     .help = "limit a category, for example activation=20GiB; in a\n"
             "layer trace, the sum of all activations",
     .example = "activation=20GiB",
     .takes = CHECK_TAKES_CATEGORY,
     .captures = CHECK_OF_SNAPSHOT | CHECK_OF_LAYERS | CHECK_OF_SUMMARY,
     .absence = "nothing in the file has this category",
     .judge = judge_category,
     .blame = blame_category},
    {.name = "max-site",
     .argument = "PATTERN=SIZE",
     .help = "limit all call sites that match a pattern together,\n"
             "for example 'model.py:*=4GiB' or 'blocks/*.py=1GiB'",
     .example = "model.py:*=4GiB",
     .takes = CHECK_TAKES_PATTERN,
     .captures = CHECK_OF_SNAPSHOT,
     .absence = "no call site in the file matches this pattern",
     .judge = judge_site,
     .blame = blame_site},
    {.name = "no-oom",
     .help = "allow no out-of-memory event",
     .unit = CHECK_EVENTS,
     .captures = CHECK_OF_SNAPSHOT | CHECK_OF_SUMMARY,
     .absence = "no events were recorded",
     .judge = judge_oom,
     .blame = blame_oom},
    {.name = "no-leaks",
     .help = "allow no call site that grows from step to step",
     .unit = CHECK_SITES,
     .captures = CHECK_OF_SNAPSHOT,
     .absence = NO_STEPS,
     .judge = judge_leaks,
     .blame = blame_growth},
    {.name = "max-increase",
     .argument = "SIZE|P%",
     .help = "limit the increase of the peak over the baseline's",
     .example = "2% or 512MiB",
     .takes = CHECK_TAKES_SIZE_OR_SHARE,
     .captures = CHECK_OF_ANY,
     .needs_baseline = true,
     .absence = "the baseline is a different kind of file, or has other devices or ranks",
     .judge = judge_increase,
     .blame = blame_increase},
    {.name = "max-memory-after-suggest",
     .argument = "K=SIZE",
     .help = "layer traces: limit the max_memory that `memsnap\n"
             "suggest --checkpoints K` finds",
     .example = "4=8GiB",
     .takes = CHECK_TAKES_CHECKPOINTS,
     .captures = CHECK_OF_LAYERS,
     .absence = "this rule applies to layer traces only",
     .judge = judge_after_suggest},
    {.name = "max-jump",
     .argument = "SIZE|P%",
     .help = "with --trend: limit the increase of the newest run\n"
             "over the median of the runs before it",
     .example = "5% or 512MiB",
     .takes = CHECK_TAKES_SIZE_OR_SHARE,
     .captures = CHECK_OF_HISTORY,
     .absence = "this rule applies to histories of runs only",
     .judge = check_judge_jump,
     .blame = check_blame_jump},
    {.name = NULL},
};

const struct check_kind *check_kind_find(const char *name)
{
    const struct check_kind *kind = check_kinds;
    while (kind->name && strcmp(kind->name, name) != 0)
        kind++;
    return kind->name ? kind : NULL;
}
