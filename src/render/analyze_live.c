#include "render/analyze_parts.h"

#include <string.h>

#include "render/escape.h"
#include "render/moments.h"
#include "render/table.h"

#define BAR_COLUMNS  24
#define STACK_INDENT (SECTION_INDENT + 4)

static void title(const struct page *page, const struct analysis *analysis,
                  const struct device_report *report)
{
    char place[MOMENT_TEXT_SIZE], bytes[UNITS_TEXT_SIZE], count_text[UNITS_TEXT_SIZE];
    uint64_t count = 0;
    for (size_t i = 0; i < report->category_count; i++)
        count += report->categories[i].count;
    fprintf(page->out, "\n%*s%sLive ", SECTION_INDENT, "", page_style(page, STYLE_TITLE));
    if (!device_has_history(report))
        fputs("in the snapshot", page->out);
    else if (!analysis->at_given)
        fputs("at the peak", page->out);
    else if (analysis->at_end)
        fputs("at the end", page->out);
    else
        fprintf(page->out, "%s%s", report->at_item < 0 ? "" : "at ",
                moment_place(place, report->timeline->trace, report->at_item));
    fprintf(page->out, ": %s in %s allocation%s%s\n",
            page_bytes(page, bytes, report->at.active_bytes), units_count(count_text, count),
            count == 1 ? "" : "s", page_plain(page));
}

static void add_amount(struct table *table, const struct page *page, int64_t bytes, int64_t whole,
                       uint64_t count)
{
    char text[UNITS_TEXT_SIZE];
    table_add(table, page_bytes(page, text, bytes));
    table_add(table, page_share(text, bytes, whole));
    table_add(table, units_count(text, count));
}

static const char *bar(char out[BAR_COLUMNS + 1], int64_t part, int64_t whole)
{
    int filled = 0;
    if (part > 0 && whole > 0)
        filled = (int)((double)BAR_COLUMNS * (double)part / (double)whole + 0.5);
    filled = filled > BAR_COLUMNS ? BAR_COLUMNS : filled;
    memset(out, '#', (size_t)filled);
    out[filled] = '\0';
    return out;
}

static bool categories(const struct page *page, const struct device_report *report)
{
    static const struct table_column columns[] = {{"size", COLUMN_NUMBER},
                                                  {"share", COLUMN_NUMBER},
                                                  {"count", COLUMN_NUMBER},
                                                  {"category", COLUMN_LABEL},
                                                  {"", COLUMN_LABEL}};
    int64_t whole = report->at.active_bytes;
    char text[BAR_COLUMNS + 1];
    struct table table;
    table_init(&table, columns, 5);
    for (size_t i = 0; i < report->category_count; i++) {
        const struct category_row *row = &report->categories[i];
        add_amount(&table, page, row->bytes, whole, row->count);
        table_add(&table, category_name(row->category));
        table_add(&table, bar(text, row->bytes, whole));
    }
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

/* "mul" for aten::mul: the most common name space is the one that can be left out. */
static void add_operator(struct table *table, const struct symbols *symbols, string_id op)
{
    static const char aten[] = "aten::";
    const size_t size = sizeof(aten) - 1;
    struct text text = symbols_text(symbols, op);
    if (text.size > size && memcmp(text.bytes, aten, size) == 0)
        table_add_input(table, text.bytes + size, text.size - size);
    else
        table_add_input(table, text.bytes, text.size);
}

static void add_place(struct table *table, const struct symbols *symbols, const char *label,
                      const struct site *site, enum category category, bool is_remainder)
{
    table_add_input(table, label, strlen(label));
    if (is_remainder) {
        table_add(table, "");
        table_add(table, "");
        return;
    }
    add_operator(table, symbols, site->op);
    table_add(table, category_name(category));
}

/* A native frame's name can be longer than a screen, and is cut; a Python frame is told whole. */
static bool print_frame(const struct page *page, const struct symbols *symbols, struct frame frame,
                        bool native)
{
    struct text file = symbols_text(symbols, frame.file), name = symbols_text(symbols, frame.name);
    struct buffer text = BUFFER_INIT, fitted = BUFFER_INIT;
    if (!native) {
        escape_text(&text, file.bytes, file.size);
        buffer_printf(&text, ":%u ", frame.line);
    }
    escape_text(&text, name.bytes, name.size);
    bool ok = !text.failed;
    if (ok && text.size) {
        text_fit(&fitted, text.bytes, text.size, native ? page->width - STACK_INDENT : SIZE_MAX);
        ok = !fitted.failed;
    }
    if (ok && fitted.size)
        fprintf(page->out, "%*s%s%s%s\n", STACK_INDENT, "",
                native ? page_style(page, STYLE_FAINT) : "", fitted.bytes,
                native ? page_plain(page) : "");
    buffer_release(&text);
    buffer_release(&fitted);
    return ok;
}

static bool print_stack(const struct page *page, const struct analysis *analysis,
                        const struct site_row *row)
{
    const struct symbols *symbols = analysis->snapshot->symbols;
    struct stack stack = symbols_stack_at(symbols, row->stack);
    char count[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < stack.count; i++)
        if (!print_frame(page, symbols, symbols_frame_at(symbols, stack.frames[i]),
                         site_frame_kind(analysis->sites, stack.frames[i]) == FRAME_NATIVE))
            return false;
    if (row->stacks > 1)
        fprintf(page->out, "%*s(the largest of %s stacks)\n", STACK_INDENT, "",
                units_count(count, row->stacks));
    return true;
}

static bool sites(const struct page *page, const struct analysis *analysis,
                  const struct device_report *report)
{
    static const struct table_column columns[] = {
        {"size", COLUMN_NUMBER},    {"share", COLUMN_NUMBER},  {"count", COLUMN_NUMBER},
        {"call site", COLUMN_TEXT}, {"operator", COLUMN_TEXT}, {"category", COLUMN_LABEL}};
    const struct symbols *symbols = analysis->snapshot->symbols;
    struct table table;
    table_init(&table, columns, 6);
    for (size_t i = 0; i < report->site_count; i++) {
        const struct site_row *row = &report->sites[i];
        add_amount(&table, page, row->bytes, report->at.active_bytes, row->count);
        add_place(&table, symbols, row->label, &row->site, row->category, row->is_remainder);
    }
    fputc('\n', page->out);
    table_begin(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    for (size_t i = 0; ok && i < report->site_count; i++) {
        table_row(&table, page, SECTION_INDENT, i);
        if (analysis->stacks && !report->sites[i].is_remainder)
            ok = print_stack(page, analysis, &report->sites[i]);
    }
    table_release(&table);
    return ok;
}

/* "3,012 to 3,490", "start to end", "-" where there are no events */
static void add_life(struct table *table, const struct trace *trace, const struct live_row *row)
{
    char born[UNITS_TEXT_SIZE] = "start", freed[UNITS_TEXT_SIZE] = "end";
    char text[2 * UNITS_TEXT_SIZE + 8];
    if (row->born_item >= 0)
        event_number(born, trace, row->born_item);
    if (row->freed_item >= 0)
        event_number(freed, trace, row->freed_item);
    snprintf(text, sizeof(text), "%s to %s", born, freed);
    table_add(table, trace->count ? text : "-");
}

static bool largest(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report)
{
    static const struct table_column columns[] = {{"largest", COLUMN_NUMBER},
                                                  {"events", COLUMN_LABEL},
                                                  {"call site", COLUMN_TEXT},
                                                  {"operator", COLUMN_TEXT},
                                                  {"category", COLUMN_LABEL}};
    size_t count = report->largest_count;
    if (analysis->largest && count > analysis->largest)
        count = analysis->largest;
    struct table table;
    char size[UNITS_TEXT_SIZE];
    table_init(&table, columns, 5);
    for (size_t i = 0; i < count; i++) {
        const struct live_row *row = &report->largest[i];
        table_add(&table, page_bytes(page, size, (int64_t)row->live.size));
        add_life(&table, report->timeline->trace, row);
        add_place(&table, analysis->snapshot->symbols, row->label, &row->site, row->category,
                  false);
    }
    fputc('\n', page->out);
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

bool device_live(const struct page *page, const struct analysis *analysis,
                 const struct device_report *report)
{
    title(page, analysis, report);
    if (report->category_count == 0)
        return true;
    return categories(page, report) && sites(page, analysis, report) &&
           largest(page, analysis, report);
}
