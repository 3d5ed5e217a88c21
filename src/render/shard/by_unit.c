#include "render/shard/by_unit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/shard/by_unit.h"
#include "render/core/rows.h"
#include "render/core/table.h"

#define MOST_ROWS 24 /* of a text table: of more units, those that hold least share a row */

static bool make(struct shard_by_unit *table, const struct shard_report *report,
                 const struct shard_row *row, struct error *err)
{
    const struct shard_model *model = row->is_checkpointed ? report->checkpointed : report->model;
    return shard_by_unit_make(table, model, report->options, row->result.strategy,
                              row->result.peak_rank, err);
}

static struct value unit_name(const void *row, const struct field_context *context)
{
    const struct shard_model *model = context->user;
    struct text name = model->units[((const struct shard_unit_row *)row)->unit].name;
    return (struct value){VALUE_TEXT, .text = name};
}

#define ROW struct shard_unit_row
static const struct row_type unit_type =
    ROW_TYPE("modules", ROW, FIELD(ROW, NUMBER, unit), FIELD_CALL(TEXT, "name", unit_name),
             FIELD_AS(ROW, NUMBER, "parameters", elements), FIELD(ROW, FLAG, is_unsharded),
             FIELD_AS(ROW, BYTES, "parameter_bytes", in_step.parameter_bytes),
             FIELD_AS(ROW, BYTES, "gradient_bytes", in_step.gradient_bytes),
             FIELD_AS(ROW, BYTES, "optimizer_state_bytes", in_step.optimizer_state_bytes),
             FIELD_AS(ROW, BYTES, "parameter_bytes_at_peak", at_peak.parameter_bytes),
             FIELD_AS(ROW, BYTES, "gradient_bytes_at_peak", at_peak.gradient_bytes),
             FIELD_AS(ROW, BYTES, "optimizer_state_bytes_at_peak", at_peak.optimizer_state_bytes),
             FIELD_AS(ROW, BYTES, "activation_bytes_at_peak", at_peak.activation_bytes),
             FIELD_AS(ROW, BYTES, "buffer_bytes_at_peak", at_peak.buffer_bytes));
#undef ROW

static void put_rest(struct json_writer *json, const struct shard_memory *rest)
{
    json_put_open(json, "no_module", '{');
    json_put_integer(json, "parameter_bytes_at_peak", rest->parameter_bytes);
    json_put_integer(json, "gradient_bytes_at_peak", rest->gradient_bytes);
    json_put_integer(json, "optimizer_state_bytes_at_peak", rest->optimizer_state_bytes);
    json_put_integer(json, "activation_bytes_at_peak", rest->activation_bytes);
    json_put_integer(json, "buffer_bytes_at_peak", rest->buffer_bytes);
    json_put_close(json, '}');
}

bool shard_json_by_unit(struct json_writer *json, const struct shard_report *report,
                        const struct shard_row *row, struct error *err)
{
    const struct field_context context = {.user = report->model};
    struct shard_by_unit table;
    if (!make(&table, report, row, err))
        return false;
    json_put_rows(json, &unit_type, table.rows, table.count, &context);
    put_rest(json, &table.none);
    shard_by_unit_release(&table);
    return true;
}

static int64_t sum_of(const struct shard_unit_row *row)
{
    return shard_memory_sum(&row->at_peak) + shard_memory_sum(&row->in_step);
}

static int by_sum(const void *a, const void *b)
{
    const struct shard_unit_row *x = *(const struct shard_unit_row *const *)a;
    const struct shard_unit_row *y = *(const struct shard_unit_row *const *)b;
    if (sum_of(x) != sum_of(y))
        return sum_of(x) > sum_of(y) ? -1 : 1;
    return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
    const struct shard_unit_row *x = *(const struct shard_unit_row *const *)a;
    const struct shard_unit_row *y = *(const struct shard_unit_row *const *)b;
    return (x > y) - (x < y);
}

static void add_memory(struct shard_memory *to, const struct shard_memory *memory)
{
    to->parameter_bytes += memory->parameter_bytes;
    to->gradient_bytes += memory->gradient_bytes;
    to->optimizer_state_bytes += memory->optimizer_state_bytes;
    to->activation_bytes += memory->activation_bytes;
    to->buffer_bytes += memory->buffer_bytes;
}

/* The rows of the text tables: of the units that hold most, in the order of the model. */
struct shown {
    const struct shard_unit_row **rows;
    size_t count, left_out;
    struct shard_unit_row others;
};

static bool choose(struct shown *shown, const struct shard_by_unit *table)
{
    *shown = (struct shown){.rows = calloc(table->count, sizeof(*shown->rows))};
    if (!shown->rows)
        return false;
    for (size_t i = 0; i < table->count; i++)
        shown->rows[i] = &table->rows[i];
    shown->count = table->count;
    if (table->count > MOST_ROWS) {
        shown->count = MOST_ROWS - 1;
        shown->left_out = table->count - shown->count;
        qsort(shown->rows, table->count, sizeof(*shown->rows), by_sum);
    }
    for (size_t i = shown->count; i < table->count; i++) {
        shown->others.elements += shown->rows[i]->elements;
        shown->others.is_unsharded |= shown->rows[i]->is_unsharded;
        add_memory(&shown->others.at_peak, &shown->rows[i]->at_peak);
        add_memory(&shown->others.in_step, &shown->rows[i]->in_step);
    }
    qsort(shown->rows, shown->count, sizeof(*shown->rows), by_place);
    return true;
}

static void add_name(struct table *table, const struct shard_model *model, uint32_t unit)
{
    struct text name = model->units[unit].name;
    char text[40];
    snprintf(text, sizeof(text), "unit %" PRIu32, unit);
    if (unit == SHARD_ROOT)
        table_add(table, "the root");
    else if (name.size > 0)
        table_add_input(table, name.bytes, name.size);
    else
        table_add(table, text);
}

static void add_size(struct table *table, const struct page *page, int64_t bytes)
{
    char text[UNITS_TEXT_SIZE];
    table_add(table, page_bytes(page, text, bytes));
}

static const struct table_column state_columns[] = {
    {"model states", COLUMN_TEXT, CUT_START, 12, 0},
    {"count", COLUMN_NUMBER, 0, 0, 1},
    {"parameters", COLUMN_NUMBER, 0, 0, 0},
    {"gradients", COLUMN_NUMBER, 0, 0, 0},
    {"state", COLUMN_NUMBER, 0, 0, 0},
};

static void add_states(struct table *table, const struct page *page,
                       const struct shard_unit_row *row)
{
    char text[UNITS_TEXT_SIZE];
    table_add(table, units_count(text, (uint64_t)row->elements));
    add_size(table, page, row->in_step.parameter_bytes);
    add_size(table, page, row->in_step.gradient_bytes);
    add_size(table, page, row->in_step.optimizer_state_bytes);
}

static const struct table_column peak_columns[] = {
    {"at the peak", COLUMN_TEXT, CUT_START, 12, 0},
    {"parameters", COLUMN_NUMBER, 0, 0, 0},
    {"gradients", COLUMN_NUMBER, 0, 0, 0},
    {"activations", COLUMN_NUMBER, 0, 0, 0},
    {"buffers", COLUMN_NUMBER, 0, 0, 0},
    {"unsharded", COLUMN_LABEL, 0, 0, 1},
};

static void add_memory_cells(struct table *table, const struct page *page,
                             const struct shard_memory *memory, const char *unsharded)
{
    add_size(table, page, memory->parameter_bytes);
    add_size(table, page, memory->gradient_bytes);
    add_size(table, page, memory->activation_bytes);
    add_size(table, page, memory->buffer_bytes);
    table_add(table, unsharded);
}

static void add_peak(struct table *table, const struct page *page, const struct shard_unit_row *row)
{
    add_memory_cells(table, page, &row->at_peak, row->is_unsharded ? "yes" : "");
}

typedef void row_adder(struct table *table, const struct page *page,
                       const struct shard_unit_row *row);

static void add_rows(struct table *table, const struct page *page, const struct shown *shown,
                     const struct shard_model *model, row_adder *add)
{
    char text[40];
    for (size_t i = 0; i < shown->count; i++) {
        add_name(table, model, shown->rows[i]->unit);
        add(table, page, shown->rows[i]);
    }
    if (shown->left_out == 0)
        return;
    snprintf(text, sizeof(text), "%zu others", shown->left_out);
    table_add(table, text);
    add(table, page, &shown->others);
}

static bool print(struct table *table, const struct page *page)
{
    bool ok = !table_failed(table);
    fputc('\n', page->out);
    if (ok)
        table_print(table, page, 0);
    table_release(table);
    return ok;
}

static bool put_tables(const struct page *page, const struct shard_report *report,
                       const struct shard_by_unit *by_unit, const struct shown *shown)
{
    struct table table;
    table_init(&table, state_columns, sizeof(state_columns) / sizeof(state_columns[0]));
    add_rows(&table, page, shown, report->model, add_states);
    bool ok = print(&table, page);
    table_init(&table, peak_columns, sizeof(peak_columns) / sizeof(peak_columns[0]));
    add_rows(&table, page, shown, report->model, add_peak);
    table_add(&table, "no unit");
    add_memory_cells(&table, page, &by_unit->none, "");
    return print(&table, page) && ok;
}

static void put_title(const struct page *page, const struct shard_row *row)
{
    char text[160];
    snprintf(text, sizeof(text), "By unit: %s%s, rank %" PRIu32,
             shard_strategy_name(row->result.strategy),
             row->is_checkpointed ? " with checkpoints" : "", row->result.peak_rank);
    fputc('\n', page->out);
    page_paragraph(page, 0, 0, text);
}

bool shard_text_by_unit(const struct page *page, const struct shard_report *report,
                        const struct shard_row *row, struct error *err)
{
    struct shard_by_unit by_unit;
    struct shown shown;
    if (!make(&by_unit, report, row, err))
        return false;
    bool ok = choose(&shown, &by_unit);
    if (ok) {
        put_title(page, row);
        ok = put_tables(page, report, &by_unit, &shown);
    }
    free(shown.rows);
    shard_by_unit_release(&by_unit);
    return ok || error_out_of_memory(err);
}
