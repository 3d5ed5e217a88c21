/* Results that plain code computes before the first module of a forward pass, from tensors that
 * need gradients: distances of atoms whose forces are derivatives, or embeddings by hand. They look
 * like batches, which plain code prepares there as well. But the backward pass goes on beyond the
 * modules: once it has freed the last block that a module saved, it makes gradients of these
 * results, which have their sizes. A batch has no gradient, and the weights of the first layer have
 * one gradient each, which may be as large as a batch by chance: so two are needed. */
#include <stdlib.h>

#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"

#define LEAST_GRADIENTS 2 /* of a result's size, made after the modules' part of the pass */

/* A block that a backward pass makes when the modules' part of it is over. */
struct late {
    uint32_t run;
    uint64_t size;
};

struct search {
    const struct classifier *classifier;
    struct categories *categories;
    uint32_t *modules_end; /* by run: the item at which a backward pass frees the last block that a
                              module made; 0 if it frees none */
    size_t run_capacity;
    struct late *late; /* by run, then by size */
    size_t count, capacity;
};

static bool is_prepared(const struct search *search, size_t index)
{
    const struct categories *categories = search->categories;
    const struct classifier *classifier = search->classifier;
    return categories->of_lifetime[index] == CATEGORY_INPUT &&
           reason_of(categories->why_lifetime[index]) == REASON_BEFORE_FORWARD &&
           classifier_phase(classifier, classifier->phases->of_lifetime[index].birth) <= PHASE_DATA;
}

static bool ends_in_backward(const struct search *search, size_t index)
{
    return classifier_phase(search->classifier,
                            search->classifier->phases->of_lifetime[index].end) == PHASE_BACKWARD;
}

static bool any_candidate(const struct search *search)
{
    const struct phases *phases = search->classifier->phases;
    for (size_t n = 0; n < phases->outliving_count; n++)
        if (is_prepared(search, phases->outliving[n]) &&
            ends_in_backward(search, phases->outliving[n]))
            return true;
    return false;
}

static void find_modules_end(struct search *search)
{
    const struct timeline *timeline = search->classifier->timeline;
    const struct phases *phases = search->classifier->phases;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        struct lifetime_runs runs = phases->of_lifetime[i];
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (ends_in_backward(search, i) &&
            classifier_phase(search->classifier, runs.birth) == PHASE_FORWARD &&
            end > search->modules_end[runs.end])
            search->modules_end[runs.end] = end;
    }
}

static int compare_late(const void *a, const void *b)
{
    const struct late *x = a, *y = b;
    return x->run != y->run ? compare_32(&x->run, &y->run) : compare_64(&x->size, &y->size);
}

static bool collect_late(struct search *search, struct error *err)
{
    const struct timeline *timeline = search->classifier->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t run = search->classifier->phases->of_lifetime[i].birth;
        uint32_t made = timeline->lifetimes[i].alloc;
        if (classifier_phase(search->classifier, run) != PHASE_BACKWARD ||
            search->modules_end[run] == 0 || made < search->modules_end[run] ||
            search->categories->of_lifetime[i] == CATEGORY_WORKSPACE)
            continue;
        struct late late = {run, trace_size(timeline->trace, made)};
        if (!vec_push(search->late, search->count, search->capacity, timeline->snapshot->budget,
                      err, late))
            return false;
    }
    if (search->count > 0)
        qsort(search->late, search->count, sizeof(*search->late), compare_late);
    return true;
}

/* The number of blocks of a size that a backward pass makes after its modules' part. */
static size_t count_late(const struct search *search, uint32_t run, uint64_t size)
{
    size_t first = bisect_less(&search->late->run, sizeof(*search->late), search->count, run);
    size_t end = bisect_until(&search->late->run, sizeof(*search->late), search->count, run);
    const struct late *of_run = &search->late[first];
    return bisect_less_64(&of_run->size, sizeof(*of_run), end - first, size + 1) -
           bisect_less_64(&of_run->size, sizeof(*of_run), end - first, size);
}

/* A result that outlives the backward pass, because a variable holds it, is computed from an
 * earlier one of the same stretch of plain code. */
static void decide(const struct search *search)
{
    const struct timeline *timeline = search->classifier->timeline;
    const struct phases *phases = search->classifier->phases;
    uint32_t stretch = NO_RUN;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        struct lifetime_runs runs = phases->of_lifetime[i];
        if (!is_prepared(search, i))
            continue;
        if (runs.birth != stretch) {
            uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
            if (!ends_in_backward(search, i) ||
                count_late(search, runs.end, size) < LEAST_GRADIENTS)
                continue;
            stretch = runs.birth;
        }
        search->categories->of_lifetime[i] = CATEGORY_ACTIVATION;
        search->categories->why_lifetime[i] = REASON_BEFORE_MODULES;
    }
}

bool classify_early_results(const struct classifier *classifier, struct categories *categories,
                            struct error *err)
{
    struct search search = {.classifier = classifier, .categories = categories};
    struct budget *budget = classifier->timeline->snapshot->budget;
    if (!classifier->phases->has_stacks || !any_candidate(&search))
        return true;
    bool ok = vec_reserve(search.modules_end, search.run_capacity, classifier->phases->count,
                          budget, err);
    if (ok) {
        for (size_t run = 0; run < classifier->phases->count; run++)
            search.modules_end[run] = 0;
        find_modules_end(&search);
        ok = collect_late(&search, err);
    }
    if (ok && search.count > 0)
        decide(&search);
    vec_free(search.modules_end, search.run_capacity, sizeof(*search.modules_end), budget);
    vec_free(search.late, search.capacity, sizeof(*search.late), budget);
    return ok;
}
