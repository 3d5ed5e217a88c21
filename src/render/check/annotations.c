/* Workflow commands, by which a step of GitHub Actions annotates lines of code:
 * "::error file=model.py,line=39,title=...::message". */
#include <string.h>

#include "model/device.h"
#include "render/check/words.h"
#include "render/core/escape.h"

/* The path relative to the root, if it is below the root; else the whole path. */
static const char *below_root(const char *path, const char *root)
{
    size_t size = root ? strlen(root) : 0;
    while (size > 0 && root[size - 1] == '/')
        size--;
    if (size == 0 || strncmp(path, root, size) != 0 || path[size] != '/')
        return path;
    path += size;
    return path + strspn(path, "/");
}

static void add_property(struct buffer *line, const char *name, const char *value)
{
    buffer_printf(line, "%s=", name);
    escape_workflow(line, value, strlen(value), true);
}

/* Prints "::LEVEL PROPERTIES::MESSAGE" and empties all three. */
static bool put_command(FILE *out, const char *level, struct buffer *properties,
                        struct buffer *message)
{
    struct buffer line = BUFFER_INIT;
    buffer_printf(&line, "::%s %s::", level, properties->size > 0 ? properties->bytes : "");
    if (message->size > 0)
        escape_workflow(&line, message->bytes, message->size, false);
    buffer_putc(&line, '\n');
    bool ok = !line.failed && !properties->failed && !message->failed;
    if (ok)
        fputs(line.bytes, out);
    buffer_release(&line);
    buffer_clear(properties);
    buffer_clear(message);
    return ok;
}

/* Ends the line, unless nothing was added since `begin`. */
static void end_line(struct buffer *message, size_t begin)
{
    if (message->size > begin)
        buffer_putc(message, '\n');
}

static void failure_message(struct buffer *message, const struct check_report *report,
                            const char *path, const struct check_row *row)
{
    check_words_path(message, path);
    if (row->device != CHECK_NO_DEVICE)
        buffer_printf(message, ", %s", DEVICE_WORDS((uint32_t)row->device));
    buffer_puts(message, ": ");
    check_words_failure(message, row, report->unit);
    buffer_putc(message, '\n');
    size_t begin = message->size;
    check_words_blame(message, row, report->unit);
    end_line(message, begin);
    begin = message->size;
    check_words_advice(message, row);
    end_line(message, begin);
    buffer_puts(message, "Look at: ");
    check_words_command(message, row, report, path);
}

/* A notice, or an error if all rules must be judged. */
static bool not_judged(FILE *out, const struct checked_file *file)
{
    struct buffer properties = BUFFER_INIT, message = BUFFER_INIT, title = BUFFER_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < file->result.count; i++) {
        const struct check_row *row = &file->result.rows[i];
        if (row->judged)
            continue;
        buffer_clear(&title);
        buffer_puts(&title, "memsnap: ");
        check_words_rule(&title, row->rule);
        add_property(&properties, "title", title.failed ? "" : title.bytes);
        check_words_path(&message, file->path);
        buffer_puts(&message, ": ");
        check_words_not_judged(&message, row);
        ok = put_command(out, file->result.is_incomplete ? "error" : "notice", &properties,
                         &message) &&
             !title.failed;
    }
    buffer_release(&properties);
    buffer_release(&message);
    buffer_release(&title);
    return ok;
}

static bool file_annotations(FILE *out, const struct check_report *report,
                             const struct checked_file *file)
{
    struct buffer properties = BUFFER_INIT, message = BUFFER_INIT, title = BUFFER_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < file->result.count; i++) {
        const struct check_row *row = &file->result.rows[i];
        if (row->passed)
            continue;
        if (row->blame.file) {
            add_property(&properties, "file", below_root(row->blame.file, report->source_root));
            buffer_printf(&properties, ",line=%u,", (unsigned)row->blame.line);
        }
        buffer_clear(&title);
        buffer_puts(&title, "memsnap: ");
        check_words_rule(&title, row->rule);
        add_property(&properties, "title", title.failed ? "" : title.bytes);
        failure_message(&message, report, file->path, row);
        ok = put_command(out, "error", &properties, &message) && !title.failed;
    }
    for (size_t i = 0; ok && i < file->result.warning_count; i++) {
        add_property(&properties, "title", "memsnap");
        check_words_path(&message, file->path);
        buffer_puts(&message, ": ");
        check_words_escaped(&message, file->result.warnings[i]);
        ok = put_command(out, "warning", &properties, &message);
    }
    buffer_release(&properties);
    buffer_release(&message);
    buffer_release(&title);
    return ok;
}

/* A notice that a file passed, or an error that it could not be checked. */
static bool file_verdict(FILE *out, const struct checked_file *file)
{
    struct buffer properties = BUFFER_INIT, message = BUFFER_INIT;
    size_t judged = file->result.count - file->result.not_judged;
    add_property(&properties, "title", "memsnap");
    check_words_path(&message, file->path);
    if (file->failed) {
        buffer_puts(&message, ": not checked: ");
        check_words_error(&message, &file->err);
    } else {
        buffer_printf(&message, ": passed %zu check%s", judged, judged == 1 ? "" : "s");
    }
    bool ok = put_command(out, file->failed ? "error" : "notice", &properties, &message);
    buffer_release(&properties);
    buffer_release(&message);
    return ok;
}

bool check_github(FILE *out, const struct check_report *report)
{
    bool ok = true;
    for (size_t i = 0; ok && i < report->count; i++) {
        const struct checked_file *file = &report->files[i];
        if (!file->failed)
            ok = file_annotations(out, report, file) && not_judged(out, file);
        if (ok && (file->failed || check_result_passed(&file->result)))
            ok = file_verdict(out, file);
    }
    return ok;
}
