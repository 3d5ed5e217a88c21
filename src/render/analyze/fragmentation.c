#include "render/analyze/memory.h"

#include <string.h>

#include "render/analyze/internal.h"

/* Shares of reserved memory below which fragmentation is not reported. */
#define NOTABLE    20
#define ROWS_TOLD  6
#define PINS_SHOWN 5

/* The moment that the report describes, or the dump if that moment is not available. */
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

/* "Fragmentation at the peak: 35.44 MiB of the 336.00 MiB reserved, 10.5%" */
static void title(const struct page *page, const struct analysis *analysis,
                  const struct fragmentation *fragmentation)
{
    const struct pool_row *total = &shown(fragmentation)->pools.total;
    int64_t holes = (int64_t)total->inactive_split_bytes, whole = (int64_t)total->reserved_bytes;
    char text[4 * UNITS_TEXT_SIZE + 128], lost[UNITS_TEXT_SIZE], have[UNITS_TEXT_SIZE],
        share[UNITS_TEXT_SIZE];
    const char *when = "at the peak";
    if (!fragmentation->has_moment)
        when = "in the snapshot";
    else if (analysis->at_given)
        when = analysis->at_end ? "at the end" : "at this moment";
    snprintf(text, sizeof(text), "Fragmentation %s: %s%s of the %s reserved, %s", when,
             fragmentation->has_moment && fragmentation->moment_doubts.unsure_bytes ? "up to " : "",
             page_bytes(page, lost, holes), page_bytes(page, have, whole),
             page_share(share, holes, whole));
    section(page, text);
}

/* There are fewest holes when memory is fullest, so a report on the peak also mentions the holes at
 * the end. */
static void end_title(const struct page *page, const struct fragmentation *fragmentation)
{
    const struct pool_row *total = &fragmentation->dump.pools.total;
    int64_t holes = (int64_t)total->inactive_split_bytes, whole = (int64_t)total->reserved_bytes;
    char text[4 * UNITS_TEXT_SIZE + 128], lost[UNITS_TEXT_SIZE], have[UNITS_TEXT_SIZE],
        share[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text),
             "Fragmentation at the end: %s of the %s reserved, %s (--at end shows remedies)",
             page_bytes(page, lost, holes), page_bytes(page, have, whole),
             page_share(share, holes, whole));
    section(page, text);
}

static bool pools(const struct page *page, const struct pool_rows *rows)
{
    const struct field_context context = {.user = rows};
    struct row_table table;
    row_table_init(&table, &pool_type, page, &context);
    for (size_t i = 0; i < rows->count && i < ROWS_TOLD; i++)
        row_table_add(&table, &rows->items[i]);
    if (rows->count > ROWS_TOLD)
        row_table_add(&table, &rows->total);
    table_print(&table.table, page, SECTION_INDENT);
    return row_table_finish(&table);
}

static void legend(const struct page *page, const struct pool_rows *rows)
{
    static const char words[] = "in holes: unused, but cannot be released while its segment has "
                                "blocks in use (PyTorch's inactive split); releasable: "
                                "torch.cuda.empty_cache() releases it";
    static const char graphs[] = ", in pools of graphs only once the graphs are deleted, because "
                                 "their replays use this memory";
    char text[sizeof(words) + sizeof(graphs)];
    snprintf(text, sizeof(text), "%s%s", words, rows->total.after_graphs_bytes > 0 ? graphs : "");
    fprintf(page->out, "%*s%s", SECTION_INDENT, "", page_style(page, STYLE_FAINT));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

/* "expandable_segments:True", as the user has to set it. */
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

/* Skips settings that help only other processes. */
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
        buffer_printf(&text, "%s%s would release at most %s of it: %s",
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
    pinned_title(page, trace, rows);
    return rows_print(page, SECTION_INDENT, &pin_type, rows->items,
                      rows->count < PINS_SHOWN ? rows->count : PINS_SHOWN,
                      &(struct field_context){0});
}

bool device_fragmentation(const struct page *page, const struct analysis *analysis,
                          const struct device_report *report)
{
    const struct fragmentation *fragmentation = &report->fragmentation;
    const struct cut_up *cut_up = shown(fragmentation);
    bool ok = true;
    if (report->timeline->device == DEVICE_HOST) /* each block is a segment of its own */
        return true;
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
