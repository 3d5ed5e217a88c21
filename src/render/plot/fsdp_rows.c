#include <stdlib.h>
#include <string.h>

#include "render/plot/fsdp_internal.h"

#define PEAKS_SHARE 3  /* at most 1/3 of the picture is for the peaks of ranks */
#define LEVELS_MOST 64 /* levels of the tree of modules */

double fsdp_total(const int64_t *bytes)
{
    double sum = 0;
    for (size_t i = 0; i < RUN_TOTAL; i++)
        sum += bytes[i] > 0 ? (double)bytes[i] : 0;
    return sum;
}

/* The name moves into the row. */
static bool add_row(struct fsdp *plot, const int64_t *bytes, struct buffer *name, uint32_t depth,
                    struct error *err)
{
    if (name->failed || plot->count == plot->capacity) {
        buffer_release(name);
        return error_out_of_memory(err);
    }
    plot->rows[plot->count++] = (struct fsdp_row){bytes, *name, depth};
    *name = BUFFER_INIT;
    if (bytes && fsdp_total(bytes) > plot->most)
        plot->most = fsdp_total(bytes);
    return true;
}

static void call_words(struct buffer *out, const struct fsdp *plot, const struct run_key *key)
{
    struct text function = symbols_text(plot->report->run->symbols, key->function);
    buffer_printf(out, "rank %u", key->rank);
    if (function.size > 0) {
        buffer_puts(out, ", ");
        buffer_add(out, function.bytes, function.size);
        buffer_printf(out, " %u", key->iteration);
    }
}

struct peak {
    const struct run_table *table;
    const struct run_table_row *row;
};

static int by_total(const void *left, const void *right)
{
    const struct peak *a = left, *b = right;
    int64_t x = a->row->bytes[RUN_TOTAL], y = b->row->bytes[RUN_TOTAL];
    return x != y ? (x < y ? 1 : -1) : (a->table > b->table) - (a->table < b->table);
}

static int in_order(const void *left, const void *right)
{
    const struct peak *a = left, *b = right;
    return (a->table > b->table) - (a->table < b->table);
}

/* The highest peaks that have room, in the order of the run. */
static bool add_peaks(struct fsdp *plot, size_t room, struct error *err)
{
    const struct memory_run *run = plot->report->run;
    struct peak *peaks = calloc(run->table_count + 1, sizeof(*peaks));
    struct buffer name = BUFFER_INIT;
    if (!peaks)
        return error_out_of_memory(err);
    for (size_t i = 0; i < run->table_count; i++) {
        struct peak peak = {&run->tables[i], run_table_peak(run, &run->tables[i])};
        if (peak.row)
            peaks[plot->peaks++] = peak;
    }
    plot->peaks_shown = plot->peaks < room ? plot->peaks : room;
    qsort(peaks, plot->peaks, sizeof(*peaks), by_total);
    qsort(peaks, plot->peaks_shown, sizeof(*peaks), in_order);
    buffer_puts(&name, "Peak of each rank");
    bool ok = plot->peaks == 0 || add_row(plot, NULL, &name, 0, err);
    for (size_t i = 0; ok && i < plot->peaks_shown; i++) {
        call_words(&name, plot, &peaks[i].table->key);
        ok = add_row(plot, peaks[i].row->bytes, &name, 0, err);
    }
    buffer_release(&name);
    free(peaks);
    return ok;
}

/* The depth from which on modules are left out. At least the outermost ones stay. */
static uint32_t fitting_depth(const struct run_tables *tables, uint32_t outermost, size_t room)
{
    uint32_t depth = outermost + 1;
    for (; depth < outermost + LEVELS_MOST; depth++) {
        size_t count = 0;
        for (size_t i = 0; i < tables->module_count; i++)
            count += tables->modules[i].depth <= depth;
        if (count > room || count == tables->module_count)
            return count > room ? depth : depth + 1;
    }
    return depth;
}

/* Length of the name of an outer module that ends before a dot of `name`, or 0. */
static size_t inside(struct text name, struct text outer)
{
    return outer.size > 0 && outer.size < name.size && name.bytes[outer.size] == '.' &&
                   memcmp(name.bytes, outer.bytes, outer.size) == 0
               ? outer.size
               : 0;
}

/* Adds a module below the innermost one shown that it is part of. `shown` are those, and `first`
 * is the row of the first. */
static bool add_module(struct fsdp *plot, const struct run_module *module,
                       const struct run_module **shown, size_t first, struct error *err)
{
    const struct symbols *symbols = plot->report->run->symbols;
    struct text name = symbols_text(symbols, module->name);
    struct buffer text = BUFFER_INIT;
    uint32_t indent = 0;
    size_t skipped = 0;
    for (size_t i = plot->modules_shown; skipped == 0 && i-- > 0;)
        if ((skipped = inside(name, symbols_text(symbols, shown[i]->name))) > 0)
            indent = plot->rows[first + i].depth + 1;
    if (skipped > 0)
        skipped++;
    buffer_add(&text, name.bytes + skipped, name.size - skipped);
    shown[plot->modules_shown++] = module;
    return add_row(plot, module->peak_kinds, &text, indent, err);
}

static bool add_modules(struct fsdp *plot, size_t room, struct error *err)
{
    const struct run_tables *tables = &plot->tables;
    const struct run_module **shown = calloc(room + 1, sizeof(*shown));
    struct buffer name = BUFFER_INIT;
    uint32_t outermost = UINT32_MAX;
    if (!shown)
        return error_out_of_memory(err);
    for (size_t i = 0; i < tables->module_count; i++)
        if (tables->modules[i].depth < outermost)
            outermost = tables->modules[i].depth;
    uint32_t depth = fitting_depth(tables, outermost, room);
    buffer_puts(&name, "Modules, each at its peak: ");
    call_words(&name, plot, &tables->table->key);
    bool ok = add_row(plot, NULL, &name, 0, err);
    size_t first = plot->count;
    for (size_t i = 0; ok && i < tables->module_count && plot->modules_shown < room; i++)
        if (tables->modules[i].depth < depth)
            ok = add_module(plot, &tables->modules[i], shown, first, err);
    free(shown);
    return ok;
}

bool fsdp_make_rows(struct fsdp *plot, size_t room, struct error *err)
{
    const struct memory_run *run = plot->report->run;
    const struct run_table *highest = run_table_highest(run);
    if (!highest)
        return error_set(err, STATUS_BAD_INPUT, "nothing to plot: no table of FSDP memory");
    room = room > 8 ? room - 2 : 6; /* two headings */
    if (!run_tables_make(&plot->tables, run, highest, err))
        return false;
    plot->has_tables = true;
    plot->capacity = room + 3;
    plot->rows = calloc(plot->capacity, sizeof(*plot->rows));
    if (!plot->rows)
        return error_out_of_memory(err);
    size_t modules = plot->tables.module_count;
    return add_peaks(plot, modules > 0 ? room / PEAKS_SHARE : room, err) &&
           (modules == 0 || add_modules(plot, room - plot->peaks_shown, err));
}

void fsdp_release(struct fsdp *plot)
{
    for (size_t i = 0; i < plot->count; i++)
        buffer_release(&plot->rows[i].name);
    free(plot->rows);
    if (plot->has_tables)
        run_tables_release(&plot->tables, plot->report->run);
}
