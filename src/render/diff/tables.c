#include <stdlib.h>
#include <string.h>

#include "render/analyze/internal.h"
#include "render/diff/internal.h"

#define SITE_LEAST      20 /* columns for a call site */
#define OPERATOR_COLUMN 5

const char *diff_signed(const struct page *page, char out[UNITS_TEXT_SIZE], int64_t bytes)
{
    if (bytes <= 0)
        return page_bytes(page, out, bytes);
    out[0] = '+';
    char text[UNITS_TEXT_SIZE];
    page_bytes(page, text, bytes);
    snprintf(out + 1, UNITS_TEXT_SIZE - 1, "%.*s", UNITS_TEXT_SIZE - 2, text);
    return out;
}

void diff_add_amounts(struct table *table, const struct page *page, const int64_t bytes[2],
                      const uint64_t count[2])
{
    char text[UNITS_TEXT_SIZE], a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE],
        counts[2 * UNITS_TEXT_SIZE + 8];
    table_add(table, diff_signed(page, text, diff_delta(bytes[0], bytes[1])));
    for (int side = 0; side < 2; side++)
        table_add(table,
                  count[side] == 0 && bytes[side] == 0 ? "-" : page_bytes(page, text, bytes[side]));
    snprintf(counts, sizeof(counts), "%s > %s", units_count(a, count[0]), units_count(b, count[1]));
    table_add(table, count[0] == count[1] ? a : counts);
}

bool diff_sums_text(const struct page *page, const struct diff *diff, bool phases)
{
    static const struct table_column columns[] = {{.title = "change"},
                                                  {.title = "A", .optional = 1},
                                                  {.title = "B"},
                                                  {.title = "count", .optional = 2},
                                                  {.title = "", .kind = COLUMN_LABEL}};
    const struct diff_pair *pairs = phases ? diff->phases : diff->categories;
    size_t count = phases ? diff->phase_count : diff->category_count;
    struct table table;
    table_init(&table, columns, 5);
    for (size_t i = 0; i < count; i++) {
        const struct diff_pair *pair = &pairs[i];
        const char *name =
            phases ? diff_phase_name(pair->what) : category_name((enum category)pair->what);
        diff_add_amounts(&table, page, (const int64_t[]){pair->sums[0].bytes, pair->sums[1].bytes},
                         (const uint64_t[]){pair->sums[0].count, pair->sums[1].count});
        table_add_text(&table, name);
    }
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

/* The end of a label that begins like another up to its line: "39 forward". */
static const char *only_line_differs(const char *was, const char *now)
{
    const char *a = strrchr(was, ':'), *b = strrchr(now, ':');
    if (!a || !b || a - was != b - now || memcmp(was, now, (size_t)(a - was)) != 0)
        return NULL;
    const char *rest_a = strchr(a, ' '), *rest_b = strchr(b, ' ');
    return rest_a && rest_b && strcmp(rest_a, rest_b) == 0 ? a + 1 : NULL;
}

static int by_looks(const void *a, const void *b)
{
    const struct diff_line *x = *(const struct diff_line *const *)a;
    const struct diff_line *y = *(const struct diff_line *const *)b;
    int order = strcmp(x->label.brief, y->label.brief);
    return order ? order : (x->category > y->category) - (x->category < y->category);
}

/* Marks the lines that only their operators tell from others: malloc'ed, NULL where memory is out.
 */
static bool *find_alike(const struct diff *diff)
{
    size_t count = diff->line_count;
    bool *alike = calloc(count + 1, sizeof(*alike));
    const struct diff_line **lines = calloc(count + 1, sizeof(*lines));
    for (size_t i = 0; lines && i < count; i++)
        lines[i] = &diff->lines[i];
    if (alike && lines) {
        qsort(lines, count, sizeof(*lines), by_looks);
        for (size_t i = 1; i < count; i++)
            if (by_looks(&lines[i - 1], &lines[i]) == 0)
                alike[lines[i - 1] - diff->lines] = alike[lines[i] - diff->lines] = true;
    } else {
        free(alike);
        alike = NULL;
    }
    free(lines);
    return alike;
}

/* "model.py:42 forward (line 39 in A)", "model.py:42 forward (1 place, then 3)" */
static void add_label(struct table *table, const struct diff_line *line, struct text op)
{
    struct buffer text = BUFFER_INIT;
    buffer_puts(&text, line->label.brief);
    if (line->row.sites[0] > 1 || line->row.sites[1] > 1) {
        if (!line->is_remainder)
            buffer_printf(&text, " (%u place%s, then %u)", line->row.sites[0],
                          line->row.sites[0] == 1 ? "" : "s", line->row.sites[1]);
    } else if (line->was.full) {
        const char *number = only_line_differs(line->was.brief, line->label.brief);
        if (number)
            buffer_printf(&text, " (line %.*s in A)", (int)strcspn(number, " "), number);
        else
            buffer_printf(&text, " (%s in A)", line->was.brief);
    }
    if (op.size > 0) {
        buffer_puts(&text, " [");
        buffer_add(&text, op.bytes, op.size);
        buffer_putc(&text, ']');
    }
    table_add_input(table, text.failed ? line->label.brief : text.bytes,
                    text.failed ? strlen(line->label.brief) : text.size);
    buffer_release(&text);
}

/* With `alike` the operators stand behind the call sites that need them, and no others. */
static void add_lines(struct table *table, const struct page *page, const struct diff *diff,
                      const bool *alike)
{
    static const struct text none = {"", 0};
    for (size_t i = 0; i < diff->line_count; i++) {
        const struct diff_line *line = &diff->lines[i];
        const char *category = line->is_remainder ? "" : category_name(line->category);
        struct text op = line->is_remainder ? none : site_operator_text(diff->symbols, &line->site);
        diff_add_amounts(table, page, line->row.bytes, line->row.count);
        add_label(table, line, alike && alike[i] ? op : none);
        table_add_input(table, op.bytes, alike ? 0 : op.size);
        table_add_text(table, category);
    }
}

bool diff_sites_text(const struct page *page, const struct diff_report *report,
                     const struct diff *diff)
{
    static const struct table_column columns[] = {
        {.title = "change"},
        {.title = "A", .optional = 2},
        {.title = "B", .optional = 1},
        {.title = "count", .optional = 3},
        {"call site", COLUMN_TEXT, CUT_OPERATOR, SITE_LEAST, 0},
        [OPERATOR_COLUMN] = {"operator", COLUMN_TEXT, .optional = 4},
        {.title = "category", .kind = COLUMN_LABEL}};
    struct table table;
    bool *alike = find_alike(diff);
    table_init(&table, columns, 7);
    add_lines(&table, page, diff, NULL);
    if (alike && table_hides(&table, page, SECTION_INDENT, OPERATOR_COLUMN)) {
        table_release(&table);
        table_init(&table, columns, 7);
        add_lines(&table, page, diff, alike);
    }
    table_begin(&table, page, SECTION_INDENT);
    bool ok = alike && !table_failed(&table);
    for (size_t i = 0; ok && i < diff->line_count; i++) {
        const struct diff_line *line = &diff->lines[i];
        const struct stack_example example = {line->row.stack, &line->site, 0};
        table_row(&table, page, SECTION_INDENT, i);
        if (report->stacks != STACKS_NONE && line->row.stack != STACK_NONE)
            ok = site_stack(page, diff->sites, report->stacks, &example);
    }
    table_release(&table);
    free(alike);
    return ok;
}
