#include "commands/cli/arguments.h"

#include <inttypes.h>
#include <string.h>

#define MOST_DEPTH 1000000000

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
    if (parse_number(text, most, number))
        return true;
    if (*text && text[strspn(text, "0123456789")] == '\0')
        return error_set(err, STATUS_USAGE,
                         "invalid --%s '%.60s' (expected a whole number up to %" PRIu64 ")", option,
                         text, most);
    return error_set(err, STATUS_USAGE, "invalid --%s '%.60s' (expected a whole number)", option,
                     text);
}

bool argument_count(const char *option, const char *text, size_t most, size_t *count,
                    struct error *err)
{
    uint64_t number;
    if (!argument_number(option, text, most, &number, err))
        return false;
    *count = (size_t)number;
    return true;
}

bool argument_device(const char *text, int64_t *device, struct error *err)
{
    uint64_t number = DEVICE_HOST;
    if (strcmp(text, "host") != 0 && !argument_number("device", text, UINT32_MAX, &number, err))
        return false;
    *device = (int64_t)number;
    return true;
}

bool argument_unit(const char *text, enum unit *unit, struct error *err)
{
    return units_parse(text, unit) ||
           error_set(err, STATUS_USAGE,
                     "invalid unit '%.60s' (expected auto, bytes, KiB, MiB or GiB)", text);
}

bool argument_memory(const char *text, size_t *bytes, struct error *err)
{
    uint64_t size;
    if (!units_parse_bytes(text, &size) || size == 0)
        return error_set(err, STATUS_USAGE, "invalid size '%.60s' (for example 512MiB)", text);
    *bytes = (size_t)size;
    return true;
}

bool argument_stacks(const char *text, enum stack_detail *stacks, struct error *err)
{
    *stacks = text ? STACKS_ALL : STACKS_FOLDED;
    return !text || strcmp(text, "all") == 0 ||
           error_set(err, STATUS_USAGE, "invalid --stacks '%.60s' (expected all, or nothing)",
                     text);
}

bool argument_when(const char *text, struct when *when, struct error *err)
{
    struct when parsed = {.kind = WHEN_POINT};
    if (strcmp(text, "peak") == 0)
        parsed.kind = WHEN_PEAK;
    else if (strcmp(text, "end") == 0)
        parsed.kind = WHEN_END;
    else if (*text && !strchr("0123456789+-@:", *text))
        parsed = (struct when){.kind = WHEN_PHASE, .name = text};
    else if (!point_parse(text, &parsed.point, err)) {
        struct error plain = *err;
        return error_set(err, plain.status, "%.180s; nor peak, end, or the name of a phase",
                         plain.text);
    }
    *when = parsed;
    return true;
}

bool argument_granularity(const char *text, struct cuts *cuts, struct error *err)
{
    struct cuts parsed = {.kind = CUT_PATTERN, .pattern = text};
    uint64_t depth;
    if (!*text)
        return error_set(err, STATUS_USAGE, "--granularity needs leaf, a depth or a pattern");
    if (strcmp(text, "leaf") == 0) {
        parsed = (struct cuts){.kind = CUT_LEAVES};
    } else if (text[strspn(text, "0123456789")] == '\0') {
        if (!argument_number("granularity", text, MOST_DEPTH, &depth, err))
            return false;
        if (depth == 0)
            return error_set(err, STATUS_USAGE, "invalid --granularity '0' (expected at least 1)");
        parsed = (struct cuts){.kind = CUT_DEPTH, .depth = (size_t)depth};
    }
    *cuts = parsed;
    return true;
}
