#include <inttypes.h>
#include <stdlib.h>

#include "unit/decode/layers/layers.h"

#define PLENTY ((size_t)16 << 20)

struct layer_trace *layers_load(const void *bytes, size_t size)
{
    struct error err;
    struct layer_trace *trace = layer_trace_load_memory(bytes, size, PLENTY, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    ck_assert_uint_eq(trace->input_bytes, size);
    return trace;
}

struct layer_trace *layers_load_text(const char *json)
{
    return layers_load(json, strlen(json));
}

void layers_refused(const void *bytes, size_t size, enum status status, int64_t offset,
                    const char *text)
{
    struct error err = {0};
    struct layer_trace *trace = layer_trace_load_memory(bytes, size, PLENTY, &err);
    ck_assert_msg(trace == NULL, "taken, instead of: %s", text);
    ck_assert_msg(strstr(err.text, text) != NULL, "'%s', instead of '%s'", err.text, text);
    ck_assert_int_eq(err.status, status);
    ck_assert_int_eq(err.has_offset, offset >= 0);
    if (offset >= 0)
        ck_assert_msg(err.offset == (uint64_t)offset, "%s: offset %" PRIu64, text, err.offset);
}

void layers_refused_text(const char *json, int64_t offset, const char *text)
{
    layers_refused(json, strlen(json), STATUS_BAD_INPUT, offset, text);
}

static void try_load(const char *bytes, size_t size)
{
    struct error err;
    char *copy = malloc(size ? size : 1); /* so that reading beyond it is noticed */
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    layer_trace_destroy(layer_trace_load_memory(copy, size, (size_t)1 << 20, &err));
    free(copy);
}

void layers_survive(const void *bytes, size_t size)
{
    char *copy = malloc(size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    for (size_t i = 0; i < size; i++) {
        static const char flips[] = {'\x01', '\x80', '\xff'};
        try_load(copy, i);
        for (size_t n = 0; n < sizeof(flips); n++) {
            copy[i] = (char)(copy[i] ^ flips[n]);
            try_load(copy, size);
            copy[i] = (char)(copy[i] ^ flips[n]);
        }
    }
    free(copy);
}
