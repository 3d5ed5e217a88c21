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

static void decode(const uint8_t *data, size_t size, bool as_layers)
{
    struct layer_facts facts = {0};
    const struct layer_sink layers = {.row = ignore_layer,
                                      .unknown_key = ignore_key,
                                      .storage = ignore_storage,
                                      .made = ignore_made,
                                      .facts = &facts};
    struct budget budget = {.limit = (size_t)8 << 20};
    struct error err;
    struct source source;
    struct decoded decoded;
    struct symbols *symbols = symbols_create(&budget, &err);
    if (source_open_memory(&source, data, size, &budget, &err)) {
        if (as_layers)
            decode_profiler_layers(&source, symbols, &layers, &err);
        else
            decode_profiler_snapshot(&source, symbols, &ignore_rows, &decoded, &err);
        source_close(&source);
    }
    symbols_destroy(symbols);
    if (budget.used != 0)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode(data, size, false);
    decode(data, size, true);
    return 0;
}
