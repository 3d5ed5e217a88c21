/* JUnit's XML, which GitLab, Jenkins and others show: a suite for each file, a case for each rule.
 */
#include <string.h>

#include "model/device.h"
#include "render/check/words.h"
#include "render/core/escape.h"

static void add_attribute(struct buffer *xml, const char *name, const struct buffer *value)
{
    buffer_printf(xml, " %s=\"", name);
    if (value->size > 0)
        escape_markup(xml, value->bytes, value->size);
    buffer_putc(xml, '"');
    xml->failed = xml->failed || value->failed;
}

static void add_line(struct buffer *xml, struct buffer *words)
{
    if (words->size > 0) {
        escape_markup(xml, words->bytes, words->size);
        buffer_putc(xml, '\n');
    }
    xml->failed = xml->failed || words->failed;
    buffer_clear(words);
}

static void failure_xml(struct buffer *xml, const struct check_report *report, const char *path,
                        const struct check_row *row)
{
    struct buffer words = BUFFER_INIT;
    check_words_failure(&words, row, report->unit);
    buffer_puts(xml, "<failure type=\"limit\"");
    add_attribute(xml, "message", &words);
    buffer_puts(xml, ">");
    add_line(xml, &words);
    check_words_blame(&words, row, report->unit);
    add_line(xml, &words);
    check_words_advice(&words, row);
    add_line(xml, &words);
    buffer_puts(&words, "Look at: ");
    check_words_command(&words, row, report, path);
    add_line(xml, &words);
    buffer_puts(xml, "</failure>");
    buffer_release(&words);
}

static void case_xml(struct buffer *xml, const struct check_report *report, const char *path,
                     const struct check_row *row, bool is_incomplete)
{
    struct buffer words = BUFFER_INIT;
    check_words_rule(&words, row->rule);
    if (row->device != CHECK_NO_DEVICE)
        buffer_printf(&words, ", %s", DEVICE_WORDS((uint32_t)row->device));
    buffer_puts(xml, "    <testcase");
    add_attribute(xml, "name", &words);
    buffer_clear(&words);
    check_words_path(&words, path);
    add_attribute(xml, "classname", &words);
    if (row->blame.file) {
        buffer_clear(&words);
        check_words_escaped(&words, row->blame.file);
        add_attribute(xml, "file", &words);
    }
    buffer_puts(xml, " time=\"0\">");
    if (!row->passed)
        failure_xml(xml, report, path, row);
    if (!row->judged) {
        buffer_puts(xml, is_incomplete ? "<error type=\"not judged\"" : "<skipped");
        buffer_clear(&words);
        check_words_not_judged(&words, row);
        add_attribute(xml, "message", &words);
        buffer_puts(xml, "/>");
    }
    buffer_puts(xml, "</testcase>\n");
    buffer_release(&words);
}

static void error_xml(struct buffer *xml, const struct checked_file *file)
{
    struct buffer words = BUFFER_INIT;
    buffer_puts(xml, "    <testcase name=\"read\"");
    check_words_path(&words, file->path);
    add_attribute(xml, "classname", &words);
    buffer_clear(&words);
    check_words_error(&words, &file->err);
    buffer_printf(xml, " time=\"0\"><error type=\"status %d\"", (int)file->err.status);
    add_attribute(xml, "message", &words);
    buffer_puts(xml, "/></testcase>\n");
    buffer_release(&words);
}

static size_t count_failures(const struct checked_file *file)
{
    size_t count = 0;
    for (size_t i = 0; !file->failed && i < file->result.count; i++)
        count += !file->result.rows[i].passed;
    return count;
}

static size_t count_errors(const struct checked_file *file)
{
    if (file->failed)
        return 1;
    return file->result.is_incomplete ? file->result.not_judged : 0;
}

static size_t count_skipped(const struct checked_file *file)
{
    return file->failed ? 0 : file->result.not_judged - count_errors(file);
}

static void suite_xml(struct buffer *xml, const struct check_report *report,
                      const struct checked_file *file)
{
    struct buffer words = BUFFER_INIT;
    size_t tests = file->failed ? 1 : file->result.count;
    check_words_path(&words, file->path);
    buffer_puts(xml, "  <testsuite");
    add_attribute(xml, "name", &words);
    buffer_printf(xml,
                  " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"0\">\n",
                  tests, count_failures(file), count_errors(file), count_skipped(file));
    if (file->failed)
        error_xml(xml, file);
    for (size_t i = 0; !file->failed && i < file->result.count; i++)
        case_xml(xml, report, file->path, &file->result.rows[i], file->result.is_incomplete);
    buffer_puts(xml, "  </testsuite>\n");
    buffer_release(&words);
}

bool check_junit(FILE *out, const struct check_report *report)
{
    struct buffer xml = BUFFER_INIT;
    size_t tests = 0, failures = 0, errors = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct checked_file *file = &report->files[i];
        tests += file->failed ? 1 : file->result.count;
        failures += count_failures(file);
        errors += count_errors(file);
    }
    buffer_printf(&xml,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"memsnap check\" "
                  "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"0\">\n",
                  tests, failures, errors);
    for (size_t i = 0; i < report->count; i++)
        suite_xml(&xml, report, &report->files[i]);
    buffer_puts(&xml, "</testsuites>\n");
    bool ok = !xml.failed;
    if (ok)
        fwrite(xml.bytes, 1, xml.size, out);
    buffer_release(&xml);
    return ok;
}
