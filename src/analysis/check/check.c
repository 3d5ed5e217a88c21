#define _GNU_SOURCE /* vasprintf */
#include "analysis/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"
#include "analysis/code/labels.h"
#include "model/device.h"

#define TEXT_MOST 4096 /* bytes of a label or a path that are kept */

bool check_copy(char **copy, const char *text, size_t size, struct error *err)
{
    struct buffer shown = BUFFER_INIT;
    label_add_bytes(&shown, text_first((struct text){text, size}, TEXT_MOST - 1));
    buffer_add(&shown, "", 0);
    if (shown.failed) {
        buffer_release(&shown);
        return error_out_of_memory(err);
    }
    *copy = shown.bytes;
    return true;
}

bool check_copy_words(char **copy, const char *words, struct error *err)
{
    *copy = NULL;
    return !words || check_copy(copy, words, strlen(words), err);
}

void check_row_release(struct check_row *row)
{
    free(row->capture);
    free(row->blame.label);
    free(row->blame.file);
    free(row->why);
    free(row->next);
}

/* Adds a row; takes ownership of its strings, also on failure. */
static bool check_add(struct check_result *result, struct check_row *row, struct error *err)
{
    struct check_row *grown = realloc(result->rows, (result->count + 1) * sizeof(*grown));
    if (!grown) {
        check_row_release(row);
        return error_out_of_memory(err);
    }
    result->rows = grown;
    result->rows[result->count++] = *row;
    return true;
}

bool check_add_warning(struct check_result *result, struct error *err, const char *format, ...)
{
    char *text = NULL;
    char **grown = realloc(result->warnings, (result->warning_count + 1) * sizeof(*grown));
    va_list arguments;
    if (!grown)
        return error_out_of_memory(err);
    result->warnings = grown;
    va_start(arguments, format);
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        return error_out_of_memory(err);
    result->warnings[result->warning_count++] = text;
    return true;
}

void check_result_release(struct check_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        check_row_release(&result->rows[i]);
    for (size_t i = 0; i < result->warning_count; i++)
        free(result->warnings[i]);
    for (size_t i = 0; i < CHECK_RULES_MOST; i++)
        free(result->why_not[i]);
    free(result->rows);
    free(result->warnings);
    *result = (struct check_result){0};
}

bool check_result_passed(const struct check_result *result)
{
    return check_result_holds(result) && !result->is_incomplete;
}

bool check_result_holds(const struct check_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (!result->rows[i].passed)
            return false;
    return true;
}

/* Adds a row for a rule that was not judged. */
static bool add_not_judged(struct check_result *result, const struct check_rule *rule,
                           int64_t device, const char *why, struct error *err)
{
    struct check_row row = {.rule = rule, .device = device, .passed = true};
    return check_copy_words(&row.why, why, err) && check_add(result, &row, err);
}

bool check_judge_rule(struct judge *judge, int64_t device, check_function *blame)
{
    const struct check_rule *rule = judge->rule;
    struct check_row row = {.rule = rule, .device = device, .judged = true};
    bool *held = &judge->result->held[rule - judge->question->rules->items];
    char **why_not = &judge->result->why_not[rule - judge->question->rules->items];
    if (!(rule->kind->captures & judge->capture))
        return true;
    judge->not_judged = NULL;
    judge->is_absent = false;
    if (!rule->kind->judge(judge, &row))
        return false;
    if (judge->not_judged && rule->is_replayed && !*why_not &&
        !check_copy_words(why_not, judge->not_judged, judge->err))
        return false;
    if (judge->not_judged)
        return add_not_judged(judge->result, rule, device, judge->not_judged, judge->err);
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
        ok = check_add_warning(result, err, "%s: %s", DEVICE_WORDS(device), at->notices[i].text);
    for (size_t i = 0; ok && i < question->rules->count; i++) {
        judge.rule = &question->rules->items[i];
        ok = check_judge_rule(&judge, device, judge.rule->kind->blame);
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
        ok = check_judge_rule(&judge, CHECK_NO_DEVICE, blame_producer);
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
        ok = check_judge_rule(&judge, CHECK_NO_DEVICE, blame_operator);
    }
    return ok;
}

static bool no_rule_held(const struct check_rules *rules, const struct check_result *result)
{
    for (size_t i = 0; i < rules->count; i++)
        if (result->held[i])
            return false;
    return true;
}

/* Removes the rows of rules that were judged nowhere. For a device without anything to judge, a
 * warning takes the place of the row. */
static bool drop_not_judged(const struct check_rules *rules, struct check_result *result,
                            struct error *err)
{
    size_t kept = 0;
    bool ok = true;
    for (size_t i = 0; i < result->count; i++) {
        struct check_row *row = &result->rows[i];
        bool held = result->held[row->rule - rules->items];
        if (held && row->judged) {
            result->rows[kept++] = *row;
            continue;
        }
        ok = ok && (!held || check_add_warning(result, err, "%s: %s was not checked: %s",
                                               DEVICE_WORDS((uint32_t)row->device),
                                               row->rule->kind->name, row->why));
        check_row_release(row);
    }
    result->count = kept;
    return ok;
}

/* Why no device could be judged by the rule. */
static const char *absence_of(const struct check_rules *rules, const struct check_result *result,
                              size_t rule)
{
    const struct check_rule *judged = &rules->items[rule];
    if (result->why_not[rule])
        return result->why_not[rule];
    if (result->of_summaries > 0 && !(judged->kind->captures & CHECK_OF_SUMMARY))
        return "a summary does not tell this; check the capture itself";
    return judged->kind->absence;
}

bool check_finish(const struct check_rules *rules, struct check_result *result, struct error *err)
{
    const struct check_rule *first = &rules->items[0];
    if (no_rule_held(rules, result))
        return error_set(err, STATUS_USAGE, "cannot check %s%s%.80s: %s", first->kind->name,
                         first->subject ? " " : "", first->subject ? first->subject : "",
                         absence_of(rules, result, 0));
    if (!drop_not_judged(rules, result, err))
        return false;
    for (size_t i = 0; i < rules->count; i++) {
        const struct check_rule *rule = &rules->items[i];
        if (result->held[i])
            continue;
        if (!add_not_judged(result, rule, CHECK_NO_DEVICE, absence_of(rules, result, i), err))
            return false;
        result->not_judged++;
    }
    result->is_incomplete = result->not_judged > 0 && rules->not_judged == CHECK_NOT_JUDGED_ERROR;
    return true;
}
