/* Reads trends that memsnap trend writes as JSON. */
#include <string.h>

#include "decode/core/sniff.h"
#include "decode/json/members.h"
#include "model/trend.h"

#define MOST_RUNS 1000000
#define MOST      (INT64_C(1) << 62) /* largest absolute value of a number */

struct reader {
    struct json_reader json;
    struct trend *trend;
    struct error *err;
    bool has_unit;
};

static bool read_text(struct reader *in, const char *what, struct text *to)
{
    return json_read_string(&in->json, what, to, in->err) && trend_text(in->trend, to, in->err);
}

static bool read_number(struct reader *in, int64_t least, int64_t *to)
{
    struct json_integer integer;
    uint64_t offset;
    if (!json_offset(&in->json, &offset, in->err) ||
        !json_read_integer(&in->json, "a whole number", &integer, in->err))
        return false;
    int64_t number = integer.magnitude > (uint64_t)MOST ? MOST : (int64_t)integer.magnitude;
    number = integer.negative ? -number : number;
    if (integer.magnitude > (uint64_t)MOST || number < least)
        return error_set_at(in->err, STATUS_BAD_INPUT, offset,
                            "expected a whole number, found one out of range");
    *to = number;
    return true;
}

static bool read_count(struct reader *in, uint64_t *to)
{
    int64_t number;
    if (!read_number(in, 0, &number))
        return false;
    *to = (uint64_t)number;
    return true;
}

static bool read_value(struct reader *in, struct trend_point *point)
{
    bool is_null;
    if (!json_take_null(&in->json, &is_null, in->err))
        return false;
    point->is_known = !is_null;
    return is_null || read_number(in, -MOST, &point->value);
}

static bool run_member(void *self, struct text key, void *to)
{
    struct reader *in = self;
    struct trend_point *point = to;
    if (text_equals(key, "run"))
        return read_number(in, -MOST, &point->run);
    if (text_equals(key, "name"))
        return read_text(in, "the name of a run (a string)", &point->name);
    if (text_equals(key, "commit"))
        return read_text(in, "a commit (a string)", &point->commit);
    if (text_equals(key, "time"))
        return read_number(in, -MOST, &point->time_s);
    if (text_equals(key, "ranks"))
        return read_count(in, &point->ranks);
    if (text_equals(key, "failed"))
        return read_count(in, &point->failed);
    if (text_equals(key, "value"))
        return read_value(in, point);
    if (text_equals(key, "rank"))
        return read_number(in, 0, &point->rank);
    return json_skip(&in->json, in->err);
}

static bool read_run(void *self)
{
    struct reader *in = self;
    struct trend *trend = in->trend;
    struct trend_point point = {.name = {"", 0}, .commit = {"", 0}, .rank = -1};
    if (trend->count >= MOST_RUNS)
        return error_set(in->err, STATUS_LIMIT, "more than %d runs", MOST_RUNS);
    return json_each_member(&in->json, "a run (an object)", run_member, in, &point, in->err) &&
           vec_push(trend->points, trend->count, trend->capacity, &trend->budget, in->err, point);
}

static bool read_unit(struct reader *in)
{
    struct text text;
    if (!json_read_string(&in->json, "a unit (a string)", &text, in->err))
        return false;
    in->has_unit = true;
    for (unsigned unit = 0; unit < TREND_UNITS; unit++)
        if (text_equals(text, trend_unit_names[unit])) {
            in->trend->unit = (enum trend_unit)unit;
            return true;
        }
    return json_unexpected(&in->json, "\"bytes\", \"bytes_per_step\" or \"events\" before this",
                           in->err);
}

static bool root_member(void *self, struct text key, void *to)
{
    struct reader *in = self;
    struct text metric;
    (void)to;
    if (text_equals(key, "metric")) {
        if (!read_text(in, "a metric (a string)", &metric))
            return false;
        in->trend->metric = metric.bytes;
        return true;
    }
    if (text_equals(key, "unit"))
        return read_unit(in);
    if (text_equals(key, "runs"))
        return json_each_item(&in->json, "runs (an array)", read_run, in, in->err);
    return json_skip(&in->json, in->err);
}

static bool decode(struct trend *trend, struct source *source, struct error *err)
{
    enum encoding encoding;
    struct reader in = {.trend = trend, .err = err};
    if (!sniff_encoding(source, &encoding, err))
        return false;
    if (encoding != ENCODING_JSON)
        return error_set(err, STATUS_BAD_INPUT, "expected %s (JSON), not %s", kind_name(KIND_TREND),
                         encoding_name(encoding));
    json_reader_init(&in.json, source);
    bool ok = json_begin(&in.json, err) &&
              json_each_member(&in.json, "an object", root_member, &in, NULL, err) &&
              json_finish(&in.json, err);
    json_reader_release(&in.json);
    if (ok && (!trend->metric || !in.has_unit || trend->count == 0))
        return error_set(err, STATUS_BAD_INPUT, "expected %s, found no %s", kind_name(KIND_TREND),
                         !trend->metric ? "metric"
                         : !in.has_unit ? "unit"
                                        : "run");
    return ok;
}

bool trend_load_input(struct trend *trend, struct input *input, struct error *err)
{
    bool ok = decode(trend, &input->source, err);
    input_discard(input);
    return ok;
}
