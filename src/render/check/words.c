#include "render/check/words.h"

#include <inttypes.h>
#include <string.h>

#include "render/core/escape.h"

#define PERCENT UINT64_C(1000000)
#define MOST_OF "The line that holds most of it is"

/* The words of a kind of rule. In value texts, %s stands for the rule's subject. */
struct words {
    const char *kind;
    /* A value in bytes: a failure reads "VALUE 425.15 MiB, 25.15 MiB above the limit". */
    const char *value;
    const char *value_of_file; /* for a file without devices; NULL: the same */
    /* A count: a failure is ONCE, or MANY with the count in place of %s. */
    const char *once, *many;
    const char *blame;     /* precedes the line of code held responsible */
    const char *blame_per; /* after its bytes */
    const char *whole;     /* key in JSON of the bytes that a share is of; NULL: no share */
    enum check_look_closer closer;
};

#define REPLAYED "in a replay with these settings, the peak of reserved memory is"

static const struct words all_words[] = {
    {.kind = "max-peak",
     .value = "the active peak is",
     .value_of_file = "the peak of allocated memory is",
     .blame = MOST_OF},
    {.kind = "max-reserved", .value = "the peak of reserved memory is", .blame = MOST_OF},
    {.kind = "max-fragmentation",
     .value = "unused memory in holes between blocks in use is",
     .blame = "At the end, most segments with holes are kept by small blocks of",
     .whole = "reserved_bytes"},
    {.kind = "max-growth",
     .value = "memory that stays allocated from step to step grows by",
     .blame = "It grows at",
     .blame_per = " a step"},
    {.kind = "max-category",
     .value = "live memory of category %s is",
     .value_of_file = "all activations sum up to",
     .blame = MOST_OF,
     .closer = CLOSER_STACKS},
    {.kind = "max-site",
     .value = "the call sites of %s hold",
     .blame = MOST_OF,
     .closer = CLOSER_STACKS},
    {.kind = "no-oom",
     .once = "the allocator ran out of memory once",
     .many = "the allocator ran out of memory %s times",
     .blame = "The request that failed came from"},
    {.kind = "no-leaks",
     .once = "memory grows from step to step at 1 call site",
     .many = "memory grows from step to step at %s call sites",
     .blame = "It grows at",
     .blame_per = " a step"},
    {.kind = "max-increase",
     .value = "the peak exceeds the baseline's by",
     .blame = "The most was added by",
     .whole = "baseline_bytes",
     .closer = CLOSER_DIFF},
    {.kind = "max-memory-after-suggest",
     .value = "with --checkpoints %s the largest segment takes",
     .closer = CLOSER_SUGGEST},
    {.kind = "max-jump",
     .value = "the newest run exceeds the median by",
     .blame = "The most was added by",
     .whole = "median",
     .closer = CLOSER_TREND},
};

/* Fallback for a kind without words of its own. */
static const struct words plain_words = {.value = "the value is", .blame = MOST_OF};

static const struct words *words_of(const struct check_kind *kind)
{
    for (size_t i = 0; i < sizeof(all_words) / sizeof(all_words[0]); i++)
        if (strcmp(all_words[i].kind, kind->name) == 0)
            return &all_words[i];
    return &plain_words;
}

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

/* 2500000 millionths of a percent: "2.5%". */
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
    buffer_puts(out, rule->kind->name);
    if (rule->subject) {
        buffer_putc(out, ' ');
        check_words_escaped(out, rule->is_replayed && !*rule->subject ? "torch's defaults"
                                                                      : rule->subject);
    }
    if (rule->limit.is_share) {
        buffer_putc(out, ' ');
        add_share(out, rule->limit.share);
    }
}

void check_words_not_judged(struct buffer *out, const struct check_row *row)
{
    buffer_puts(out, "not judged: ");
    check_words_escaped(out, row->why ? row->why : "");
    buffer_putc(out, '.');
}

void check_words_value(struct buffer *out, const struct check_kind *kind, int64_t value,
                       enum unit unit)
{
    char text[UNITS_TEXT_SIZE];
    if (kind->unit == CHECK_BYTES || kind->unit == CHECK_BYTES_A_STEP)
        buffer_puts(out, units_bytes(text, value, unit));
    else
        buffer_printf(out, "%" PRId64, value);
}

/* Adds a text of struct words, with `inserted`, escaped, in place of %s. */
static void add_text(struct buffer *out, const char *text, const char *inserted)
{
    const char *place = strstr(text, "%s");
    if (!place) {
        buffer_puts(out, text);
        return;
    }
    buffer_printf(out, "%.*s", (int)(place - text), text);
    check_words_escaped(out, inserted);
    buffer_puts(out, place + 2);
}

static void add_share_of_whole(struct buffer *out, const struct check_row *row)
{
    char text[UNITS_TEXT_SIZE];
    if (row->whole > 0)
        buffer_printf(out, " (%s)", page_share(text, row->value, row->whole));
}

void check_words_failure(struct buffer *out, const struct check_row *row, enum unit unit)
{
    const struct words *words = words_of(row->rule->kind);
    const char *subject = row->rule->subject ? row->rule->subject : "";
    char text[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];
    bool of_file = row->device == CHECK_NO_DEVICE && words->value_of_file;
    if (words->many) {
        add_text(out, row->value == 1 ? words->once : words->many,
                 units_count(text, (uint64_t)row->value));
        buffer_putc(out, '.');
        return;
    }
    const char *value = of_file ? words->value_of_file : words->value;
    add_text(out, row->rule->is_replayed ? REPLAYED : value, subject);
    buffer_printf(out, " %s", units_bytes(text, row->value, unit));
    add_share_of_whole(out, row);
    /* The difference is printed in a unit of its own, since it may be a few bytes of many GiB. */
    units_bytes(text, row->value - row->limit, UNIT_AUTO);
    buffer_printf(out, ", %s above the limit of %s", text, units_bytes(limit, row->limit, unit));
    if (row->rule->limit.is_share) {
        buffer_puts(out, " (");
        add_share(out, row->rule->limit.share);
        buffer_putc(out, ')');
    }
    buffer_putc(out, '.');
}

const char *check_words_whole(const struct check_kind *kind)
{
    return words_of(kind)->whole;
}

enum check_look_closer check_words_closer(const struct check_row *row)
{
    enum check_look_closer closer = words_of(row->rule->kind)->closer;
    if (row->capture)
        return CLOSER_RANKS;
    if (row->rule->is_replayed)
        return CLOSER_REPLAY;
    return closer == CLOSER_STACKS && row->device == CHECK_NO_DEVICE ? CLOSER_ANALYZE : closer;
}

/* Precedes the line of code held responsible, for a file without devices. */
static const char *blame_of_file(const struct check_row *row)
{
    if (row->rule->kind->captures == CHECK_OF_HISTORY)
        return words_of(row->rule->kind)->blame;
    return row->blame.bytes > 0 ? "The largest producer of activations is" : "It is reached after";
}

void check_words_blame(struct buffer *out, const struct check_row *row, enum unit unit)
{
    const struct check_blame *blame = &row->blame;
    const struct words *words = words_of(row->rule->kind);
    char text[UNITS_TEXT_SIZE];
    if (!blame->label)
        return;
    buffer_printf(out, "%s ", row->device == CHECK_NO_DEVICE ? blame_of_file(row) : words->blame);
    check_words_escaped(out, blame->label);
    if (blame->bytes > 0)
        buffer_printf(out, ": %s%s", units_bytes(text, blame->bytes, unit),
                      words->blame_per ? words->blame_per : "");
    if (blame->file) {
        buffer_puts(out, " (");
        check_words_escaped(out, blame->file);
        buffer_printf(out, ":%u)", (unsigned)blame->line);
    }
    buffer_putc(out, '.');
}

/* Adds a sentence; gives it a capital letter and a full stop if it has none. */
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

static void add_option(struct buffer *out, const char *name, const char *value)
{
    if (!value)
        return;
    buffer_puts(out, name);
    escape_shell(out, value);
    buffer_putc(out, ' ');
}

/* `at`: examine the moment that was checked instead of the peak. */
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
    switch (check_words_closer(row)) {
    case CLOSER_SUGGEST:
        buffer_printf(out, "memsnap suggest --checkpoints %zu ", row->rule->checkpoints);
        break;
    case CLOSER_DIFF:
        buffer_puts(out, "memsnap diff ");
        if (of_snapshot)
            add_look(out, &report->look, false);
        escape_shell(out, report->baseline ? report->baseline : "-");
        buffer_putc(out, ' ');
        break;
    case CLOSER_TREND:
        buffer_puts(out, "memsnap trend ");
        add_option(out, "--metric ", report->look.metric);
        break;
    case CLOSER_REPLAY:
        buffer_puts(out, "memsnap replay ");
        add_option(out, "--alloc-conf ", row->rule->subject);
        add_option(out, "--device ", report->look.device);
        break;
    case CLOSER_RANKS:
        buffer_puts(out, "memsnap ranks ");
        break;
    case CLOSER_STACKS:
        buffer_puts(out, "memsnap analyze --stacks --top 0 ");
        add_look(out, &report->look, true);
        break;
    default:
        buffer_puts(out, "memsnap analyze ");
        if (of_snapshot)
            add_look(out, &report->look, true);
    }
    escape_shell(out, path);
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
