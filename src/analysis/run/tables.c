#include "analysis/run/tables.h"

#include <string.h>

/* The first of equal totals. Without the peak of the program, the highest row of a module. */
static const struct run_table_row *highest_row(const struct memory_run *run,
                                               const struct run_table *table, bool of_module)
{
    const struct run_table_row *highest = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct run_table_row *row = &run->rows[table->first + i];
        if ((row->module != STRING_EMPTY) == of_module &&
            (!highest || row->bytes[RUN_TOTAL] > highest->bytes[RUN_TOTAL]))
            highest = row;
    }
    return highest;
}

const struct run_table_row *run_table_peak(const struct memory_run *run,
                                           const struct run_table *table)
{
    return highest_row(run, table, false);
}

const struct run_table *run_table_highest(const struct memory_run *run)
{
    const struct run_table *highest = NULL;
    int64_t most = -1;
    for (size_t i = 0; i < run->table_count; i++) {
        const struct run_table_row *peak = run_table_peak(run, &run->tables[i]);
        int64_t total = peak ? peak->bytes[RUN_TOTAL] : 0;
        if (total > most) {
            most = total;
            highest = &run->tables[i];
        }
    }
    return highest;
}

static uint32_t depth_of(struct text name)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < name.size; i++)
        depth += name.bytes[i] == '.';
    return depth;
}

static void take_row(struct run_module *module, const struct run_table_row *row)
{
    int64_t total = row->bytes[RUN_TOTAL];
    if (total > module->peak_bytes) {
        module->peak_bytes = total;
        memcpy(module->peak_kinds, row->bytes, sizeof(module->peak_kinds));
    }
    if (row->call != 1)
        return;
    if (row->state == RUN_BEFORE_PRE_FORWARD || row->state == RUN_PRE_FORWARD)
        module->before_bytes = total;
    if (row->state == RUN_AFTER_POST_FORWARD || row->state == RUN_POST_FORWARD)
        module->after_bytes = total;
}

static bool make_modules(struct run_tables *tables, const struct memory_run *run, struct error *err)
{
    const struct run_table *table = tables->table;
    for (size_t i = table->first, end = i + table->count; i < end;) {
        const struct run_table_row *row = &run->rows[i];
        struct run_module module = {.name = row->module,
                                    .depth = depth_of(symbols_text(run->symbols, row->module)),
                                    .first = i,
                                    .peak_bytes = -1,
                                    .before_bytes = RUN_ABSENT,
                                    .after_bytes = RUN_ABSENT};
        for (; i < end && run->rows[i].module == module.name; i++)
            if (run->rows[i].device == tables->device)
                take_row(&module, &run->rows[i]);
        module.count = i - module.first;
        if (module.name != STRING_EMPTY && module.peak_bytes >= 0 &&
            !vec_push(tables->modules, tables->module_count, tables->module_capacity, run->budget,
                      err, module))
            return false;
    }
    return true;
}

bool run_tables_make(struct run_tables *tables, const struct memory_run *run,
                     const struct run_table *table, struct error *err)
{
    struct run_tables made = {.table = table, .peak = run_table_peak(run, table)};
    const struct run_table_row *main_row = made.peak ? made.peak : highest_row(run, table, true);
    made.device = main_row ? main_row->device : STRING_EMPTY;
    if (!make_modules(&made, run, err)) {
        run_tables_release(&made, run);
        return false;
    }
    *tables = made;
    return true;
}

void run_tables_release(struct run_tables *tables, const struct memory_run *run)
{
    vec_free(tables->modules, tables->module_capacity, sizeof(*tables->modules), run->budget);
}
