#include "decode/pickle/decode.h"
#include "decode/stats/stats.h"

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
    for (size_t i = 0; ok && i < count; i++) {
        int64_t number;
        if (value_tag(pairs[2 * i]) == TAG_STRING &&
            value_to_i64(&values, pairs[2 * i + 1], &number))
            stats_take(&row, symbols_text(symbols, value_payload(pairs[2 * i])), number);
    }
    values_release(&values);
    return ok && sink->row(sink->self, &row, err);
}
