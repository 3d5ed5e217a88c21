/* Rules about the allocator: holes, and requests that failed. */
#include "analysis/check/internal.h"
#include "model/device.h"

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

bool check_judge_fragmentation(struct judge *judge, struct check_row *row)
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
bool check_blame_fragmentation(struct judge *judge, struct check_row *row)
{
    const struct pin_rows *pinned = &judge->at->fragmentation.pinned;
    if (pinned->count > 0 && row->value > 0) {
        const struct pin_row *pin = &pinned->items[0];
        struct site site;
        if (!site_of(judge->question->sites, pin->stack, &site, judge->err) ||
            !check_blame_stack(judge, pin->stack, &site, pin->label, (int64_t)pin->pinned_bytes,
                               row))
            return false;
    }
    return check_advise(judge, judge->at, FINDING_FRAGMENTATION, row);
}

bool check_judge_oom(struct judge *judge, struct check_row *row)
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
bool check_blame_oom(struct judge *judge, struct check_row *row)
{
    const struct ooms *ooms = &judge->at->ooms;
    struct site site;
    if (ooms->count == 0)
        return true;
    const struct oom_row *last = &ooms->items[ooms->count - 1];
    return site_of(judge->question->sites, last->stack, &site, judge->err) &&
           check_blame_stack(judge, last->stack, &site, last->asker, (int64_t)last->requested_bytes,
                             row) &&
           check_copy_words(&row->why, last->sentence, judge->err) &&
           check_copy_words(&row->next, last->next, judge->err);
}
