#include "decode/snapshot.h"

bool decode_snapshot(struct source *source, struct symbols *symbols, const struct row_sink *sink,
                     struct decoded *decoded, struct error *err)
{
    enum encoding encoding;

    if (!sniff_encoding(source, &encoding, err))
        return false;
    if (encoding == ENCODING_JSON)
        return decode_json_snapshot(source, symbols, sink, decoded, err);
    if (encoding == ENCODING_MSGPACK)
        return error_set(err, STATUS_BAD_INPUT, "not a snapshot (a pickle or JSON): msgpack");
    return decode_pickle_snapshot(source, symbols, sink, decoded, err);
}
