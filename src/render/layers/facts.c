#include "render/layers/facts.h"

#include <stddef.h>

const struct fact layers_facts[LAYER_FACTS] = {
#define FACT(key, text)                                                                            \
    {                                                                                              \
#key, text, offsetof(struct layer_facts, key)                                              \
    }
    [FACT_SCHEMA] = FACT(schema, true),
    [FACT_TORCH] = FACT(torch, true),
    [FACT_DEVICE] = FACT(device, true),
    [FACT_TIME] = FACT(time, true),
    [FACT_RANK] = FACT(rank, false),
    [FACT_RANKS] = FACT(ranks, false),
    [FACT_PARAMETER_BYTES] = FACT(parameter_bytes, false),
    [FACT_BUFFER_BYTES] = FACT(buffer_bytes, false),
    [FACT_BESIDE_BYTES] = FACT(beside_bytes, false),
    [FACT_BATCH_BYTES] = FACT(batch_bytes, false),
    [FACT_BEFORE_BYTES] = FACT(before_bytes, false),
    [FACT_PEAK_BYTES] = FACT(peak_bytes, false),
    [FACT_HOST_BYTES] = FACT(host_bytes, false),
    [FACT_FAILED_IN] = FACT(failed_in, true),
};

bool layers_has_fact(const struct layer_trace *trace, enum layer_fact fact)
{
    return (trace->facts.present >> fact & 1) != 0;
}

struct text layers_fact_text(const struct layer_trace *trace, enum layer_fact fact)
{
    const char *at = (const char *)&trace->facts + layers_facts[fact].member;
    return symbols_text(trace->symbols, *(const string_id *)(const void *)at);
}

int64_t layers_fact_number(const struct layer_trace *trace, enum layer_fact fact)
{
    const char *at = (const char *)&trace->facts + layers_facts[fact].member;
    return *(const int64_t *)(const void *)at;
}
