/* The tables of FSDP memory as text. */
#include <stdlib.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/core/table.h"
#include "render/run/internal.h"

#define INDENT  2
#define MODULES 15 /* rows without --top */

const char *const run_kind_titles[RUN_KINDS] = {
    [RUN_SHARDED_PARAM] = "sharded parameters",
    [RUN_UNSHARDED_PARAM] = "unsharded parameters",
    [RUN_PARAM] = "parameters",
    [RUN_BUFFER] = "buffers",
    [RUN_SHARDED_GRAD] = "sharded gradients",
    [RUN_UNSHARDED_GRAD] = "unsharded gradients",
    [RUN_GRAD] = "gradients",
    [RUN_ACTIVATION] = "activations",
    [RUN_TEMP] = "temporaries",
    [RUN_ALL_GATHER] = "all-gather buffers",
    [RUN_REDUCE_SCATTER] = "reduce-scatter buffers",
    [RUN_OPT_STATE] = "optimizer state",
    [RUN_INPUTS] = "inputs",
    [RUN_OTHER] = "other",
    [RUN_TOTAL] = "total",
};

/* The lowest and the highest of a kind at the peaks of all ranks, for one call. */
struct range {
    int64_t lowest, highest;
};

static struct range range_of(const struct memory_run *run, const struct run_table *like,
                             enum run_kind kind)
{
    struct range range = {INT64_MAX, 0};
    for (size_t i = 0; i < run->table_count; i++) {
        const struct run_table *table = &run->tables[i];
        const struct run_table_row *peak = run_table_peak(run, table);
        if (!peak || table->key.function != like->key.function ||
            table->key.iteration != like->key.iteration)
            continue;
        int64_t bytes = peak->bytes[kind] == RUN_NO_BYTES ? 0 : peak->bytes[kind];
        range.lowest = bytes < range.lowest ? bytes : range.lowest;
        range.highest = bytes > range.highest ? bytes : range.highest;
    }
    return range;
}

static bool heading(const struct page *page, const struct run_report *report, const char *lead,
                    const struct run_tables *tables)
{
    const struct run_key *key = &tables->table->key;
    struct text function = symbols_text(report->run->symbols, key->function);
    struct text device = symbols_text(report->run->symbols, tables->device);
    struct buffer text = BUFFER_INIT;
    buffer_puts(&text, lead);
    buffer_printf(&text, ": rank %u, ", key->rank);
    escape_text(&text, function.bytes, function.size);
    if (function.size > 0)
        buffer_printf(&text, " %u, ", key->iteration);
    escape_text(&text, device.bytes, device.size);
    bool ok = !text.failed;
    if (ok)
        run_title(page, text.bytes);
    buffer_release(&text);
    return ok;
}

static bool print_kinds(const struct page *page, const struct run_report *report,
                        const struct run_tables *tables)
{
    static const struct table_column columns[] = {
        {.title = "kind", .kind = COLUMN_LABEL},
        {.title = "bytes", .kind = COLUMN_NUMBER},
        {.title = "share", .kind = COLUMN_NUMBER},
        {.title = "lowest rank", .kind = COLUMN_NUMBER, .optional = 1},
        {.title = "highest rank", .kind = COLUMN_NUMBER, .optional = 1},
    };
    const size_t count = report->rank_count > 1 ? 5 : 3;
    const int64_t *bytes = tables->peak->bytes;
    char text[UNITS_TEXT_SIZE];
    struct table table;
    if (!heading(page, report, "Peak of FSDP memory", tables))
        return false;
    table_init(&table, columns, count);
    for (unsigned i = 0; i < RUN_KINDS; i++) {
        if (bytes[i] == RUN_NO_BYTES || (bytes[i] == 0 && i != RUN_TOTAL))
            continue;
        table_add(&table, run_kind_titles[i]);
        table_add(&table, page_bytes(page, text, bytes[i]));
        table_add(&table, page_share(text, bytes[i], bytes[RUN_TOTAL]));
        if (count < 5)
            continue;
        struct range range = range_of(report->run, tables->table, (enum run_kind)i);
        table_add(&table, page_bytes(page, text, range.lowest));
        table_add(&table, page_bytes(page, text, range.highest));
    }
    table_print(&table, page, INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

static int64_t change_of(const struct run_module *module)
{
    if (module->before_bytes == RUN_ABSENT || module->after_bytes == RUN_ABSENT)
        return RUN_ABSENT;
    return module->after_bytes - module->before_bytes;
}

/* The largest change first, the outer module before the inner. */
static int by_change(const void *left, const void *right)
{
    const struct run_module *a = *(const struct run_module *const *)left;
    const struct run_module *b = *(const struct run_module *const *)right;
    int64_t x = change_of(a), y = change_of(b);
    if (x != y)
        return x < y ? 1 : -1;
    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes < b->peak_bytes ? 1 : -1;
    return (a > b) - (a < b);
}

static void add_module(struct table *table, const struct page *page,
                       const struct run_report *report, const struct run_module *module,
                       uint32_t indent, bool last_part)
{
    struct text name = symbols_text(report->run->symbols, module->name);
    struct buffer text = BUFFER_INIT;
    char number[UNITS_TEXT_SIZE];
    if (last_part && indent > 0)
        for (size_t i = name.size; i-- > 0;)
            if (name.bytes[i] == '.') {
                name = (struct text){name.bytes + i + 1, name.size - i - 1};
                break;
            }
    for (uint32_t i = 0; i < indent; i++)
        buffer_puts(&text, "  ");
    buffer_add(&text, name.bytes, name.size);
    table_add_input(table, text.failed || !text.size ? "" : text.bytes, text.size);
    buffer_release(&text);
    table_add(table, page_bytes(page, number, module->peak_bytes));
    int64_t activation = module->peak_kinds[RUN_ACTIVATION];
    table_add(table, activation == RUN_NO_BYTES ? "" : page_bytes(page, number, activation));
    int64_t change = change_of(module);
    table_add(table, change == RUN_ABSENT ? "" : page_change(page, number, change));
}

static bool print_modules(const struct page *page, const struct run_analysis *analysis,
                          const struct run_tables *tables)
{
    static const struct table_column columns[] = {
        {.title = "module", .kind = COLUMN_TEXT, .cut = CUT_MIDDLE, .least = 24},
        {.title = "total at its peak", .kind = COLUMN_NUMBER},
        {.title = "activations then", .kind = COLUMN_NUMBER, .optional = 1},
        {.title = "forward leaves", .kind = COLUMN_NUMBER},
    };
    const struct run_report *report = analysis->report;
    size_t count = tables->module_count, top = analysis->top_given ? analysis->top : MODULES;
    const struct run_module **order = calloc(count + 1, sizeof(*order));
    struct table table;
    char number[UNITS_TEXT_SIZE];
    uint32_t outermost = UINT32_MAX;
    size_t shown = 0, fitting = 0;
    if (!order || !heading(page, report, "Modules", tables)) {
        free(order);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = &tables->modules[i];
        outermost = order[i]->depth < outermost ? order[i]->depth : outermost;
    }
    if (analysis->depth == 0)
        qsort(order, count, sizeof(*order), by_change);
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < count; i++) {
        uint32_t indent = order[i]->depth - outermost;
        if (analysis->depth > 0 && indent >= analysis->depth)
            continue;
        fitting++;
        if (top > 0 && shown == top && (analysis->depth == 0 || analysis->top_given))
            continue;
        shown++;
        add_module(&table, page, report, order[i], analysis->depth > 0 ? indent : 0,
                   analysis->depth > 0);
    }
    table_print(&table, page, INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    free(order);
    if (shown < fitting)
        fprintf(page->out, "%*s... and %s more; --top 0 lists all\n", INDENT, "",
                units_count(number, fitting - shown));
    return ok;
}

bool run_print_tables(const struct page *page, const struct run_analysis *analysis)
{
    const struct memory_run *run = analysis->report->run;
    const struct run_table *highest = run_table_highest(run);
    struct error ignored;
    struct run_tables tables;
    if (!highest)
        return true;
    if (!run_tables_make(&tables, run, highest, &ignored))
        return false;
    bool ok = (!tables.peak || print_kinds(page, analysis->report, &tables)) &&
              (tables.module_count == 0 || print_modules(page, analysis, &tables));
    run_tables_release(&tables, run);
    return ok;
}
