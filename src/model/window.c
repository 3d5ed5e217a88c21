#include "model/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "model/device.h"

#define FRACTION_DIGITS 9
#define POINT_FORMS     "an event number, +OFFSET such as +1.5s, +20ms or +300us, or @MICROSECONDS"
#define WINDOW_EXAMPLES "write 1000:2000, +1.5s:, :+300ms or @1700000000000000:@1700000001000000"

/* One side of a range: `size` bytes, not necessarily NUL-terminated. */
struct side {
    const char *text;
    size_t size;
};

/* Removes leading digits. False if there are none, or if the value exceeds 2^63-1. */
static bool take_digits(struct side *side, int64_t *value)
{
    int64_t sum = 0;
    size_t i = 0;
    for (; i < side->size && ascii_is_digit(side->text[i]); i++) {
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, side->text[i] - '0', &sum))
            return false;
    }
    side->text += i;
    side->size -= i;
    *value = sum;
    return i > 0;
}

static bool take_all_digits(struct side side, int64_t *value)
{
    return take_digits(&side, value) && side.size == 0;
}

/* ".25" in billionths, at most nine digits; 0 for an empty text. */
static bool take_fraction(struct side *side, int64_t *billionths)
{
    *billionths = 0;
    if (side->size == 0 || side->text[0] != '.')
        return true;
    side->text++;
    side->size--;
    size_t digits = side->size;
    if (!take_digits(side, billionths))
        return false;
    digits -= side->size;
    if (digits > FRACTION_DIGITS)
        return false;
    for (; digits < FRACTION_DIGITS; digits++)
        *billionths *= 10;
    return true;
}

/* Microseconds in the unit; 0 if it is unknown. */
static int64_t unit_us(struct side unit)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {{"s", 1000000}, {"ms", 1000}, {"us", 1}, {"\xc2\xb5s", 1}, {"\xce\xbcs", 1}};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (unit.size == strlen(units[i].name) && memcmp(unit.text, units[i].name, unit.size) == 0)
            return units[i].us;
    }
    return 0;
}

/* "1.5s" -> 1500000; fractions of a microsecond are dropped. */
static bool parse_offset(struct side side, int64_t *us)
{
    int64_t whole, billionths;
    if (!take_digits(&side, &whole) || !take_fraction(&side, &billionths))
        return false;
    int64_t unit = unit_us(side);
    return unit != 0 && !__builtin_mul_overflow(whole, unit, &whole) &&
           !__builtin_add_overflow(whole, billionths * unit / 1000000000, us);
}

static bool parse_side(struct side side, struct point *point)
{
    struct point parsed = {.kind = POINT_EVENT};
    bool ok;
    if (side.size > 0 && (side.text[0] == '+' || side.text[0] == '@')) {
        parsed.kind = side.text[0] == '+' ? POINT_OFFSET : POINT_TIME;
        side.text++;
        side.size--;
    }
    ok = parsed.kind == POINT_OFFSET ? parse_offset(side, &parsed.value)
                                     : take_all_digits(side, &parsed.value);
    if (ok)
        *point = parsed;
    return ok;
}

bool point_parse(const char *text, struct point *point, struct error *err)
{
    if (!parse_side((struct side){text, strlen(text)}, point))
        return error_set(err, STATUS_USAGE, "'%.60s' is not %s", text, POINT_FORMS);
    return true;
}

/* True if the range is certainly empty: sides of different kinds cannot be compared before the file
 * is read. */
static bool is_empty(const struct window *window)
{
    /* No event comes before the first, so ":0" and ":+0s" are empty. Times may have any value. */
    if (window->from.kind == POINT_OPEN)
        return window->to.kind != POINT_TIME && window->to.value == 0;
    return window->from.kind == window->to.kind && window->from.value >= window->to.value;
}

bool window_parse(const char *text, struct window *window, struct error *err)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return error_set(err, STATUS_USAGE, "range '%.60s' has no ':'; %s", text, WINDOW_EXAMPLES);
    struct side from = {text, (size_t)(colon - text)}, to = {colon + 1, strlen(colon + 1)};
    if (from.size == 0 && to.size == 0)
        return error_set(err, STATUS_USAGE, "range ':' has no bound; %s", WINDOW_EXAMPLES);

    struct window parsed = {{POINT_OPEN, 0}, {POINT_OPEN, 0}};
    if ((from.size && !parse_side(from, &parsed.from)) || (to.size && !parse_side(to, &parsed.to)))
        return error_set(err, STATUS_USAGE, "range '%.60s': one side is not %s", text, POINT_FORMS);
    if (is_empty(&parsed))
        return error_set(err, STATUS_USAGE,
                         "range '%.60s' is empty: its end is not after its start", text);
    *window = parsed;
    return true;
}

void window_gate_init(struct window_gate *gate, const struct window *window)
{
    *gate = (struct window_gate){
        .window = *window,
        .phase = window->from.kind == POINT_OPEN ? WINDOW_INSIDE : WINDOW_BEFORE,
        .first_time_us = TIME_NONE,
        .last_time_us = TIME_NONE,
    };
}

static bool reached(const struct window_gate *gate, struct point point, int64_t time_us)
{
    int64_t first = gate->first_time_us, offset;
    switch (point.kind) {
    case POINT_OPEN:
        return false;
    case POINT_EVENT:
        return point.value <= 0 || gate->events >= (uint64_t)point.value;
    case POINT_TIME:
        return time_us != TIME_NONE && time_us >= point.value;
    case POINT_OFFSET:
        if (time_us == TIME_NONE)
            return false;
        if (__builtin_sub_overflow(time_us, first, &offset))
            return time_us > first;
        return offset >= point.value;
    }
    return false;
}

enum window_phase window_gate_pass(struct window_gate *gate, int64_t time_us)
{
    if (gate->first_time_us == TIME_NONE)
        gate->first_time_us = time_us;
    if (time_us != TIME_NONE)
        gate->last_time_us = time_us;
    if (gate->phase == WINDOW_BEFORE && reached(gate, gate->window.from, time_us)) {
        gate->phase = WINDOW_INSIDE;
        gate->first_inside = gate->events;
    }
    if (gate->phase == WINDOW_INSIDE && reached(gate, gate->window.to, time_us))
        gate->phase = WINDOW_AFTER;
    gate->events++;
    return gate->phase;
}

uint64_t window_gate_first(const struct window_gate *gate)
{
    return gate->phase == WINDOW_BEFORE ? gate->events : gate->first_inside;
}

const char *point_text(char out[UNITS_TEXT_SIZE], enum point_kind kind, int64_t value)
{
    static const struct {
        uint64_t microseconds;
        int decimals;
        const char *name;
    } units[] = {{1000000, 6, "s"}, {1000, 3, "ms"}, {1, 0, "us"}};
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    size_t i = 0;
    if (kind != POINT_OFFSET) {
        snprintf(out, UNITS_TEXT_SIZE, "@%" PRId64, value);
        return out;
    }
    while (magnitude < units[i].microseconds && units[i].microseconds > 1)
        i++;
    int size = snprintf(out, UNITS_TEXT_SIZE, "%c%" PRIu64, value < 0 ? '-' : '+',
                        magnitude / units[i].microseconds);
    uint64_t rest = magnitude % units[i].microseconds;
    int decimals = units[i].decimals;
    for (; rest > 0 && rest % 10 == 0; rest /= 10)
        decimals--;
    if (rest > 0)
        size += snprintf(out + size, UNITS_TEXT_SIZE - (size_t)size, ".%0*" PRIu64, decimals, rest);
    snprintf(out + size, UNITS_TEXT_SIZE - (size_t)size, "%s", units[i].name);
    return out;
}

bool window_missed(const struct window *window, const struct event_span *span, struct error *err)
{
    bool is_absolute = window->from.kind == POINT_TIME || window->to.kind == POINT_TIME;
    bool is_timed = is_absolute || window->from.kind > POINT_EVENT || window->to.kind > POINT_EVENT;
    if (!is_timed)
        return error_set(err, STATUS_USAGE,
                         "no event lies in the range: %s has the events 0 to %" PRIu64,
                         DEVICE_WORDS(span->device), span->count - 1);
    if (span->first_time_us == TIME_NONE)
        return error_set(err, STATUS_USAGE,
                         "the events carry no time: give the range as event numbers");
    enum point_kind kind = is_absolute ? POINT_TIME : POINT_OFFSET;
    int64_t first = span->first_time_us, last = span->last_time_us;
    char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE];
    if (kind == POINT_OFFSET) {
        if (__builtin_sub_overflow(last, first, &last))
            last = INT64_MAX;
        first = 0;
    }
    return error_set(
        err, STATUS_USAGE, "no event lies in the range: the events of %s run from %s to %s",
        DEVICE_WORDS(span->device), point_text(from, kind, first), point_text(to, kind, last));
}
