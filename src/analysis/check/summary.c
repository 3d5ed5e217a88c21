/* Judges summaries of captures. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"
#include "analysis/growth/growth.h"
#include "model/device.h"

static bool is_counted(const struct judge *judge, const struct summary_site *site)
{
    bool of_category = judge->rule->kind->takes == CHECK_TAKES_CATEGORY;
    return *site->category &&
           (!of_category || strcmp(site->category, category_name(judge->rule->category)) == 0);
}

/* The line of code that holds the most, over all operators and categories that count; NULL: none.
 * A summary has few call sites. */
static const struct summary_site *largest_site(const struct judge *judge, int64_t *bytes)
{
    const struct summary_device *device = judge->summary;
    const struct summary_site *most = NULL;
    *bytes = 0;
    for (size_t i = 0; i < device->site_count; i++) {
        int64_t sum = 0;
        for (size_t j = 0; is_counted(judge, &device->sites[i]) && j < device->site_count; j++)
            if (is_counted(judge, &device->sites[j]) &&
                strcmp(device->sites[i].site, device->sites[j].site) == 0 &&
                __builtin_add_overflow(sum, device->sites[j].bytes, &sum))
                sum = INT64_MAX;
        if (sum > *bytes) {
            most = &device->sites[i];
            *bytes = sum;
        }
    }
    return most;
}

/* Blames the largest call site of the rule's category, or of all. */
static bool blame_summary(struct judge *judge, struct check_row *row)
{
    int64_t bytes;
    const struct summary_site *most = largest_site(judge, &bytes);
    if (row->rule->kind->unit != CHECK_BYTES || row->rule->kind->needs_baseline)
        return true; /* a summary does not tell what has grown */
    if (most) {
        row->blame.bytes = bytes;
        if (!check_copy(&row->blame.label, most->site, strlen(most->site), judge->err))
            return false;
    }
    const struct summary_device *device = judge->summary;
    if (row->passed || device->finding_count == 0)
        return true;
    return check_copy_words(&row->why, device->findings[0].what, judge->err) &&
           check_copy_words(&row->next, device->findings[0].next, judge->err);
}

int64_t check_summary_category(const struct summary_device *device, enum category category,
                               bool *found)
{
    for (size_t i = 0; i < device->category_count; i++)
        if (strcmp(device->categories[i].name, category_name(category)) == 0) {
            *found = true;
            return device->categories[i].bytes;
        }
    *found = false;
    return 0;
}

static bool name_capture(struct check_row *row, const struct summary *summary, struct error *err)
{
    char name[32];
    if (summary->rank < 0)
        return check_copy_words(&row->capture, summary->path, err);
    snprintf(name, sizeof(name), "rank %" PRId64, summary->rank);
    return check_copy_words(&row->capture, name, err);
}

/* If an earlier row has the rule and device of the last row, keeps only the row with the higher
 * value. */
static void keep_worse(struct check_result *result, size_t first)
{
    struct check_row *last = &result->rows[result->count - 1];
    for (size_t i = first; i + 1 < result->count; i++) {
        struct check_row *row = &result->rows[i];
        if (row->rule != last->rule || row->device != last->device)
            continue;
        row->captures++;
        if (last->judged && (!row->judged || last->value > row->value)) {
            struct check_row worse = *last;
            worse.captures = row->captures;
            *last = *row;
            *row = worse;
        }
        check_row_release(last);
        result->count--;
        return;
    }
}

static bool check_summary_device(const struct check_question *question,
                                 const struct summary *summary, const struct summary_device *device,
                                 struct check_result *result, struct error *err)
{
    struct judge judge = {.question = question,
                          .capture = CHECK_OF_SUMMARY,
                          .summary = device,
                          .result = result,
                          .err = err};
    int64_t number = device->device < 0 ? (int64_t)DEVICE_HOST : device->device;
    bool ok = true;
    for (size_t i = 0; ok && i < question->rules->count; i++) {
        size_t before = result->count;
        judge.rule = &question->rules->items[i];
        ok = check_judge_rule(&judge, number, blame_summary);
        if (!ok || result->count == before)
            continue;
        result->rows[before].captures = 1;
        ok = name_capture(&result->rows[before], summary, err);
        keep_worse(result, 0);
    }
    buffer_release(&judge.scratch);
    return ok;
}

bool check_summary(const struct check_question *question, const struct summary *summary,
                   struct check_result *result, struct error *err)
{
    bool ok = true, leave_out = summary->device_count > 1;
    struct check_question of_rank = *question;
    if (summary->rank >= 0)
        of_rank.rank = summary->rank;
    result->of_summaries++;
    for (size_t i = 0; ok && i < summary->device_count; i++)
        if (!leave_out || summary->devices[i].device >= 0) /* as memsnap ranks */
            ok = check_summary_device(&of_rank, summary, &summary->devices[i], result, err);
    return ok;
}

bool check_summaries_finish(struct check_result *result, struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < result->count; i++)
        if (result->rows[i].judged && result->rows[i].captures > 1)
            ok = check_add_warning(result, err, "%s: %s is that of %s, the highest of %zu captures",
                                   DEVICE_WORDS((uint32_t)result->rows[i].device),
                                   result->rows[i].rule->kind->name, result->rows[i].capture,
                                   result->rows[i].captures);
    return ok;
}
