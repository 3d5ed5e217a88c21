#include <inttypes.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/core/table.h"
#include "render/shard/by_unit.h"
#include "render/shard/shard.h"
#include "render/shard/stops.h"

#define LONGEST_NAME 200

static void paragraph(const struct page *page, const char *text)
{
    page_paragraph(page, 0, 0, text);
}

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
    if (options->batch != 1)
        buffer_printf(&text, ", %g times the batch", options->batch);
    if (options->accumulation > 1)
        buffer_printf(&text, ", %" PRId64 " backward passes a step", options->accumulation);
    if (report->choice->gpu_bytes > 0)
        buffer_printf(&text, "; GPU memory: %s", page_size(page, size, report->choice->gpu_bytes));
    bool ok = !text.failed;
    if (ok)
        paragraph(page, text.bytes);
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

static const struct shard_rank *highest_rank(const struct shard_result *result)
{
    for (size_t i = 0; i < result->rank_count; i++)
        if (result->ranks[i].rank == result->peak_rank)
            return &result->ranks[i];
    return result->ranks;
}

/* "fsdp + checkpoints" */
static void add_name(struct table *table, const struct shard_row *row)
{
    char text[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text), "%s%s", shard_strategy_name(row->result.strategy),
             row->is_checkpointed ? " + checkpoints" : "");
    table_add(table, text);
}

enum { COLUMNS = 8 }; /* of either table */

static const struct table_column comparison_columns[COLUMNS] = {
    {"strategy", COLUMN_LABEL, 0, 0, 0},     {"peak a rank", COLUMN_NUMBER, 0, 0, 0},
    {"lowest rank", COLUMN_NUMBER, 0, 0, 3}, {"on the host", COLUMN_NUMBER, 0, 0, 0},
    {"sent a step", COLUMN_NUMBER, 0, 0, 0}, {"of ddp", COLUMN_NUMBER, 0, 0, 2},
    {"time", COLUMN_NUMBER, 0, 0, 1},        {"fits", COLUMN_LABEL, 0, 0, 0},
};

static void add_comparison(struct table *table, const struct page *page,
                           const struct shard_report *report, const struct shard_row *row)
{
    const struct shard_result *result = &row->result;
    const struct shard_row *ddp = shard_choice_row(report->choice, SHARD_DDP);
    char text[UNITS_TEXT_SIZE];
    add_name(table, row);
    add_size(table, page, result->peak_bytes);
    add_size(table, page, lowest_peak(result));
    if (highest_rank(result)->host_bytes > 0)
        add_size(table, page, highest_rank(result)->host_bytes);
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
    bool runs = shard_choice_runs(report->choice, result->strategy);
    table_add(table, !runs ? "stops" : !row->is_known_to_fit ? "" : row->fits ? "yes" : "no");
}

static const struct table_column kind_columns[COLUMNS] = {
    {"at the peak", COLUMN_LABEL, 0, 0, 0},  {"parameters", COLUMN_NUMBER, 0, 0, 0},
    {"gradients", COLUMN_NUMBER, 0, 0, 0},   {"state", COLUMN_NUMBER, 0, 0, 0},
    {"activations", COLUMN_NUMBER, 0, 0, 0}, {"buffers", COLUMN_NUMBER, 0, 0, 0},
    {"in", COLUMN_LABEL, 0, 0, 1},           {"unit", COLUMN_TEXT, 0, 0, 2},
};

static void add_kinds(struct table *table, const struct page *page,
                      const struct shard_report *report, const struct shard_row *row)
{
    const struct shard_rank *rank = highest_rank(&row->result);
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
                      const struct table_column *columns, row_adder *add)
{
    struct table table;
    table_init(&table, columns, COLUMNS);
    for (size_t i = 0; i < report->choice->count; i++)
        add(&table, page, report, &report->choice->rows[i]);
    bool ok = !table_failed(&table);
    fputc('\n', page->out);
    if (ok)
        table_print(&table, page, 0);
    table_release(&table);
    return ok;
}

/* "Its peak is in the backward pass of blocks.5." */
static void add_peak(struct buffer *text, const struct shard_report *report)
{
    static const char *const phases[] = {
        [SHARD_FORWARD] = "in the forward pass",
        [SHARD_BACKWARD] = "in the backward pass",
        [SHARD_RECOMPUTATION] = "in the recomputation",
        [SHARD_REDUCTION] = "in the reduction of gradients",
        [SHARD_STEP] = "in the step of the optimizer",
    };
    const struct shard_choice *choice = report->choice;
    const struct shard_rank *rank = highest_rank(&choice->rows[choice->row].result);
    struct text unit = report->model->units[rank->peak_unit].name;
    buffer_printf(text, " Its peak is %s", phases[rank->peak_phase]);
    if (unit.size > 0 && unit.size <= LONGEST_NAME) {
        buffer_puts(text, " of ");
        escape_text(text, unit.bytes, unit.size);
    }
    if (report->model->unit_count > 1 && rank->peak_unit == SHARD_ROOT &&
        rank->peak_phase != SHARD_STEP)
        buffer_puts(text, ", outside of the units");
    buffer_printf(text, ", on rank %" PRIu32 ".", rank->rank);
}

static void add_reason(struct buffer *text, const struct shard_choice *choice)
{
    const struct shard_row *row = &choice->rows[choice->row];
    const char *name = shard_strategy_name(row->result.strategy);
    const char *checkpoints = row->is_checkpointed ? " with checkpoints" : "";
    switch (choice->reason) {
    case SHARD_SIMPLEST:
        buffer_printf(text, "Use %s%s: every rank fits without sharding, and nothing sends less.",
                      name, checkpoints);
        break;
    case SHARD_LEAST_COST:
        buffer_printf(text, "Use %s%s: of those that fit, it %s.", name, checkpoints,
                      row->is_checkpointed ? "costs the least time" : "sends the least");
        break;
    case SHARD_NONE_FITS:
        buffer_printf(text, "None fits; %s%s needs the least.", name, checkpoints);
        break;
    default:
        buffer_puts(text, "Give --gpu for a recommendation.");
    }
    if (choice->is_stateless)
        buffer_puts(text, " The optimizer has no state, so zero and oss save nothing.");
}

static bool knows_rows(const struct shard_model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].rows == 0)
            return false;
    return true;
}

/* By how much fsdp2 may err where the first dimensions are not known. */
static bool put_padding(const struct page *page, const struct shard_options *options)
{
    struct buffer text = BUFFER_INIT;
    int64_t ranks = options->group > 0 ? options->group : options->world;
    buffer_printf(&text,
                  "The input does not tell the shapes of parameters. fsdp2 pads those that have "
                  "fewer rows than there are ranks, such as the weights of all experts in one "
                  "tensor, so it may take more than predicted: a parameter of r rows takes "
                  "%" PRId64 "/r times its size on %" PRId64
                  " ranks. A layer trace has the shapes.",
                  ranks, ranks);
    bool ok = !text.failed;
    if (ok)
        paragraph(page, text.bytes);
    buffer_release(&text);
    return ok;
}

static const char divides_flat[] =
    "Some units have parameters of several types, or both trained and frozen ones. The code of "
    "fsdp1 makes units of modules that differ from the rest of their unit, because a flat "
    "parameter has one type, and gets gradients as a whole.";

static const char divides_both[] =
    "Some units have trained parameters of several types. The code of fsdp1 and fsdp2 makes units "
    "of modules that differ from the rest of their unit, because the libraries take trained "
    "parameters of one type in a unit.";

static bool put_words(const struct page *page, const struct shard_report *report)
{
    struct buffer text = BUFFER_INIT;
    add_reason(&text, report->choice);
    if (report->choice->reason != SHARD_NO_GPU)
        add_peak(&text, report);
    bool ok = !text.failed;
    fputc('\n', page->out);
    if (ok)
        paragraph(page, text.bytes);
    buffer_release(&text);
    fputc('\n', page->out);
    paragraph(page, "Peaks are active memory. Not included: the CUDA context, NCCL's own buffers, "
                    "workspaces of libraries that the input does not show, rounding and "
                    "fragmentation in the allocator.");
    if (report->model->unit_count == 1)
        paragraph(page,
                  "No units were found, so fsdp, fsdp1 and fsdp2 gather the whole model at once; "
                  "--granularity tells where to divide it.");
    if (report->model->hides_units)
        paragraph(
            page,
            "The modules of a Sequential all allocate at the same line of code, as far as the "
            "file shows, so they cannot be told apart: units are parts of them, but the code "
            "wraps the whole modules. fsdp, fsdp1, fsdp2 and checkpoints may take less or more "
            "than predicted; "
            "a layer trace has the modules.");
    ok &= shard_put_stops(page, report->choice);
    if (report->choice->divides[SHARD_FSDP1])
        paragraph(page, report->choice->divides[SHARD_FSDP2] ? divides_both : divides_flat);
    if (!report->model->has_tensors)
        paragraph(page, "The input has the sum of each module's parameters, not the tensors: the "
                        "balance of zero, oss and sdp and the padding of fsdp2 are estimates.");
    else if (!knows_rows(report->model))
        ok &= put_padding(page, report->options);
    if (report->model->assumes_type)
        paragraph(page, "The input does not tell the type of parameters; float32 is assumed, and "
                        "--recorded-dtype names another one. Recorded in bfloat16, there are twice "
                        "as many parameters as said here, and what --dtype and --param-dtype make "
                        "of them is twice as large. Where parameters have several types, the code "
                        "may stop, unless it is that of ddp; a layer trace has the types.");
    if (!report->model->has_backward)
        paragraph(page, "The input does not show the memory of the backward pass; it was derived "
                        "from what layers keep.");
    return ok;
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
    bool ok = headline(page, report) &&
              put_table(page, report, comparison_columns, add_comparison) &&
              put_table(page, report, kind_columns, add_kinds) && put_words(page, report);
    if (!ok)
        return error_out_of_memory(err);
    if (report->has_modules_table && !shard_text_by_unit(page, report, shown_row(report), err))
        return false;
    if (!report->has_code)
        return true;
    fputc('\n', page->out);
    return shard_python(page->out, report) || error_out_of_memory(err);
}
