/* Results of a forward pass in a list that the program holds until the next pass, such as the
 * features of all layers. Without stacks, a forward pass seems to begin with the first block that
 * its backward pass frees, so results made before that look like a batch. When a list is freed, its
 * members are freed in a row, the last one first. So a block that is freed right after results that
 * were made after it is a result too. */
#include <stdlib.h>

#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"

#define LEAST_RESULTS 3 /* number of results that must be in the list besides the block */

/* A block that is freed in the trace. */
struct member {
    uint32_t end, birth; /* items */
    uint32_t index;
};

static int compare_ends(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool is_result(const struct categories *categories, const struct member *member)
{
    return categories->of_lifetime[member->index] == CATEGORY_ACTIVATION &&
           reason_of(categories->why_lifetime[member->index]) == REASON_FORWARD_KEPT;
}

/* True if members[at] is freed right after results of the same pass that were made after it, with
 * no allocation in between. */
static bool ends_list(const struct classifier *classifier, const struct categories *categories,
                      const struct member *members, size_t at)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phase_run *runs = classifier->phases->runs;
    uint32_t pass = runs[phases_run_of(classifier->phases, members[at].birth)].pass;
    size_t born = births_from(timeline, members[at].end);
    for (size_t i = 1; i <= LEAST_RESULTS; i++) {
        if (i > at)
            return false;
        const struct member *result = &members[at - i];
        uint32_t run = phases_run_of(classifier->phases, result->birth);
        bool is_next = runs[run].pass == pass || runs[run].pass == pass + 1;
        if (!is_result(categories, result) || result->birth <= members[at - i + 1].birth ||
            births_from(timeline, result->end) != born || !is_next)
            return false;
    }
    return true;
}

bool classify_kept_lists(const struct classifier *classifier, struct categories *categories,
                         struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    struct budget *budget = timeline->snapshot->budget;
    struct member *members = NULL;
    size_t count = 0, capacity = 0;
    if (classifier->phases->has_stacks || classifier->first_backward_run == NO_RUN)
        return true;
    if (!vec_reserve(members, capacity, timeline->lifetime_count, budget, err))
        return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (end != EVENT_NEVER)
            members[count++] = (struct member){end, timeline->lifetimes[i].alloc, (uint32_t)i};
    }
    if (count > 0)
        qsort(members, count, sizeof(*members), compare_ends);
    for (size_t i = 0; i < count; i++) {
        uint8_t *why = &categories->why_lifetime[members[i].index];
        if (reason_of(*why) != REASON_BEFORE_FORWARD ||
            !ends_list(classifier, categories, members, i))
            continue;
        categories->of_lifetime[members[i].index] = CATEGORY_ACTIVATION;
        *why = reason_byte(REASON_FORWARD_KEPT, DOUBT_INFERRED);
    }
    vec_free(members, capacity, sizeof(*members), budget);
    return true;
}
