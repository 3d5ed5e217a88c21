/* The fewest rows that parameters may have. A snapshot does not have shapes, by which fsdp2 pads.
 *
 * A layer with a bias has two sizes, which tell the rows or the columns of its weight. Other
 * weights of modules of torch.nn are taken to have many rows: only those that a program passes to
 * an operator itself, such as the weights of all experts in one tensor, may have few. Which of the
 * unit's they are, sizes do not tell; so that the bound holds, they are the largest ones.
 *
 * A tensor with one row, such as embeddings of places, is added to a batch, expanded to it or
 * joined with it. That makes a tensor of its size or more in forward. If the unit makes none as
 * large, the tensor is one of matrices, at least two. */
#include <stdlib.h>

#include "analysis/phase/births.h"
#include "analysis/shard/snapshot_reader.h"
#include "base/hash.h"

#define LEAST_EXPERTS 8

/* The calls of modules of torch.nn in a unit. */
struct unit_calls {
    size_t layers; /* linear ones, convolutions and tables: weights */
    size_t norms;
    int64_t largest; /* bytes of an allocation in forward */
};

#define MOST_SIZES 64 /* of the calls at one place */

/* Allocations in a row by modules of one kind that one line calls. */
struct call_run {
    uint64_t call; /* the module and where it is called; 0: no run */
    enum front_kind kind;
    uint32_t unit;
    int64_t sizes[MOST_SIZES];
    size_t count;
};

struct row_finder {
    const struct snapshot_reader *reader;
    struct unit_calls *calls; /* by unit */
    struct call_run run;
};

static uint64_t key_of(const struct snapshot_path *path)
{
    uint64_t key = 1;
    for (size_t i = 0; i < path->count; i++)
        key = hash_word(path->frames[i], key);
    return key;
}

/* How often the sizes repeat. */
static size_t repetitions(const int64_t *sizes, size_t count)
{
    for (size_t period = 1; period < count; period++) {
        size_t same = period;
        while (same < count && sizes[same] == sizes[same - period])
            same++;
        if (count % period == 0 && same == count)
            return count / period;
    }
    return 1;
}

/* A call may allocate equal sizes: a norm that is made of several operators, or a copy of an input.
 * So calls are as many as the sizes repeat. Too few of them make the range wider, too many wrong.
 */
static void end_run(struct row_finder *finder)
{
    struct call_run *run = &finder->run;
    struct unit_calls *calls = &finder->calls[run->unit];
    if (run->call == 0)
        return;
    size_t count = repetitions(run->sizes, run->count);
    if (run->kind == FRONT_TWO)
        calls->norms += count;
    else
        calls->layers += run->kind == FRONT_FOUR ? 2 * count : count;
    run->call = 0;
}

static void count_call(struct row_finder *finder, size_t lifetime, uint32_t unit)
{
    const struct timeline *timeline = finder->reader->timeline;
    uint32_t item = timeline->lifetimes[lifetime].alloc;
    struct call_run *run = &finder->run;
    struct snapshot_path path;
    snapshot_read_path(finder->reader,
                       symbols_stack_at(finder->reader->symbols, timeline->trace->stack[item]),
                       &path);
    uint64_t call = path.kind == FRONT_NONE ? 0 : key_of(&path);
    if (call != run->call || unit != run->unit || run->count == MOST_SIZES) {
        end_run(finder);
        *run = (struct call_run){.call = call, .kind = path.kind, .unit = unit};
    }
    run->sizes[run->count++] = (int64_t)trace_size(timeline->trace, item);
}

/* Notes an allocation of a forward pass for its unit. An allocation that uses parameters of the
 * root may be counted in the unit before or after it, so the root takes the largest of all units.
 */
static void note_largest(struct row_finder *finder, size_t lifetime, uint32_t unit)
{
    const struct timeline *timeline = finder->reader->timeline;
    int64_t size = (int64_t)trace_size(timeline->trace, timeline->lifetimes[lifetime].alloc);
    struct unit_calls *own = &finder->calls[unit], *all = &finder->calls[SHARD_ROOT];
    own->largest = size > own->largest ? size : own->largest;
    all->largest = size > all->largest ? size : all->largest;
}

static void count_calls(struct row_finder *finder)
{
    const struct snapshot_reader *reader = finder->reader;
    const struct forward_chain *chain = reader->chain;
    const struct lifetime *lives = reader->timeline->lifetimes;
    size_t layer = 0;
    for (size_t i = births_from(reader->timeline, snapshot_front_first(reader));
         i < reader->timeline->lifetime_count && lives[i].alloc < chain->backward; i++) {
        while (layer < chain->count && chain->elements[layer].first_item <= lives[i].alloc)
            layer++;
        uint32_t unit = reader->model->layers[layer].unit;
        note_largest(finder, i, unit);
        count_call(finder, i, unit);
    }
    end_run(finder);
}

/* A weight and its bias: as many rows as the bias has elements, or columns. */
static void set_pairs(const struct row_finder *finder)
{
    const struct snapshot_reader *reader = finder->reader;
    for (size_t i = 0; i + 1 < reader->all_made; i++) {
        if (!reader->made[i].is_swapped)
            continue;
        struct shard_tensor *bias = &reader->model->tensors[snapshot_tensor_of(reader, i)];
        struct shard_tensor *weight = &reader->model->tensors[snapshot_tensor_of(reader, i + 1)];
        int64_t other = weight->elements / bias->elements;
        weight->least_rows = other < bias->elements ? other : bias->elements;
        bias->least_rows = bias->elements;
        if (finder->calls[weight->unit].layers > 0)
            finder->calls[weight->unit].layers--;
    }
}

static int by_elements(const void *a, const void *b)
{
    const struct shard_tensor *const *x = a, *const *y = b;
    return ((*x)->elements > (*y)->elements) - ((*x)->elements < (*y)->elements);
}

/* The gradient made before or after it is as large: an operator that has a weight and a bias of one
 * size makes both at once. */
static bool is_twin(const struct snapshot_reader *reader, const struct shard_tensor *tensor)
{
    const struct shard_model *model = reader->model;
    size_t at = (size_t)(tensor - model->tensors);
    return (at > 0 && model->tensors[at - 1].elements == tensor->elements) ||
           (at + 1 < model->tensor_count && model->tensors[at + 1].elements == tensor->elements);
}

/* The number of vectors among tensors by rising size, by sizes: norms explain one or two each. The
 * smallest tensors are vectors anyway. */
static size_t count_vectors(const struct snapshot_reader *reader,
                            struct shard_tensor *const *tensors, size_t count, size_t norms)
{
    size_t vectors = 0, used = 0;
    while (vectors < count && tensors[vectors]->elements < tensors[count - 1]->elements &&
           (vectors == 0 || used < 2 * norms)) {
        size_t end = vectors;
        for (; end < count && tensors[end]->elements == tensors[vectors]->elements; end++)
            used += is_twin(reader, tensors[end]) ? 1 : 2;
        vectors = end;
    }
    return vectors;
}

/* Weights of all experts in one tensor have as many rows as the layer that chooses the experts:
 * that has a row of the unit's width for each of them, and is the smallest that is no vector.
 * Vectors of a few times the width are more common than so few experts. If the sizes agree, fewer
 * rows are too unlikely for the range. */
static void set_experts(struct shard_tensor *const *tensors, size_t count, size_t vectors)
{
    int64_t width = vectors > 0 ? tensors[vectors - 1]->elements : 0;
    int64_t chooser = vectors < count ? tensors[vectors]->elements : 0;
    int64_t experts = width > 0 && chooser % width == 0 ? chooser / width : 0;
    size_t first = count;
    if (experts < LEAST_EXPERTS)
        return;
    for (; first > 0 && tensors[first - 1]->least_rows > 0; first--)
        if (tensors[first - 1]->elements % chooser != 0 ||
            tensors[first - 1]->elements / chooser < width / 4) /* not a matrix for each */
            break;
    for (size_t i = first; i < count && count - first > 1; i++)
        tensors[i]->rows = tensors[i]->least_rows = experts;
}

/* Of the tensors of a unit that have no partner, calls of layers explain some, and norms the
 * smallest. */
static void set_bare(const struct row_finder *finder, uint32_t unit, struct shard_tensor **tensors)
{
    const struct shard_model *model = finder->reader->model;
    const struct unit_calls *calls = &finder->calls[unit];
    size_t count = 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].unit == unit && model->tensors[i].least_rows == 0 &&
            !model->tensors[i].packs)
            tensors[count++] = &model->tensors[i];
    qsort(tensors, count, sizeof(*tensors), by_elements);
    size_t vectors = count_vectors(finder->reader, tensors, count, calls->norms);
    size_t explained = vectors + calls->layers;
    for (size_t i = explained; i < count; i++) {
        struct shard_tensor *tensor = tensors[count - 1 - (i - explained)];
        bool may_spread = tensor->elements * model->element_size <= calls->largest;
        tensor->least_rows = may_spread ? 1 : 2;
    }
    set_experts(tensors, count, vectors);
}

bool snapshot_find_rows(const struct snapshot_reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    struct row_finder finder = {.reader = reader,
                                .calls = calloc(model->unit_count, sizeof(*finder.calls))};
    struct shard_tensor **tensors = calloc(model->tensor_count, sizeof(*tensors));
    bool ok = finder.calls && tensors;
    if (ok) {
        count_calls(&finder);
        set_pairs(&finder);
        for (uint32_t unit = 0; unit < model->unit_count; unit++)
            set_bare(&finder, unit, tensors);
    }
    free(finder.calls);
    free(tensors);
    return ok || error_out_of_memory(err);
}
