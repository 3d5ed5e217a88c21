/* Rules about peaks, by themselves and beside those of a baseline. */
#include <stdio.h>

#include "analysis/check/internal.h"
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

/* Without allocations only the memory in use when the snapshot was taken is known. The peak was at
 * least as high. */
static bool warn_of_peak(struct judge *judge, const struct check_row *row)
{
    if (judge->capture != CHECK_OF_SNAPSHOT || timeline_knows_peak(judge->peak->timeline))
        return true;
    return check_add_warning(judge->result, judge->err,
                             "%s: %s compares what was in use when the snapshot was taken; the "
                             "peak is not known, because allocations were not recorded",
                             DEVICE_WORDS((uint32_t)row->device), judge->rule->kind->name);
}

bool check_judge_peak(struct judge *judge, struct check_row *row)
{
    row->value = peak_of_allocated(judge);
    return warn_of_peak(judge, row);
}

bool check_blame_peak(struct judge *judge, struct check_row *row)
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

bool check_judge_reserved(struct judge *judge, struct check_row *row)
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

bool check_blame_reserved(struct judge *judge, struct check_row *row)
{
    return check_blame_rows(judge, judge->peak, NULL, row) &&
           (judge->rule->is_replayed ||
            check_advise(judge, judge->peak, FINDING_FRAGMENTATION, row));
}

static const struct baseline_device *device_before(const struct judge *judge, int64_t device)
{
    const struct check_baseline *baseline = judge->question->baseline;
    return baseline ? check_baseline_find(baseline, judge->question->rank, device) : NULL;
}

bool check_judge_increase(struct judge *judge, struct check_row *row)
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
    return warn_of_peak(judge, row);
}

bool check_blame_increase(struct judge *judge, struct check_row *row)
{
    const struct baseline_device *before = device_before(judge, row->device);
    return !judge->question->baseline->symbols || check_blame_most_grown(judge, before, row);
}

bool check_judge_after_suggest(struct judge *judge, struct check_row *row)
{
    if (judge->layers->total_activations <= 0) {
        judge->not_judged = judge->rule->kind->absence;
        return true;
    }
    return judge->question->suggest(judge->layers->trace, judge->rule->checkpoints, &row->value,
                                    judge->err);
}
