#include "commands/arguments.h"

#include <string.h>

#include "base/units.h"

static bool parse_number(const char *text, uint64_t most, uint64_t *number)
{
    uint64_t parsed = 0;
    if (!*text)
        return false;
    for (; *text; text++)
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(parsed, 10, &parsed) ||
            __builtin_add_overflow(parsed, (uint64_t)(*text - '0'), &parsed) || parsed > most)
            return false;
    *number = parsed;
    return true;
}

bool argument_number(const char *option, const char *text, uint64_t most, uint64_t *number,
                     struct error *err)
{
    return parse_number(text, most, number) ||
           error_set(err, STATUS_USAGE, "--%s takes a whole number, not '%.60s'", option, text);
}

bool argument_memory(const char *text, size_t *bytes, struct error *err)
{
    uint64_t size;
    if (!units_parse_bytes(text, &size) || size == 0)
        return error_set(err, STATUS_USAGE, "'%.60s' is no size; try 512MiB or 8GiB", text);
    *bytes = (size_t)size;
    return true;
}

bool argument_when(const char *text, struct when *when, struct error *err)
{
    struct when parsed = {.kind = WHEN_POINT};
    if (strcmp(text, "peak") == 0)
        parsed.kind = WHEN_PEAK;
    else if (strcmp(text, "end") == 0)
        parsed.kind = WHEN_END;
    else if (!point_parse(text, &parsed.point, err)) {
        struct error plain = *err;
        return error_set(err, plain.status, "%.200s; nor peak, nor end", plain.text);
    }
    *when = parsed;
    return true;
}
