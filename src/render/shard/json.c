#include "render/core/rows.h"
#include "render/shard/by_unit.h"
#include "render/shard/curves.h"
#include "render/shard/shard.h"

#define SCHEMA "memsnap.shard/1"

static struct value phase_of(const void *row, const struct field_context *context)
{
    (void)context;
    return value_word(shard_phase_name(((const struct shard_rank *)row)->peak_phase));
}

static struct value unit_of(const void *row, const struct field_context *context)
{
    const struct shard_model *model = context->user;
    struct text name = model->units[((const struct shard_rank *)row)->peak_unit].name;
    return (struct value){VALUE_TEXT, .text = name};
}

#define ROW struct shard_rank
static const struct row_type rank_type = ROW_TYPE(
    "ranks", ROW, FIELD(ROW, NUMBER, rank), FIELD(ROW, BYTES, peak_bytes),
    FIELD(ROW, BYTES, first_peak_bytes, IF(ROW, first_peak_bytes)),
    FIELD_AS(ROW, BYTES, "parameter_bytes", held_parameter_bytes),
    FIELD_AS(ROW, BYTES, "gradient_bytes", at_peak.gradient_bytes),
    FIELD_AS(ROW, BYTES, "optimizer_state_bytes", held_state_bytes),
    FIELD_AS(ROW, BYTES, "activation_bytes", at_peak.activation_bytes),
    FIELD_AS(ROW, BYTES, "buffer_bytes", at_peak.buffer_bytes), FIELD(ROW, BYTES, host_bytes),
    FIELD_AS(ROW, BYTES, "parameter_bytes_at_peak", at_peak.parameter_bytes),
    FIELD_AS(ROW, BYTES, "optimizer_state_bytes_at_peak", at_peak.optimizer_state_bytes),
    FIELD_CALL(WORD, "peak_phase", phase_of), FIELD_CALL(TEXT, "peak_unit", unit_of));
#undef ROW

static void put_options(struct json_writer *json, const struct shard_options *options,
                        enum shard_strategy strategy)
{
    static const char *const reshard_words[] = {
        [SHARD_RESHARD] = "true", [SHARD_KEEP] = "false", [SHARD_RESHARD_LAST] = "last"};
    static const char *const prefetch_words[] = {[SHARD_PREFETCH_PRE] = "pre",
                                                 [SHARD_PREFETCH_POST] = "post",
                                                 [SHARD_PREFETCH_NONE] = "none"};
    bool is_sharded = shard_is_full(strategy);
    json_put_open(json, "options", '{');
    json_put_string(json, "optimizer", options->optimizer->name);
    json_put_bool(json, "master_copy", options->has_master);
    json_put_bool(json, "main_gradients", options->has_main_gradients);
    json_put_real(json, "batch", options->batch);
    json_put_integer(json, "accumulation", options->accumulation);
    if (is_sharded) {
        json_put_integer(json, "group",
                         shard_has_groups(strategy) && options->group > 0 ? options->group
                                                                          : options->world);
        json_put_string(json, "reshard_after_forward", reshard_words[options->reshard]);
        json_put_bool(json, "offload", options->offload);
    }
    if (strategy == SHARD_FSDP1) {
        json_put_string(json, "backward_prefetch", prefetch_words[options->backward_prefetch]);
        json_put_bool(json, "forward_prefetch", options->forward_prefetch > 0);
        json_put_bool(json, "use_orig_params", !options->has_flat_parameters);
    }
    if (strategy == SHARD_FSDP2) {
        json_put_integer(json, "prefetch", options->prefetch);
        json_put_integer(json, "forward_prefetch", options->forward_prefetch);
    }
    if (strategy == SHARD_DDP || strategy == SHARD_ZERO)
        json_put_bool(json, "gradient_as_bucket_view", options->bucket_view);
    if (strategy == SHARD_SDP)
        json_put_integer(json, "reduce_buffer_size", options->reduce_buffer);
    if (strategy == SHARD_OSS || strategy == SHARD_SDP)
        json_put_bool(json, "broadcast_fp16", options->half_broadcast);
    json_put_close(json, '}');
}

static void put_traffic(struct json_writer *json, const char *key, const int64_t *values)
{
    json_put_open(json, key, '{');
    for (int i = 0; i < SHARD_COLLECTIVES; i++)
        json_put_integer(json, shard_collective_name((enum shard_collective)i), values[i]);
    json_put_close(json, '}');
}

/* Nothing runs again without checkpoints. */
static void put_extra(struct json_writer *json, const struct shard_row *row)
{
    const struct shard_extra *extra = &row->extra;
    if (!row->is_checkpointed || extra->is_time) {
        json_put_real(json, "extra_time_share", extra->share);
    } else {
        json_put_null(json, "extra_time_share");
        json_put_real(json, "recomputed_share", extra->share);
    }
    if (row->is_checkpointed && extra->flops_share >= 0)
        json_put_real(json, "extra_flops_share", extra->flops_share);
}

static void put_fit(struct json_writer *json, const char *key, const struct shard_row *row,
                    bool value)
{
    if (row->is_known_to_fit)
        json_put_bool(json, key, value);
    else
        json_put_null(json, key);
}

static bool put_row(struct json_writer *json, const struct shard_report *report,
                    const struct shard_row *row, struct error *err)
{
    const struct field_context context = {.user = report->model};
    const struct shard_result *result = &row->result;
    json_put_open(json, NULL, '{');
    json_put_string(json, "name", shard_strategy_name(result->strategy));
    put_options(json, report->options, result->strategy);
    json_put_bool(json, "checkpointed", row->is_checkpointed);
    json_put_integer(json, "peak_bytes", result->peak_bytes);
    if (row->most_bytes > 0) {
        json_put_integer(json, "least_peak_bytes", row->least_bytes);
        json_put_integer(json, "most_peak_bytes", row->most_bytes);
    }
    json_put_integer(json, "peak_rank", result->peak_rank);
    if (row->early_bytes > 0) {
        json_put_integer(json, "early_rank", row->early_rank);
        json_put_integer(json, "early_peak_bytes", row->early_bytes);
    }
    put_fit(json, "fits", row, row->fits);
    put_fit(json, "has_room", row, row->has_room);
    json_put_bool(json, "runs", shard_choice_runs(report->choice, result->strategy));
    json_put_rows(json, &rank_type, result->ranks, result->rank_count, &context);
    put_traffic(json, "traffic_bytes", result->traffic.bytes);
    put_traffic(json, "traffic_calls", result->traffic.calls);
    if (result->traffic.us > 0)
        json_put_real(json, "traffic_us", result->traffic.us);
    put_extra(json, row);
    bool ok = (!report->has_curve || shard_json_curves(json, report, row, err)) &&
              (!report->has_modules_table || shard_json_by_unit(json, report, row, err));
    json_put_close(json, '}');
    return ok;
}

bool shard_json(FILE *out, const struct shard_report *report, struct error *err)
{
    const struct shard_choice *choice = report->choice;
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_string(&json, "source", report->source);
    json_put_integer(&json, "world", report->options->world);
    if (choice->gpu_bytes > 0)
        json_put_count(&json, "gpu_bytes", choice->gpu_bytes);
    json_put_count(&json, "parameters", (uint64_t)shard_elements(report->model));
    json_put_count(&json, "units", report->model->unit_count - 1);
    json_put_count(&json, "master_copy_bytes", (uint64_t)report->model->master_bytes);
    json_put_count(&json, "main_gradient_bytes", (uint64_t)report->model->main_gradient_bytes);
    json_put_bool(&json, "hides_units", report->model->hides_units);
    json_put_open(&json, "strategies", '[');
    bool ok = true;
    for (size_t i = 0; ok && i < choice->count; i++)
        ok = put_row(&json, report, &choice->rows[i], err);
    json_put_close(&json, ']');
    bool is_known = choice->reason != SHARD_NO_GPU && choice->reason != SHARD_NONE_FITS;
    if (is_known) {
        const struct shard_row *row = &choice->rows[choice->row];
        json_put_string(&json, "recommended", shard_strategy_name(row->result.strategy));
        json_put_bool(&json, "recommended_checkpointed", row->is_checkpointed);
    } else {
        json_put_null(&json, "recommended");
    }
    json_put_close(&json, '}');
    if (!json_writer_finish(&json) && ok)
        return error_out_of_memory(err);
    return ok;
}
