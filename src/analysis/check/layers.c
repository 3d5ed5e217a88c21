/* The rules on files that know no devices: layer traces, and MemoryTracker's curves. */
#include "analysis/check/internal.h"

struct figure {
    int64_t value;
    struct text label; /* of what to blame; no bytes: no one */
    int64_t bytes;     /* that it holds */
};

static bool add_figure(struct check_result *result, const struct check_question *question,
                       size_t index, const struct figure *figure, struct error *err)
{
    const struct check_rule *rule = &question->rules->items[index];
    struct check_row row = {.rule = rule, .device = CHECK_NO_DEVICE, .value = figure->value};
    if (rule->kind == CHECK_MAX_INCREASE) {
        const struct baseline_device *old = check_baseline_find(question->baseline, -1);
        row.whole = old->peak_bytes;
        row.value -= old->peak_bytes;
    }
    row.blame.bytes = figure->bytes;
    if (figure->label.size > 0 &&
        !check_copy(&row.blame.label, figure->label.bytes, figure->label.size, err))
        return false;
    result->held[index] = true;
    return check_add(result, &row, err);
}

static bool can_increase(const struct check_question *question)
{
    return question->baseline && check_baseline_find(question->baseline, -1);
}

bool check_layers(const struct check_question *question, const struct layers_report *report,
                  const int64_t *after_suggest, struct check_result *result, struct error *err)
{
    struct figure figure = {0};
    bool ok = true;
    if (report->producer_count > 0) {
        const struct layer_row *most = &report->trace->rows[report->producers[0]];
        figure.label = layer_name(report->trace, most);
        figure.bytes = most->memory_activations;
    }
    for (size_t i = 0; ok && i < question->rules->count; i++) {
        const struct check_rule *rule = &question->rules->items[i];
        bool held = report->trace->count > 0;
        switch (rule->kind) {
        case CHECK_MAX_PEAK:
            figure.value = report->allocated.bytes;
            break;
        case CHECK_MAX_RESERVED:
            figure.value = report->reserved.bytes;
            break;
        case CHECK_MAX_CATEGORY:
            figure.value = report->total_activations;
            held = rule->category == CATEGORY_ACTIVATION && figure.value > 0;
            break;
        case CHECK_MAX_AFTER_SUGGEST:
            figure.value = after_suggest[i];
            held = report->total_activations > 0;
            break;
        case CHECK_MAX_INCREASE:
            figure.value = report->allocated.bytes;
            held = held && can_increase(question);
            break;
        default:
            held = false;
        }
        ok = !held || add_figure(result, question, i, &figure, err);
    }
    return ok;
}

bool check_curves(const struct check_question *question, const struct curves_report *report,
                  struct check_result *result, struct error *err)
{
    const struct operator_curves *curves = report->curves;
    bool ok = true;
    for (size_t i = 0; ok && curves->count > 0 && i < question->rules->count; i++) {
        enum check_kind kind = question->rules->items[i].kind;
        bool is_reserved = kind == CHECK_MAX_RESERVED;
        const struct operator_point *point =
            &curves->points[is_reserved ? report->reserved : report->allocated];
        struct figure figure = {
            .value = is_reserved ? point->reserved : point->allocated,
            .label = symbols_text(curves->symbols, point->name),
        };
        if (is_reserved || kind == CHECK_MAX_PEAK ||
            (kind == CHECK_MAX_INCREASE && can_increase(question)))
            ok = add_figure(result, question, i, &figure, err);
    }
    return ok;
}
