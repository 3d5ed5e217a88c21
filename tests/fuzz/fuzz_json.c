/* libFuzzer entry: any bytes as a JSON snapshot, under a small memory budget. */
#include "decode/json/snapshot.h"
#include "fuzz/ignore_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool sniff_and_decode(struct source *source, struct symbols *symbols,
                             const struct row_sink *sink, struct decoded *decoded,
                             struct error *err)
{
    sniff_kind(source);
    return decode_json_snapshot(source, symbols, sink, decoded, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode_and_ignore(sniff_and_decode, data, size);
    return 0;
}
