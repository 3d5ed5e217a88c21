#include "analysis/flame/flame.h"

#include <stdlib.h>

#include "analysis/flame/order.h"
#include "analysis/flame/paths.h"
#include "analysis/flame/samples.h"
#include "base/hash.h"

#define ROOT ((uint32_t)0)

/* State while the tree is built. */
struct builder {
    struct flame *flame;
    struct flame_paths paths;
    struct idtable children; /* nodes by parent and frame */
    struct idtable ends;     /* forward_ends by root and forward stack */
    struct forward_end *forward_ends;
    size_t end_count, end_capacity;
    struct flame_mark *marks; /* only with options.with_categories */
    size_t mark_count, mark_capacity;
    uint64_t seed;
};

/* Caches the node at which the path of a forward stack ends, as many allocations share one. */
struct forward_end {
    uint32_t root;
    stack_id forward;
    uint32_t node;
};

static bool add_node(struct flame *flame, struct flame_node node, struct error *err)
{
    if (flame->node_count >= IDTABLE_MAX_ID)
        return error_set(err, STATUS_LIMIT, "too many different stacks");
    if (!vec_grow((void **)&flame->nodes, &flame->node_capacity, flame->node_count + 1,
                  sizeof(node), flame->budget, err))
        return false;
    flame->nodes[flame->node_count++] = node;
    return true;
}

static bool is_child(const void *nodes, uint32_t id, const void *wanted)
{
    const struct flame_node *node = (const struct flame_node *)nodes + id, *like = wanted;
    return node->parent == like->parent && node->frame == like->frame;
}

/* Replaces *node by its child for a frame; adds the child if it is missing. */
static bool descend(struct builder *builder, uint32_t frame, uint32_t *node, struct error *err)
{
    struct flame *flame = builder->flame;
    const struct flame_node child = {.parent = *node, .frame = frame};
    uint32_t tag = (uint32_t)hash_word((uint64_t)*node << 32 | frame, builder->seed);
    if (idtable_find(&builder->children, tag, is_child, flame->nodes, &child, node))
        return true;
    *node = (uint32_t)flame->node_count;
    return add_node(flame, child, err) &&
           idtable_add(&builder->children, tag, *node, flame->budget, err);
}

static bool descend_to(struct builder *builder, enum flame_kind kind, uint32_t id, uint32_t *node,
                       struct error *err)
{
    uint32_t frame;
    return flame_paths_frame(&builder->paths, kind, id, &frame, err) &&
           descend(builder, frame, node, err);
}

static bool descend_stack(struct builder *builder, stack_id stack, uint32_t *node,
                          struct error *err)
{
    struct flame_path path;
    if (!flame_paths_stack(&builder->paths, stack, &path, err))
        return false;
    for (size_t i = 0; i < path.count; i++)
        if (!descend(builder, path.frames[i], node, err))
            return false;
    return true;
}

static bool descend_root(struct builder *builder, uint32_t root, uint32_t *node, struct error *err)
{
    enum flame_by by = builder->flame->options.by;
    if (by == FLAME_BY_STACK)
        return true;
    if (by == FLAME_BY_CATEGORY)
        return descend_to(builder, FLAME_CATEGORY, root, node, err);
    if (by == FLAME_BY_ANNOTATION && root == STRING_EMPTY)
        return descend_to(builder, FLAME_WORD, FLAME_NO_ANNOTATION, node, err);
    if (by == FLAME_BY_ANNOTATION)
        return descend_to(builder, FLAME_NAME, root, node, err);
    if (root == FLAME_ROOT_BEFORE)
        return descend_to(builder, FLAME_WORD, FLAME_PHASE_BEFORE, node, err);
    return descend_to(builder, FLAME_PHASE, root, node, err);
}

static bool is_forward_end(const void *ends, uint32_t id, const void *wanted)
{
    const struct forward_end *end = (const struct forward_end *)ends + id;
    const struct flame_sample *sample = wanted;
    return end->root == sample->root && end->forward == sample->forward;
}

/* Descends to the node below which the allocations of a forward call's backward pass are placed.
 * The path is followed only once, because a file may name one long stack in every event. */
static bool descend_forward(struct builder *builder, const struct flame_sample *sample,
                            uint32_t *node, struct error *err)
{
    struct budget *budget = builder->flame->budget;
    uint64_t key = (uint64_t)sample->root << 32 | sample->forward;
    uint32_t tag = (uint32_t)hash_word(key, builder->seed), found;
    if (idtable_find(&builder->ends, tag, is_forward_end, builder->forward_ends, sample, &found)) {
        *node = builder->forward_ends[found].node;
        return true;
    }
    return descend_stack(builder, sample->forward, node, err) &&
           descend_to(builder, FLAME_WORD, FLAME_ITS_BACKWARD, node, err) &&
           idtable_add(&builder->ends, tag, (uint32_t)builder->end_count, budget, err) &&
           vec_push(builder->forward_ends, builder->end_count, builder->end_capacity, budget, err,
                    (struct forward_end){sample->root, sample->forward, *node});
}

/* The word in place of Python frames. */
static enum flame_word word_of(const struct flame_sample *sample)
{
    if (sample->own == STACK_NONE)
        return sample->is_before ? FLAME_BEFORE : FLAME_NO_STACK;
    if (sample->has_backward)
        return FLAME_BACKWARD;
    return sample->op == STRING_EMPTY ? FLAME_NATIVE_ONLY : FLAME_NO_PYTHON;
}

/* Descends to the operator, unless the last node has the same name. */
static bool descend_operator(struct builder *builder, string_id op, uint32_t *node,
                             struct error *err)
{
    const struct flame *flame = builder->flame;
    if (op == STRING_EMPTY || flame->options.all_frames)
        return true;
    if (*node != ROOT) {
        struct flame_frame last = flame->frames[flame->nodes[*node].frame];
        if (last.kind == FLAME_NAME && last.id == op)
            return true;
    }
    return descend_to(builder, FLAME_NAME, op, node, err);
}

static bool mark(struct builder *builder, uint32_t node, uint32_t category, uint64_t weight,
                 struct error *err)
{
    if (!builder->flame->options.with_categories)
        return true;
    return vec_push(builder->marks, builder->mark_count, builder->mark_capacity,
                    builder->flame->budget, err,
                    (struct flame_mark){weight, node, (uint8_t)category});
}

static bool add_sample(struct builder *builder, const struct flame_sample *sample, uint64_t weight,
                       struct error *err)
{
    uint32_t node = ROOT;
    bool ok = descend_root(builder, sample->root, &node, err);
    if (ok && sample->forward != STACK_NONE)
        ok = descend_forward(builder, sample, &node, err);
    else if (ok && !sample->has_python)
        ok = descend_to(builder, FLAME_WORD, word_of(sample), &node, err);
    ok = ok && descend_stack(builder, sample->own, &node, err) &&
         descend_operator(builder, sample->op, &node, err);
    if (ok)
        builder->flame->nodes[node].self += weight;
    return ok && mark(builder, node, sample->root, weight, err);
}

/* Chooses the unit in which the total fits 64 bits. Bytes times time that are too large are counted
 * in milliseconds, or in seconds, and so on. */
static bool scale(const struct live_bundles *bundles, struct flame *flame, struct error *err)
{
    live_weight total = 0;
    for (size_t i = 0; i < bundles->count; i++)
        if (__builtin_add_overflow(total, bundles->items[i].weight, &total))
            return error_set(err, STATUS_BAD_INPUT, "the sum of the weights is too large");
    flame->unit_us = 1;
    while (total / flame->unit_us > INT64_MAX && flame->options.weight == FLAME_BYTES_TIME)
        flame->unit_us *= 1000;
    if (total / flame->unit_us > INT64_MAX)
        return error_set(err, STATUS_BAD_INPUT, "the sizes add up to more than 2^63-1 bytes");
    flame->total = (uint64_t)(total / flame->unit_us);
    return true;
}

static bool add_unexplained(struct builder *builder, int64_t bytes, struct error *err)
{
    struct flame *flame = builder->flame;
    uint32_t node = ROOT;
    flame->unexplained_bytes = bytes;
    if (bytes <= 0)
        return true;
    if (!descend_to(builder, FLAME_WORD, FLAME_UNEXPLAINED, &node, err))
        return false;
    flame->nodes[node].self += (uint64_t)bytes;
    flame->total += (uint64_t)bytes;
    if (flame->total > INT64_MAX)
        return error_set(err, STATUS_BAD_INPUT, "the sizes add up to more than 2^63-1 bytes");
    return mark(builder, node, CATEGORY_COUNT, (uint64_t)bytes, err);
}

/* Adds all samples, rounded so that they sum to the rounded total. */
static bool add_samples(struct builder *builder, const struct flame_samples *samples,
                        struct error *err)
{
    live_weight before = 0, unit = builder->flame->unit_us;
    for (size_t i = 0; i < samples->bundles.count; i++) {
        struct flame_sample sample;
        if (!flame_samples_at(samples, i, &sample, err))
            return false;
        live_weight after = before + sample.weight;
        uint64_t weight = (uint64_t)(after / unit - before / unit);
        before = after;
        if (weight > 0 && !add_sample(builder, &sample, weight, err))
            return false;
    }
    return add_unexplained(builder, samples->unexplained_bytes, err);
}

/* Notes the files of all labels, so that files with equal base names get longer names. */
static bool note_files(struct flame *flame, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(flame->sites);
    label_files_init(&flame->files, symbols, flame->budget);
    for (size_t i = 0; i < flame->frame_count; i++)
        if (flame->frames[i].kind == FLAME_USER &&
            !label_files_add(&flame->files, symbols_frame_at(symbols, flame->frames[i].id).file,
                             err))
            return false;
    label_files_settle(&flame->files);
    return true;
}

static bool fill(struct flame *flame, struct error *err)
{
    struct flame_samples samples;
    struct builder builder = {.flame = flame, .seed = hash_seed()};
    if (!flame_samples_make(&samples, flame->timeline, flame->sites, &flame->options, err))
        return false;
    bool ok = scale(&samples.bundles, flame, err) && add_node(flame, (struct flame_node){0}, err) &&
              flame_paths_init(&builder.paths, flame, err);
    if (ok) {
        ok = add_samples(&builder, &samples, err);
        flame_paths_release(&builder.paths);
    }
    ok = ok && flame_order(flame, err) &&
         (!flame->options.with_categories ||
          flame_order_categories(flame, builder.marks, builder.mark_count, err));
    vec_free(builder.marks, builder.mark_capacity, sizeof(*builder.marks), flame->budget);
    idtable_release(&builder.children, flame->budget);
    idtable_release(&builder.ends, flame->budget);
    vec_free(builder.forward_ends, builder.end_capacity, sizeof(*builder.forward_ends),
             flame->budget);
    flame_samples_release(&samples);
    return ok && note_files(flame, err);
}

struct flame *flame_build(const struct timeline *timeline, struct site_table *sites,
                          const struct flame_options *options, struct error *err)
{
    struct flame *flame = calloc(1, sizeof(*flame));
    if (!flame) {
        error_out_of_memory(err);
        return NULL;
    }
    *flame = (struct flame){.options = *options,
                            .timeline = timeline,
                            .sites = sites,
                            .budget = timeline->snapshot->budget};
    if (fill(flame, err))
        return flame;
    flame_destroy(flame);
    return NULL;
}

void flame_destroy(struct flame *flame)
{
    if (!flame)
        return;
    label_files_release(&flame->files);
    vec_free(flame->nodes, flame->node_capacity, sizeof(*flame->nodes), flame->budget);
    vec_free(flame->children, flame->children_capacity, sizeof(*flame->children), flame->budget);
    vec_free(flame->category, flame->category_capacity, sizeof(*flame->category), flame->budget);
    vec_free(flame->frames, flame->frame_capacity, sizeof(*flame->frames), flame->budget);
    free(flame);
}
