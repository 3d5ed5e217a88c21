#include <math.h>
#include <string.h>

#include "model/device.h"
#include "render/page/columns.h"
#include "render/page/internal.h"
#include "render/plot/plot.h"

static void emit_int64s(struct json_writer *json, const char *key, const int64_t *values,
                        size_t count, struct buffer *numbers)
{
    for (size_t i = 0; i < count; i++)
        html_add_double(numbers, (double)values[i]);
    html_emit_numbers(json, key, numbers);
}

/* False if the trace has no times. */
static bool find_origin(const struct trace *trace, double *origin)
{
    size_t i = 0;
    while (i < trace->count && trace_time(trace, i) == TIME_NONE)
        i++;
    if (i == trace->count)
        return false;
    *origin = (double)trace_time(trace, i);
    if (trace->edge.present && trace->edge.first_time_us != TIME_NONE)
        *origin = (double)trace->edge.first_time_us;
    return true;
}

/* The time at which each column begins, and the last one ends, in microseconds since the first
 * event of the file. Time never goes back: a clock that does is held. Writes nothing if the clock
 * never moves. */
static void emit_times(struct json_writer *json, const struct html_page *page,
                       struct buffer *numbers)
{
    const struct trace *trace = page->timeline->trace;
    const struct sampling *sampling = page->sampling;
    size_t columns = sampling->unknown > 0 ? sampling->unknown : sampling->count, item = 0;
    double origin, first = -INFINITY, now = -INFINITY;
    if (!find_origin(trace, &origin))
        return;
    for (size_t c = 0; c <= columns; c++) {
        size_t begin = (size_t)((uint64_t)trace->count * c / columns);
        for (; item < trace->count && item <= begin; item++) {
            int64_t time = trace_time(trace, item);
            if (time != TIME_NONE && (double)time - origin > now)
                now = (double)time - origin;
        }
        if (c == 0)
            first = now = isinf(now) ? 0 : now;
        html_add_double(numbers, now);
    }
    for (size_t c = columns; c < sampling->count; c++) /* the columns of the dump */
        html_add_double(numbers, now + (now - first) * (double)(c + 1 - columns) / (double)columns);
    if (now > first)
        html_emit_numbers(json, "time", numbers);
    buffer_clear(numbers);
}

static void emit_curves(struct json_writer *json, const struct html_page *page,
                        struct buffer *numbers)
{
    const struct sampling *sampling = page->sampling;
    const struct curve *active = &page->timeline->active;
    size_t peak = sampling->unknown > 0 ? sampling->unknown
                  : active->peak_event < 0
                      ? 0
                      : sampling_column_showing(sampling, (uint32_t)active->peak_event);
    json_put_count(json, "columns", sampling->count);
    if (sampling->unknown > 0)
        json_put_count(json, "unknown", sampling->unknown);
    emit_int64s(json, "active", sampling->active, sampling->count, numbers);
    emit_int64s(json, "reserved", sampling->reserved, sampling->count, numbers);
    emit_times(json, page, numbers);
    json_put_open(json, "peak", '{');
    json_put_bool(json, "known", timeline_knows_peak(page->timeline));
    json_put_integer(json, "bytes", active->peak_bytes);
    json_put_count(json, "column", peak);
    if (active->peak_event >= 0)
        json_put_integer(json, "item", active->peak_event);
    json_put_close(json, '}');
}

static void emit_phases(struct json_writer *json, const struct html_page *page,
                        struct buffer *numbers)
{
    struct buffer kinds = BUFFER_INIT;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < page->phases->count; i++) {
        const struct phase_row *row = &page->phases->items[i];
        size_t column = sampling_column_showing(page->sampling, row->first);
        if (column == last) /* a column has one: the first */
            continue;
        last = column;
        html_add_number(numbers, column, 4);
        html_add_number(&kinds, (uint64_t)row->phase, 1);
    }
    json_put_open(json, "phases", '{');
    html_emit_numbers(json, "first", numbers);
    html_emit_numbers(json, "kind", &kinds);
    json_put_open(json, "names", '[');
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        json_put_string(json, NULL, phase_name((enum phase)phase));
    json_put_close(json, ']');
    json_put_close(json, '}');
    buffer_release(&kinds);
}

/* Category names indexed by the numbers that bands use; unused ones are empty. */
static void emit_categories(struct json_writer *json, const struct html_numbers *numbers)
{
    uint8_t order[CATEGORY_LIMIT];
    bool used[CATEGORY_LIMIT] = {false};
    for (size_t b = 0; b < numbers->page->bands->count; b++)
        used[html_band_category(numbers, b) % CATEGORY_LIMIT] = true;
    plot_category_order(order);
    json_put_open(json, "categories", '[');
    for (size_t i = 0; i < CATEGORY_LIMIT; i++) {
        const char *name = used[i] ? category_name((enum category)i) : "";
        json_put_open(json, NULL, '{');
        html_emit_raw(json, "name", name, strlen(name));
        json_put_count(json, "colour", plot_category_colour(i));
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
    json_put_open(json, "order", '[');
    for (size_t i = 0; i < CATEGORY_LIMIT; i++)
        if (used[order[i]])
            json_put_count(json, NULL, order[i]);
    json_put_close(json, ']');
    json_put_open(json, "reasons", '[');
    for (uint8_t reason = 0; reason < REASON_COUNT; reason++) {
        const char *sentence = reason_sentence(reason);
        html_emit_shown(json, NULL, sentence ? sentence : "", sentence ? strlen(sentence) : 0);
    }
    json_put_close(json, ']');
}

static void emit_page(struct json_writer *json, const struct html_numbers *numbers)
{
    struct buffer bytes = BUFFER_INIT;
    const struct html_page *page = numbers->page;
    const struct trace *trace = page->timeline->trace;
    json_put_open(json, NULL, '{');
    json_put_integer(json, "device", device_number(page->timeline->device));
    json_put_count(json, "events", trace->count);
    json_put_count(json, "first_event", trace->first_event);
    for (size_t i = 0; trace->order && i < trace->count; i++)
        html_add_number(&bytes, trace->order[i], 4);
    if (trace->order)
        html_emit_numbers(json, "numbers", &bytes);
    json_put_string(json, "axis", page->by_time ? "time" : "event");
    json_put_string(json, "colour", page->colour);
    emit_curves(json, page, &bytes);
    emit_phases(json, page, &bytes);
    emit_categories(json, numbers);
    html_emit_bands(json, numbers, &bytes);
    html_emit_stacks(json, numbers);
    html_emit_layout(json, page);
    json_put_close(json, '}');
    buffer_release(&bytes);
}

bool html_put_data(FILE *out, const struct html_page *page, struct error *err)
{
    struct html_stacks stacks;
    struct json_writer json;
    bool ok = html_stacks_make(&stacks, page, err);
    if (ok) {
        json_writer_init(&json, out);
        emit_page(&json, &(struct html_numbers){page, &stacks});
        ok = !json.failed || error_out_of_memory(err);
        json_writer_release(&json);
    }
    html_stacks_release(&stacks);
    return ok;
}
