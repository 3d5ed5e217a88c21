/* libFuzzer entry: any bytes as a Chrome trace of torch.profiler, as a snapshot, as a layer trace
 * and as allocations to be joined, under a small memory budget. */
#include "decode/profiler/allocations.h"
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

static bool ignore_call(void *self, const struct operator_call *call, struct error *err)
{
    (void)self;
    (void)call;
    (void)err;
    return true;
}

static bool ignore_allocation(void *self, const struct profiled_allocation *allocation,
                              struct error *err)
{
    (void)self;
    (void)allocation;
    (void)err;
    return true;
}

static bool decode_allocations(struct source *source, struct symbols *symbols,
                               const struct row_sink *sink, struct decoded *decoded,
                               struct error *err)
{
    const struct allocation_sink allocations = {.call = ignore_call,
                                                .allocation = ignore_allocation};
    (void)sink;
    (void)decoded;
    return decode_profiler_allocations(source, symbols, &allocations, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode_and_ignore(decode_profiler_snapshot, data, size);
    decode_and_ignore(decode_layers, data, size);
    decode_and_ignore(decode_allocations, data, size);
    return 0;
}
