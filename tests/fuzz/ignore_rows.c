#include "fuzz/ignore_rows.h"

static bool take_event(void *self, uint32_t device, const struct event_row *row, struct error *err)
{
    (void)self, (void)device, (void)row, (void)err;
    return true;
}

static bool take_event_again(void *self, uint32_t device, uint64_t sequence, struct error *err)
{
    (void)self, (void)device, (void)sequence, (void)err;
    return true;
}

static bool take_trace(void *self, uint32_t device, struct error *err)
{
    (void)self, (void)device, (void)err;
    return true;
}

static bool take_segment(void *self, const struct segment_row *row, struct error *err)
{
    (void)self, (void)row, (void)err;
    return true;
}

static bool take_annotation(void *self, const struct annotation_row *row, struct error *err)
{
    (void)self, (void)row, (void)err;
    return true;
}

static bool take_setting(void *self, const struct setting_row *row, struct error *err)
{
    (void)self, (void)row, (void)err;
    return true;
}

static bool take_unknown_key(void *self, const char *where, string_id key, struct error *err)
{
    (void)self, (void)where, (void)key, (void)err;
    return true;
}

static const struct row_sink ignore_rows = {
    .event = take_event,
    .event_again = take_event_again,
    .trace = take_trace,
    .segment = take_segment,
    .annotation = take_annotation,
    .setting = take_setting,
    .unknown_key = take_unknown_key,
};

void decode_and_ignore(snapshot_decoder *decode, const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = (size_t)8 << 20};
    struct error err;
    struct source source;
    struct decoded decoded;
    struct symbols *symbols = symbols_create(&budget, &err);

    if (source_open_memory(&source, data, size, &budget, &err)) {
        decode(&source, symbols, &ignore_rows, &decoded, &err);
        source_close(&source);
    }
    symbols_destroy(symbols);
    if (budget.used != 0)
        __builtin_trap();
}
