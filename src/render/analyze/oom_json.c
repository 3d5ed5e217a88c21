/* The requests that ran out of memory, as JSON. */
#include "analysis/oom/next.h"
#include "render/analyze/internal.h"
#include "render/analyze/memory.h"
#include "render/core/site_type.h"

static const struct oom_row *oom_of(const void *data)
{
    return data;
}

static struct value time_us(const void *data, const struct field_context *context)
{
    int64_t time = trace_time(context->trace, (size_t)oom_of(data)->item);
    return time == TIME_NONE ? value_none() : value_integer(time);
}

static bool used_is_known(const void *data, const struct field_context *context)
{
    (void)context;
    return oom_used_is_known(oom_of(data));
}

static bool has_like_step(const void *data, const struct field_context *context)
{
    const struct oom_row *row = data;
    (void)context;
    return row->step_bytes > 0 && row->state_rest_bytes == 0;
}

/* The memory in use on the device, by all processes. */
static struct value used_bytes(const void *data, const struct field_context *context)
{
    const struct oom_row *row = data;
    (void)context;
    return value_integer(row->at.reserved_bytes + (int64_t)row->other_bytes);
}

static struct value rounding(const void *data, const struct field_context *context)
{
    const struct oom_row *row = data;
    (void)context;
    return value_integer((int64_t)row->layout.block_bytes - row->at.active_bytes);
}

#define ROW struct oom_category
static const struct row_type oom_category_type =
    ROW_TYPE("categories", ROW, FIELD_AS(ROW, CATEGORY, "name", category), FIELD(ROW, BYTES, bytes),
             FIELD(ROW, COUNT, count));
#undef ROW

#define ROW struct oom_site
static const struct row_type oom_site_type = ROW_TYPE(
    "sites", ROW, FIELD(ROW, BYTES, bytes), FIELD(ROW, COUNT, count),
    FIELD(ROW, CATEGORY, category), FIELD(ROW, LABEL, label), FIELD_AS(ROW, OPERATOR, "op", site));
#undef ROW

static void put_live(struct json_writer *json, const void *data,
                     const struct field_context *context)
{
    const struct oom_row *row = data;
    json_put_rows(json, &oom_category_type, row->categories, row->category_count, context);
    json_put_rows(json, &oom_site_type, row->sites, row->site_count, context);
}

#define ROW struct oom_row
/* Members of the layout. */
#define LAYOUT(key_, member_, ...)                                                                 \
    FIELD_AS(ROW, BYTES, key_, layout.member_, IF(ROW, layout.is_known), __VA_ARGS__)
static const struct row_type oom_type = ROW_TYPE(
    "ooms", ROW, FIELD_AS(ROW, EVENT, "event", item), FIELD_CALL(TIME, "time_us", time_us),
    FIELD(ROW, BYTES, requested_bytes), FIELD(ROW, BYTES, segment_bytes),
    POOL_KEY_FIELDS(ROW, NULL), FIELD(ROW, BYTES, device_free_bytes),
    FIELD_AS(ROW, BYTES, "reserved_bytes", at.reserved_bytes),
    FIELD_AS(ROW, BYTES, "allocated_bytes", at.allocated_bytes),
    FIELD_AS(ROW, BYTES, "active_bytes", at.active_bytes),
    FIELD_CALL(BYTES, "rounding_bytes", rounding, IF(ROW, layout.is_known)),
    LAYOUT("inactive_bytes", inactive_bytes), LAYOUT("pool_inactive_bytes", pool_bytes),
    LAYOUT("largest_hole_bytes", largest_bytes), LAYOUT("elsewhere_bytes", elsewhere_bytes),
    LAYOUT("elsewhere_largest_hole_bytes", elsewhere_largest_bytes),
    LAYOUT("unsure_bytes", unsure_bytes, .flags = FIELD_SKIP_ZERO),
    FIELD(ROW, BYTES, device_bytes, IF(ROW, device_bytes)),
    FIELD_AS(ROW, FLAG, "device_bytes_is_least", device_is_least, IF(ROW, device_bytes)),
    FIELD(ROW, BYTES, other_bytes, IF(ROW, device_bytes)),
    FIELD_CALL(BYTES, "used_bytes", used_bytes, .present = used_is_known),
    FIELD(ROW, NAME, verdict, .name = oom_verdict_name), FIELD(ROW, CHARS, sentence),
    FIELD(ROW, CHARS, next), FIELD(ROW, BYTES, step_bytes, IF(ROW, step_bytes)),
    FIELD(ROW, NUMBER, like_step, .present = has_like_step),
    FIELD(ROW, BYTES, state_made_bytes, IF(ROW, state_rest_bytes)),
    FIELD(ROW, BYTES, state_rest_bytes, IF(ROW, state_rest_bytes)),
    FIELD(ROW, FLAG, rest_is_unknown, IF(ROW, rest_is_unknown)),
    FIELD(ROW, BYTES, attempt_bytes, IF(ROW, attempt_bytes)),
    FIELD_AS(ROW, COUNT, "possible_saving", finding, IF(ROW, finding)),
    FIELD_AS(ROW, EVENT, "attempt_event", attempt_item, IF(ROW, attempt_bytes)),
    FIELD(ROW, FLAG, tries_again, IF(ROW, tries_again)), FIELD_JSON("categories", put_live),
    FIELD_AS(ROW, LABEL, "asked_by", asker),
    FIELD_AS(ROW, FRAMES, "frames", stack, IF(ROW, asker)));
#undef LAYOUT
#undef ROW

void ooms_json(struct json_writer *json, const struct device_report *report)
{
    const struct field_context context = report_context(report);
    const struct ooms *ooms = &report->ooms;
    if (ooms->total > ooms->count)
        json_put_count(json, "ooms_total", ooms->total);
    json_put_rows(json, &oom_type, ooms->items, ooms->count, &context);
}
