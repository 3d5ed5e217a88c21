#include "model/profiled.h"

#include <stdlib.h>

#include "decode/core/sniff.h"
#include "decode/profiler/allocations.h"

static bool take_call(void *self, const struct operator_call *call, struct error *err)
{
    struct profiled *profiled = self;
    profiled->has_kernels = profiled->has_kernels || call->kernels > 0;
    return vec_push(profiled->calls, profiled->call_count, profiled->call_capacity,
                    profiled->budget, err, *call);
}

static bool take_allocation(void *self, const struct profiled_allocation *allocation,
                            struct error *err)
{
    struct profiled *profiled = self;
    return vec_push(profiled->items, profiled->count, profiled->capacity, profiled->budget, err,
                    *allocation);
}

static bool decode(struct profiled *profiled, struct source *source, struct error *err)
{
    const struct allocation_sink sink = {profiled, take_call, take_allocation};
    enum file_kind kind = sniff_kind(source);
    profiled->symbols = symbols_create(profiled->budget, err);
    if (!profiled->symbols)
        return false;
    if (kind != KIND_PROFILE && kind != KIND_UNKNOWN)
        return error_set(err, STATUS_BAD_INPUT, "expected a profiler trace, not %s",
                         kind_name(kind));
    return decode_profiler_allocations(source, profiled->symbols, &sink, err);
}

struct profiled *profiled_load_input(struct input *input, struct error *err)
{
    struct profiled *profiled = calloc(1, sizeof(*profiled));
    if (!profiled) {
        input_discard(input);
        error_out_of_memory(err);
        return NULL;
    }
    profiled->budget = input->budget;
    bool ok = decode(profiled, &input->source, err);
    input_close(input);
    if (ok)
        return profiled;
    profiled_destroy(profiled);
    return NULL;
}

void profiled_destroy(struct profiled *profiled)
{
    if (!profiled)
        return;
    vec_free(profiled->items, profiled->capacity, sizeof(*profiled->items), profiled->budget);
    vec_free(profiled->calls, profiled->call_capacity, sizeof(*profiled->calls), profiled->budget);
    symbols_destroy(profiled->symbols);
    free(profiled->budget);
    free(profiled);
}
