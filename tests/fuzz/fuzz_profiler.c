/* libFuzzer entry: any bytes as a Chrome trace of torch.profiler, both as a snapshot and as a layer
 * trace, under a small memory budget. */
#include "decode/profiler/profiler.h"
#include "fuzz/ignore_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool ignore_layer(void *self, const struct layer_row *row, uint64_t offset,
                         struct error *err)
{
    (void)self;
    (void)row;
    (void)offset;
    (void)err;
    return true;
}

static bool ignore_key(void *self, struct text key, struct error *err)
{
    (void)self;
    (void)key;
    (void)err;
    return true;
}

static bool ignore_storage(void *self, uint32_t storage, struct error *err)
{
    (void)self;
    (void)storage;
    (void)err;
    return true;
}

static bool ignore_made(void *self, const struct layer_storage *storage, uint64_t offset,
                        struct error *err)
{
    (void)self;
    (void)storage;
    (void)offset;
    (void)err;
    return true;
}

static bool decode_layers(struct source *source, struct symbols *symbols,
                          const struct row_sink *sink, struct decoded *decoded, struct error *err)
{
    struct layer_facts facts = {0};
    const struct layer_sink layers = {.row = ignore_layer,
                                      .unknown_key = ignore_key,
                                      .storage = ignore_storage,
                                      .made = ignore_made,
                                      .facts = &facts};
    (void)sink;
    (void)decoded;
    return decode_profiler_layers(source, symbols, &layers, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode_and_ignore(decode_profiler_snapshot, data, size);
    decode_and_ignore(decode_layers, data, size);
    return 0;
}
