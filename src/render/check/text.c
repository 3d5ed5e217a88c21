#include <string.h>

#include "model/device.h"
#include "render/check/words.h"
#include "render/core/table.h"

#define INDENT     2
#define RULE_LEAST 26 /* columns */
#define SITE_LEAST 18

bool check_report_passed(const struct check_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        if (report->files[i].failed || !check_result_passed(&report->files[i].result))
            return false;
    return true;
}

static bool on_several_devices(const struct check_result *result)
{
    size_t judged = result->count - result->not_judged;
    return judged > 0 && result->rows[0].device != result->rows[judged - 1].device;
}

static void add_words(struct table *table, struct buffer *words)
{
    table_add(table, words->failed ? "" : words->bytes);
    table->text.failed = table->text.failed || words->failed;
    buffer_clear(words);
}

static void add_row(struct table *table, const struct page *page, const struct check_row *row,
                    bool with_device, struct buffer *words)
{
    const int64_t values[] = {row->limit, row->value, check_margin(row)};
    check_words_rule(words, row->rule);
    add_words(table, words);
    if (with_device)
        table_add(table, row->judged ? DEVICE_NAME((uint32_t)row->device) : "");
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (row->judged)
            check_words_value(words, row->rule->kind, values[i], page->unit);
        else
            buffer_putc(words, '-');
        add_words(table, words);
    }
    table_add(table, !row->judged ? "not judged" : row->passed ? "ok" : "FAILED");
    const char *label = row->blame.label ? row->blame.label : "";
    table_add_text(table, label);
}

static bool rules_table(const struct page *page, const struct check_result *result)
{
    static const struct table_column columns[] = {
        {"rule", COLUMN_TEXT, CUT_MIDDLE, RULE_LEAST, 0},
        {.title = "device"},
        {.title = "limit"},
        {.title = "value"},
        {.title = "margin"},
        {"", .kind = COLUMN_LABEL},
        {"most at", COLUMN_TEXT, CUT_SITE, SITE_LEAST, 1},
    };
    bool with_device = on_several_devices(result);
    struct table_column used[TABLE_COLUMNS];
    size_t count = 0;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (i != 1 || with_device)
            used[count++] = columns[i];
    struct table table;
    struct buffer words = BUFFER_INIT;
    table_init(&table, used, count);
    for (size_t i = 0; i < result->count; i++)
        add_row(&table, page, &result->rows[i], with_device, &words);
    table_print(&table, page, INDENT);
    bool ok = !table_failed(&table) && !words.failed;
    buffer_release(&words);
    table_release(&table);
    return ok;
}

/* Prints and empties `words`; prints nothing if it is empty. */
static bool paragraph(const struct page *page, size_t indent, struct buffer *words)
{
    if (words->failed)
        return false;
    if (words->size > 0) {
        fprintf(page->out, "%*s", (int)indent, "");
        page_paragraph(page, indent, indent, words->bytes);
    }
    buffer_clear(words);
    return true;
}

/* True if an earlier row of the same device has the same advice. */
static bool is_repeated(const struct check_result *result, size_t index)
{
    const struct check_row *row = &result->rows[index];
    for (size_t i = 0; i < index; i++) {
        const struct check_row *earlier = &result->rows[i];
        if (row->next && earlier->next && earlier->device == row->device &&
            strcmp(earlier->next, row->next) == 0)
            return true;
    }
    return false;
}

static bool failure(const struct page *page, const struct check_result *result, size_t index,
                    bool with_device)
{
    const struct check_row *row = &result->rows[index];
    struct buffer words = BUFFER_INIT;
    fputc('\n', page->out);
    check_words_rule(&words, row->rule);
    if (with_device)
        buffer_printf(&words, ", %s", DEVICE_WORDS((uint32_t)row->device));
    buffer_puts(&words, ": ");
    check_words_failure(&words, row, page->unit);
    bool ok = paragraph(page, INDENT, &words);
    check_words_blame(&words, row, page->unit);
    ok = ok && paragraph(page, 2 * INDENT, &words);
    if (!is_repeated(result, index))
        check_words_advice(&words, row);
    ok = ok && paragraph(page, 2 * INDENT, &words);
    buffer_release(&words);
    return ok;
}

/* Prints the commands that show more about the failures, each once. */
static bool commands(const struct page *page, const struct check_report *report,
                     const struct checked_file *file)
{
    struct buffer words = BUFFER_INIT;
    bool seen[CLOSER_COMMANDS] = {false}, any = false, ok = true;
    for (size_t i = 0; ok && i < file->result.count; i++) {
        const struct check_row *row = &file->result.rows[i];
        if (row->passed || seen[check_words_closer(row)])
            continue;
        fputs(any ? "" : "\n  Look closer:\n", page->out);
        any = seen[check_words_closer(row)] = true;
        check_words_command(&words, row, report, file->path);
        ok = paragraph(page, 2 * INDENT, &words);
    }
    buffer_release(&words);
    return ok;
}

static bool notes(const struct page *page, const struct check_result *result)
{
    struct buffer words = BUFFER_INIT;
    bool ok = true;
    if (result->not_judged > 0)
        fputc('\n', page->out);
    for (size_t i = 0; ok && i < result->count; i++) {
        if (result->rows[i].judged)
            continue;
        check_words_rule(&words, result->rows[i].rule);
        buffer_puts(&words, ": ");
        check_words_not_judged(&words, &result->rows[i]);
        ok = paragraph(page, INDENT, &words);
    }
    buffer_release(&words);
    return ok;
}

static bool warnings(const struct page *page, const struct check_result *result)
{
    struct buffer words = BUFFER_INIT;
    bool ok = true;
    if (result->warning_count > 0)
        fputc('\n', page->out);
    for (size_t i = 0; ok && i < result->warning_count; i++) {
        buffer_puts(&words, "warning: ");
        check_words_escaped(&words, result->warnings[i]);
        fputs(page_style(page, STYLE_WARNING), page->out);
        ok = paragraph(page, INDENT, &words);
        fputs(page_plain(page), page->out);
    }
    buffer_release(&words);
    return ok;
}

static size_t failures(const struct check_result *result)
{
    size_t count = 0;
    for (size_t i = 0; i < result->count; i++)
        count += !result->rows[i].passed;
    return count;
}

/* "f.pickle: FAILED: 2 of 4 rules" */
static bool title(const struct page *page, const struct checked_file *file)
{
    struct buffer words = BUFFER_INIT;
    char failed[UNITS_TEXT_SIZE], all[UNITS_TEXT_SIZE];
    size_t count = failures(&file->result), left = file->result.not_judged;
    size_t judged = file->result.count - left;
    check_words_path(&words, file->path);
    units_count(all, judged);
    if (file->failed)
        buffer_puts(&words, ": not checked");
    else if (count > 0)
        buffer_printf(&words, ": FAILED: %s of %s check%s", units_count(failed, count), all,
                      judged == 1 ? "" : "s");
    else
        buffer_printf(&words, ": %s: %s check%s",
                      file->result.is_incomplete ? "INCOMPLETE" : "passed", all,
                      judged == 1 ? "" : "s");
    if (left > 0)
        buffer_printf(&words, ", %s not judged", units_count(failed, left));
    if (!words.failed)
        fprintf(page->out, "%s%s%s\n",
                page_style(page, count > 0 || file->failed || file->result.is_incomplete
                                     ? STYLE_WARNING
                                     : STYLE_TITLE),
                words.bytes, page_plain(page));
    bool ok = !words.failed;
    if (file->failed) {
        buffer_clear(&words);
        check_words_error(&words, &file->err);
        ok = ok && paragraph(page, INDENT, &words);
    }
    buffer_release(&words);
    return ok;
}

static bool file_text(const struct page *page, const struct check_report *report,
                      const struct checked_file *file)
{
    const struct check_result *result = &file->result;
    bool ok = title(page, file), with_device = on_several_devices(result);
    if (file->failed || !ok)
        return ok;
    ok = rules_table(page, result);
    for (size_t i = 0; ok && i < result->count; i++)
        if (!result->rows[i].passed)
            ok = failure(page, result, i, with_device);
    return ok && commands(page, report, file) && notes(page, result) && warnings(page, result);
}

bool check_text(const struct page *page, const struct check_report *report)
{
    size_t passed = 0, unread = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct checked_file *file = &report->files[i];
        unread += file->failed || (file->result.is_incomplete && check_result_holds(&file->result));
        passed += !file->failed && check_result_passed(&file->result);
        if (i > 0)
            fputc('\n', page->out);
        if (!file_text(page, report, file))
            return false;
    }
    if (report->count > 1)
        fprintf(page->out, "\n%zu files: %zu passed, %zu failed, %zu not checked\n", report->count,
                passed, report->count - passed - unread, unread);
    return true;
}
