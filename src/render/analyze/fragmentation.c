#include "render/analyze/memory.h"

#include <string.h>

#include "render/analyze/internal.h"
#include "render/core/table.h"

/* Shares of reserved memory below which nobody needs to be told. */
#define NOTABLE   20
#define ROWS_TOLD 6
#define PINS_TOLD 5

const char *pool_text(char out[POOL_TEXT_SIZE], const struct pool_key *key)
{
    char stream[STREAM_TEXT_SIZE];
    int used = snprintf(out, POOL_TEXT_SIZE, "%s", key->is_small ? "small" : "large");
    if (key->stream != 0)
        used += snprintf(out + used, POOL_TEXT_SIZE - (size_t)used, ", stream %s",
                         stream_text(stream, key->stream));
    if (key->pool[0] != 0 || key->pool[1] != 0)
        snprintf(out + used, POOL_TEXT_SIZE - (size_t)used, ", graph pool (%llu, %llu)",
                 (unsigned long long)key->pool[0], (unsigned long long)key->pool[1]);
    return out;
}

/* The moment that the report describes, or the dump where that does not follow. */
static const struct cut_up *shown(const struct fragmentation *fragmentation)
{
    return fragmentation->has_moment ? &fragmentation->moment : &fragmentation->dump;
}

static void section(const struct page *page, const char *text)
{
    fprintf(page->out, "\n%*s%s", SECTION_INDENT, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

/* "Fragmentation at the peak: 35.44 MiB of the 336.00 MiB reserved stuck in segments in use, 10.5%"
 */
static void title(const struct page *page, const struct analysis *analysis,
                  const struct fragmentation *fragmentation)
{
    const struct pool_row *total = &shown(fragmentation)->pools.total;
    int64_t stuck = (int64_t)total->inactive_split_bytes, whole = (int64_t)total->reserved_bytes;
    char text[4 * UNITS_TEXT_SIZE + 128], lost[UNITS_TEXT_SIZE], have[UNITS_TEXT_SIZE],
        share[UNITS_TEXT_SIZE];
    const char *when = "at the peak";
    if (!fragmentation->has_moment)
        when = "in the snapshot";
    else if (analysis->at_given)
        when = analysis->at_end ? "at the end" : "at this moment";
    snprintf(text, sizeof(text), "Fragmentation %s: %s%s of the %s reserved, %s", when,
             fragmentation->has_moment && fragmentation->moment_doubts.unsure_bytes ? "up to " : "",
             page_bytes(page, lost, stuck), page_bytes(page, have, whole),
             page_share(share, stuck, whole));
    section(page, text);
}

/* Holes are fewest where memory is fullest: those of the end are worth a line in a report on the
 * peak. */
static void end_title(const struct page *page, const struct fragmentation *fragmentation)
{
    const struct pool_row *total = &fragmentation->dump.pools.total;
    int64_t stuck = (int64_t)total->inactive_split_bytes, whole = (int64_t)total->reserved_bytes;
    char text[4 * UNITS_TEXT_SIZE + 128], lost[UNITS_TEXT_SIZE], have[UNITS_TEXT_SIZE],
        share[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text),
             "Fragmentation at the end: %s of the %s reserved, %s (--at end for the remedies)",
             page_bytes(page, lost, stuck), page_bytes(page, have, whole),
             page_share(share, stuck, whole));
    section(page, text);
}

static void add_row(struct table *table, const struct page *page, const struct pool_row *row,
                    const char *name)
{
    char text[UNITS_TEXT_SIZE];
    const uint64_t sizes[] = {row->inactive_split_bytes, row->reserved_bytes, row->active_bytes,
                              row->releasable_bytes, row->largest_hole_bytes};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        table_add(table, page_bytes(page, text, (int64_t)sizes[i]));
    table_add(table, name);
}

static bool pools(const struct page *page, const struct pool_rows *rows)
{
    static const struct table_column columns[] = {{.title = "stuck"},
                                                  {.title = "reserved"},
                                                  {.title = "in blocks", .optional = 2},
                                                  {.title = "releasable", .optional = 1},
                                                  {.title = "largest hole", .optional = 3},
                                                  {"pool", COLUMN_TEXT, CUT_END, 26, 0}};
    char name[POOL_TEXT_SIZE];
    struct table table;
    table_init(&table, columns, 6);
    for (size_t i = 0; i < rows->count && i < ROWS_TOLD; i++) {
        const struct pool_row *row = &rows->items[i];
        if (row->pools > 1)
            snprintf(name, sizeof(name), "(%llu more)", (unsigned long long)row->pools);
        add_row(&table, page, row, row->pools > 1 ? name : pool_text(name, &row->key));
    }
    if (rows->count > ROWS_TOLD)
        add_row(&table, page, &rows->total, "all, those not shown too");
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

static void legend(const struct page *page, const struct pool_rows *rows)
{
    static const char words[] = "stuck: unused, beside blocks in use; releasable: "
                                "torch.cuda.empty_cache() gives it back";
    static const char graphs[] = ", that of graph pools only once their graphs are gone";
    char text[sizeof(words) + sizeof(graphs)];
    snprintf(text, sizeof(text), "%s%s", words, rows->total.after_graphs_bytes > 0 ? graphs : "");
    fprintf(page->out, "%*s%s", SECTION_INDENT, "", page_style(page, STYLE_FAINT));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

/* "expandable_segments:True", as it is to be set. */
static const char *spelled(enum allocator_setting setting)
{
    switch (setting) {
    case SETTING_EXPANDABLE_SEGMENTS:
        return "expandable_segments:True";
    case SETTING_MAX_SPLIT_SIZE:
        return "max_split_size_mb";
    case SETTING_GC_THRESHOLD:
        return "garbage_collection_threshold";
    default:
        return "roundup_power2_divisions";
    }
}

/* Nothing of what helps other processes only. */
static bool settings(const struct page *page, const struct cut_up *cut_up)
{
    uint64_t least = cut_up->pools.total.reserved_bytes / NOTABLE;
    char size[UNITS_TEXT_SIZE];
    bool ok = true;
    for (int i = 0; ok && i < SETTING_COUNT; i++) {
        const struct advice *advice = &cut_up->advice[i];
        struct buffer text = BUFFER_INIT;
        if (i == SETTING_GC_THRESHOLD || advice->would_save_bytes <= least)
            continue;
        buffer_printf(&text, "%s%s would save at most %s: %s",
                      i == SETTING_ROUNDUP_DIVISIONS ? "no " : "",
                      spelled((enum allocator_setting)i),
                      page_bytes(page, size, (int64_t)advice->would_save_bytes), advice->why);
        ok = !text.failed;
        if (ok) {
            fprintf(page->out, "%*s", SECTION_INDENT, "");
            page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text.bytes);
        }
        buffer_release(&text);
    }
    return ok;
}

static void pinned_title(const struct page *page, const struct trace *trace,
                         const struct pin_rows *rows)
{
    char text[3 * UNITS_TEXT_SIZE + 128], size[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    bool many = rows->segments != 1;
    snprintf(text, sizeof(text), "Pinned %s: %s in %s segment%s, %skept by one small block",
             trace_has_end(trace) ? "at the end" : "in the snapshot",
             page_bytes(page, size, (int64_t)rows->pinned_bytes),
             units_count(count, rows->segments), many ? "s" : "", many ? "each " : "");
    section(page, text);
}

static bool pins(const struct page *page, const struct trace *trace, const struct pin_rows *rows)
{
    static const struct table_column columns[] = {
        {.title = "pinned"},
        {.title = "by"},
        {.title = "blocks", .optional = 2},
        {"call site", COLUMN_TEXT, CUT_SITE, 20, 0},
        {.title = "category", .kind = COLUMN_LABEL, .optional = 1}};
    char text[UNITS_TEXT_SIZE];
    struct table table;
    pinned_title(page, trace, rows);
    table_init(&table, columns, 5);
    for (size_t i = 0; i < rows->count && i < PINS_TOLD; i++) {
        const struct pin_row *row = &rows->items[i];
        table_add(&table, page_bytes(page, text, (int64_t)row->pinned_bytes));
        table_add(&table, page_bytes(page, text, (int64_t)row->block_bytes));
        table_add(&table, units_count(text, row->segments));
        table_add_text(&table, row->label);
        table_add_text(&table, category_name(row->category));
    }
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

bool device_fragmentation(const struct page *page, const struct analysis *analysis,
                          const struct device_report *report)
{
    const struct fragmentation *fragmentation = &report->fragmentation;
    const struct cut_up *cut_up = shown(fragmentation);
    bool ok = true;
    if (cut_up_is_notable(cut_up)) {
        title(page, analysis, fragmentation);
        ok = pools(page, &cut_up->pools);
        legend(page, &cut_up->pools);
        ok = ok && settings(page, cut_up);
    } else if (!analysis->at_given && trace_has_end(report->timeline->trace) &&
               cut_up_is_notable(&fragmentation->dump)) {
        end_title(page, fragmentation);
    }
    if (fragmentation->pinned.pinned_bytes >
        fragmentation->dump.pools.total.reserved_bytes / NOTABLE)
        ok = ok && pins(page, report->timeline->trace, &fragmentation->pinned);
    return ok;
}
