/* Gradients that plain code replaces between passes. Instead of zeroing a gradient in place, some
 * libraries assign new zeros to .grad, and clipping by hand assigns the scaled gradient. The new
 * block is made right before the old gradient is freed and has its size. The next backward pass
 * adds to it, so that this pass leaves no other gradient of the size. An updated weight would look
 * the same if the gradient that it is computed from were freed at once, but then the next pass
 * leaves a gradient of the new weight. */
#include <stdlib.h>

#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"

/* A block that is made right before another block of its size is freed. */
struct replacement {
    uint32_t made;     /* item */
    uint32_t index;    /* of its lifetime */
    uint32_t replaced; /* index of the lifetime of the other block; NONE if it has none */
};

#define NONE UINT32_MAX

/* A gradient that a backward pass left. */
struct left {
    uint64_t size;
    uint32_t made; /* item */
};

struct search {
    const struct classifier *classifier;
    struct categories *categories;
    struct replacement *replacements; /* in order of `made` */
    size_t count, capacity;
    struct left *left; /* by size, then by `made` */
    size_t left_count, left_capacity;
};

static bool is_before_free(const struct trace *trace, uint32_t item)
{
    return item + 1 < trace->count && trace->action[item] == ACTION_ALLOC &&
           trace->action[item + 1] == ACTION_FREE_REQUESTED &&
           trace_size(trace, item + 1) == trace_size(trace, item);
}

static bool collect_replacements(struct search *search, struct error *err)
{
    const struct timeline *timeline = search->classifier->timeline;
    const struct phases *phases = search->classifier->phases;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t i = phases->outliving[n], made = timeline->lifetimes[i].alloc;
        if (classifier_phase(search->classifier, phases->of_lifetime[i].birth) > PHASE_DATA ||
            !is_before_free(timeline->trace, made))
            continue;
        if (!vec_push(search->replacements, search->count, search->capacity,
                      timeline->snapshot->budget, err,
                      ((struct replacement){.made = made, .index = i, .replaced = NONE})))
            return false;
    }
    return true;
}

/* False if none of them replaces a gradient. */
static bool find_replaced(struct search *search)
{
    const struct timeline *timeline = search->classifier->timeline;
    const struct phases *phases = search->classifier->phases;
    bool any = false;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t i = phases->outliving[n];
        uint32_t freed = timeline->lifetimes[i].free_requested;
        if (freed == EVENT_NEVER || freed == 0 || !is_before_free(timeline->trace, freed - 1))
            continue;
        size_t at = bisect_less(&search->replacements->made, sizeof(*search->replacements),
                                search->count, freed - 1);
        if (at == search->count || search->replacements[at].made != freed - 1)
            continue;
        search->replacements[at].replaced = i;
        any = any || search->categories->of_lifetime[i] == CATEGORY_GRADIENT;
    }
    return any;
}

static int compare_left(const void *a, const void *b)
{
    const struct left *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return compare_32(&x->made, &y->made);
}

static bool collect_left(struct search *search, struct error *err)
{
    const struct timeline *timeline = search->classifier->timeline;
    const struct phases *phases = search->classifier->phases;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t i = phases->outliving[n], made = timeline->lifetimes[i].alloc;
        if (search->categories->of_lifetime[i] != CATEGORY_GRADIENT ||
            classifier_phase(search->classifier, phases->of_lifetime[i].birth) != PHASE_BACKWARD)
            continue;
        if (!vec_push(search->left, search->left_count, search->left_capacity,
                      timeline->snapshot->budget, err,
                      ((struct left){.size = trace_size(timeline->trace, made), .made = made})))
            return false;
    }
    if (search->left_count > 0)
        qsort(search->left, search->left_count, sizeof(*search->left), compare_left);
    return true;
}

/* True if a backward pass leaves a gradient of the size between two items. */
static bool leaves_between(const struct search *search, uint64_t size, uint32_t from, uint32_t to)
{
    size_t first =
        bisect_less_64(&search->left->size, sizeof(*search->left), search->left_count, size);
    size_t end =
        bisect_less_64(&search->left->size, sizeof(*search->left), search->left_count, size + 1);
    const struct left *of_size = &search->left[first];
    size_t after = bisect_until(&of_size->made, sizeof(*of_size), end - first, from);
    return after < end - first && of_size[after].made < to;
}

/* True if the category is certain: the file or a rule of the user decided it, or all
 * weights are joined in the block. */
static bool is_certain(const struct categories *categories, uint32_t index)
{
    enum reason reason = reason_of(categories->why_lifetime[index]);
    return reason == REASON_FILE || reason == REASON_RULE || reason == REASON_WEIGHT_VECTOR;
}

/* Replacements may be replaced in turn, so they are decided in the order in which they are made. */
static void decide(const struct search *search)
{
    const struct timeline *timeline = search->classifier->timeline;
    struct categories *categories = search->categories;
    for (size_t i = 0; i < search->count; i++) {
        const struct replacement *new = &search->replacements[i];
        if (new->replaced == NONE || categories->of_lifetime[new->replaced] != CATEGORY_GRADIENT ||
            categories->of_lifetime[new->index] == CATEGORY_GRADIENT ||
            is_certain(categories, new->index))
            continue;
        if (leaves_between(search, trace_size(timeline->trace, new->made), new->made,
                           lifetime_end(&timeline->lifetimes[new->index])))
            continue;
        categories->of_lifetime[new->index] = CATEGORY_GRADIENT;
        categories->why_lifetime[new->index] = REASON_GRADIENT_REPLACED;
    }
}

bool classify_replaced_gradients(const struct classifier *classifier, struct categories *categories,
                                 struct error *err)
{
    struct search search = {.classifier = classifier, .categories = categories};
    struct budget *budget = classifier->timeline->snapshot->budget;
    bool ok = classifier->first_backward_run == NO_RUN || collect_replacements(&search, err);
    if (ok && search.count > 0 && find_replaced(&search)) {
        ok = collect_left(&search, err);
        if (ok && search.left_count > 0)
            decide(&search);
    }
    vec_free(search.replacements, search.capacity, sizeof(*search.replacements), budget);
    vec_free(search.left, search.left_capacity, sizeof(*search.left), budget);
    return ok;
}
