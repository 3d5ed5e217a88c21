#include "analysis/fit/values.h"

#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"

#define VALUE_MOST (UINT64_C(1) << 53) /* doubles hold all of them */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Moves `*at` past the name and its "=". */
static bool read_name(const char **at, char name[FIT_NAME_SIZE])
{
    const char *text = *at;
    size_t size = 0;
    while (is_letter(text[size]) || (size > 0 && ascii_is_digit(text[size])))
        size++;
    if (size == 0 || size >= FIT_NAME_SIZE || text[size] != '=')
        return false;
    memcpy(name, text, size);
    name[size] = '\0';
    *at = text + size + 1;
    return true;
}

static bool read_number(const char **at, uint64_t *number)
{
    const char *digit = *at;
    for (*number = 0; ascii_is_digit(*digit) && *number <= VALUE_MOST; digit++)
        *number = *number * 10 + (uint64_t)(*digit - '0');
    bool ok = digit > *at && *number <= VALUE_MOST;
    *at = digit;
    return ok;
}

static bool add(struct fit_values *values, uint64_t value, struct error *err)
{
    if (values->count > 0 && value <= values->listed[values->count - 1])
        return error_set(err, STATUS_USAGE,
                         "invalid --fit: the values must ascend, but %" PRIu64 " follows %" PRIu64,
                         value, values->listed[values->count - 1]);
    if (values->count == FIT_LISTED_MOST)
        return error_set(err, STATUS_USAGE, "invalid --fit: more than %d values in a list",
                         FIT_LISTED_MOST);
    values->listed[values->count++] = value;
    return true;
}

static bool malformed(const char *text, struct error *err)
{
    return error_set(err, STATUS_USAGE,
                     "invalid --fit '%.60s' (for example BATCH=1..1024, BATCH=8..256+8, "
                     "BATCH=1..1024*2 or BATCH=8,16,32)",
                     text);
}

static bool read_list(const char *text, const char *at, struct fit_values *values,
                      struct error *err)
{
    uint64_t value;
    values->is_list = true;
    for (;; at++) {
        if (!read_number(&at, &value))
            return malformed(text, err);
        if (!add(values, value, err))
            return false;
        if (*at == '\0')
            return true;
        if (*at != ',')
            return malformed(text, err);
    }
}

static bool read_range(const char *text, const char *at, struct fit_values *values,
                       struct error *err)
{
    uint64_t last, step = 1;
    bool ok = read_number(&at, &values->first) && at[0] == '.' && at[1] == '.';
    at += ok ? 2 : 0;
    ok = ok && read_number(&at, &last);
    char sign = ok ? *at : '\0';
    if (sign == '+' || sign == '*') {
        at++;
        ok = read_number(&at, &step) && step > (sign == '*');
    }
    if (!ok || *at != '\0' || (sign == '*' && values->first == 0))
        return malformed(text, err);
    if (last < values->first)
        return error_set(err, STATUS_USAGE, "invalid --fit '%.60s': the range is empty", text);
    if (sign != '*') {
        values->step = step;
        values->count = (size_t)((last - values->first) / step + 1);
        return true;
    }
    for (uint64_t value = values->first; value <= last; value *= step)
        if (!add(values, value, err))
            return false;
    return true;
}

bool fit_values_parse(const char *text, struct fit_values *values, struct error *err)
{
    struct fit_values read = {0};
    const char *at = text;
    if (!read_name(&at, read.name))
        return malformed(text, err);
    read.text = at;
    if (!(strstr(at, "..") ? read_range : read_list)(text, at, &read, err))
        return false;
    *values = read;
    return true;
}

uint64_t fit_value(const struct fit_values *values, size_t index)
{
    return values->step > 0 ? values->first + values->step * index : values->listed[index];
}
