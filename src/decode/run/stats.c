#include "decode/run/stats.h"

#include "decode/pickle/decode.h"
#include "decode/yaml/value.h"

#define STATS_MOST 1000 /* statistics of a point; torch writes about 130 */

struct reader {
    const struct values *values;
    struct symbols *symbols;
    const struct run_stats_sink *sink;
    bool by_line;        /* `place` is a line, not an offset */
    uint64_t place;      /* offset of the innermost container that is being read */
    struct text context; /* the key of the point; empty outside */
    uint64_t left;       /* statistics: aliases could repeat a few of them without end */
    struct error *err;
};

/* "expected WHAT in 0.training_step.2.end, found a string" */
static bool bad(const struct reader *in, const char *expected, value v)
{
    const char *found = value_kind_name(in->values, v);
    const char *lead = in->context.size > 0 ? " in " : "";
    int size = in->context.size < 60 ? (int)in->context.size : 60;
    if (in->by_line)
        return error_set(in->err, STATUS_BAD_INPUT, "line %llu: expected %s%s%.*s, found %s",
                         (unsigned long long)in->place, expected, lead, size, in->context.bytes,
                         found);
    return error_set_at(in->err, STATUS_BAD_INPUT, in->place, "expected %s%s%.*s, found %s",
                        expected, lead, size, in->context.bytes, found);
}

static void enter(struct reader *in, value v)
{
    if (value_tag(v) == TAG_NODE)
        in->place = value_node(in->values, v)->offset;
}

/* torch writes integers; a float stands for the nearest one. */
static bool read_number(const struct reader *in, value v, int64_t *number)
{
    if (value_to_i64(in->values, v, number))
        return true;
    if (!value_is_node(in->values, v, NODE_FLOAT))
        return false;
    double real = value_node(in->values, v)->as.real;
    if (!(real > -9.2e18 && real < 9.2e18))
        return false;
    *number = (int64_t)real;
    return true;
}

static bool read_stats(struct reader *in, value v)
{
    const value *pairs;
    size_t count;
    int64_t number;
    enter(in, v);
    if (!value_mapping(in->values, v, &pairs, &count))
        return bad(in, "a dict of statistics", v);
    if (count > STATS_MOST)
        return error_set(in->err, STATUS_LIMIT, "more than %d statistics in %.60s", STATS_MOST,
                         in->context.bytes);
    if (count > in->left)
        return error_set(in->err, STATUS_LIMIT, "more statistics than the file has bytes");
    in->left -= count;
    for (size_t i = 0; i < count; i++) {
        value name = pairs[2 * i], found = pairs[2 * i + 1];
        if (value_tag(name) != TAG_STRING)
            return bad(in, "the name of a statistic", name);
        if (found == VALUE_NONE) /* a hook that has not run yet */
            continue;
        if (!read_number(in, found, &number))
            return bad(in, "a number of at most 63 bits", found);
        if (!in->sink->stat(in->sink->self, value_payload(name), number, in->err))
            return false;
    }
    return true;
}

static bool read_points(struct reader *in, value root)
{
    const value *pairs;
    size_t count;
    enter(in, root);
    if (!value_mapping(in->values, root, &pairs, &count)) {
        /* an empty defaultdict is an instance to which nothing was added */
        return value_is_node(in->values, root, NODE_OBJECT) || bad(in, "a dict of points", root);
    }
    uint64_t place = in->place;
    for (size_t i = 0; i < count; i++) {
        struct run_key key;
        bool is_key = false;
        in->place = place;
        in->context = (struct text){0};
        if (value_tag(pairs[2 * i]) == TAG_STRING) {
            in->context = symbols_text(in->symbols, value_payload(pairs[2 * i]));
            if (!run_key_parse(in->context, in->symbols, &key, &is_key, in->err))
                return false;
        }
        if (!is_key)
            return bad(in, "a key such as 0.training_step.2.end", pairs[2 * i]);
        if (!in->sink->point(in->sink->self, &key, in->err) || !read_stats(in, pairs[2 * i + 1]))
            return false;
    }
    return true;
}

bool decode_run_stats(struct source *source, struct symbols *symbols,
                      const struct run_stats_sink *sink, enum encoding *encoding, struct error *err)
{
    struct error ignored;
    struct values values;
    value root;
    if (!sniff_encoding(source, encoding, &ignored))
        *encoding = ENCODING_YAML;
    bool ok = *encoding == ENCODING_PICKLE
                  ? decode_pickle_value(source, symbols, &values, &root, err)
                  : decode_yaml_value(source, symbols, &values, &root, err);
    if (!ok)
        return false;
    if (*encoding != ENCODING_PICKLE)
        *encoding = ENCODING_YAML; /* JSON is YAML, too */
    struct reader in = {
        .values = &values,
        .symbols = symbols,
        .sink = sink,
        .left = source_offset(source),
        .by_line = *encoding == ENCODING_YAML,
        .err = err,
    };
    ok = read_points(&in, root);
    values_release(&values);
    return ok;
}
