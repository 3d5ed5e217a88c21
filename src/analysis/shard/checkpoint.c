/* The points of a step with checkpoints, from those without.
 *
 * A segment keeps its input and its output instead of what its layers save. While it runs forward,
 * it holds nothing but what the running layer needs. Its backward begins with its forward, which
 * saves. */
#include <stdlib.h>

#include "analysis/shard/model.h"

struct rewrite {
    struct shard_model *model;
    const struct shard_segment *segments;
    size_t count;
    int64_t *saved; /* [layer_count + 1]: what the layers before have saved */
    int64_t *freed; /* [count + 1]: what the segments before have freed by being checkpoints */
    struct shard_point *points; /* the new ones */
    size_t point_count, point_capacity;
};

/* The segment that contains the layer, or the first one behind it. */
static size_t segment_of(const struct rewrite *rewrite, size_t layer)
{
    size_t low = 0, high = rewrite->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rewrite->segments[middle].end <= layer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_inside(const struct rewrite *rewrite, size_t segment, size_t layer)
{
    return segment < rewrite->count && rewrite->segments[segment].first <= layer;
}

static int64_t saved_by(const struct rewrite *rewrite, size_t first, size_t end)
{
    return rewrite->saved[end] - rewrite->saved[first];
}

/* The results of a segment are kept if the next segment takes them as its input. Its output is
 * also kept if its last layer saves it for its own backward. */
static int64_t kept_output(const struct rewrite *rewrite, size_t segment)
{
    const struct shard_segment *s = &rewrite->segments[segment];
    const struct shard_layer *last = &rewrite->model->layers[s->end - 1];
    bool is_taken = segment + 1 < rewrite->count && rewrite->segments[segment + 1].first == s->end;
    if (is_taken)
        return last->passed + (last->is_sum ? 0 : last->output);
    return last->saved >= last->output && !last->passes ? last->output : 0;
}

/* The checkpoint wraps modules, not what is beside them. */
static int64_t kept(const struct rewrite *rewrite, size_t segment)
{
    const struct shard_segment *s = &rewrite->segments[segment];
    int64_t bytes = s->is_known ? s->kept : kept_output(rewrite, segment);
    for (size_t i = s->first; i < s->end; i++)
        bytes += rewrite->model->layers[i].beside;
    return bytes;
}

static bool add_up(struct rewrite *rewrite)
{
    const struct shard_model *model = rewrite->model;
    rewrite->saved = calloc(model->layer_count + 1, sizeof(*rewrite->saved));
    rewrite->freed = calloc(rewrite->count + 1, sizeof(*rewrite->freed));
    if (!rewrite->saved || !rewrite->freed)
        return false;
    for (size_t i = 0; i < model->layer_count; i++)
        rewrite->saved[i + 1] = rewrite->saved[i] + model->layers[i].saved;
    for (size_t i = 0; i < rewrite->count; i++) {
        const struct shard_segment *s = &rewrite->segments[i];
        rewrite->freed[i + 1] =
            rewrite->freed[i] + saved_by(rewrite, s->first, s->end) - kept(rewrite, i);
    }
    return true;
}

static bool add(struct rewrite *rewrite, struct shard_point point, int64_t less, struct error *err)
{
    point.peak_bytes -= shard_least(less, point.peak_bytes);
    point.end_bytes -= shard_least(less, point.end_bytes);
    shard_point_clamp(&point);
    return vec_push(rewrite->points, rewrite->point_count, rewrite->point_capacity,
                    rewrite->model->budget, err, point);
}

static bool add_forward(struct rewrite *rewrite, const struct shard_point *point, size_t segment,
                        struct error *err)
{
    const struct shard_model *model = rewrite->model;
    int64_t less = rewrite->freed[segment];
    if (is_inside(rewrite, segment, point->layer)) {
        size_t first = rewrite->segments[segment].first;
        int64_t saved = saved_by(rewrite, first, point->layer);
        if (point->layer > first) /* the running layer's input */
            saved -= shard_least(saved, model->layers[point->layer - 1].output);
        less += saved;
    }
    return add(rewrite, *point, less, err);
}

/* How much more memory is in use when the segment runs again in backward than when it ran first:
 * gradients of its results. The forward pass, in turn, had tensors that only later layers take,
 * such as a sum of skip connections. `before` is the point before its backward. */
static int64_t more_in_backward(const struct rewrite *rewrite, const struct shard_segment *s,
                                const struct shard_point *before)
{
    const struct shard_model *model = rewrite->model;
    int64_t output = model->layers[s->end - 1].output;
    if (!model->has_backward || s->first == 0)
        return output;
    int64_t more = before->end_bytes - saved_by(rewrite, s->first, s->end) -
                   model->points[s->first - 1].end_bytes;
    return shard_least(more, output);
}

/* The forward of a segment within the backward pass. */
static bool add_recomputation(struct rewrite *rewrite, size_t segment,
                              const struct shard_point *before, struct error *err)
{
    const struct shard_model *model = rewrite->model;
    const struct shard_segment *s = &rewrite->segments[segment];
    int64_t more = more_in_backward(rewrite, s, before);
    int64_t early = rewrite->points[rewrite->point_count - 1].early_elements;
    for (size_t i = s->first; i < s->end; i++) {
        struct shard_point point = model->points[i];
        point.early_elements = early;
        point.is_backward = point.recomputes = true;
        point.first_tensor = point.end_tensor = 0;
        if (!add(rewrite, point, rewrite->freed[segment] - more, err))
            return false;
    }
    return true;
}

static bool rewrite_all(struct rewrite *rewrite, struct error *err)
{
    const struct shard_model *model = rewrite->model;
    size_t recomputed = rewrite->count;
    for (size_t i = 0; i < model->point_count; i++) {
        const struct shard_point *point = &model->points[i];
        size_t segment = segment_of(rewrite, point->layer);
        if (!point->is_backward) {
            if (!add_forward(rewrite, point, segment, err))
                return false;
            continue;
        }
        if (is_inside(rewrite, segment, point->layer) && segment < recomputed) {
            recomputed = segment;
            if (!add_recomputation(rewrite, segment, point - 1, err))
                return false;
        }
        if (!add(rewrite, *point, rewrite->freed[segment], err))
            return false;
    }
    return true;
}

/* What layers keep from their forward to their backward pass. */
static void set_saved(struct rewrite *rewrite)
{
    struct shard_model *model = rewrite->model;
    for (size_t k = rewrite->count; k-- > 0;) { /* the output of one depends on what it saved */
        const struct shard_segment *s = &rewrite->segments[k];
        int64_t bytes = kept(rewrite, k);
        for (size_t i = s->first; i < s->end; i++)
            model->layers[i].saved = 0;
        model->layers[s->end - 1].saved = bytes;
    }
}

bool shard_model_checkpoint(struct shard_model *model, const struct shard_segment *segments,
                            size_t count, struct error *err)
{
    struct rewrite rewrite = {.model = model, .segments = segments, .count = count};
    bool ok = add_up(&rewrite) ? rewrite_all(&rewrite, err) : error_out_of_memory(err);
    if (ok) {
        set_saved(&rewrite);
        struct shard_point *old = model->points;
        size_t capacity = model->point_capacity;
        model->points = rewrite.points;
        model->point_count = rewrite.point_count;
        model->point_capacity = rewrite.point_capacity;
        rewrite.points = old;
        rewrite.point_capacity = capacity;
    }
    vec_free(rewrite.points, rewrite.point_capacity, sizeof(*rewrite.points), model->budget);
    free(rewrite.saved);
    free(rewrite.freed);
    return ok;
}
