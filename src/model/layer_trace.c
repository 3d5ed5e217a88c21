#include "model/layer_trace.h"

#include <stdlib.h>
#include <string.h>

#include "decode/layers/layers.h"
#include "decode/pickle/decode.h"
#include "decode/profiler/profiler.h"
#include "model/sums.h"

#define MOST_ROWS ((size_t)UINT32_MAX - 1)

/* The number of members whose sums must not exceed LARGEST_SUM. */
enum { SUMS = 11 };

struct layer_loader {
    struct layer_trace *trace;
    struct layer_row *rows;
    size_t count, capacity;
    uint32_t *numbers;
    size_t number_count, number_capacity;
    struct layer_storage *storages;
    size_t storage_count, storage_capacity;
    struct layer_operator *operators;
    size_t operator_count, operator_capacity;
    int64_t sums[SUMS];
    int64_t storage_sum; /* sum of the bytes of storages and operators */
};

static bool add_magnitude(int64_t *sum, int64_t bytes)
{
    int64_t size = bytes < 0 ? -bytes : bytes; /* never INT64_MIN: see layer_set_integer() */
    return !__builtin_add_overflow(*sum, size, sum) && *sum <= LARGEST_SUM;
}

static bool add_sums(struct layer_loader *loader, const struct layer_row *row)
{
    const int64_t members[SUMS] = {
        row->module_params,      row->allocated,         row->reserved,
        row->all_gathered,       row->memory_diff,       row->cumul_all_gathered,
        row->memory_activations, row->saved_activations, row->output_bytes,
        row->gradient_bytes,     row->peak_bytes,
    };
    for (size_t i = 0; i < SUMS; i++)
        if (!add_magnitude(&loader->sums[i], members[i]))
            return false;
    return true;
}

static bool take_row(void *self, const struct layer_row *row, uint64_t offset, struct error *err)
{
    struct layer_loader *loader = self;
    struct layer_trace *trace = loader->trace;
    if (!add_sums(loader, row))
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "the sizes up to this trace add up to 2^62 bytes and more");
    if (loader->count == MOST_ROWS)
        return error_set_at(err, STATUS_LIMIT, offset, "more than %zu traces", MOST_ROWS);
    if (!vec_push(loader->rows, loader->count, loader->capacity, trace->budget, err, *row))
        return false;
    trace->present |= row->present;
    trace->forward_count += row->is_forward;
    return true;
}

static bool take_unknown_key(void *self, struct text key, struct error *err)
{
    struct layer_trace *trace = ((struct layer_loader *)self)->trace;
    string_id id;
    if (trace->more_unknown_keys)
        return true;
    if (!symbols_string(trace->symbols, key.bytes, key.size, &id, err))
        return false;
    for (size_t i = 0; i < trace->unknown_key_count; i++)
        if (trace->unknown_keys[i] == id)
            return true;
    if (trace->unknown_key_count < LAYER_TRACE_UNKNOWN_KEYS)
        trace->unknown_keys[trace->unknown_key_count++] = id;
    else
        trace->more_unknown_keys = true;
    return true;
}

static bool take_storage(void *self, uint32_t storage, struct error *err)
{
    struct layer_loader *loader = self;
    if (loader->number_count == MOST_ROWS)
        return error_set(err, STATUS_LIMIT, "the traces read and save more than %zu storages",
                         MOST_ROWS);
    return vec_push(loader->numbers, loader->number_count, loader->number_capacity,
                    loader->trace->budget, err, storage);
}

static bool take_made(void *self, const struct layer_storage *storage, uint64_t offset,
                      struct error *err)
{
    struct layer_loader *loader = self;
    if (!add_magnitude(&loader->storage_sum, storage->bytes))
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "the storages up to this one add up to 2^62 bytes and more");
    if (loader->storage_count == MOST_ROWS)
        return error_set_at(err, STATUS_LIMIT, offset, "more than %zu storages", MOST_ROWS);
    return vec_push(loader->storages, loader->storage_count, loader->storage_capacity,
                    loader->trace->budget, err, *storage);
}

static bool take_operator(void *self, const struct layer_operator *operation, uint64_t offset,
                          struct error *err)
{
    struct layer_loader *loader = self;
    if (!add_magnitude(&loader->storage_sum, operation->other_bytes))
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "the results of operators up to this one add up to 2^62 bytes and "
                            "more");
    if (loader->operator_count == MOST_ROWS)
        return error_set_at(err, STATUS_LIMIT, offset, "more than %zu operators", MOST_ROWS);
    return vec_push(loader->operators, loader->operator_count, loader->operator_capacity,
                    loader->trace->budget, err, *operation);
}

static bool is_forward_row(const struct layer_loader *loader, int64_t row)
{
    return (uint64_t)row < loader->count && loader->rows[row].is_forward;
}

/* The table of storages may be after the rows, so references are checked at the end. A bare list
 * of rows has no table: the numbers then mean nothing, and are left out. */
static bool check_storages(struct layer_loader *loader, struct error *err)
{
    if (loader->storage_count == 0) {
        for (size_t i = 0; i < loader->count; i++)
            loader->rows[i].reads = loader->rows[i].saves = (struct storage_list){0};
        for (size_t i = 0; i < loader->operator_count; i++)
            loader->operators[i].made = (struct storage_list){0};
        loader->number_count = 0;
    }
    for (size_t i = 0; i < loader->storage_count; i++) {
        int64_t row = loader->storages[i].row;
        if (!is_forward_row(loader, row))
            return error_set(err, STATUS_BAD_INPUT,
                             "storage %zu is made by trace %lld, which is no forward trace", i,
                             (long long)row);
    }
    for (size_t i = 0; i < loader->operator_count; i++)
        if (!is_forward_row(loader, loader->operators[i].row))
            return error_set(err, STATUS_BAD_INPUT,
                             "operator %zu ran in trace %lld, which is no forward trace", i,
                             (long long)loader->operators[i].row);
    for (size_t i = 0; i < loader->number_count; i++)
        if (loader->numbers[i] >= loader->storage_count)
            return error_set(err, STATUS_BAD_INPUT,
                             "a trace refers to storage %u, and the file has %zu",
                             loader->numbers[i], loader->storage_count);
    return true;
}

static bool decode_rows(struct layer_loader *loader, struct source *source, struct error *err)
{
    struct layer_trace *trace = loader->trace;
    const struct layer_sink sink = {.self = loader,
                                    .row = take_row,
                                    .unknown_key = take_unknown_key,
                                    .storage = take_storage,
                                    .made = take_made,
                                    .operation = take_operator,
                                    .facts = &trace->facts};
    switch (trace->encoding) {
    case ENCODING_JSON:
        return decode_json_layers(source, trace->symbols, &sink, err);
    case ENCODING_MSGPACK:
        return decode_msgpack_layers(source, trace->symbols, &sink, err);
    default:
        trace->protocol = pickle_protocol(source);
        return decode_pickle_layers(source, trace->symbols, &sink, err);
    }
}

static bool decode(struct layer_loader *loader, struct source *source, struct error *err)
{
    enum file_kind kind = sniff_kind(source);
    if (!sniff_encoding(source, &loader->trace->encoding, err))
        return false;
    if (kind == KIND_UNKNOWN)
        return error_set(err, STATUS_BAD_INPUT, "expected a layer trace");
    if (kind == KIND_PROFILE) {
        const struct layer_sink sink = {.self = loader,
                                        .row = take_row,
                                        .unknown_key = take_unknown_key,
                                        .facts = &loader->trace->facts};
        return decode_profiler_layers(source, loader->trace->symbols, &sink, err);
    }
    if (kind != KIND_LAYER_TRACE)
        return error_set(err, STATUS_BAD_INPUT, "expected a layer trace, not %s", kind_name(kind));
    return decode_rows(loader, source, err) && check_storages(loader, err);
}

struct layer_trace *layer_trace_load_input(struct input *input, struct error *err)
{
    struct layer_trace *trace = calloc(1, sizeof(*trace));
    if (!trace) {
        input_discard(input);
        error_out_of_memory(err);
        return NULL;
    }
    *trace = (struct layer_trace){.budget = input->budget, .protocol = -1};
    struct layer_loader loader = {.trace = trace};
    trace->symbols = symbols_create(trace->budget, err);
    bool ok = trace->symbols && decode(&loader, &input->source, err);
    trace->compression = input->source.compression;
    input_close(input);
    trace->input_bytes = input->bytes;
    trace->rows = loader.rows;
    trace->count = loader.count;
    trace->storage_numbers = loader.numbers;
    trace->storage_number_count = loader.number_count;
    trace->storages = loader.storages;
    trace->storage_count = loader.storage_count;
    trace->operators = loader.operators;
    trace->operator_count = loader.operator_count;
    if (ok)
        return trace;
    layer_trace_destroy(trace);
    return NULL;
}

struct layer_trace *layer_trace_load(int fd, size_t max_memory, struct error *err)
{
    struct input input;
    return input_from_fd(&input, fd, max_memory, err) ? layer_trace_load_input(&input, err) : NULL;
}

struct layer_trace *layer_trace_load_memory(const void *bytes, size_t size, size_t max_memory,
                                            struct error *err)
{
    struct input input;
    return input_from_memory(&input, bytes, size, max_memory, err)
               ? layer_trace_load_input(&input, err)
               : NULL;
}

void layer_trace_destroy(struct layer_trace *trace)
{
    if (!trace)
        return;
    /* the budget is destroyed with the trace */
    vec_free((void *)trace->rows, 0, sizeof(*trace->rows), trace->budget);
    vec_free((void *)trace->storage_numbers, 0, sizeof(*trace->storage_numbers), trace->budget);
    vec_free((void *)trace->storages, 0, sizeof(*trace->storages), trace->budget);
    vec_free((void *)trace->operators, 0, sizeof(*trace->operators), trace->budget);
    symbols_destroy(trace->symbols);
    free(trace->budget);
    free(trace);
}

bool layer_has_trait(const struct layer_trace *trace, const struct layer_row *row, const char *word)
{
    struct text list = symbols_text(trace->symbols, row->traits);
    size_t size = strlen(word), from = 0;
    for (size_t i = 0; layer_has(row, LAYER_TRAITS) && i <= list.size; i++)
        if (i == list.size || list.bytes[i] == ',') {
            if (i - from == size && memcmp(list.bytes + from, word, size) == 0)
                return true;
            from = i + 1;
        }
    return false;
}
