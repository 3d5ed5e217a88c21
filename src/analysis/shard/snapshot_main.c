/* Float32 gradients that an optimizer keeps from step to step, beside those of the model. */
#include <stdlib.h>

#include "analysis/shard/snapshot_reader.h"

#define WIDER 2 /* times the bytes of the gradient of a parameter of 16 bits */

/* How many gradients of a size the backward pass makes, and how many are kept that are WIDER times
 * as large. */
struct size {
    int64_t bytes;
    size_t made, kept;
};

static int compare_sizes(const void *a, const void *b)
{
    const struct size *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The distinct sizes that the pass makes, ascending; returns their number. */
static size_t sizes_made(const struct snapshot_reader *reader, struct size *sizes)
{
    size_t count = 0;
    for (size_t i = 0; i < reader->all_made; i++)
        sizes[i] = (struct size){.bytes = reader->made[i].bytes, .made = 1};
    qsort(sizes, reader->all_made, sizeof(*sizes), compare_sizes);
    for (size_t i = 0; i < reader->all_made; i++) {
        if (count > 0 && sizes[count - 1].bytes == sizes[i].bytes)
            sizes[count - 1].made++;
        else
            sizes[count++] = sizes[i];
    }
    return count;
}

struct kept {
    struct size *sizes;
    size_t size_count;
    int64_t sum;
};

static void add_kept(struct kept *kept, int64_t bytes)
{
    struct size key = {.bytes = bytes / WIDER};
    struct size *found =
        bsearch(&key, kept->sizes, kept->size_count, sizeof(*kept->sizes), compare_sizes);
    if (found && bytes == found->bytes * WIDER)
        found->kept++;
    kept->sum += bytes;
}

static void find_kept(struct kept *kept, const struct snapshot_reader *reader)
{
    const struct timeline *timeline = reader->timeline;
    const struct categories *categories = &reader->categories;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *block = &timeline->preexisting[i];
        uint32_t freed = snapshot_end_of(block->free_requested, block->free_completed);
        if (block->in_active &&
            snapshot_keeps_gradient(reader, -1, freed, categories->of_preexisting[i]))
            add_kept(kept, (int64_t)block->size);
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        uint32_t freed = snapshot_end_of(life->free_requested, life->free_completed);
        if (snapshot_keeps_gradient(reader, life->alloc, freed, categories->of_lifetime[i]))
            add_kept(kept, (int64_t)trace_size(timeline->trace, life->alloc));
    }
}

/* One of each gradient, or fewer that are together as large, such as one flat buffer. */
static bool has_all(const struct kept *kept, int64_t all)
{
    bool has = true;
    for (size_t i = 0; i < kept->size_count; i++)
        has &= kept->sizes[i].kept >= kept->sizes[i].made;
    return has || kept->sum == all;
}

/* They exist at all points, whose bytes have them. */
static void take_from_points(struct shard_model *model, int64_t bytes)
{
    for (size_t i = 0; i < model->point_count; i++) {
        struct shard_point *point = &model->points[i];
        point->peak_bytes -= shard_least(bytes, point->peak_bytes);
        point->end_bytes -= shard_least(bytes, point->end_bytes);
        shard_point_clamp(point);
    }
    model->end_bytes -= shard_least(bytes, model->end_bytes);
}

bool snapshot_take_main_gradients(struct snapshot_reader *reader, struct error *err)
{
    struct shard_model *model = reader->model;
    struct kept kept = {0};
    if (model->master_bytes == 0)
        return true;
    kept.sizes = calloc(reader->all_made + 1, sizeof(*kept.sizes));
    if (!kept.sizes)
        return error_out_of_memory(err);
    kept.size_count = sizes_made(reader, kept.sizes);
    find_kept(&kept, reader);
    if (has_all(&kept, model->master_bytes)) {
        model->main_gradient_bytes = model->master_bytes;
        take_from_points(model, model->main_gradient_bytes);
    }
    free(kept.sizes);
    return true;
}
