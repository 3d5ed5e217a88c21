#include "render/shard/curves.h"

#include "analysis/shard/curves.h"
#include "render/core/records.h"
#include "render/core/rows.h"

static struct value moment_phase(const void *row, const struct field_context *context)
{
    (void)context;
    return value_word(shard_phase_name(((const struct shard_moment *)row)->phase));
}

static struct value unit_name(const struct shard_model *model, uint32_t unit)
{
    return (struct value){VALUE_TEXT, .text = model->units[unit].name};
}

static struct value moment_unit(const void *row, const struct field_context *context)
{
    return unit_name(context->user, ((const struct shard_moment *)row)->unit);
}

#define ROW struct shard_moment
static const struct row_type moment_type = ROW_TYPE(
    "curve", ROW, FIELD_CALL(WORD, "phase", moment_phase), FIELD_CALL(TEXT, "unit", moment_unit),
    FIELD_AS(ROW, BYTES, "parameter_bytes", memory.parameter_bytes),
    FIELD_AS(ROW, BYTES, "gradient_bytes", memory.gradient_bytes),
    FIELD_AS(ROW, BYTES, "optimizer_state_bytes", memory.optimizer_state_bytes),
    FIELD_AS(ROW, BYTES, "activation_bytes", memory.activation_bytes),
    FIELD_AS(ROW, BYTES, "buffer_bytes", memory.buffer_bytes));
#undef ROW

static const struct shard_model *model_of(const struct shard_report *report,
                                          const struct shard_row *row)
{
    return row->is_checkpointed ? report->checkpointed : report->model;
}

struct json_curves {
    struct json_writer *json;
    struct field_context context;
};

static void put_columns(struct json_writer *json, const struct shard_columns *curve,
                        const struct field_context *context)
{
    json_put_rows(json, &moment_type, curve->columns, curve->count, context);
}

static bool put_group(void *self, const struct shard_curve_group *group, struct error *err)
{
    struct json_curves *to = self;
    (void)err;
    json_put_open(to->json, NULL, '{');
    json_put_integer(to->json, "first_rank", group->first_rank);
    json_put_integer(to->json, "last_rank", group->last_rank);
    json_put_integer(to->json, "peak_bytes", shard_memory_sum(&group->peak->memory));
    json_put_row(to->json, "peak", &moment_type, group->peak, &to->context);
    put_columns(to->json, group->columns, &to->context);
    json_put_close(to->json, '}');
    return true;
}

bool shard_json_curves(struct json_writer *json, const struct shard_report *report,
                       const struct shard_row *row, struct error *err)
{
    const struct shard_model *model = model_of(report, row);
    struct json_curves to = {json, {.user = model}};
    struct shard_columns curve;
    if (!shard_columns_make(&curve, model, report->options, row->result.strategy,
                            row->result.peak_rank, err))
        return false;
    json_put_count(json, "curve_moments", curve.moments);
    put_columns(json, &curve, &to.context);
    json_put_open(json, "rank_curves", '[');
    bool ok = shard_curves_each(model, report->options, &row->result, put_group, &to, err);
    json_put_close(json, ']');
    return ok;
}

/* A column of the curve of some ranks, as a row of CSV. */
struct curve_line {
    const struct shard_row *row;
    const struct shard_moment *moment;
    int64_t world, first_rank, last_rank, column;
};

static struct value line_strategy(const void *row, const struct field_context *context)
{
    (void)context;
    const struct curve_line *line = row;
    return value_word(shard_strategy_name(line->row->result.strategy));
}

static struct value line_checkpointed(const void *row, const struct field_context *context)
{
    (void)context;
    return value_flag(((const struct curve_line *)row)->row->is_checkpointed);
}

static struct value line_phase(const void *row, const struct field_context *context)
{
    return moment_phase(((const struct curve_line *)row)->moment, context);
}

static struct value line_unit(const void *row, const struct field_context *context)
{
    return moment_unit(((const struct curve_line *)row)->moment, context);
}

#define MOMENT_VALUE(name_, value_)                                                                \
    static struct value name_(const void *row, const struct field_context *context)                \
    {                                                                                              \
        const struct shard_memory *memory = &((const struct curve_line *)row)->moment->memory;     \
        (void)context;                                                                             \
        return value_integer(value_);                                                              \
    }

MOMENT_VALUE(line_all, shard_memory_sum(memory))
MOMENT_VALUE(line_parameters, memory->parameter_bytes)
MOMENT_VALUE(line_gradients, memory->gradient_bytes)
MOMENT_VALUE(line_states, memory->optimizer_state_bytes)
MOMENT_VALUE(line_activations, memory->activation_bytes)
MOMENT_VALUE(line_buffers, memory->buffer_bytes)

#define ROW struct curve_line
static const struct row_type line_type = ROW_TYPE(
    "curves", ROW, FIELD(ROW, NUMBER, world), FIELD_CALL(WORD, "strategy", line_strategy),
    FIELD_CALL(FLAG, "checkpointed", line_checkpointed), FIELD(ROW, NUMBER, first_rank),
    FIELD(ROW, NUMBER, last_rank), FIELD(ROW, NUMBER, column),
    FIELD_CALL(WORD, "phase", line_phase), FIELD_CALL(TEXT, "unit", line_unit),
    FIELD_CALL(BYTES, "bytes", line_all), FIELD_CALL(BYTES, "parameter_bytes", line_parameters),
    FIELD_CALL(BYTES, "gradient_bytes", line_gradients),
    FIELD_CALL(BYTES, "optimizer_state_bytes", line_states),
    FIELD_CALL(BYTES, "activation_bytes", line_activations),
    FIELD_CALL(BYTES, "buffer_bytes", line_buffers));
#undef ROW

struct csv_curves {
    struct record_writer records;
    const struct shard_row *row;
    int64_t world;
    struct field_context context;
};

static bool put_lines(void *self, const struct shard_curve_group *group, struct error *err)
{
    struct csv_curves *to = self;
    for (size_t i = 0; i < group->columns->count; i++) {
        const struct curve_line line = {to->row,          &group->columns->columns[i],
                                        to->world,        group->first_rank,
                                        group->last_rank, (int64_t)i};
        if (!record_put_row(&to->records, &line, &to->context, err))
            return false;
    }
    return true;
}

bool shard_curves_csv(FILE *out, const struct shard_report *report, struct error *err)
{
    struct csv_curves to = {.world = report->options->world};
    if (!records_begin(&to.records, out, RECORDS_CSV, &line_type, err))
        return false;
    for (size_t i = 0; i < report->choice->count; i++) {
        to.row = &report->choice->rows[i];
        to.context.user = model_of(report, to.row);
        if (!shard_curves_each(to.context.user, report->options, &to.row->result, put_lines, &to,
                               err)) {
            records_release(&to.records);
            return false;
        }
    }
    return records_end(&to.records, err);
}
