#define _GNU_SOURCE /* memmem */
#include "render/analyze/internal.h"

#include <ctype.h>
#include <string.h>

#include "render/core/moments.h"
#include "render/core/table.h"

#define BAR_COLUMNS            24
#define LITTLE_CONFIDENCE_PART 10 /* of what is live: a tenth is much */
#define SITE_LEAST             20 /* columns for a call site */

static void title(const struct page *page, const struct analysis *analysis,
                  const struct device_report *report)
{
    char text[MOMENT_TEXT_SIZE + 128], place[MOMENT_TEXT_SIZE], bytes[UNITS_TEXT_SIZE],
        count_text[UNITS_TEXT_SIZE];
    uint64_t count = 0;
    for (size_t i = 0; i < report->category_count; i++)
        count += report->categories[i].count;
    const char *moment = place;
    if (!device_has_history(report))
        moment = "in the snapshot";
    else if (!analysis->at_given)
        moment = "at the peak";
    else if (analysis->at_end)
        moment = trace_has_end(report->timeline->trace) ? "at the end" : "at the end of the range";
    else
        moment_place(place, report->timeline->trace, report->at_item);
    snprintf(text, sizeof(text), "Live %s%s: %s in %s allocation%s",
             moment == place && report->at_item >= 0 ? "at " : "", moment,
             page_bytes(page, bytes, report->at.active_bytes), units_count(count_text, count),
             count == 1 ? "" : "s");
    fprintf(page->out, "\n%*s%s", SECTION_INDENT, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
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

/* Where much of it is. More of the recording helps only where it did not see something. */
static void little_confidence(const struct page *page, const struct device_report *report)
{
    const char *more = report->timeline->trace->first_event > 0
                           ? "the whole trace, without --range, may know more"
                           : "a recording with stacks from the start would know";
    int64_t low = 0, unseen = 0;
    char bytes[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE], text[320];
    for (size_t i = 0; i < report->category_count; i++) {
        low += report->categories[i].low_bytes;
        unseen += report->categories[i].unseen_bytes;
    }
    if (low <= 0 || low < report->at.active_bytes / LITTLE_CONFIDENCE_PART)
        return;
    int used =
        snprintf(text, sizeof(text),
                 "Of these, %s (%s) are inferred with little confidence; --explain tells why, ",
                 page_bytes(page, bytes, low), page_share(share, low, report->at.active_bytes));
    size_t room = sizeof(text) - (size_t)used;
    if (unseen == low)
        snprintf(text + used, room, "and %s.", more);
    else if (unseen == 0)
        snprintf(text + used, room, "and --rules can name them.");
    else
        snprintf(text + used, room, "of %s %s, and --rules can name the others.",
                 page_bytes(page, bytes, unseen), more);
    fprintf(page->out, "%*s", SECTION_INDENT, "");
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
}

static bool categories(const struct page *page, const struct device_report *report)
{
    static const struct table_column columns[] = {{.title = "size"},
                                                  {.title = "share"},
                                                  {.title = "count", .optional = 1},
                                                  {.title = "category", .kind = COLUMN_LABEL},
                                                  {"", COLUMN_LABEL, .optional = 2}};
    int64_t whole = report->at.active_bytes;
    char text[BAR_COLUMNS + 1];
    struct table table;
    table_init(&table, columns, 5);
    for (size_t i = 0; i < report->category_count; i++) {
        const struct category_row *row = &report->categories[i];
        add_amount(&table, page, row->bytes, whole, row->count);
        table_add_text(&table, category_name(row->category));
        table_add(&table, bar(text, row->bytes, whole));
    }
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    little_confidence(page, report);
    return ok;
}

/* "mul" for aten::mul: the most common name space is the one that can be left out. */
static struct text short_operator(const struct symbols *symbols, string_id op)
{
    static const char aten[] = "aten::";
    const size_t size = sizeof(aten) - 1;
    struct text text = symbols_text(symbols, op);
    if (text.size > size && memcmp(text.bytes, aten, size) == 0)
        return (struct text){text.bytes + size, text.size - size};
    return text;
}

/* NllLossBackward0 says nll_loss and nll_loss_backward, too. */
static bool node_says_operator(struct text node, struct text op)
{
    size_t at = 0;
    const char *end = memmem(node.bytes, node.size, "Backward", 8);
    size_t size = end ? (size_t)(end - node.bytes) : node.size;
    for (size_t i = 0; i < size; i++, at++) {
        while (at < op.size && op.bytes[at] == '_')
            at++;
        if (at == op.size ||
            tolower((unsigned char)op.bytes[at]) != tolower((unsigned char)node.bytes[i]))
            return false;
    }
    return true;
}

struct text site_operator_text(const struct symbols *symbols, const struct site *site)
{
    struct text op = short_operator(symbols, site->op), node = symbols_text(symbols, site->node);
    bool in_label = site->any_python_frame == NO_FRAME &&
                    (node.size == 0 || site->op == site->node || node_says_operator(node, op));
    return (struct text){op.bytes, in_label ? 0 : op.size};
}

void site_operator(struct table *table, const struct symbols *symbols, const struct site *site)
{
    struct text op = site_operator_text(symbols, site);
    table_add_input(table, op.bytes, op.size);
}

static void add_place(struct table *table, const struct symbols *symbols, const struct label *label,
                      const struct site *site, enum category category, bool is_remainder)
{
    table_add_text(table, label->brief);
    if (is_remainder) {
        table_add(table, "");
        table_add(table, "");
        return;
    }
    site_operator(table, symbols, site);
    table_add_text(table, category_name(category));
}

/* The rows of one kind, in their order. */
enum rows { ROWS_PLACED, ROWS_REMAINDER, ROWS_WITHOUT_STACK };

static enum rows kind_of(const struct site_row *row)
{
    if (row->is_remainder)
        return ROWS_REMAINDER;
    return row->stack == STACK_NONE ? ROWS_WITHOUT_STACK : ROWS_PLACED;
}

static bool site_rows(const struct table *table, const struct page *page,
                      const struct analysis *analysis, const struct device_report *report,
                      enum rows kind)
{
    bool ok = true;
    for (size_t i = 0; ok && i < report->site_count; i++) {
        if (kind_of(&report->sites[i]) != kind)
            continue;
        const struct site_row *row = &report->sites[i];
        const struct stack_example example = {row->stack, &row->site, row->stacks};
        table_row(table, page, SECTION_INDENT, i);
        if (analysis->stacks != STACKS_NONE && kind == ROWS_PLACED)
            ok = site_stack(page, analysis->sites, analysis->stacks, &example);
    }
    return ok;
}

/* Set apart, so that nobody misses it below the call sites. */
static void without_stack_title(const struct page *page, const struct device_report *report)
{
    int64_t bytes = 0;
    size_t count = 0;
    char size[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < report->site_count; i++) {
        if (kind_of(&report->sites[i]) != ROWS_WITHOUT_STACK)
            continue;
        bytes += report->sites[i].bytes;
        count++;
    }
    if (count > 0 && count < report->site_count)
        fprintf(page->out, "%*s%swithout a call site: %s, %s%s\n", SECTION_INDENT, "",
                page_style(page, STYLE_TITLE), page_bytes(page, size, bytes),
                page_share(share, bytes, report->at.active_bytes), page_plain(page));
}

static bool sites(const struct page *page, const struct analysis *analysis,
                  const struct device_report *report)
{
    static const struct table_column columns[] = {
        {.title = "size"},
        {.title = "share", .optional = 2},
        {.title = "count", .optional = 1},
        {"call site", COLUMN_TEXT, CUT_SITE, SITE_LEAST, 0},
        {"operator", COLUMN_TEXT, .optional = 3},
        {.title = "category", .kind = COLUMN_LABEL}};
    const struct symbols *symbols = analysis->snapshot->symbols;
    struct table table;
    table_init(&table, columns, 6);
    for (size_t i = 0; i < report->site_count; i++) {
        const struct site_row *row = &report->sites[i];
        add_amount(&table, page, row->bytes, report->at.active_bytes, row->count);
        add_place(&table, symbols, &row->label, &row->site, row->category, row->is_remainder);
    }
    fputc('\n', page->out);
    table_begin(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table) && site_rows(&table, page, analysis, report, ROWS_PLACED) &&
              site_rows(&table, page, analysis, report, ROWS_REMAINDER);
    if (ok) {
        without_stack_title(page, report);
        ok = site_rows(&table, page, analysis, report, ROWS_WITHOUT_STACK);
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
    static const struct table_column columns[] = {
        {.title = "largest"},
        {"events", COLUMN_LABEL, .optional = 1},
        {"call site", COLUMN_TEXT, CUT_SITE, SITE_LEAST, 0},
        {"operator", COLUMN_TEXT, .optional = 2},
        {.title = "category", .kind = COLUMN_LABEL}};
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
        add_place(&table, analysis->snapshot->symbols, &row->label, &row->site, row->category,
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
