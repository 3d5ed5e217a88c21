#include <stdlib.h>
#include <string.h>

#include "model/device.h"
#include "render/analyze/internal.h"
#include "render/core/escape.h"
#include "render/diff/rows.h"

#define OPERATOR_COLUMN 5
#define NAME_MOST       100 /* bytes of the name of a moment */

/* A table by anything but the call site. */
static bool print_sums(const struct page *page, const struct diff *diff, enum diff_by by)
{
    const struct field_context context = {.symbols = diff->symbols};
    size_t count = diff_sum_count(diff, by);
    struct diff_sum_row row;
    struct row_table table;
    row_table_init(&table, diff_sum_type(by), page, &context);
    for (size_t i = 0; i < count; i++) {
        diff_sum_row(diff, by, i, &row);
        row_table_add(&table, &row);
    }
    return row_table_print(&table, page, SECTION_INDENT);
}

static int by_looks(const void *a, const void *b)
{
    const struct diff_line *x = *(const struct diff_line *const *)a;
    const struct diff_line *y = *(const struct diff_line *const *)b;
    int order = strcmp(x->label.brief, y->label.brief);
    return order ? order : (x->category > y->category) - (x->category < y->category);
}

/* Marks the lines that differ from another one only in their operator. Malloc'ed; NULL if out of
 * memory. */
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

static void add_lines(struct row_table *table, const struct page *page, const struct diff *diff,
                      const bool *alike)
{
    const struct diff_sites_text text = {diff, alike};
    const struct field_context context = {.symbols = diff->symbols, .user = &text};
    struct diff_site_row row;
    row_table_init(table, &diff_site_type, page, &context);
    for (size_t i = 0; i < diff->line_count; i++) {
        diff_site_row(diff, i, &row);
        row_table_add(table, &row);
    }
    table->context.user = NULL;
}

static bool print_sites(const struct page *page, const struct diff_report *report,
                        const struct diff *diff)
{
    struct row_table rows;
    bool *alike = find_alike(diff);
    add_lines(&rows, page, diff, NULL);
    if (alike && table_hides(&rows.table, page, SECTION_INDENT, OPERATOR_COLUMN)) {
        row_table_finish(&rows);
        add_lines(&rows, page, diff, alike);
    }
    table_begin(&rows.table, page, SECTION_INDENT);
    bool ok = alike && !table_failed(&rows.table);
    for (size_t i = 0; ok && i < diff->line_count; i++) {
        const struct diff_line *line = &diff->lines[i];
        const struct stack_example example = {line->row.stack, &line->site, 0};
        table_row(&rows.table, page, SECTION_INDENT, i);
        if (report->stacks != STACKS_NONE && line->row.stack != STACK_NONE)
            ok = site_stack(page, diff->sites, report->stacks, &example);
    }
    free(alike);
    return row_table_finish(&rows) && ok;
}

void diff_title(const struct page *page, const char *text)
{
    fprintf(page->out, "\n%*s%s%s%s\n", SECTION_INDENT, "", page_style(page, STYLE_TITLE), text,
            page_plain(page));
}

/* A paragraph after a word such as "warning:", which may be empty. Escapes the sentence. */
static bool paragraph(const struct page *page, enum style style, const char *lead,
                      const char *sentence)
{
    struct buffer text = BUFFER_INIT;
    escape_text(&text, sentence, strlen(sentence));
    bool ok = !text.failed;
    if (ok && text.size > 0) {
        fprintf(page->out, "%*s%s%s%s", SECTION_INDENT, "", page_style(page, style), lead,
                page_plain(page));
        page_paragraph(page, SECTION_INDENT + strlen(lead), SECTION_INDENT, text.bytes);
    }
    buffer_release(&text);
    return ok;
}

bool diff_paragraphs(const struct page *page, enum style style, const char *lead,
                     const struct diff_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (!paragraph(page, style, lead, words->items[i]))
            return false;
    return true;
}

static void add_name(struct buffer *text, const char *at)
{
    if (strcmp(at, "peak") == 0 || strcmp(at, "end") == 0)
        buffer_puts(text, "the ");
    else if (!strchr("+@:0123456789", *at))
        buffer_puts(text, "the peak of ");
    escape_text(text, at, (size_t)utf8_clip(at, NAME_MOST));
}

/* "the peak", "the end", "event 2,000", "+1.5s", "the peak of forward" */
static void add_moment(struct buffer *text, const char *at, const struct diff_side *side)
{
    char number[UNITS_TEXT_SIZE];
    if (at[strspn(at, "0123456789")] == '\0' && side->event >= 0)
        buffer_printf(text, "event %s", units_count(number, (uint64_t)side->event));
    else
        add_name(text, at);
}

static bool is_unused(const struct diff *diff)
{
    return diff->sides[0].is_unused && diff->sides[1].is_unused;
}

/* "Device 0: live memory at the peaks", "Device 0 of A and device 1 of B: +1.5s in A, the end in
 * B" */
static void headline(const struct page *page, const struct diff_report *report,
                     const struct diff *diff, bool is_like)
{
    struct buffer text = BUFFER_INIT;
    unsigned a = diff->sides[0].device, b = diff->sides[1].device;
    if (a == b)
        buffer_printf(&text, "%s: ", DEVICE_TITLE(a));
    else
        buffer_printf(&text, "%s of A and %s of B: ", DEVICE_TITLE(a), DEVICE_WORDS(b));
    if (is_unused(diff)) {
        buffer_puts(&text, "not used");
    } else if (is_like) {
        buffer_printf(&text, "live memory at the peaks of %s", phase_name(diff->sides[1].phase));
    } else if (strcmp(report->at[0], report->at[1]) != 0) {
        add_moment(&text, report->at[0], &diff->sides[0]);
        buffer_puts(&text, " in A, ");
        add_moment(&text, report->at[1], &diff->sides[1]);
        buffer_puts(&text, " in B");
    } else if (strcmp(report->at[0], "peak") == 0) {
        bool known = diff->sides[0].knows_peak, of_b = diff->sides[1].knows_peak;
        buffer_puts(&text, known && of_b ? "live memory at the peaks"
                           : known       ? "live memory at the peak of A, and in the snapshot of B"
                           : of_b        ? "live memory in the snapshot of A, and at the peak of B"
                                         : "live memory in the snapshots");
    } else {
        buffer_puts(&text, "live memory at ");
        add_moment(&text, report->at[0], &diff->sides[0]);
    }
    if (!text.failed) {
        fprintf(page->out, "\n%s", page_style(page, STYLE_TITLE));
        page_paragraph(page, 0, SECTION_INDENT, text.bytes);
        fputs(page_plain(page), page->out);
    }
    buffer_release(&text);
}

bool diff_figures_text(const struct page *page, const struct diff_figure *figures, size_t count)
{
    fputc('\n', page->out);
    return rows_print(page, SECTION_INDENT, &diff_figure_type, figures, count,
                      &(struct field_context){0});
}

static bool figures(const struct page *page, const struct diff *diff)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    struct diff_figure rows[4];
    size_t count = 0;
    rows[count++] = diff_figure("active then", a->at.active_bytes, b->at.active_bytes);
    if (a->at.allocated_bytes != a->at.active_bytes || b->at.allocated_bytes != b->at.active_bytes)
        rows[count++] =
            diff_figure("of that, not freed yet", a->at.allocated_bytes, b->at.allocated_bytes);
    if (a->reserved_peak_bytes > 0 || b->reserved_peak_bytes > 0) {
        rows[count++] = diff_figure("reserved then", a->at.reserved_bytes, b->at.reserved_bytes);
        rows[count++] =
            diff_figure("peak reserved", a->reserved_peak_bytes, b->reserved_peak_bytes);
    }
    return diff_figures_text(page, rows, count);
}

static bool settings(const struct page *page, const struct diff *diff)
{
    const struct field_context context = {.symbols = diff->symbols};
    if (diff->setting_count == 0)
        return true;
    diff_title(page, "Settings that differ");
    return rows_print(page, SECTION_INDENT, &diff_setting_type, diff->settings, diff->setting_count,
                      &context);
}

bool diff_limit_text(const struct page *page, const struct diff_limit *limit)
{
    char text[160], bytes[UNITS_TEXT_SIZE];
    if (!limit->given)
        return true;
    snprintf(text, sizeof(text), "B exceeds A by %s than %s (--fail-over %.40s).",
             limit->exceeded ? "more" : "no more", page_bytes(page, bytes, limit->bytes),
             limit->text);
    return paragraph(page, STYLE_WARNING, limit->exceeded ? "failed:" : "", text);
}

static bool tables(const struct page *page, const struct diff_report *report,
                   const struct diff *diff)
{
    enum diff_by by = report->by;
    if (by == DIFF_BY_ALL && !figures(page, diff))
        return false;
    if (by == DIFF_BY_ALL || by == DIFF_BY_CATEGORY) {
        diff_title(page, "By category");
        if (!print_sums(page, diff, DIFF_BY_CATEGORY))
            return false;
    }
    if (by == DIFF_BY_ALL || by == DIFF_BY_PHASE) {
        diff_title(page, "By the phase that allocated it");
        if (!print_sums(page, diff, DIFF_BY_PHASE))
            return false;
    }
    if ((by == DIFF_BY_ALL && diff->is_annotated) || by == DIFF_BY_ANNOTATION) {
        diff_title(page, "By annotation");
        if (!print_sums(page, diff, DIFF_BY_ANNOTATION))
            return false;
    }
    if (by == DIFF_BY_ALL || by == DIFF_BY_SITE) {
        diff_title(page, "By call site");
        if (!print_sites(page, report, diff))
            return false;
    }
    return by != DIFF_BY_ALL || settings(page, diff);
}

static bool device_text(const struct page *page, const struct diff_report *report,
                        const struct diff_view *view)
{
    const struct diff *diff = view->like ? view->like : view->diff;
    headline(page, report, diff, view->like);
    if (is_unused(diff))
        return true;
    if (!diff_paragraphs(page, STYLE_TITLE, "", &diff->summary) ||
        !diff_limit_text(page, &view->limit) ||
        !diff_paragraphs(page, STYLE_WARNING, "warning:", &diff->warnings) ||
        !tables(page, report, diff))
        return false;
    if (diff->next.count > 0)
        diff_title(page, "Next steps");
    return diff_paragraphs(page, STYLE_TITLE, "", &diff->next);
}

bool diff_text(const struct page *page, const struct diff_report *report)
{
    for (int side = 0; side < 2; side++)
        if (!input_line(page, &report->inputs[side]))
            return false;
    if (report->remark && !paragraph(page, STYLE_WARNING, "note:", report->remark))
        return false;
    for (size_t i = 0; i < report->device_count; i++)
        if (!device_text(page, report, &report->devices[i]))
            return false;
    return true;
}
