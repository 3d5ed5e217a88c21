/* A row for each strategy and rank. */
#include "render/core/records.h"
#include "render/core/rows.h"
#include "render/shard/shard.h"

struct rank_row {
    const struct shard_row *row;
    const struct shard_rank *rank;
    int64_t world, traffic_bytes;
};

static const struct shard_rank *rank_of(const void *row)
{
    return ((const struct rank_row *)row)->rank;
}

static struct value strategy(const void *row, const struct field_context *context)
{
    (void)context;
    return value_word(shard_strategy_name(((const struct rank_row *)row)->row->result.strategy));
}

static struct value checkpointed(const void *row, const struct field_context *context)
{
    (void)context;
    return value_flag(((const struct rank_row *)row)->row->is_checkpointed);
}

static struct value fits(const void *row, const struct field_context *context)
{
    const struct rank_row *at = row;
    uint64_t gpu = *(const uint64_t *)context->user;
    return gpu > 0 ? value_flag((uint64_t)at->rank->peak_bytes <= gpu) : value_none();
}

#define RANK_VALUE(name_, member_)                                                                 \
    static struct value name_(const void *row, const struct field_context *context)                \
    {                                                                                              \
        (void)context;                                                                             \
        return value_integer(rank_of(row)->member_);                                               \
    }

RANK_VALUE(rank_number, rank)
RANK_VALUE(peak, peak_bytes)
RANK_VALUE(parameters, at_peak.parameter_bytes)
RANK_VALUE(gradients, at_peak.gradient_bytes)
RANK_VALUE(states, at_peak.optimizer_state_bytes)
RANK_VALUE(activations, at_peak.activation_bytes)
RANK_VALUE(buffers, at_peak.buffer_bytes)
RANK_VALUE(host, host_bytes)

static struct value phase(const void *row, const struct field_context *context)
{
    (void)context;
    return value_word(shard_phase_name(rank_of(row)->peak_phase));
}

#define ROW struct rank_row
static const struct row_type row_type =
    ROW_TYPE("shard", ROW, FIELD(ROW, NUMBER, world), FIELD_CALL(WORD, "strategy", strategy),
             FIELD_CALL(FLAG, "checkpointed", checkpointed),
             FIELD_CALL(NUMBER, "rank", rank_number), FIELD_CALL(BYTES, "peak_bytes", peak),
             FIELD_CALL(FLAG, "fits", fits), FIELD_CALL(BYTES, "parameter_bytes", parameters),
             FIELD_CALL(BYTES, "gradient_bytes", gradients),
             FIELD_CALL(BYTES, "optimizer_state_bytes", states),
             FIELD_CALL(BYTES, "activation_bytes", activations),
             FIELD_CALL(BYTES, "buffer_bytes", buffers), FIELD_CALL(BYTES, "host_bytes", host),
             FIELD_CALL(WORD, "phase", phase), FIELD(ROW, BYTES, traffic_bytes));
#undef ROW

static bool put_ranks(struct record_writer *records, const struct shard_report *report,
                      const struct shard_row *row, struct error *err)
{
    const struct field_context context = {.user = &report->choice->gpu_bytes};
    for (size_t i = 0; i < row->result.rank_count; i++) {
        const struct rank_row line = {row, &row->result.ranks[i], report->options->world,
                                      shard_traffic_sum(&row->result.traffic)};
        if (!record_put_row(records, &line, &context, err))
            return false;
    }
    return true;
}

bool shard_csv(FILE *out, const struct shard_report *report, struct error *err)
{
    struct record_writer records;
    if (!records_begin(&records, out, RECORDS_CSV, &row_type, err))
        return false;
    for (size_t i = 0; i < report->choice->count; i++) {
        if (!put_ranks(&records, report, &report->choice->rows[i], err)) {
            records_release(&records);
            return false;
        }
    }
    return records_end(&records, err);
}
