#include "analysis/shard/from_layers.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shard/layer_inputs.h"
#include "analysis/shard/layer_reader.h"

/* Memory that the allocator counted on a GPU while no tensor had it. */
static int64_t library_bytes(const struct layer_reader *reader)
{
    const struct layer_facts *facts = &reader->trace->facts;
    struct text device = symbols_text(reader->trace->symbols, facts->device);
    int64_t highest = 0;
    if (!reader->has_peaks || device.size < 4 || memcmp(device.bytes, "cuda", 4) != 0)
        return 0;
    for (size_t i = 0; i < reader->trace->count; i++)
        if (highest < reader->trace->rows[i].peak_bytes)
            highest = reader->trace->rows[i].peak_bytes;
    return facts->peak_bytes > highest ? facts->peak_bytes - highest : 0;
}

static int64_t largest_storage(const struct layer_trace *trace)
{
    int64_t most = 0;
    for (size_t i = 0; i < trace->storage_count; i++)
        if (trace->storages[i].bytes > most)
            most = trace->storages[i].bytes;
    return most;
}

static bool read_all(struct layer_reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    const struct layer_facts *facts = &reader->trace->facts;
    if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                  (struct shard_unit){.name = {"", 0}}) ||
        !layer_read_forward(reader, err) || !layer_join_shared(reader, err) ||
        !layer_find_unused(reader, err))
        return false;
    model->library_bytes = library_bytes(reader);
    if (!layer_read_points(reader, err))
        return false;
    shard_layer_packing(model, reader->trace);
    if (!shard_layer_inputs(model, reader->trace, err) || !shard_model_drop_units(model, err))
        return false;
    if (__builtin_add_overflow(facts->buffer_bytes, facts->beside_bytes, &model->buffer_bytes))
        model->buffer_bytes = INT64_MAX; /* shard_model_check() refuses it */
    model->beside_bytes = facts->beside_bytes;
    model->batch_bytes = facts->batch_bytes;
    model->tensor_bytes = largest_storage(reader->trace);
    return true;
}

bool shard_model_from_layers(struct shard_model *model, const struct layer_trace *trace,
                             shard_unit_finder *find, void *self, struct error *err)
{
    size_t names = symbols_string_count(trace->symbols);
    struct layer_reader reader = {.model = model, .trace = trace, .find = find, .self = self};
    size_t bytes =
        names * sizeof(*reader.last) +
        trace->count * (sizeof(*reader.before) + sizeof(*reader.rows) + sizeof(*reader.gradients));
    if (!budget_take(model->budget, bytes, err))
        return false;
    reader.rows = calloc(trace->count + 1, sizeof(*reader.rows));
    reader.last = malloc((names + 1) * sizeof(*reader.last));
    reader.before = calloc(trace->count + 1, sizeof(*reader.before));
    reader.gradients = calloc(trace->count + 1, sizeof(*reader.gradients));
    bool ok = reader.rows && reader.last && reader.before && reader.gradients;
    if (ok) {
        memset(reader.last, 0xff, (names + 1) * sizeof(*reader.last));
        ok = read_all(&reader, err);
    } else {
        error_out_of_memory(err);
    }
    free(reader.rows);
    free(reader.last);
    free(reader.before);
    free(reader.gradients);
    budget_give(model->budget, bytes);
    return ok;
}
