#include "decode/pickle/decode.h"
#include "decode/stats/stats.h"

static bool take_pair(struct stats_row *row, struct symbols *symbols, const struct values *values,
                      const value pair[2], struct error *err)
{
    int64_t number = 0;
    if (value_tag(pair[0]) != TAG_STRING)
        return true;
    struct text key = symbols_text(symbols, value_payload(pair[0]));
    bool is_number = value_to_i64(values, pair[1], &number);
    return !stats_take(row, key, number) || is_number ||
           error_set(err, STATUS_BAD_INPUT, "expected a whole number for '%.*s', found %s",
                     (int)key.size, key.bytes, value_kind_name(values, pair[1]));
}

bool decode_stats_pickle(struct source *source, struct symbols *symbols,
                         const struct stats_sink *sink, int *protocol, struct error *err)
{
    struct stats_row row = {.device = -1};
    struct values values;
    const value *pairs;
    size_t count;
    value root;
    *protocol = pickle_protocol(source);
    if (!decode_pickle_value(source, symbols, &values, &root, err))
        return false;
    bool ok = value_mapping(&values, root, &pairs, &count);
    if (!ok)
        error_set(err, STATUS_BAD_INPUT, "expected memory statistics (a dict), found %s",
                  value_kind_name(&values, root));
    for (size_t i = 0; ok && i < count; i++)
        ok = take_pair(&row, symbols, &values, &pairs[2 * i], err);
    values_release(&values);
    return ok && sink->row(sink->self, &row, err);
}
