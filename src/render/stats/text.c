#include <inttypes.h>

#include "base/units.h"
#include "render/core/input_line.h"
#include "render/core/table.h"
#include "render/stats/stats.h"

#define INDENT 2

static const struct {
    const char *name;
    enum stats_metric metric;
    enum stats_pool pool;
} lines[] = {
    {"allocated", STATS_ALLOCATED_BYTES, STATS_ALL},
    {"active", STATS_ACTIVE_BYTES, STATS_ALL},
    {"requested", STATS_REQUESTED_BYTES, STATS_ALL},
    {"reserved", STATS_RESERVED_BYTES, STATS_ALL},
    {"  for large blocks", STATS_RESERVED_BYTES, STATS_LARGE},
    {"  for small blocks", STATS_RESERVED_BYTES, STATS_SMALL},
    {"holes in segments", STATS_INACTIVE_SPLIT_BYTES, STATS_ALL},
    {"allocations", STATS_ALLOCATIONS, STATS_ALL},
    {"segments", STATS_SEGMENTS, STATS_ALL},
};

static bool has_any(const struct stats_row *row, enum stats_metric metric, enum stats_pool pool)
{
    for (enum stats_moment moment = 0; moment < STATS_MOMENTS; moment++)
        if (stats_has(row, metric, pool, moment))
            return true;
    return false;
}

static void add_cells(struct table *table, const struct page *page, const struct stats_row *row,
                      enum stats_metric metric, enum stats_pool pool)
{
    char text[UNITS_TEXT_SIZE];
    for (enum stats_moment moment = 0; moment < STATS_MOMENTS; moment++) {
        int64_t value = row->values[metric][pool][moment];
        if (!stats_has(row, metric, pool, moment))
            table_add(table, "-");
        else if (stats_is_bytes(metric))
            table_add(table, page_bytes(page, text, value));
        else
            table_add(table, units_count(text, value > 0 ? (uint64_t)value : 0));
    }
}

static bool figures(const struct page *page, const struct stats_row *row)
{
    static const struct table_column columns[] = {
        {.title = "", .kind = COLUMN_LABEL}, {.title = "now"},          {.title = "peak"},
        {.title = "allocated in all"},       {.title = "freed in all"},
    };
    struct table table;
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (!has_any(row, lines[i].metric, lines[i].pool))
            continue;
        table_add(&table, lines[i].name);
        add_cells(&table, page, row, lines[i].metric, lines[i].pool);
    }
    table_print(&table, page, INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

static void say(const struct page *page, const char *words)
{
    fprintf(page->out, "%*s", INDENT, "");
    page_paragraph(page, INDENT, INDENT, words);
}

/* A size between two values that are known, or -1. */
static int64_t difference(const struct stats_row *row, enum stats_metric more,
                          enum stats_metric less, enum stats_moment moment)
{
    int64_t a = row->values[more][STATS_ALL][moment], b = row->values[less][STATS_ALL][moment];
    bool is_known =
        stats_has(row, more, STATS_ALL, moment) && stats_has(row, less, STATS_ALL, moment);
    return is_known && b >= 0 && a > b ? a - b : -1;
}

static void say_unused(const struct page *page, const struct stats_row *row)
{
    char size[UNITS_TEXT_SIZE], holes[UNITS_TEXT_SIZE], text[256];
    int64_t peak = difference(row, STATS_RESERVED_BYTES, STATS_ACTIVE_BYTES, STATS_PEAK);
    int64_t now = difference(row, STATS_RESERVED_BYTES, STATS_ACTIVE_BYTES, STATS_CURRENT);
    if (peak > 0) {
        snprintf(text, sizeof(text),
                 "At the peak of reserved memory, at least %s of it were not in use.",
                 page_bytes(page, size, peak));
        say(page, text);
    }
    if (now > 0) {
        snprintf(text, sizeof(text),
                 "Now %s of reserved memory are not in use, and %s of that are holes in segments "
                 "in use, which empty_cache() cannot give back.",
                 page_bytes(page, size, now),
                 page_bytes(page, holes,
                            row->values[STATS_INACTIVE_SPLIT_BYTES][STATS_ALL][STATS_CURRENT]));
        say(page, text);
    }
}

static void say_counters(const struct page *page, const struct stats_row *row)
{
    char count[UNITS_TEXT_SIZE], text[256];
    int64_t ooms = row->counters[STATS_OOMS], retries = row->counters[STATS_RETRIES];
    if (ooms > 0) {
        snprintf(text, sizeof(text), "%s allocation%s failed for lack of memory.",
                 units_count(count, (uint64_t)ooms), ooms == 1 ? "" : "s");
        say(page, text);
    }
    if (retries > 0) {
        snprintf(
            text, sizeof(text),
            "%s allocation%s had to empty the cache first, which is slow: the device was nearly "
            "full.",
            units_count(count, (uint64_t)retries), retries == 1 ? "" : "s");
        say(page, text);
    }
    if (row->is_rounded)
        say(page, "The table rounds sizes down to its units.");
    if (row->is_cut)
        say(page, "warning: the table ends early.");
}

static void headline(const struct page *page, const struct stats_row *row)
{
    char line[UNITS_TEXT_SIZE];
    fprintf(page->out, "\n%s", page_style(page, STYLE_TITLE));
    if (row->device >= 0)
        fprintf(page->out, "Device %" PRId64, row->device);
    else
        fputs("One device", page->out);
    if (row->line > 0)
        fprintf(page->out, ", table at line %s", units_count(line, row->line));
    fprintf(page->out, "%s\n", page_plain(page));
}

bool stats_text(const struct page *page, const struct stats_analysis *analysis)
{
    const struct memory_stats *stats = analysis->stats;
    const struct input_line input = {.path = analysis->path,
                                     .bytes = stats->input_bytes,
                                     .encoding = stats->encoding,
                                     .protocol = stats->protocol,
                                     .compression = stats->compression};
    if (!input_line(page, &input))
        return false;
    for (size_t i = 0; i < stats->count; i++) {
        const struct stats_row *row = &stats->rows[i];
        headline(page, row);
        if (!figures(page, row))
            return false;
        say_counters(page, row);
        say_unused(page, row);
    }
    fputc('\n', page->out);
    page_paragraph(page, 0, 0,
                   "These are counters. torch.cuda.memory._dump_snapshot() shows what the memory "
                   "is used for.");
    return true;
}
