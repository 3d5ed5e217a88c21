#include "render/check/words.h"

#include <inttypes.h>
#include <string.h>

#include "render/core/escape.h"

#define PERCENT UINT64_C(1000000)

int64_t check_margin(const struct check_row *row)
{
    int64_t margin;
    if (__builtin_sub_overflow(row->limit, row->value, &margin))
        margin = row->value < 0 ? INT64_MAX : INT64_MIN;
    return margin;
}

void check_words_escaped(struct buffer *out, const char *text)
{
    escape_text(out, text, strlen(text));
}

/* "2.5%" of 2500000 millionths of a percent. */
static void add_share(struct buffer *out, uint64_t share)
{
    uint64_t parts = share % PERCENT;
    int digits = 6;
    for (; digits > 0 && parts % 10 == 0; parts /= 10)
        digits--;
    buffer_printf(out, "%" PRIu64, share / PERCENT);
    if (digits > 0)
        buffer_printf(out, ".%0*" PRIu64, digits, parts);
    buffer_putc(out, '%');
}

void check_words_rule(struct buffer *out, const struct check_rule *rule)
{
    buffer_puts(out, check_kind_name(rule->kind));
    if (rule->subject) {
        buffer_putc(out, ' ');
        check_words_escaped(out, rule->subject);
    }
    if (rule->limit.is_share) {
        buffer_putc(out, ' ');
        add_share(out, rule->limit.share);
    }
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

void check_words_value(struct buffer *out, enum check_kind kind, int64_t value, enum unit unit)
{
    char text[UNITS_TEXT_SIZE];
    enum check_unit is = check_unit_of(kind);
    if (is == CHECK_BYTES || is == CHECK_BYTES_A_STEP)
        buffer_puts(out, units_bytes(text, value, unit));
    else
        buffer_printf(out, "%" PRId64, value);
}

/* What the value is of: "the active peak is ". */
static void add_subject(struct buffer *out, const struct check_row *row)
{
    bool no_device = row->device == CHECK_NO_DEVICE;
    switch (row->rule->kind) {
    case CHECK_MAX_PEAK:
        buffer_puts(out, no_device ? "the peak of allocated memory is " : "the active peak is ");
        break;
    case CHECK_MAX_RESERVED:
        buffer_puts(out, "the peak of reserved memory is ");
        break;
    case CHECK_MAX_FRAGMENTATION:
        buffer_puts(out, "what lies in holes between blocks in use is ");
        break;
    case CHECK_MAX_GROWTH:
        buffer_puts(out, "what lives on from step to step grows by ");
        break;
    case CHECK_MAX_CATEGORY:
        buffer_puts(out, no_device ? "all activations sum up to " : "live memory of category ");
        if (!no_device) {
            check_words_escaped(out, row->rule->subject);
            buffer_puts(out, " is ");
        }
        break;
    case CHECK_MAX_SITE:
        buffer_puts(out, "the call sites of ");
        check_words_escaped(out, row->rule->subject);
        buffer_puts(out, " hold ");
        break;
    case CHECK_MAX_INCREASE:
        buffer_puts(out, "the peak is higher than the baseline's by ");
        break;
    case CHECK_MAX_AFTER_SUGGEST:
        buffer_printf(out, "with --checkpoints %s the largest part takes ", row->rule->subject);
        break;
    default:
        break;
    }
}

static void add_share_of_whole(struct buffer *out, const struct check_row *row)
{
    char text[UNITS_TEXT_SIZE];
    if (row->whole > 0)
        buffer_printf(out, " (%s)", page_share(text, row->value, row->whole));
}

void check_words_failure(struct buffer *out, const struct check_row *row, enum unit unit)
{
    char text[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];
    units_count(text, (uint64_t)row->value);
    if (row->rule->kind == CHECK_NO_OOM) {
        buffer_printf(out, "the allocator ran out of memory %s%s.", row->value == 1 ? "once" : text,
                      row->value == 1 ? "" : " times");
        return;
    }
    if (row->rule->kind == CHECK_NO_LEAKS) {
        buffer_printf(out, "at %s call site%s memory grows from step to step.", text,
                      plural(row->value));
        return;
    }
    add_subject(out, row);
    buffer_puts(out, units_bytes(text, row->value, unit));
    add_share_of_whole(out, row);
    /* A difference that shows: in bytes, where it is less than a unit. */
    units_bytes(text, row->value - row->limit, UNIT_AUTO);
    buffer_printf(out, ", %s above the limit of %s", text, units_bytes(limit, row->limit, unit));
    if (row->rule->limit.is_share) {
        buffer_puts(out, " (");
        add_share(out, row->rule->limit.share);
        buffer_putc(out, ')');
    }
    buffer_putc(out, '.');
}

static const char *blame_verb(const struct check_row *row)
{
    switch (row->rule->kind) {
    case CHECK_NO_OOM:
        return "It was asking at";
    case CHECK_MAX_FRAGMENTATION:
        return "At the end, most segments with holes are kept by small blocks of";
    case CHECK_MAX_GROWTH:
    case CHECK_NO_LEAKS:
        return "It grows at";
    case CHECK_MAX_INCREASE:
        return "The most was added by";
    default:
        return "The line that holds most of it is";
    }
}

/* Of files that know no devices. */
static const char *plain_blame_verb(const struct check_row *row)
{
    return row->blame.bytes > 0 ? "The largest producer of activations is" : "It is reached after";
}

void check_words_blame(struct buffer *out, const struct check_row *row, enum unit unit)
{
    const struct check_blame *blame = &row->blame;
    char text[UNITS_TEXT_SIZE];
    if (!blame->label)
        return;
    buffer_printf(out, "%s ",
                  row->device == CHECK_NO_DEVICE ? plain_blame_verb(row) : blame_verb(row));
    check_words_escaped(out, blame->label);
    if (blame->bytes > 0)
        buffer_printf(out, ": %s%s", units_bytes(text, blame->bytes, unit),
                      row->rule->kind == CHECK_MAX_GROWTH || row->rule->kind == CHECK_NO_LEAKS
                          ? " a step"
                          : "");
    if (blame->file) {
        buffer_puts(out, " (");
        check_words_escaped(out, blame->file);
        buffer_printf(out, ":%u)", (unsigned)blame->line);
    }
    buffer_putc(out, '.');
}

/* A sentence, with a capital and a full stop, if it lacks them. */
static void add_sentence(struct buffer *out, const char *text)
{
    size_t size = strlen(text);
    if (size == 0)
        return;
    bool is_lower = *text >= 'a' && *text <= 'z';
    if (is_lower)
        buffer_putc(out, (char)(*text - 'a' + 'A'));
    check_words_escaped(out, text + is_lower);
    if (text[size - 1] != '.')
        buffer_putc(out, '.');
}

void check_words_advice(struct buffer *out, const struct check_row *row)
{
    if (row->why)
        add_sentence(out, row->why);
    if (row->next) {
        buffer_puts(out, row->why ? " " : "");
        add_sentence(out, row->next);
    }
}

static bool is_plain(const char *text)
{
    return *text &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_./:@%+,-=")] == '\0';
}

/* A word of a shell. */
static void add_word(struct buffer *out, const char *text)
{
    if (is_plain(text)) {
        buffer_puts(out, text);
        return;
    }
    buffer_putc(out, '\'');
    for (size_t run; *text; text += run) {
        run = strcspn(text, "'");
        escape_text(out, text, run);
        if (run == 0)
            buffer_puts(out, "'\\''");
        run += run == 0;
    }
    buffer_putc(out, '\'');
}

static void add_option(struct buffer *out, const char *name, const char *value)
{
    if (!value)
        return;
    buffer_puts(out, name);
    add_word(out, value);
    buffer_putc(out, ' ');
}

/* `at`: at the moment that was checked, rather than at the peak. */
static void add_look(struct buffer *out, const struct check_look *look, bool at)
{
    add_option(out, "--at ", at ? look->at : NULL);
    add_option(out, "--range ", look->range);
    add_option(out, "--device ", look->device);
    add_option(out, "--rules ", look->rules);
}

void check_words_command(struct buffer *out, const struct check_row *row,
                         const struct check_report *report, const char *path)
{
    bool of_snapshot = row->device != CHECK_NO_DEVICE;
    switch (row->rule->kind) {
    case CHECK_MAX_AFTER_SUGGEST:
        buffer_printf(out, "memsnap suggest --checkpoints %zu ", row->rule->checkpoints);
        break;
    case CHECK_MAX_INCREASE:
        buffer_puts(out, "memsnap diff ");
        if (of_snapshot)
            add_look(out, &report->look, false);
        add_word(out, report->baseline ? report->baseline : "-");
        buffer_putc(out, ' ');
        break;
    case CHECK_MAX_CATEGORY:
    case CHECK_MAX_SITE:
        buffer_puts(out, of_snapshot ? "memsnap analyze --stacks --top 0 " : "memsnap analyze ");
        if (of_snapshot)
            add_look(out, &report->look, true);
        break;
    default:
        buffer_puts(out, "memsnap analyze ");
        if (of_snapshot)
            add_look(out, &report->look, true);
    }
    add_word(out, path);
}

void check_words_path(struct buffer *out, const char *path)
{
    check_words_escaped(out, strcmp(path, "-") == 0 ? "standard input" : path);
}

void check_words_error(struct buffer *out, const struct error *err)
{
    if (err->has_offset)
        buffer_printf(out, "byte %" PRIu64 ": ", err->offset);
    check_words_escaped(out, err->text);
}
