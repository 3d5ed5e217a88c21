#include "decode/snapshot.h"

#include "decode/json/snapshot.h"
#include "decode/pickle/decode.h"
#include "decode/pprof/pprof.h"
#include "decode/profiler/profiler.h"
#include "decode/timeline/timeline.h"

bool decode_snapshot(struct source *source, struct symbols *symbols, const struct row_sink *sink,
                     struct decoded *decoded, struct error *err)
{
    enum file_kind kind = sniff_kind(source);
    enum encoding encoding;

    if (!sniff_encoding(source, &encoding, err))
        return false;
    if (kind != KIND_UNKNOWN && !kind_is_snapshot(kind))
        return error_set(err, STATUS_BAD_INPUT, "expected an allocator snapshot, not %s%s",
                         kind_name(kind), kind_advice(kind));
    if (encoding == ENCODING_PROTOBUF)
        return decode_pprof_snapshot(source, symbols, sink, decoded, err);
    if (encoding == ENCODING_JSON && kind == KIND_PROFILE)
        return decode_profiler_snapshot(source, symbols, sink, decoded, err);
    if (encoding == ENCODING_JSON && kind == KIND_MEMORY_TIMELINE)
        return decode_timeline_snapshot(source, symbols, sink, decoded, err);
    if (encoding == ENCODING_JSON)
        return decode_json_snapshot(source, symbols, sink, decoded, err);
    if (encoding == ENCODING_MSGPACK)
        return error_set(err, STATUS_BAD_INPUT, "expected a pickle or JSON, not msgpack");
    return decode_pickle_snapshot(source, symbols, sink, decoded, err);
}
