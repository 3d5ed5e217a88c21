/* Parameters that the step does not use: of modules that it does not call, or whose result the loss
 * does not need. They have no gradient, and no optimizer state. */
#include <stdlib.h>
#include <string.h>

#include "analysis/shard/layer_reader.h"
#include "analysis/shard/tensors.h"

/* Of the calls of all modules of a name. */
struct module_sums {
    int64_t trained;  /* bytes of parameters that rows list */
    int64_t gradient; /* bytes of gradients that rows expect */
    bool runs_back, is_leaf;
};

static int64_t bytes_of(const struct shard_model *model, const struct shard_tensor *tensor)
{
    int64_t size = shard_type_size(tensor->type);
    return tensor->elements * (size > 0 ? size : model->element_size);
}

static void add_up(const struct layer_reader *reader, struct module_sums *sums)
{
    const struct layer_trace *trace = reader->trace;
    const struct shard_model *model = reader->model;
    for (size_t i = 0; i < trace->count; i++)
        sums[trace->rows[i].module_name].runs_back |= !trace->rows[i].is_forward;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct shard_layer *layer = &model->layers[i];
        struct module_sums *module = &sums[reader->rows[i]->module_name];
        module->gradient += reader->rows[i]->gradient_bytes;
        module->is_leaf |= reader->rows[i]->is_leaf;
        for (uint32_t k = layer->first_tensor; k < layer->end_tensor; k++)
            if (!model->tensors[k].frozen)
                module->trained += bytes_of(model, &model->tensors[k]);
    }
}

/* Marks the last parameters of a layer, up to so many bytes. Returns those of the marked ones. */
static int64_t mark(struct shard_model *model, const struct shard_layer *layer, int64_t bytes)
{
    int64_t marked = 0;
    for (uint32_t i = layer->end_tensor; i-- > layer->first_tensor;) {
        struct shard_tensor *tensor = &model->tensors[i];
        int64_t size = bytes_of(model, tensor);
        if (tensor->frozen || marked + size > bytes)
            continue;
        tensor->frozen = tensor->unused = true;
        marked += size;
    }
    return marked;
}

/* If the step does not call a module, the row of the module around it lists its parameters behind
 * its own, without gradients. A parameter that another module uses, too, has its gradient there. */
static void mark_uncalled(struct layer_reader *reader, const struct module_sums *sums,
                          int64_t missing)
{
    struct shard_model *model = reader->model;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct module_sums *module = &sums[reader->rows[i]->module_name];
        int64_t without = module->trained - module->gradient;
        if (!module->is_leaf && without > 0)
            missing -= mark(model, &model->layers[i], without < missing ? without : missing);
    }
}

/* Only leaves are marked: a module with children has no backward row, even if it uses parameters of
 * its own. */
static void mark_without_backward(struct layer_reader *reader, const struct module_sums *sums)
{
    struct shard_model *model = reader->model;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct module_sums *module = &sums[reader->rows[i]->module_name];
        bool is_unused = module->trained > 0 && !module->runs_back && reader->rows[i]->is_leaf;
        model->has_unused |= is_unused;
        if (is_unused && module->gradient > 0)
            mark(model, &model->layers[i], module->trained);
        if (!module->runs_back && module->is_leaf)
            reader->gradients[i] = 0;
    }
}

/* Compares the beginning of a name with that of the modules within `module`: "module.". */
static int compare_within(struct text name, struct text module)
{
    size_t size = name.size < module.size ? name.size : module.size;
    int order = memcmp(name.bytes, module.bytes, size);
    if (order != 0 || name.size <= module.size)
        return order != 0 ? order : -1;
    return (unsigned char)name.bytes[module.size] - '.';
}

/* True if one of the sorted names belongs to a module within `module`. */
static bool has_within(const struct text *names, size_t count, struct text module)
{
    size_t first = 0, end = count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (compare_within(names[middle], module) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first < count && compare_within(names[first], module) == 0;
}

/* A module with parametrizations, such as weight_norm(), has its parameters in modules with
 * children, which have no backward rows. It is unused if it has leaves, of which none runs
 * backward. Whether its own parameters are used is not certain then, so that their bytes stay. */
static bool find_unused_within(struct layer_reader *reader, const struct module_sums *sums,
                               struct error *err)
{
    const struct layer_trace *trace = reader->trace;
    struct shard_model *model = reader->model;
    struct text *leaves = calloc(2 * trace->count + 1, sizeof(*leaves)), *back = leaves;
    size_t leaf_count = 0, back_count = 0;
    if (!leaves)
        return error_out_of_memory(err);
    back += trace->count;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer_row *row = reader->rows[i];
        if (row->is_leaf)
            leaves[leaf_count++] = layer_name(trace, row);
        if (row->is_leaf && sums[row->module_name].runs_back)
            back[back_count++] = layer_name(trace, row);
    }
    qsort(leaves, leaf_count, sizeof(*leaves), text_compare_items);
    qsort(back, back_count, sizeof(*back), text_compare_items);
    for (size_t i = 0; i < model->layer_count && !model->has_unused; i++) {
        const struct layer_row *row = reader->rows[i];
        struct text name = layer_name(trace, row);
        model->has_unused = !row->is_leaf && sums[row->module_name].trained > 0 && name.size > 0 &&
                            has_within(leaves, leaf_count, name) &&
                            !has_within(back, back_count, name);
    }
    free(leaves);
    return true;
}

bool layer_find_unused(struct layer_reader *reader, struct error *err)
{
    const struct layer_trace *trace = reader->trace;
    struct module_sums *sums = calloc(symbols_string_count(trace->symbols) + 1, sizeof(*sums));
    int64_t trained = 0, gradients = 0;
    if (!sums)
        return error_out_of_memory(err);
    add_up(reader, sums);
    for (size_t i = 0; i < reader->model->tensor_count; i++)
        trained += reader->model->tensors[i].frozen
                       ? 0
                       : bytes_of(reader->model, &reader->model->tensors[i]);
    for (size_t i = 0; i < reader->model->layer_count; i++)
        gradients += reader->gradients[i] = reader->rows[i]->gradient_bytes;
    bool has_uncalled = reader->model->has_tensors && gradients > 0 && gradients < trained;
    reader->model->has_unused = has_uncalled;
    if (has_uncalled)
        mark_uncalled(reader, sums, trained - gradients);
    bool ok = true;
    if (trace->forward_count < trace->count) {
        mark_without_backward(reader, sums);
        ok = find_unused_within(reader, sums, err);
    }
    free(sums);
    return ok;
}
