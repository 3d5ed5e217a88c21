#include <inttypes.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/core/table.h"
#include "render/shard/by_unit.h"
#include "render/shard/shard.h"
#include "render/shard/words.h"

/* "8 ranks, 25,557,032 parameters in 16 units, adam" */
static bool headline(const struct page *page, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    struct buffer text = BUFFER_INIT;
    char ranks[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE];
    size_t units = report->model->unit_count - 1;
    buffer_printf(&text, "%s rank%s, %s parameters in %zu unit%s and the root, %s",
                  units_count(ranks, (uint64_t)options->world), options->world == 1 ? "" : "s",
                  units_count(count, (uint64_t)shard_elements(report->model)), units,
                  units == 1 ? "" : "s", options->optimizer->name);
    if (options->custom_state >= 0)
        buffer_printf(&text, " with %" PRId64 " B of state a parameter", options->custom_state);
    if (options->has_master)
        buffer_puts(&text, " with a float32 copy of the parameters");
    if (options->has_main_gradients)
        buffer_puts(&text,
                    options->has_master ? " and float32 gradients" : " with float32 gradients");
    if (options->batch != 1)
        buffer_printf(&text, ", %g times the batch", options->batch);
    if (options->accumulation > 1)
        buffer_printf(&text, ", %" PRId64 " backward passes a step", options->accumulation);
    if (report->choice->gpu_bytes > 0)
        buffer_printf(&text, "; GPU memory: %s", page_size(page, size, report->choice->gpu_bytes));
    bool ok = !text.failed;
    if (ok)
        page_paragraph(page, 0, 0, text.bytes);
    buffer_release(&text);
    return ok;
}

static void add_size(struct table *table, const struct page *page, int64_t bytes)
{
    char text[UNITS_TEXT_SIZE];
    table_add(table, page_bytes(page, text, bytes));
}

static int64_t lowest_peak(const struct shard_result *result)
{
    int64_t lowest = result->peak_bytes;
    for (size_t i = 0; i < result->rank_count; i++)
        if (result->ranks[i].peak_bytes < lowest)
            lowest = result->ranks[i].peak_bytes;
    return lowest;
}

/* "fsdp + checkpoints" */
static void add_name(struct table *table, const struct shard_row *row)
{
    char text[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text), "%s%s", shard_strategy_name(row->result.strategy),
             row->is_checkpointed ? " + checkpoints" : "");
    table_add(table, text);
}

enum { EXTRA_COLUMN = 7, COMPARISON_COLUMNS = 9, KIND_COLUMNS = 8 };

static const struct table_column comparison_columns[COMPARISON_COLUMNS] = {
    {"strategy", COLUMN_LABEL, 0, 0, 0},     {"peak a rank", COLUMN_NUMBER, 0, 0, 0},
    {"lowest rank", COLUMN_NUMBER, 0, 0, 3}, {"on the host", COLUMN_NUMBER, 0, 0, 0},
    {"sent a step", COLUMN_NUMBER, 0, 0, 0}, {"of ddp", COLUMN_NUMBER, 0, 0, 2},
    {"time", COLUMN_NUMBER, 0, 0, 1},        {"extra", COLUMN_NUMBER, 0, 0, 0},
    {"fits", COLUMN_LABEL, 0, 0, 0},
};

static const char *percent(char text[UNITS_TEXT_SIZE], double share)
{
    snprintf(text, UNITS_TEXT_SIZE, "%.1f%%", 100 * share);
    return text;
}

static void add_comparison(struct table *table, const struct page *page,
                           const struct shard_report *report, const struct shard_row *row)
{
    const struct shard_result *result = &row->result;
    const struct shard_row *ddp = shard_choice_row(report->choice, SHARD_DDP);
    char text[UNITS_TEXT_SIZE];
    add_name(table, row);
    add_size(table, page, result->peak_bytes);
    add_size(table, page, lowest_peak(result));
    if (shard_highest_rank(result)->host_bytes > 0)
        add_size(table, page, shard_highest_rank(result)->host_bytes);
    else
        table_add(table, "");
    add_size(table, page, shard_traffic_sum(&result->traffic));
    table_add(table, page_share(text, shard_traffic_sum(&result->traffic),
                                shard_traffic_sum(&ddp->result.traffic)));
    if (result->traffic.us > 0)
        snprintf(text, sizeof(text), "%.1f ms", result->traffic.us / 1e3);
    else
        snprintf(text, sizeof(text), "%s", "");
    table_add(table, text);
    table_add(table, row->is_checkpointed ? percent(text, row->extra.share) : "");
    bool runs = shard_choice_runs(report->choice, result->strategy);
    table_add(table, !runs                   ? "stops"
                     : !row->is_known_to_fit ? ""
                     : row->has_room         ? "yes"
                     : row->fits             ? "tight"
                                             : "no");
}

static const struct table_column kind_columns[KIND_COLUMNS] = {
    {"at the peak", COLUMN_LABEL, 0, 0, 0},  {"parameters", COLUMN_NUMBER, 0, 0, 0},
    {"gradients", COLUMN_NUMBER, 0, 0, 0},   {"state", COLUMN_NUMBER, 0, 0, 0},
    {"activations", COLUMN_NUMBER, 0, 0, 0}, {"buffers", COLUMN_NUMBER, 0, 0, 0},
    {"in", COLUMN_LABEL, 0, 0, 1},           {"unit", COLUMN_TEXT, 0, 0, 2},
};

static void add_kinds(struct table *table, const struct page *page,
                      const struct shard_report *report, const struct shard_row *row)
{
    const struct shard_rank *rank = shard_highest_rank(&row->result);
    struct text unit = report->model->units[rank->peak_unit].name;
    add_name(table, row);
    add_size(table, page, rank->at_peak.parameter_bytes);
    add_size(table, page, rank->at_peak.gradient_bytes);
    add_size(table, page, rank->at_peak.optimizer_state_bytes);
    add_size(table, page, rank->at_peak.activation_bytes);
    add_size(table, page, rank->at_peak.buffer_bytes);
    table_add(table, shard_phase_name(rank->peak_phase));
    if (unit.size > 0)
        table_add_input(table, unit.bytes, unit.size);
    else
        table_add(table, rank->peak_unit == SHARD_ROOT ? "" : "a unit");
}

typedef void row_adder(struct table *table, const struct page *page,
                       const struct shard_report *report, const struct shard_row *row);

/* A row for each strategy. */
static bool put_table(const struct page *page, const struct shard_report *report,
                      const struct table_column *columns, size_t column_count, row_adder *add)
{
    struct table table;
    table_init(&table, columns, column_count);
    for (size_t i = 0; i < report->choice->count; i++)
        add(&table, page, report, &report->choice->rows[i]);
    bool ok = !table_failed(&table);
    fputc('\n', page->out);
    if (ok)
        table_print(&table, page, 0);
    table_release(&table);
    return ok;
}

/* Without times the cost of checkpoints is what they make again. */
static bool put_comparison(const struct page *page, const struct shard_report *report)
{
    struct table_column columns[COMPARISON_COLUMNS];
    const struct shard_row *last = &report->choice->rows[report->choice->count - 1];
    memcpy(columns, comparison_columns, sizeof(columns));
    if (!last->extra.is_time)
        columns[EXTRA_COLUMN].title = "again";
    return put_table(page, report, columns, COMPARISON_COLUMNS, add_comparison);
}

/* The strategy of the code, or else the one that the words are about. */
static const struct shard_row *shown_row(const struct shard_report *report)
{
    const struct shard_choice *choice = report->choice;
    for (size_t i = 0; report->has_code && i < choice->count; i++)
        if (choice->rows[i].result.strategy == report->code &&
            choice->rows[i].is_checkpointed == report->is_checkpointed)
            return &choice->rows[i];
    return &choice->rows[choice->row];
}

bool shard_text(const struct page *page, const struct shard_report *report, struct error *err)
{
    bool ok = headline(page, report) && put_comparison(page, report) &&
              put_table(page, report, kind_columns, KIND_COLUMNS, add_kinds) &&
              shard_tell(page, report);
    if (!ok)
        return error_out_of_memory(err);
    if (report->has_modules_table && !shard_text_by_unit(page, report, shown_row(report), err))
        return false;
    if (!report->has_code)
        return true;
    fputc('\n', page->out);
    return shard_python(page->out, report) || error_out_of_memory(err);
}
