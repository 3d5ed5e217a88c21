/* Passes within one backward pass. Layers that can be computed backward save nothing: the backward
 * pass computes each again, and goes backward through it. So each layer looks like passes of its
 * own. The root gradient (root_gradients.c) lives over all of them, and each makes gradients that
 * outlive it, for weights of its own. Passes that add to the gradients of one another do not. */
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"
#include "base/bisect.h"

#define LEAST_NESTED 3 /* passes */
#define MOST_TRIES   256

/* The last scalar that is made before a pass turns and lives over more passes up to `last`. */
struct container {
    const struct lifetime *scalar; /* NULL: none */
    size_t last;
};

/* True if a pass makes a gradient that outlives the scalar. */
static bool makes_own(const struct pattern *pattern, const struct passes *passes, uint32_t end)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = births_from(timeline, passes->backward);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < passes->end; i++)
        if ((pattern->flags[i] & PATTERN_WEIGHT) && lifetime_end(&timeline->lifetimes[i]) > end &&
            trace_size(timeline->trace, timeline->lifetimes[i].alloc) >= LEAST_WEIGHT)
            return true;
    return false;
}

static bool has_step(const struct pattern *pattern, const struct lifetime *scalar)
{
    const struct step_marks *steps = pattern->steps;
    if (steps->count == 0)
        return false;
    size_t next =
        bisect_until(&steps->items->begin, sizeof(*steps->items), steps->count, scalar->alloc);
    return next < steps->count && steps->items[next].begin < lifetime_end(scalar);
}

/* True if a scalar is the root of one backward pass that contains the passes [first, last). */
static bool contains(const struct pattern *pattern, const struct container *container, size_t first)
{
    size_t own = 0;
    for (size_t i = first; i < container->last; i++) {
        if (pattern->passes[i].has_root)
            return false;
        own += makes_own(pattern, &pattern->passes[i], lifetime_end(container->scalar));
    }
    return own * 2 > container->last - first && !has_step(pattern, container->scalar);
}

static void find_containers(const struct pattern *pattern, struct container *containers)
{
    const struct timeline *timeline = pattern->timeline;
    const struct passes *passes = pattern->passes;
    size_t count = pattern->pass_count;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *scalar = &timeline->lifetimes[i];
        uint32_t end = lifetime_end(scalar);
        if (trace_size(timeline->trace, scalar->alloc) > MOST_SCALAR || end == EVENT_NEVER)
            continue;
        size_t first = bisect_until(&passes->backward, sizeof(*passes), count, scalar->alloc);
        size_t last = bisect_until(&passes->end, sizeof(*passes), count, end + 1);
        if (last >= first + LEAST_NESTED)
            containers[first] = (struct container){scalar, last};
    }
}

/* The passes that contain the pass `first`. */
static struct passes merged(const struct pattern *pattern, const struct container *container,
                            uint32_t from, size_t first)
{
    const struct lifetime *root = container->scalar;
    uint32_t latest = pattern->passes[first].forward;
    latest = latest < root->alloc ? latest : root->alloc;
    uint32_t end = lifetime_end(root) + 1;
    return (struct passes){.forward = passes_first_saved(pattern, from, root, latest),
                           .backward = root->alloc,
                           .end = end,
                           .updated = end,
                           .has_root = true};
}

bool passes_merge_nested(struct pattern *pattern, struct error *err)
{
    struct container *containers = NULL;
    size_t capacity = 0, kept = 0, tries = 0;
    uint32_t from = 0; /* the end of the passes before */
    if (pattern->pass_count < LEAST_NESTED)
        return true;
    if (!vec_reserve(containers, capacity, pattern->pass_count + 1, pattern->budget, err))
        return false;
    memset(containers, 0, (pattern->pass_count + 1) * sizeof(*containers));
    find_containers(pattern, containers);
    for (size_t i = 0, next; i < pattern->pass_count; i = next) {
        const struct container *container = &containers[i];
        struct passes passes = pattern->passes[i];
        next = i + 1;
        if (container->scalar && tries++ < MOST_TRIES && contains(pattern, container, i)) {
            passes = merged(pattern, container, from, i);
            next = container->last;
        }
        pattern->passes[kept++] = passes;
        from = passes.updated;
    }
    pattern->pass_count = kept;
    vec_free(containers, capacity, sizeof(*containers), pattern->budget);
    return true;
}
