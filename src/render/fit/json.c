#include "analysis/fit/summary.h"
#include "render/core/rows.h"
#include "render/fit/fit.h"

#define SCHEMA "memsnap.fit/1"

static const char *result_name(unsigned result)
{
    return fit_result_names[result];
}

#define ROW struct fit_run
static const struct row_type run_type =
    ROW_TYPE("runs", ROW, FIELD(ROW, NUMBER, value), FIELD(ROW, NAME, result, .name = result_name),
             FIELD_AS(ROW, BYTES, "peak_active_bytes", active_bytes, IF(ROW, has_peaks)),
             FIELD_AS(ROW, BYTES, "peak_reserved_bytes", reserved_bytes, IF(ROW, has_peaks)),
             FIELD(ROW, COUNT, ooms), FIELD(ROW, DURATION, duration_us),
             FIELD(ROW, BYTES, host_bytes, .flags = FIELD_SKIP_ZERO), FIELD(ROW, LABEL, failure));
#undef ROW

#define ROW struct fit_gpu
static const struct row_type gpu_type =
    ROW_TYPE("gpus", ROW, FIELD(ROW, LABEL, name), FIELD(ROW, LABEL, product),
             FIELD(ROW, BYTES, memory_bytes), FIELD(ROW, BYTES, other_bytes));
#undef ROW

static void put_value(struct json_writer *json, const char *key, const struct fit_run *run)
{
    if (run)
        json_put_count(json, key, run->value);
    else
        json_put_null(json, key);
}

static void put_pair(struct json_writer *json, const char *what, const struct fit_pair *pair)
{
    if (!pair->low)
        return;
    json_put_open(json, NULL, '{');
    json_put_string(json, "kind", what);
    json_put_count(json, "from", pair->low->value);
    json_put_count(json, "to", pair->high->value);
    json_put_close(json, '}');
}

static void put_gpu(struct json_writer *json, const struct fit_gpu *gpu)
{
    const struct field_context context = {0};
    struct fit_summary summary;
    fit_summarize(gpu, &summary);
    json_put_open(json, NULL, '{');
    json_put_fields(json, &gpu_type, gpu, &context);
    put_value(json, "largest", summary.largest);
    put_value(json, "limit", summary.limit);
    put_value(json, "fits_above_limit", summary.fits_again.high);
    json_put_open(json, "not_monotone", '[');
    put_pair(json, "fits", &summary.fits_again);
    put_pair(json, "peak_active", &summary.active_falls);
    put_pair(json, "peak_reserved", &summary.reserved_falls);
    json_put_close(json, ']');
    json_put_rows(json, &run_type, gpu->runs, gpu->run_count, &context);
    json_put_close(json, '}');
}

bool fit_json(FILE *out, const struct fit *fit)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_string(&json, "variable", fit->variable);
    json_put_string(&json, "values", fit->values);
    json_put_open(&json, "command", '[');
    for (size_t i = 0; i < fit->command_count; i++)
        json_put_string(&json, NULL, fit->command[i]);
    json_put_close(&json, ']');
    json_put_count(&json, "steps", fit->steps);
    json_put_open(&json, gpu_type.name, '[');
    for (size_t i = 0; i < fit->gpu_count; i++)
        put_gpu(&json, &fit->gpus[i]);
    json_put_close(&json, ']');
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
