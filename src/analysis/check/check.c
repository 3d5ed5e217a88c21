#include "analysis/check/check.h"

#include "analysis/check/internal.h"

/* Judges by judge->rule, and adds a row. */
static bool judge_rule(struct judge *judge, int64_t device, check_function *blame)
{
    const struct check_rule *rule = judge->rule;
    struct check_row row = {.rule = rule, .device = device};
    bool *held = &judge->result->held[rule - judge->question->rules->items];
    if (!(rule->kind->captures & judge->capture))
        return true;
    judge->not_judged = NULL;
    judge->is_absent = false;
    if (!rule->kind->judge(judge, &row))
        return false;
    if (judge->not_judged)
        return device == CHECK_NO_DEVICE ||
               check_add_warning(judge->result, judge->err, "device %lld: %s was not judged: %s",
                                 (long long)device, rule->kind->name, judge->not_judged);
    row.limit = check_limit_bytes(&rule->limit, row.whole);
    row.passed = row.value <= row.limit;
    *held = *held || !judge->is_absent;
    bool ok = blame(judge, &row);
    return check_add(judge->result, &row, judge->err) && ok;
}

bool check_device(const struct check_question *question, const struct device_report *at,
                  const struct device_report *peak, struct check_result *result, struct error *err)
{
    uint32_t device = at->timeline->device;
    struct judge judge = {.question = question,
                          .capture = CHECK_OF_SNAPSHOT,
                          .at = at,
                          .peak = peak,
                          .result = result,
                          .err = err};
    bool ok = true;
    for (size_t i = 0; ok && i < at->notice_count; i++)
        ok = check_add_warning(result, err, "device %u: %s", device, at->notices[i].text);
    for (size_t i = 0; ok && i < question->rules->count; i++) {
        judge.rule = &question->rules->items[i];
        ok = judge_rule(&judge, device, judge.rule->kind->blame);
    }
    buffer_release(&judge.scratch);
    return ok;
}

/* Blames the module whose activations are the largest. */
static bool blame_producer(struct judge *judge, struct check_row *row)
{
    const struct layers_report *report = judge->layers;
    if (report->producer_count == 0)
        return true;
    const struct layer_row *most = &report->trace->rows[report->producers[0]];
    struct text name = layer_name(report->trace, most);
    row->blame.bytes = most->memory_activations;
    return name.size == 0 || check_copy(&row->blame.label, name.bytes, name.size, judge->err);
}

bool check_layers(const struct check_question *question, const struct layers_report *report,
                  struct check_result *result, struct error *err)
{
    struct judge judge = {.question = question,
                          .capture = CHECK_OF_LAYERS,
                          .layers = report,
                          .result = result,
                          .err = err};
    bool ok = true;
    for (size_t i = 0; ok && report->trace->count > 0 && i < question->rules->count; i++) {
        judge.rule = &question->rules->items[i];
        ok = judge_rule(&judge, CHECK_NO_DEVICE, blame_producer);
    }
    return ok;
}

/* Blames the operator after which the judged peak is reached. */
static bool blame_operator(struct judge *judge, struct check_row *row)
{
    const struct operator_curves *curves = judge->curves->curves;
    struct text name = symbols_text(curves->symbols, curves->points[judge->point].name);
    return name.size == 0 || check_copy(&row->blame.label, name.bytes, name.size, judge->err);
}

bool check_curves(const struct check_question *question, const struct curves_report *report,
                  struct check_result *result, struct error *err)
{
    struct judge judge = {.question = question,
                          .capture = CHECK_OF_CURVES,
                          .curves = report,
                          .result = result,
                          .err = err};
    bool ok = true;
    for (size_t i = 0; ok && report->curves->count > 0 && i < question->rules->count; i++) {
        judge.rule = &question->rules->items[i];
        ok = judge_rule(&judge, CHECK_NO_DEVICE, blame_operator);
    }
    return ok;
}

bool check_finish(const struct check_rules *rules, const struct check_result *result,
                  struct error *err)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct check_rule *rule = &rules->items[i];
        if (!result->held[i])
            return error_set(err, STATUS_USAGE, "cannot be held to %s%s%.80s: %s", rule->kind->name,
                             rule->subject ? " " : "", rule->subject ? rule->subject : "",
                             rule->kind->absence);
    }
    return true;
}
