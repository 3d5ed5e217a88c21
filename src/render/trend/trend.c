#include "render/trend/trend.h"

#include <inttypes.h>
#include <time.h>

#include "render/core/rows.h"

#define BAR_COLUMNS 16

/* What the functions of the row type read from context->user. */
struct scale {
    const struct trend *trend;
    int64_t highest;
};

static const struct trend_point *point_of(const void *row)
{
    return row;
}

static const struct scale *scale_of(const struct field_context *context)
{
    return context->user;
}

static struct value stored(const void *row, const struct field_context *context)
{
    time_t time_s = (time_t)point_of(row)->time_s;
    struct tm parts;
    char text[40];
    if (!gmtime_r(&time_s, &parts) ||
        strftime(text, sizeof(text), context->page ? "%Y-%m-%d %H:%M" : "%Y-%m-%dT%H:%M:%SZ",
                 &parts) == 0)
        return value_none();
    buffer_puts(context->scratch, text);
    return value_scratch(context);
}

/* A size for people; a whole number for programs. */
static struct value amount(const void *row, const struct field_context *context)
{
    char text[UNITS_TEXT_SIZE];
    int64_t value = point_of(row)->value;
    if (!point_of(row)->is_known)
        return value_none();
    if (scale_of(context)->trend->unit == TREND_EVENTS)
        units_count(text, value < 0 ? 0 : (uint64_t)value);
    else
        page_bytes(context->page, text, value);
    buffer_puts(context->scratch, text);
    return value_scratch(context);
}

/* Since the last run before it that has the metric. */
static struct value change(const void *row, const struct field_context *context)
{
    const struct trend *trend = scale_of(context)->trend;
    const struct trend_point *point = row, *before = point;
    char text[UNITS_TEXT_SIZE];
    do
        if (before == trend->points)
            return value_none();
    while (!(--before)->is_known);
    if (!point->is_known || before->value <= 0)
        return value_none();
    snprintf(text, sizeof(text), "%+.1f%%",
             100.0 * ((double)point->value - (double)before->value) / (double)before->value);
    buffer_puts(context->scratch, text);
    return value_scratch(context);
}

static struct value bar(const void *row, const struct field_context *context)
{
    const struct scale *scale = scale_of(context);
    double part = scale->highest > 0 ? (double)point_of(row)->value / (double)scale->highest : 0;
    int columns = (int)(BAR_COLUMNS * part + 0.5);
    for (int i = 0; point_of(row)->is_known && i < columns; i++)
        buffer_putc(context->scratch, '#');
    return value_scratch(context);
}

static bool rank_is_known(const void *row, const struct field_context *context)
{
    (void)context;
    return point_of(row)->is_known && point_of(row)->rank >= 0;
}

#define ROW struct trend_point
static const struct row_type point_type =
    ROW_TYPE("runs", ROW, FIELD(ROW, NUMBER, run, .title = "run"),
             FIELD(ROW, TEXT, name, .title = "name", .least = 8, .cut = CUT_MIDDLE),
             FIELD(ROW, TEXT, commit, .title = "commit", .least = 8, .cut = CUT_END, .optional = 2,
                   .flags = FIELD_SKIP_ZERO),
             FIELD_AS(ROW, NUMBER, "time", time_s),
             FIELD_CALL(LABEL, NULL, stored, .title = "stored (UTC)", .least = 16, .optional = 3),
             FIELD(ROW, COUNT, ranks, .title = "ranks", .optional = 4), FIELD(ROW, COUNT, failed),
             FIELD(ROW, NUMBER, value, IF(ROW, is_known), .flags = FIELD_NULL),
             FIELD(ROW, NUMBER, rank, .present = rank_is_known),
             FIELD_CALL(BYTES, NULL, amount, .title = "value"),
             FIELD_CALL(BYTES, NULL, change, .title = "change"),
             FIELD_CALL(LABEL, NULL, bar, .title = "", .optional = 1));
#undef ROW

static struct scale make_scale(const struct trend *trend)
{
    struct scale scale = {.trend = trend};
    for (size_t i = 0; i < trend->count; i++)
        if (trend->points[i].is_known && trend->points[i].value > scale.highest)
            scale.highest = trend->points[i].value;
    return scale;
}

static const char *words_of_unit(enum trend_unit unit)
{
    static const char *const words[] = {
        [TREND_BYTES] = "", [TREND_BYTES_A_STEP] = ", bytes per step", [TREND_EVENTS] = ", events"};
    return words[unit];
}

bool trend_text_report(const struct page *page, const struct trend *trend)
{
    const struct scale scale = make_scale(trend);
    const struct field_context context = {.user = &scale};
    char count[UNITS_TEXT_SIZE];
    fprintf(page->out, "%s%s of the highest rank%s: %s run%s%s\n\n", page_style(page, STYLE_TITLE),
            trend->metric, words_of_unit(trend->unit), units_count(count, trend->count),
            trend->count == 1 ? "" : "s", page_plain(page));
    return rows_print(page, 0, &point_type, trend->points, trend->count, &context);
}

bool trend_json(FILE *out, const struct trend *trend)
{
    const struct scale scale = make_scale(trend);
    const struct field_context context = {.user = &scale};
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", "memsnap.trend/1");
    json_put_string(&json, "metric", trend->metric);
    json_put_string(&json, "unit", trend_unit_names[trend->unit]);
    json_put_rows(&json, &point_type, trend->points, trend->count, &context);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}

bool trend_csv(FILE *out, const struct trend *trend, struct error *err)
{
    const struct scale scale = make_scale(trend);
    const struct field_context context = {.user = &scale};
    struct record_writer records;
    if (!records_begin(&records, out, RECORDS_CSV, &point_type, err))
        return false;
    for (size_t i = 0; i < trend->count; i++) {
        if (!record_put_row(&records, &trend->points[i], &context, err)) {
            records_release(&records);
            return false;
        }
    }
    return records_end(&records, err);
}
