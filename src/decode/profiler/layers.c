/* A layer trace from a profile: the rows of the modules of one forward and backward pass. */
#include <string.h>

#include "decode/profiler/chrome.h"
#include "decode/profiler/layers_internal.h"
#include "decode/profiler/profiler.h"

static int64_t not_negative(int64_t bytes)
{
    return bytes < 0 ? 0 : bytes;
}

static bool emit(const struct layers *layers, size_t leaf, bool is_forward)
{
    const struct leaf *of = &layers->pass.leaves[leaf];
    const struct layer *layer = &layers->layers[leaf];
    struct layer_row row = {
        .present =
            (1u << LAYER_MODULE_NAME | 1u << LAYER_MODULE_PARAMS | 1u << LAYER_ALLOCATED |
             1u << LAYER_RESERVED | 1u << LAYER_IS_FORWARD | 1u << LAYER_ALL_GATHERED |
             1u << LAYER_CUMUL_ALL_GATHERED | 1u << LAYER_MEMORY_ACTIVATIONS | 1u << LAYER_DEPTH),
        .module_name = of->path,
        .is_forward = is_forward,
        .module_params = layer->gradients,
        .allocated = not_negative(is_forward ? layer->allocated : layer->backward_allocated),
        .reserved = is_forward ? layer->reserved : layer->backward_reserved,
        .memory_activations = is_forward ? layer->output : layer->flow,
        .depth = of->depth,
    };
    if (is_forward) {
        row.present |= 1u << LAYER_MEMORY_DIFF | 1u << LAYER_FORWARD_US | 1u << LAYER_BACKWARD_US |
                       1u << LAYER_SAVED_ACTIVATIONS;
        row.memory_diff = layer->change;
        int64_t forward_ns = layers->has_kernels ? layer->kernel_ns : of->end_ns - of->start_ns;
        int64_t backward_ns = layers->has_kernels ? layer->backward_kernel_ns : layer->backward_ns;
        row.forward_us = (double)forward_ns / 1000;
        row.backward_us = (double)backward_ns / 1000;
        row.saved_activations = layer->saved;
    }
    return layers->sink->row(layers->sink->self, &row, 0, layers->err);
}

static bool emit_rows(const struct layers *layers)
{
    for (size_t i = 0; i < layers->pass.leaf_count; i++)
        if (!emit(layers, i, true))
            return false;
    for (size_t i = 0; i < layers->pass.leaf_count; i++)
        if (layers->layers[layers->order[i]].backward_ns > 0 &&
            !emit(layers, layers->order[i], false))
            return false;
    return true;
}

/* Says what the times measure. */
static bool emit_facts(const struct layers *layers)
{
    struct layer_facts *facts = layers->sink->facts;
    const char *time = layers->has_kernels ? LAYER_TIME_KERNELS : LAYER_TIME_HOST;
    facts->present |= 1u << FACT_TIME;
    return symbols_string(layers->profile->symbols, time, strlen(time), &facts->time, layers->err);
}

static bool make_layers(struct profile *profile, const struct layer_sink *sink, struct error *err)
{
    struct layers layers = {.profile = profile, .sink = sink, .err = err};
    if (!profile_prepare(profile, err) || !forward_pass_find(&layers.pass, profile, err))
        return false;
    bool ok = layers_sum_up(&layers) && emit_rows(&layers) && emit_facts(&layers);
    forward_pass_release(&layers.pass, profile->budget);
    vec_free(layers.layers, layers.layer_capacity, sizeof(*layers.layers), profile->budget);
    vec_free(layers.of_node, layers.node_capacity, sizeof(*layers.of_node), profile->budget);
    vec_free(layers.order, layers.order_capacity, sizeof(*layers.order), profile->budget);
    return ok;
}

bool decode_profiler_layers(struct source *source, struct symbols *symbols,
                            const struct layer_sink *sink, struct error *err)
{
    struct profile profile;
    profile_init(&profile, symbols, source->budget);
    profile.wants_kernels = true;
    bool ok = chrome_read(&profile, source, err) && make_layers(&profile, sink, err);
    profile_release(&profile);
    return ok;
}
