#include "analysis/findings/layer_buffers.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/budget.h"

#define LEAST_COUNT  3
#define LEAST_BYTES  (1 << 20) /* of one buffer */
#define LAYER_OTHERS 3         /* trained parameters of a layer; an adapter has two */
/* Other parameters without a gradient have at most 1/10 of the buffers' bytes. */
#define FEW_OTHERS 10

struct finder {
    const struct live_set *set;
    uint64_t *gradients; /* sizes of gradients, ascending */
    size_t gradient_count, gradient_capacity;
    size_t *parameters; /* lifetimes, ascending */
    size_t parameter_count, parameter_capacity;
    struct budget *budget;
};

static uint64_t size_of(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->set->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

static int compare_lifetimes(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct live_set *set = finder->set;
    for (size_t i = 0; i < set->timeline->lifetime_count; i++)
        if (set->categories->of_lifetime[i] == CATEGORY_GRADIENT &&
            !vec_push(finder->gradients, finder->gradient_count, finder->gradient_capacity,
                      finder->budget, err, size_of(finder, i)))
            return false;
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].in_trace && live_category(set, &set->items[i]) == CATEGORY_PARAMETER &&
            !vec_push(finder->parameters, finder->parameter_count, finder->parameter_capacity,
                      finder->budget, err, set->items[i].index))
            return false;
    if (finder->gradient_count > 1)
        qsort(finder->gradients, finder->gradient_count, sizeof(uint64_t), compare_64);
    if (finder->parameter_count > 1)
        qsort(finder->parameters, finder->parameter_count, sizeof(size_t), compare_lifetimes);
    return true;
}

static bool has_gradient(const struct finder *finder, uint64_t size)
{
    return finder->gradient_count > 0 && bsearch(&size, finder->gradients, finder->gradient_count,
                                                 sizeof(size), compare_64) != NULL;
}

/* Sets *main to the size that holds the most bytes of parameters without gradients; 0 if there is
 * none. */
static bool main_size(const struct finder *finder, uint64_t *main, struct error *err)
{
    uint64_t *sizes = NULL, most = 0;
    size_t count = 0, capacity = 0;
    *main = 0;
    for (size_t i = 0; i < finder->parameter_count; i++) {
        uint64_t size = size_of(finder, finder->parameters[i]);
        if (size >= LEAST_BYTES && !has_gradient(finder, size) &&
            !vec_push(sizes, count, capacity, finder->budget, err, size)) {
            vec_free(sizes, capacity, sizeof(*sizes), finder->budget);
            return false;
        }
    }
    if (count > 1)
        qsort(sizes, count, sizeof(*sizes), compare_64);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && sizes[next] == sizes[i];)
            next++;
        if (sizes[i] * (next - i) > most) {
            most = sizes[i] * (next - i);
            *main = sizes[i];
        }
    }
    vec_free(sizes, capacity, sizeof(*sizes), finder->budget);
    return true;
}

/* Takes the parameters of the size, if they are in layers of a model that is trained. */
static void take(const struct finder *finder, uint64_t size, struct layer_buffers *buffers)
{
    uint64_t other_bytes = 0, layers = 0, trained = 0, count = 0;
    size_t first = 0;
    for (size_t i = 0; i < finder->parameter_count; i++) {
        uint64_t bytes = size_of(finder, finder->parameters[i]);
        if (bytes == size) {
            first = count++ == 0 ? finder->parameters[i] : first;
            layers += count > 1 && trained >= LAYER_OTHERS;
            trained = 0;
        } else if (has_gradient(finder, bytes)) {
            trained++;
        } else {
            other_bytes += bytes;
        }
    }
    if (count < LEAST_COUNT || layers + 1 < (count + 1) / 2 || layers == 0 ||
        other_bytes > count * size / FEW_OTHERS)
        return;
    const struct timeline *timeline = finder->set->timeline;
    *buffers = (struct layer_buffers){count, (int64_t)(count * size),
                                      timeline->trace->stack[timeline->lifetimes[first].alloc]};
}

bool layer_buffers_find(struct layer_buffers *buffers, const struct live_set *at_peak,
                        struct error *err)
{
    struct finder finder = {.set = at_peak, .budget = at_peak->timeline->snapshot->budget};
    *buffers = (struct layer_buffers){0};
    uint64_t size = 0;
    bool ok = collect(&finder, err) && main_size(&finder, &size, err);
    if (size > 0)
        take(&finder, size, buffers);
    vec_free(finder.gradients, finder.gradient_capacity, sizeof(uint64_t), finder.budget);
    vec_free(finder.parameters, finder.parameter_capacity, sizeof(size_t), finder.budget);
    return ok;
}
