#include <inttypes.h>

#include "analysis/check/internal.h"
#include "analysis/code/labels.h"

#define NAME_MOST ((size_t)200) /* bytes of a name in a sentence */

bool check_judge_jump(struct judge *judge, struct check_row *row)
{
    const struct trend_jump *jump = &judge->history->jump;
    if (!jump->newest || !jump->newest->is_known) {
        judge->not_judged = "the newest run does not have the metric";
    } else if (!jump->usual) {
        judge->not_judged = "fewer than 3 earlier runs have the metric";
    } else {
        row->whole = jump->usual->value;
        row->value = jump->newest->value - jump->usual->value;
    }
    return true;
}

static void add_name(struct buffer *out, struct text name)
{
    label_add_bytes(out, text_first(name, NAME_MOST));
}

/* "run 12 (nightly, 1f3c9a2)" */
static void add_run(struct buffer *out, const struct trend_point *point)
{
    buffer_printf(out, "run %" PRId64 " (", point->run);
    add_name(out, point->name);
    if (point->commit.size > 0) {
        buffer_puts(out, ", ");
        add_name(out, point->commit);
    }
    buffer_putc(out, ')');
}

static void add_grown(struct buffer *out, const char *what, const struct trend_share *grown,
                      size_t count, enum unit unit)
{
    char size[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < count; i++) {
        buffer_puts(out, i ? ", " : what);
        add_name(out, grown[i].name);
        buffer_printf(out, " +%s", units_bytes(size, grown[i].bytes, unit));
    }
}

/* Says what is compared, and what has grown; the call site that has grown the most is blamed. */
bool check_blame_jump(struct judge *judge, struct check_row *row)
{
    const struct check_history *history = judge->history;
    const struct trend_jump *jump = &history->jump;
    enum unit unit = judge->question->unit;
    char newest[UNITS_TEXT_SIZE], usual[UNITS_TEXT_SIZE];
    struct buffer why = BUFFER_INIT;
    if (row->passed)
        return true;
    add_run(&why, jump->newest);
    buffer_printf(&why, " has a %s of %s; the median of %zu earlier runs is %s, as in ",
                  history->trend->metric, units_bytes(newest, jump->newest->value, unit),
                  jump->compared, units_bytes(usual, jump->usual->value, unit));
    add_run(&why, jump->usual);
    add_grown(&why, ". Categories that grew since: ", history->categories, history->category_count,
              unit);
    add_grown(&why, ". Call sites that grew: ", history->sites, history->site_count, unit);
    bool ok = !why.failed || error_out_of_memory(judge->err);
    ok = ok && check_copy(&row->why, why.bytes, why.size, judge->err);
    buffer_release(&why);
    if (!ok || history->site_count == 0)
        return ok;
    row->blame.bytes = history->sites[0].bytes;
    return check_copy(&row->blame.label, history->sites[0].name.bytes, history->sites[0].name.size,
                      judge->err);
}

bool check_runs(const struct check_question *question, const struct check_history *history,
                struct check_result *result, struct error *err)
{
    const struct check_rules *rules = question->rules;
    struct judge judge = {.question = question,
                          .capture = CHECK_OF_HISTORY,
                          .history = history,
                          .result = result,
                          .err = err};
    for (size_t i = 0; i < rules->count; i++) {
        judge.rule = &rules->items[i];
        if (!check_judge_rule(&judge, CHECK_NO_DEVICE, judge.rule->kind->blame))
            return false;
    }
    if (result->count == 0)
        return error_set(err, STATUS_USAGE, "--trend needs a rule for histories: --max-jump 5%%");
    for (size_t i = 0; i < result->count; i++)
        result->not_judged += !result->rows[i].judged;
    result->is_incomplete = result->not_judged > 0 && rules->not_judged == CHECK_NOT_JUDGED_ERROR;
    return true;
}
