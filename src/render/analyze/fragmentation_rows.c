#include "render/analyze/memory.h"
#include "render/core/site_type.h"

const char *pool_size_name(unsigned is_small)
{
    return is_small ? "small" : "large";
}

static bool is_remainder(const void *data, const struct field_context *context)
{
    (void)context;
    return ((const struct pool_row *)data)->pools != 1;
}

static bool is_one_pool(const void *data, const struct field_context *context)
{
    return !is_remainder(data, context);
}

static struct value remainder_flag(const void *data, const struct field_context *context)
{
    return value_flag(is_remainder(data, context));
}

static struct value rounding(const void *data, const struct field_context *context)
{
    const struct pool_row *row = data;
    (void)context;
    return value_integer((int64_t)(row->active_bytes - row->requested_bytes));
}

static struct value unexplained(const void *data, const struct field_context *context)
{
    (void)context;
    return value_integer(pool_row_unexplained(data));
}

/* "large", "(3 more)", and of the sum of all rows */
static struct value pool_words(const void *data, const struct field_context *context)
{
    const struct pool_row *row = data;
    const struct pool_rows *rows = context->user;
    char text[POOL_TEXT_SIZE];
    if (row == &rows->total)
        return value_word("all, including those not shown");
    if (row->pools > 1)
        buffer_printf(context->scratch, "(%llu more)", (unsigned long long)row->pools);
    else
        buffer_puts(context->scratch, pool_text(text, &row->key));
    return value_scratch(context);
}

#define ROW struct pool_row
#define FIGURES                                                                                    \
    FIELD(ROW, COUNT, segments),                                                                   \
        FIELD(ROW, BYTES, reserved_bytes, .title = "reserved", .column = 1),                       \
        FIELD(ROW, BYTES, allocated_bytes),                                                        \
        FIELD(ROW, BYTES, active_bytes, .title = "in blocks", .column = 2, .optional = 2),         \
        FIELD_CALL(BYTES, "rounding_bytes", rounding),                                             \
        FIELD(ROW, BYTES, inactive_split_bytes, .title = "in holes"),                              \
        FIELD(ROW, BYTES, releasable_bytes, .title = "releasable", .column = 3, .optional = 1),    \
        FIELD_AS(ROW, BYTES, "releasable_after_graphs_bytes", after_graphs_bytes),                 \
        FIELD(ROW, BYTES, largest_hole_bytes, .title = "largest hole", .column = 4,                \
              .optional = 3),                                                                      \
        FIELD_CALL(BYTES, "unexplained_bytes", unexplained, .flags = FIELD_SKIP_ZERO)
/* context->user is the struct pool_rows in text. */
const struct row_type pool_type =
    ROW_TYPE("pools", ROW, POOL_KEY_FIELDS(ROW, is_one_pool),
             FIELD_CALL(FLAG, "remainder", remainder_flag, .flags = FIELD_SKIP_ZERO),
             FIELD(ROW, COUNT, pools, .present = is_remainder), FIGURES,
             FIELD_CALL(LABEL, NULL, pool_words, .title = "pool", .column = 5, .least = 26));
/* The sum of all pools. */
static const struct row_type pool_total_type = ROW_TYPE("total", ROW, FIGURES);
#undef FIGURES
#undef ROW

#define ROW struct pin_row
const struct row_type pin_type =
    ROW_TYPE("pinned", ROW, FIELD(ROW, BYTES, pinned_bytes, .title = "pinned"),
             FIELD(ROW, COUNT, segments, .title = "blocks", .column = 1, .optional = 2),
             FIELD(ROW, BYTES, block_bytes, .title = "by"),
             FIELD_AS(ROW, BYTES, "largest_block_bytes", largest_bytes),
             FIELD(ROW, CATEGORY, category, .title = "category", .column = 3, .optional = 1),
             FIELD(ROW, LABEL, label, .title = "call site", .column = 2, .cut = CUT_SITE,
                   .least = CALL_SITE_LEAST));
#undef ROW

#define ROW struct pin_rows
static const struct row_type pin_total_type =
    ROW_TYPE("pinned_total", ROW, FIELD(ROW, BYTES, pinned_bytes), FIELD(ROW, COUNT, segments),
             FIELD(ROW, BYTES, block_bytes));
#undef ROW

#define ROW struct advice
static const struct row_type advice_type =
    ROW_TYPE("settings", ROW, FIELD(ROW, WORD, setting), FIELD(ROW, FLAG, in_force),
             FIELD(ROW, BYTES, would_save_bytes, IF(ROW, is_derivable)), FIELD(ROW, CHARS, why));
#undef ROW

static const struct field_context no_context = {0};

static void put_pools(struct json_writer *json, const struct pool_rows *rows)
{
    json_put_rows(json, &pool_type, rows->items, rows->count, &no_context);
}

static void put_settings(struct json_writer *json, const struct advice *advice)
{
    json_put_rows(json, &advice_type, advice, SETTING_COUNT, &no_context);
}

/* Fragmentation at the moment that sites and categories describe. */
static void put_moment(struct json_writer *json, const struct fragmentation *fragmentation)
{
    if (fragmentation->no_moment)
        json_put_string(json, "no_at_moment", fragmentation->no_moment);
    if (!fragmentation->has_moment)
        return;
    json_put_open(json, "at_moment", '{');
    json_put_fields(json, &pool_total_type, &fragmentation->moment.pools.total, &no_context);
    if (fragmentation->moment_doubts.unsure_bytes > 0)
        json_put_count(json, "unsure_bytes", fragmentation->moment_doubts.unsure_bytes);
    put_pools(json, &fragmentation->moment.pools);
    put_settings(json, fragmentation->moment.advice);
    json_put_bool(json, "notable", cut_up_is_notable(&fragmentation->moment));
    json_put_close(json, '}');
}

/* Fragmentation at the end of the trace; pools and settings are then those of the dump. */
static void put_end(struct json_writer *json, const struct device_report *report)
{
    const struct cut_up *end = &report->fragmentation.dump;
    if (!trace_has_end(report->timeline->trace))
        return;
    json_put_open(json, "at_end", '{');
    json_put_fields(json, &pool_total_type, &end->pools.total, &no_context);
    json_put_bool(json, "notable", cut_up_is_notable(end));
    json_put_close(json, '}');
}

void fragmentation_json(struct json_writer *json, const struct device_report *report)
{
    const struct fragmentation *fragmentation = &report->fragmentation;
    const struct pin_rows *pinned = &fragmentation->pinned;
    const struct reserved_curve *reserved = &report->timeline->reserved;
    if (report->timeline->device == DEVICE_HOST || report->timeline->snapshot->profile.is_profile)
        return;
    json_put_open(json, "fragmentation", '{');
    put_pools(json, &fragmentation->dump.pools);
    json_put_rows(json, &pin_type, pinned->items, pinned->count, &no_context);
    json_put_row(json, pin_total_type.name, &pin_total_type, pinned, &no_context);
    put_settings(json, fragmentation->dump.advice);
    json_put_integer(json, "at_reserved_peak_bytes",
                     reserved->peak_bytes - reserved->active_at_peak_bytes);
    put_moment(json, fragmentation);
    put_end(json, report);
    json_put_close(json, '}');
}
