/* What each module of one forward and backward pass allocates, keeps and takes in time. */
#include <string.h>

#include "decode/profiler/layers_internal.h"

#define NO_LEAF UINT32_MAX

static bool in_pass(const struct layers *layers, int64_t time_ns)
{
    return time_ns >= layers->pass.start_ns && time_ns <= layers->pass.end_ns;
}

#define MOST_GPUS 256 /* of a machine; what a file has beyond that is not chosen */

/* Chooses the GPU on which the pass allocates most; the host if the pass allocates more there. */
static void choose_device(struct layers *layers)
{
    const struct profile *profile = layers->profile;
    uint64_t host = 0, sums[MOST_GPUS] = {0}, most = 0;
    layers->device = DEVICE_HOST;
    for (size_t i = 0; i < profile->memory_count; i++) {
        const struct profile_memory *memory = &profile->memory[i];
        if (memory->bytes <= 0 || !in_pass(layers, memory->time_ns))
            continue;
        if (memory->device == DEVICE_HOST)
            host += (uint64_t)memory->bytes;
        else if (memory->device < MOST_GPUS)
            sums[memory->device] += (uint64_t)memory->bytes;
    }
    for (uint32_t i = 0; i < MOST_GPUS; i++) {
        if (sums[i] <= most)
            continue;
        most = sums[i];
        layers->device = i;
    }
    if (host > most)
        layers->device = DEVICE_HOST;
}

/* Finds the leaf of each autograd node. If several operators have a node's number, the last to
 * begin made the node. */
static void map_nodes(struct layers *layers)
{
    const struct profile *profile = layers->profile;
    const struct forward_pass *pass = &layers->pass;
    for (size_t i = 0; i < pass->node_count; i++)
        layers->of_node[i] = NO_LEAF;
    struct range_cursor cursor = range_cursor_begin(&profile->ranges, pass->thread);
    for (; cursor.more && cursor.range.start_ns <= pass->end_ns; range_cursor_step(&cursor)) {
        const struct profile_range *range = &cursor.range;
        if (range->label.kind == RANGE_OPERATOR && range->start_ns >= pass->start_ns &&
            range->sequence - pass->first_node < pass->node_count)
            layers->of_node[range->sequence - pass->first_node] =
                (uint32_t)forward_pass_leaf(pass, range->start_ns);
    }
}

static struct layer *layer_of_node(const struct layers *layers, uint32_t sequence)
{
    uint32_t node = sequence - layers->pass.first_node;
    if (sequence == 0 || node >= layers->pass.node_count || layers->of_node[node] == NO_LEAF)
        return NULL;
    return &layers->layers[layers->of_node[node]];
}

static void take_backward(struct layers *layers, const struct profile_range *range)
{
    struct layer *layer =
        range->label.kind == RANGE_ENGINE && range->start_ns >= layers->pass.end_ns
            ? layer_of_node(layers, range->sequence)
            : NULL;
    if (!layer)
        return;
    profile_add(&layer->backward_ns, range->duration_ns);
    if (range_end(range) > layer->backward_end_ns)
        layer->backward_end_ns = range_end(range);
}

static void time_backward(struct layers *layers)
{
    const struct profile *profile = layers->profile;
    for (size_t i = 0; i < profile->thread_count; i++) {
        struct range_cursor cursor = range_cursor_begin(&profile->ranges, i);
        for (; cursor.more; range_cursor_step(&cursor))
            take_backward(layers, &cursor.range);
    }
}

/* Gives the time of a launch's kernels to the leaf that runs, or to that of the autograd node.
 * `range` is the outermost one that is open, or NULL. */
static void take_launch(struct layers *layers, const struct profile_launch *launch,
                        const struct profile_range *range)
{
    const struct forward_pass *pass = &layers->pass;
    struct layer *layer = NULL;
    if (launch->thread == pass->thread && in_pass(layers, launch->time_ns)) {
        layer = &layers->layers[forward_pass_leaf(pass, launch->time_ns)];
        profile_add(&layer->kernel_ns, launch->kernel_ns);
    } else if (range && launch->time_ns >= pass->end_ns && range->label.kind == RANGE_ENGINE) {
        layer = layer_of_node(layers, range->sequence);
        if (layer)
            profile_add(&layer->backward_kernel_ns, launch->kernel_ns);
    }
    layers->has_kernels = layers->has_kernels || layer;
}

static void time_kernels(struct layers *layers)
{
    const struct profile *profile = layers->profile;
    struct profile_walk walk = {0};
    profile_join_kernels(layers->profile);
    for (size_t i = 0; i < profile->launch_count; i++) {
        const struct profile_launch *launch = &profile->launches[i];
        if (i == 0 || launch->thread != profile->launches[i - 1].thread)
            walk = profile_walk_begin(profile, launch->thread);
        bool open = profile_walk_to(&walk, launch->time_ns) != PROFILE_NO_RANGE;
        take_launch(layers, launch, open ? &walk.outermost : NULL);
    }
}

/* Takes an allocation that is freed at a time, or never. */
static void take_allocation(struct layers *layers, const struct profile_memory *memory,
                            int64_t freed_ns, bool choose_output)
{
    const struct forward_pass *pass = &layers->pass;
    struct layer *layer;
    if (in_pass(layers, memory->time_ns) && memory->thread == pass->thread) {
        size_t leaf = forward_pass_leaf(pass, memory->time_ns);
        layer = &layers->layers[leaf];
        bool passed_on = freed_ns > pass->leaves[leaf].end_ns;
        if (!choose_output) {
            if (passed_on && memory->bytes > layer->largest)
                layer->largest = memory->bytes;
            if (freed_ns > pass->end_ns)
                profile_add(&layer->saved, memory->bytes);
        } else if (passed_on && memory->bytes > layer->largest / 2 &&
                   memory->time_ns >= layer->output_ns) {
            layer->output = memory->bytes;
            layer->output_ns = memory->time_ns;
        }
        return;
    }
    layer = memory->time_ns > pass->end_ns ? layer_of_node(layers, memory->sequence) : NULL;
    if (!layer || choose_output)
        return;
    if (freed_ns > pass->backward_end_ns)
        profile_add(&layer->gradients, memory->bytes);
    else if (freed_ns > layer->backward_end_ns && memory->bytes > layer->flow)
        layer->flow = memory->bytes;
}

static bool by_address(const void *self, uint32_t a, uint32_t b)
{
    const struct profile_memory *memory = self;
    if (memory[a].addr != memory[b].addr)
        return memory[a].addr < memory[b].addr;
    return a < b;
}

static void take_allocations(struct layers *layers, bool choose_output)
{
    const struct profile_memory *memory = layers->profile->memory;
    for (size_t i = 0; i < layers->event_count; i++) {
        const struct profile_memory *made = &memory[layers->order[i]];
        const struct profile_memory *next =
            i + 1 < layers->event_count ? &memory[layers->order[i + 1]] : NULL;
        if (made->bytes > 0)
            take_allocation(layers, made,
                            next && next->addr == made->addr ? next->time_ns : INT64_MAX,
                            choose_output);
    }
}

/* Follows the curves: what was allocated at the ends of the leaves and of their backward passes. */
static void follow(struct layers *layers)
{
    const struct profile *profile = layers->profile;
    const struct forward_pass *pass = &layers->pass;
    int64_t now = 0, reserved = 0, before = 0;
    size_t leaf = 0, next = 0;
    bool begun = false;
    for (size_t i = 0; i <= profile->memory_count; i++) {
        const struct profile_memory *memory =
            i < profile->memory_count ? &profile->memory[i] : NULL;
        if (memory && memory->device != layers->device)
            continue;
        int64_t time = memory ? memory->time_ns : INT64_MAX;
        if (!begun && time > pass->start_ns) {
            before = now;
            begun = true;
        }
        for (; leaf < pass->leaf_count && pass->leaves[leaf].end_ns < time; leaf++) {
            layers->layers[leaf].change = now - before;
            layers->layers[leaf].allocated = now;
            layers->layers[leaf].reserved = reserved;
            before = now;
        }
        for (; next < pass->leaf_count; next++) {
            struct layer *layer = &layers->layers[layers->order[next]];
            if (layer->backward_end_ns >= time)
                break;
            layer->backward_allocated = now;
            layer->backward_reserved = reserved;
        }
        if (!memory)
            break;
        if (memory->total >= 0)
            now = memory->total;
        else
            profile_add(&now, memory->bytes);
        reserved = memory->reserved > 0 ? memory->reserved : reserved;
    }
}

static bool ends_before(const void *self, uint32_t a, uint32_t b)
{
    const struct layer *layers = self;
    return layers[a].backward_end_ns < layers[b].backward_end_ns;
}

bool layers_sum_up(struct layers *layers)
{
    struct profile *profile = layers->profile;
    struct budget *budget = profile->budget;
    size_t count = layers->pass.leaf_count;
    size_t most = profile->memory_count > count ? profile->memory_count : count;
    if (!vec_reserve(layers->layers, layers->layer_capacity, count, budget, layers->err) ||
        !vec_reserve(layers->of_node, layers->node_capacity, layers->pass.node_count, budget,
                     layers->err) ||
        !vec_reserve(layers->order, layers->order_capacity, most, budget, layers->err))
        return false;
    memset(layers->layers, 0, count * sizeof(*layers->layers));
    for (size_t i = 0; i < count; i++)
        layers->layers[i].backward_end_ns = layers->layers[i].output_ns = INT64_MIN;
    choose_device(layers);
    map_nodes(layers);
    time_backward(layers);
    time_kernels(layers);
    for (size_t i = 0; i < profile->memory_count; i++)
        if (profile->memory[i].device == layers->device)
            layers->order[layers->event_count++] = (uint32_t)i;
    if (!profile_sort(layers->order, layers->event_count, by_address, profile->memory, budget,
                      layers->err))
        return false;
    take_allocations(layers, false);
    take_allocations(layers, true);
    for (size_t i = 0; i < count; i++)
        layers->order[i] = (uint32_t)i;
    if (!profile_sort(layers->order, count, ends_before, layers->layers, budget, layers->err))
        return false;
    follow(layers);
    return true;
}
