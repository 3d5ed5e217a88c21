/* The rules on one device of a snapshot. */
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"
#include "analysis/code/site_pattern.h"

struct judge {
    const struct check_question *question;
    const struct device_report *at, *peak;
    struct check_result *result;
    const struct check_rule *rule;
    struct buffer scratch;
    struct error *err;
};

static struct check_row row_of(const struct judge *judge, int64_t value)
{
    return (struct check_row){
        .rule = judge->rule, .device = (int64_t)judge->at->timeline->device, .value = value};
}

static size_t rule_index(const struct judge *judge)
{
    return (size_t)(judge->rule - judge->question->rules->items);
}

static bool exceeds(const struct judge *judge, const struct check_row *row)
{
    return row->value > check_limit_bytes(&judge->rule->limit, row->whole);
}

/* Adds a row; where it fails, with the words of a finding of the kind, if there is one.
 * FINDING_KINDS: of any kind that lowers the active peak. */
static bool add_with_finding(struct judge *judge, struct check_row *row,
                             const struct device_report *report, enum finding_kind kind)
{
    const struct findings *findings = &report->findings;
    bool ok = true;
    for (size_t i = 0; ok && exceeds(judge, row) && !row->next && i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (kind == FINDING_KINDS ? !finding->of_reserved : finding->kind == kind)
            ok = check_copy_words(&row->why, finding->what, judge->err) &&
                 check_copy_words(&row->next, finding->next, judge->err);
    }
    judge->result->held[rule_index(judge)] = true;
    return check_add(judge->result, row, judge->err) && ok;
}

static bool not_judged(struct judge *judge, const char *why)
{
    return check_add_warning(judge->result, judge->err, "device %u: %s was not judged: %s",
                             judge->at->timeline->device, check_kind_name(judge->rule->kind), why);
}

static bool any_row(void *self, const struct site_row *row)
{
    (void)self, (void)row;
    return true;
}

static bool has_category(void *self, const struct site_row *row)
{
    const struct judge *judge = self;
    return row->category == judge->rule->category;
}

static bool has_site(void *self, const struct site_row *row)
{
    struct judge *judge = self;
    struct text label = {row->label.full, strlen(row->label.full)};
    return pattern_matches_site(judge->rule->subject, judge->question->sites, row->stack,
                                &row->site, label, &judge->scratch);
}

static bool blame(struct judge *judge, const struct device_report *report, site_row_test *counts,
                  struct check_row *row)
{
    return check_blame_rows(report, judge->question->sites, counts, judge, &row->blame, judge->err);
}

static bool judge_peak(struct judge *judge)
{
    struct check_row row = row_of(judge, judge->peak->timeline->active.peak_bytes);
    return blame(judge, judge->peak, any_row, &row) &&
           add_with_finding(judge, &row, judge->peak, FINDING_KINDS);
}

static bool judge_reserved(struct judge *judge)
{
    struct check_row row = row_of(judge, judge->peak->timeline->reserved.peak_bytes);
    return blame(judge, judge->peak, any_row, &row) &&
           add_with_finding(judge, &row, judge->peak, FINDING_FRAGMENTATION);
}

/* Holes are fewest where memory is fullest, and a limit that holds then may not hold at the end. */
static bool warn_of_end(struct judge *judge, const struct check_row *row)
{
    const struct device_report *report = judge->at;
    const struct pool_row *end = &report->fragmentation.dump.pools.total;
    int64_t stuck = (int64_t)end->inactive_split_bytes, whole = (int64_t)end->reserved_bytes;
    char size[UNITS_TEXT_SIZE];
    if (judge->question->moment_given || exceeds(judge, row) ||
        !trace_has_end(report->timeline->trace) ||
        stuck <= check_limit_bytes(&judge->rule->limit, whole))
        return true;
    return check_add_warning(
        judge->result, judge->err,
        "device %u: max-fragmentation was judged at the peak; at the end %s lie in holes, %.1f%% "
        "of what is reserved: --at end judges that, and --at peak silences this warning",
        report->timeline->device, units_bytes(size, stuck, judge->question->unit),
        100.0 * (double)stuck / (double)whole);
}

/* Whose blocks keep segments with holes; the bytes are those they keep. */
static bool blame_pins(struct judge *judge, struct check_row *row)
{
    const struct pin_rows *pinned = &judge->at->fragmentation.pinned;
    struct site site;
    if (pinned->count == 0 || row->value == 0)
        return true;
    const struct pin_row *pin = &pinned->items[0];
    return site_of(judge->question->sites, pin->stack, &site, judge->err) &&
           check_blame_site(judge->question->sites, pin->stack, &site, pin->label,
                            (int64_t)pin->pinned_bytes, &row->blame, judge->err);
}

static bool judge_fragmentation(struct judge *judge)
{
    const struct fragmentation *fragmentation = &judge->at->fragmentation;
    const struct timeline *timeline = judge->at->timeline;
    const struct cut_up *cut_up = fragmentation_then(fragmentation, timeline, &judge->at->at);
    if (!cut_up || cut_up->pools.total.reserved_bytes == 0)
        return not_judged(judge, cut_up                     ? "nothing is reserved then"
                                 : fragmentation->no_moment ? fragmentation->no_moment
                                                            : "the trace does not tell");
    struct check_row row = row_of(judge, (int64_t)cut_up->pools.total.inactive_split_bytes);
    row.whole = (int64_t)cut_up->pools.total.reserved_bytes;
    return warn_of_end(judge, &row) && blame_pins(judge, &row) &&
           add_with_finding(judge, &row, judge->at, FINDING_FRAGMENTATION);
}

/* What grows a step at the line of code of one row, over all rows. */
static int64_t line_growth(const struct judge *judge, const struct growth_row *row)
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

static bool judge_growth(struct judge *judge)
{
    const struct growth *growth = &judge->at->growth;
    if (growth->compared < GROWTH_LEAST)
        return not_judged(judge, "fewer than 3 whole steps are in the trace");
    struct check_row row =
        row_of(judge, judge->rule->kind == CHECK_NO_LEAKS ? (int64_t)growth->growing
                                                          : growth->bytes_per_step);
    bool ok = true;
    if (growth->growing > 0 && growth->row_count > 0) {
        const struct growth_row *most =
            &growth->rows[growth->scalar_row != NO_ROW ? growth->scalar_row : 0];
        ok = check_blame_site(judge->question->sites, most->stack, &most->site, most->label.full,
                              line_growth(judge, most), &row.blame, judge->err);
    }
    return ok && add_with_finding(judge, &row, judge->peak, FINDING_GROWTH);
}

static enum finding_kind finding_of(enum category category)
{
    switch (category) {
    case CATEGORY_ACTIVATION:
        return FINDING_ACTIVATIONS;
    case CATEGORY_GRADIENT:
        return FINDING_GRADIENTS;
    case CATEGORY_OPTIMIZER_STATE:
        return FINDING_OPTIMIZER_STATE;
    default:
        return FINDING_KINDS;
    }
}

static bool judge_category(struct judge *judge)
{
    struct check_row row = row_of(judge, 0);
    enum category category = judge->rule->category;
    for (size_t i = 0; i < judge->at->category_count; i++)
        if (judge->at->categories[i].category == category)
            row.value = judge->at->categories[i].bytes;
    bool held =
        judge->result->held[rule_index(judge)] || check_category_occurs(judge->at, category);
    enum finding_kind kind = finding_of(category);
    bool ok = blame(judge, judge->at, has_category, &row) &&
              (kind == FINDING_KINDS ? check_add(judge->result, &row, judge->err)
                                     : add_with_finding(judge, &row, judge->at, kind));
    judge->result->held[rule_index(judge)] = held;
    return ok;
}

static bool judge_site(struct judge *judge)
{
    struct check_row row = row_of(judge, 0);
    bool *held = &judge->result->held[rule_index(judge)], found = false;
    for (size_t i = 0; i < judge->at->site_count; i++) {
        const struct site_row *site = &judge->at->sites[i];
        if (site->is_remainder || !has_site(judge, site))
            continue;
        row.value += site->bytes;
        found = true;
    }
    if (judge->scratch.failed)
        return error_set(judge->err, STATUS_LIMIT, "out of memory while checking");
    if (!found && !*held &&
        !check_site_occurs(judge->at, judge->question->sites, judge->rule->subject, &found,
                           judge->err))
        return false;
    *held = *held || found;
    return blame(judge, judge->at, has_site, &row) && check_add(judge->result, &row, judge->err);
}

static bool judge_increase(struct judge *judge)
{
    const struct check_baseline *baseline = judge->question->baseline;
    const struct timeline *timeline = judge->peak->timeline;
    const struct baseline_device *device =
        baseline ? check_baseline_find(baseline, timeline->device) : NULL;
    if (!device)
        return not_judged(judge, "the baseline has no such device");
    struct check_row row = row_of(judge, timeline->active.peak_bytes - device->peak_bytes);
    row.whole = device->peak_bytes;
    judge->result->held[rule_index(judge)] = true;
    return check_blame_increase(judge->peak, judge->question->sites, baseline, device, &row.blame,
                                judge->err) &&
           check_add(judge->result, &row, judge->err);
}

/* The last one, which most likely ended the run; what was asked for by whom. */
static bool judge_oom(struct judge *judge)
{
    const struct ooms *ooms = &judge->at->ooms;
    struct check_row row = row_of(judge, (int64_t)ooms->total);
    for (size_t i = 0; i < judge->at->notice_count; i++)
        if (judge->at->notices[i].kind == NOTICE_NO_EVENTS && ooms->total == 0)
            return not_judged(judge, "no events were recorded");
    bool ok = true;
    if (ooms->count > 0) {
        const struct oom_row *last = &ooms->items[ooms->count - 1];
        struct site site;
        ok = site_of(judge->question->sites, last->stack, &site, judge->err) &&
             check_blame_site(judge->question->sites, last->stack, &site, last->asker,
                              (int64_t)last->requested_bytes, &row.blame, judge->err) &&
             check_copy_words(&row.why, last->sentence, judge->err) &&
             check_copy_words(&row.next, last->next, judge->err);
    }
    judge->result->held[rule_index(judge)] = true;
    return check_add(judge->result, &row, judge->err) && ok;
}

static bool judge_rule(struct judge *judge)
{
    switch (judge->rule->kind) {
    case CHECK_MAX_PEAK:
        return judge_peak(judge);
    case CHECK_MAX_RESERVED:
        return judge_reserved(judge);
    case CHECK_MAX_FRAGMENTATION:
        return judge_fragmentation(judge);
    case CHECK_MAX_GROWTH:
    case CHECK_NO_LEAKS:
        return judge_growth(judge);
    case CHECK_MAX_CATEGORY:
        return judge_category(judge);
    case CHECK_MAX_SITE:
        return judge_site(judge);
    case CHECK_MAX_INCREASE:
        return judge_increase(judge);
    case CHECK_NO_OOM:
        return judge_oom(judge);
    default:
        return true; /* not of snapshots: check_finish() says so */
    }
}

bool check_device(const struct check_question *question, const struct device_report *at,
                  const struct device_report *peak, struct check_result *result, struct error *err)
{
    struct judge judge = {
        .question = question, .at = at, .peak = peak, .result = result, .err = err};
    bool ok = true;
    for (size_t i = 0; ok && i < at->notice_count; i++)
        ok = check_add_warning(result, err, "device %u: %s", at->timeline->device,
                               at->notices[i].text);
    for (size_t i = 0; ok && i < question->rules->count; i++) {
        judge.rule = &question->rules->items[i];
        ok = judge_rule(&judge);
    }
    buffer_release(&judge.scratch);
    return ok;
}
