#include "decode/run/operator_words.h"

#include <ctype.h>
#include <string.h>

#include "decode/run/words.h"

#define DEVICE_MOST 32 /* bytes of its name */

static const struct {
    const char *title;
    enum operator_cell cell;
} plain_titles[] = {
    {"Name", CELL_NAME},
    {"Overload Name", CELL_OVERLOAD},
    {"# of Calls", CELL_CALLS},
    {"Number of Calls", CELL_CALLS},
    {"Node ID", CELL_NODE},
    {"Input Shapes", CELL_SHAPES},
    {"Source Location", CELL_REST},
};

/* The endings of column titles after the name of the CPU or of a device. The longest ending that
 * fits counts. */
static const struct {
    const char *suffix;
    enum operator_cell cell;
    enum operator_figure self, total; /* of the CPU; of a device: in columns of its own */
    bool is_kept;
} suffixes[] = {
    {" total %", CELL_PERCENT, 0, 0, false},
    {" %", CELL_PERCENT, 0, 0, false},
    {" time avg", CELL_TIME, 0, 0, false},
    {" Mem Total", CELL_BYTES, OPERATOR_SELF_CPU_BYTES, OPERATOR_CPU_BYTES, true},
    {" Mem", CELL_BYTES, OPERATOR_SELF_CPU_BYTES, OPERATOR_CPU_BYTES, true},
    {" total", CELL_TIME, OPERATOR_SELF_CPU_TIME, OPERATOR_CPU_TIME, true},
    {"", CELL_TIME, OPERATOR_SELF_CPU_TIME, OPERATOR_CPU_TIME, true},
};

#define OF_DEVICE ((int)OPERATOR_SELF_DEVICE_TIME - (int)OPERATOR_SELF_CPU_TIME)
_Static_assert(OPERATOR_SELF_DEVICE_BYTES - OPERATOR_SELF_CPU_BYTES == OF_DEVICE, "same order");

static bool is_device(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!isalnum((unsigned char)text.bytes[i]) && text.bytes[i] != '_')
            return false;
    return text.size > 0 && text.size <= DEVICE_MOST;
}

static bool parse_figure(struct text title, struct operator_column *column)
{
    static const char self[] = "Self ";
    bool is_self = text_starts(title, self);
    if (is_self)
        title = (struct text){title.bytes + strlen(self), title.size - strlen(self)};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (!text_ends(title, suffixes[i].suffix))
            continue;
        struct text device = {title.bytes, title.size - strlen(suffixes[i].suffix)};
        bool is_cpu = text_equals(device, "CPU");
        if (!is_device(device) || (*suffixes[i].suffix == '\0' && !is_self))
            return false;
        *column = (struct operator_column){.cell = suffixes[i].cell, .figure = -1};
        if (suffixes[i].is_kept)
            column->figure =
                (int)(is_self ? suffixes[i].self : suffixes[i].total) + (is_cpu ? 0 : OF_DEVICE);
        if (!is_cpu)
            column->device = device;
        return true;
    }
    return false;
}

bool operator_title_parse(struct text title, struct operator_column *column)
{
    for (size_t i = 0; i < sizeof(plain_titles) / sizeof(plain_titles[0]); i++)
        if (text_equals(title, plain_titles[i].title)) {
            *column = (struct operator_column){.cell = plain_titles[i].cell, .figure = -1};
            return true;
        }
    if (text_starts(title, "Total ") && text_ends(title, "FLOPs")) {
        *column = (struct operator_column){.cell = CELL_REST, .figure = -1};
        return true;
    }
    return parse_figure(title, column);
}

/* A decimal, with a sign or without, in units of `unit`. `*slack` is half of its last digit, or 0
 * if it has no fraction. */
static bool parse_scaled(struct text text, int64_t unit, int64_t *number, int64_t *slack)
{
    uint64_t digits, scale;
    bool is_negative = text.size > 0 && *text.bytes == '-';
    if (is_negative)
        text = (struct text){text.bytes + 1, text.size - 1};
    if (!run_decimal_parse(text, &digits, &scale))
        return false;
    unsigned __int128 exact = digits;
    exact = (exact * (uint64_t)unit + scale / 2) / scale;
    if (exact > INT64_MAX)
        return false;
    *number = is_negative ? -(int64_t)exact : (int64_t)exact;
    *slack = (uint64_t)unit > scale ? (int64_t)((uint64_t)unit / scale / 2 + 1) : 0;
    return true;
}

bool operator_time_parse(struct text text, int64_t *nanoseconds, int64_t *slack)
{
    static const struct {
        const char *name;
        int64_t nanoseconds;
    } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (text_ends(text, units[i].name))
            return parse_scaled((struct text){text.bytes, text.size - strlen(units[i].name)},
                                units[i].nanoseconds, nanoseconds, slack);
    return false;
}

bool operator_size_parse(struct text number, struct text unit, int64_t *bytes, int64_t *slack,
                         bool *is_old)
{
    static const char *const names[2][4] = {{"B", "KB", "MB", "GB"}, {"b", "Kb", "Mb", "Gb"}};
    for (int old = 0; old < 2; old++)
        for (int i = 0; i < 4; i++)
            if (text_equals(unit, names[old][i])) {
                *is_old = old;
                bool ok = parse_scaled(number, INT64_C(1) << (10 * i), bytes, slack);
                *slack = ok && i > 0 ? *slack : 0;
                return ok;
            }
    return false;
}

bool operator_share_parse(struct text text)
{
    int64_t ignored, slack;
    if (text_equals(text, "NaN") || text_equals(text, "nan%") || text_equals(text, "inf%"))
        return true;
    if (text_ends(text, "%"))
        text.size--;
    return parse_scaled(text, 1, &ignored, &slack);
}
