/* A pass ends when blocks of the sizes of samples' gradients that the pass made are live for nearly
 * all weights. Results of a model may be as large, but are freed soon. */
#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"
#include "analysis/phase/sample_sizes.h"
#include "base/bisect.h"
#include "base/hash.h"

#define LEAST_PASSES 2  /* that are found where no annotation shows a step; otherwise 1 */
#define LATEST_SIZES 64 /* slots for sizes that were seen */

/* Finds the sizes of blocks that are made and freed again. Of equal ones, which are most, only few
 * are sorted. */
static bool find_freed_sizes(const struct pattern *pattern, struct sizes *freed, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    uint64_t latest[LATEST_SIZES] = {0};
    size_t most = timeline->lifetime_count;
    if (!vec_reserve(freed->items, freed->capacity, most + 1, pattern->budget, err))
        return false;
    for (size_t i = 0; i < most; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        uint64_t *same = &latest[hash_word(size, 0) % LATEST_SIZES];
        bool is_known = *same == size && size > 0;
        if (!is_known && lifetime_end(&timeline->lifetimes[i]) != EVENT_NEVER &&
            !birth_is_leaf(timeline, i))
            freed->items[freed->count++] = *same = size;
    }
    sizes_make_distinct(freed);
    return true;
}

/* The search for passes, with the latest gradient of each weight since the last passes ended. */
struct search {
    struct pattern *pattern;
    const struct sizes *weights;
    uint64_t samples;
    size_t *latest; /* by weight: 1 + index of the lifetime; 0 if there is none yet */
    size_t marked;  /* number of weights that have one */
    size_t latest_capacity;
    uint32_t *stays; /* by weight: blocks that stay and have its size */
    size_t stays_capacity;
    uint32_t *live; /* by weight: gradients that are live when a pass ends */
    size_t live_capacity;
    uint32_t *ends; /* the ends of what the forward pass saved */
    size_t ends_capacity;
    size_t next_step; /* the first annotated step that is not over */
    uint32_t stepped; /* the end of the step before it; 0 if none */
    struct passes *found;
    size_t count, capacity;
};

/* The index of the weight that has gradients of this size; SIZE_MAX if none has. */
static size_t weight_of(const struct search *search, uint64_t size)
{
    const struct sizes *weights = search->weights;
    uint64_t wanted = size / search->samples;
    if (size % search->samples != 0 || wanted < LEAST_WEIGHT || sizes_hold(weights, size))
        return SIZE_MAX;
    size_t at = bisect_less_64(weights->items, sizeof(uint64_t), weights->count, wanted);
    return at < weights->count && weights->items[at] == wanted ? at : SIZE_MAX;
}

/* True if gradients of nearly all weights are live at an item. *first is set to where the first of
 * them was made, and *used to where the last of them is freed. */
static bool are_complete(const struct search *search, uint32_t item, uint32_t *first,
                         uint32_t *used)
{
    const struct timeline *timeline = search->pattern->timeline;
    double all = 0, covered = 0;
    size_t count = 0, sizes = 0;
    *first = item;
    *used = 0;
    for (size_t i = 0; i < search->weights->count; i++) {
        double size = (double)search->weights->items[i];
        if (size < LEAST_WEIGHT)
            continue;
        all += size;
        sizes++;
        const struct lifetime *lifetime =
            search->latest[i] > 0 ? &timeline->lifetimes[search->latest[i] - 1] : NULL;
        if (!lifetime || lifetime_end(lifetime) <= item)
            continue;
        covered += size;
        count++;
        *first = lifetime->alloc < *first ? lifetime->alloc : *first;
        *used = lifetime_end(lifetime) > *used ? lifetime_end(lifetime) : *used;
    }
    return are_enough_sizes(count, sizes, covered, all);
}

static void count_stay(struct search *search, uint64_t size)
{
    const struct sizes *weights = search->weights;
    size_t at = bisect_less_64(weights->items, sizeof(uint64_t), weights->count, size);
    search->stays[at] += at < weights->count && weights->items[at] == size;
}

static void count_stays(struct search *search)
{
    const struct timeline *timeline = search->pattern->timeline;
    memset(search->stays, 0, (search->weights->count + 1) * sizeof(*search->stays));
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (pattern_lives_long(timeline, 0, preexisting_end(&timeline->preexisting[i])))
            count_stay(search, timeline->preexisting[i].size);
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (pattern_lives_long(timeline, lifetime->alloc, lifetime_end(lifetime)))
            count_stay(search, trace_size(timeline->trace, lifetime->alloc));
    }
}

/* True if, of blocks made in the items [first, last], as many of each size are live after them as
 * there are weights of the size, up to a factor: optimizer states stay, too. What a pass saves for
 * its backward pass may also be as large as weights times a number, where sizes are powers of two,
 * but not as many of each size. */
static bool are_as_many(struct search *search, uint32_t first, uint32_t last)
{
    const struct timeline *timeline = search->pattern->timeline;
    const struct sizes *weights = search->weights;
    size_t largest = weights->count - 1, count = 0, sizes = 0;
    double all = 0, covered = 0;
    memset(search->live, 0, weights->count * sizeof(*search->live));
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= last; i++) {
        size_t at = weight_of(search, trace_size(timeline->trace, timeline->lifetimes[i].alloc));
        if (at != SIZE_MAX && lifetime_end(&timeline->lifetimes[i]) > last)
            search->live[at]++;
    }
    for (size_t i = 0; i < weights->count; i++) {
        if (weights->items[i] < LEAST_WEIGHT)
            continue;
        bool fits = search->live[i] > 0 && (uint64_t)search->live[i] * search->stays[largest] ==
                                               (uint64_t)search->live[largest] * search->stays[i];
        all += (double)weights->items[i];
        covered += fits ? (double)weights->items[i] : 0;
        sizes++;
        count += fits;
    }
    return are_enough_sizes(count, sizes, covered, all);
}

/* The item in which the last of the gradients is made, of which nearly all were made in the items
 * from `first` on up to the birth of lifetime `index`: several weights may have the size of one.
 * They live longer than it takes to make them. */
static uint32_t last_of_them(const struct search *search, size_t index, uint32_t first)
{
    const struct timeline *timeline = search->pattern->timeline;
    uint32_t last = timeline->lifetimes[index].alloc;
    for (size_t i = index + 1; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t item = lifetime->alloc, span = last - first;
        if (item - last > span)
            break;
        if (lifetime_end(lifetime) - item > span && !birth_is_leaf(timeline, i) &&
            weight_of(search, trace_size(timeline->trace, item)) != SIZE_MAX)
            last = item;
    }
    return last;
}

/* Finds what lies around gradients that are made in the items [backward, last]: the forward pass
 * begins with the first block that it saves, and the backward pass ends with the last one of these.
 * Hooks make the gradients while the pass frees what was saved; then it ends with the last
 * gradient. The program may hold a quarter of the blocks, such as the batch, much longer. */
static bool find_saved(struct search *search, uint32_t from, uint32_t backward, uint32_t last,
                       struct passes *passes)
{
    const struct timeline *timeline = search->pattern->timeline;
    size_t begin = births_from(timeline, from), count = 0;
    for (size_t i = begin; i < timeline->lifetime_count; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (timeline->lifetimes[i].alloc >= backward)
            break;
        if (end > backward && end != EVENT_NEVER)
            search->ends[count++] = end;
    }
    if (count < LEAST_SAVED)
        return false;
    qsort(search->ends, count, sizeof(*search->ends), compare_32);
    uint32_t most = search->ends[count - 1 - count / 4];
    uint64_t limit = most > last ? last + 4 * (uint64_t)(most - last) : last;
    *passes = (struct passes){
        .forward = backward, .backward = backward, .end = last + 1, .updated = last + 1};
    for (size_t i = begin; timeline->lifetimes[i].alloc < backward; i++) {
        uint32_t item = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        if (end <= backward || end > limit)
            continue;
        passes->forward = item < passes->forward ? item : passes->forward;
        passes->end = passes->updated = end + 1 > passes->end ? end + 1 : passes->end;
    }
    return true;
}

/* The first item of the pass whose gradients begin at an item: not before `from`, nor before the
 * end of an annotated optimizer step. Items must come in order. */
static uint32_t pass_from(struct search *search, uint32_t from, uint32_t item)
{
    const struct step_marks *steps = search->pattern->steps;
    while (search->next_step < steps->count && steps->items[search->next_step].end <= item) {
        const struct step_mark *step = &steps->items[search->next_step++];
        search->stepped = step->has_closure ? search->stepped : step->end;
    }
    return search->stepped > from ? search->stepped : from;
}

static bool find_sample_passes(struct search *search, struct error *err)
{
    const struct timeline *timeline = search->pattern->timeline;
    uint32_t from = 0, used_before = 0, first, used;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        size_t at = weight_of(search, trace_size(timeline->trace, item));
        if (at == SIZE_MAX || item < from || birth_is_leaf(timeline, i))
            continue;
        search->marked += search->latest[at] == 0;
        search->latest[at] = i + 1;
        struct passes passes;
        if (search->marked < LEAST_SIZES || !are_complete(search, item, &first, &used))
            continue;
        /* Where the gradients of the pass before are used up, the next pass has not begun. */
        from = used_before < first && used_before > from ? used_before : from;
        from = pass_from(search, from, first);
        uint32_t last = last_of_them(search, i, first);
        if (!are_as_many(search, first, last) || !find_saved(search, from, first, last, &passes))
            continue;
        if (lifetime_end(&timeline->lifetimes[i]) < passes.end) /* the graph dies with them */
            passes.end = passes.updated = last + 1;
        if (!vec_push(search->found, search->count, search->capacity, search->pattern->budget, err,
                      passes))
            return false;
        from = passes.end;
        used_before = used;
        memset(search->latest, 0, search->weights->count * sizeof(*search->latest));
        search->marked = 0;
    }
    return true;
}

/* Takes the passes that were found, unless more are known already. */
static bool take_found(struct search *search, struct error *err)
{
    struct pattern *pattern = search->pattern;
    size_t least = pattern->steps->count > 0 ? 1 : LEAST_PASSES;
    if (search->count < least || search->count < pattern_training_passes(pattern))
        return true;
    pattern->pass_count = pattern->kept_graphs = pattern->probes = 0;
    pattern->samples = (uint32_t)search->samples;
    for (size_t i = 0; i < search->count; i++)
        if (!pattern_add_passes(pattern, search->found[i], err))
            return false;
    return true;
}

static bool search_passes(struct pattern *pattern, const struct sizes *weights, uint64_t samples,
                          struct error *err)
{
    struct search search = {.pattern = pattern, .weights = weights, .samples = samples};
    struct budget *budget = pattern->budget;
    bool ok = vec_reserve(search.latest, search.latest_capacity, weights->count, budget, err) &&
              vec_reserve(search.ends, search.ends_capacity, pattern->timeline->lifetime_count,
                          budget, err);
    ok = ok && vec_reserve(search.stays, search.stays_capacity, weights->count + 1, budget, err) &&
         vec_reserve(search.live, search.live_capacity, weights->count, budget, err);
    if (ok) {
        memset(search.latest, 0, weights->count * sizeof(*search.latest));
        count_stays(&search);
    }
    ok = ok && find_sample_passes(&search, err) && take_found(&search, err);
    vec_free(search.latest, search.latest_capacity, sizeof(*search.latest), budget);
    vec_free(search.stays, search.stays_capacity, sizeof(*search.stays), budget);
    vec_free(search.live, search.live_capacity, sizeof(*search.live), budget);
    vec_free(search.ends, search.ends_capacity, sizeof(*search.ends), budget);
    vec_free(search.found, search.capacity, sizeof(*search.found), budget);
    return ok;
}

bool passes_from_samples(struct pattern *pattern, struct error *err)
{
    struct sizes weights = {0}, freed = {0};
    if (pattern->stay_count == 0)
        return true;
    bool ok =
        vec_reserve(weights.items, weights.capacity, pattern->stay_count, pattern->budget, err) &&
        find_freed_sizes(pattern, &freed, err);
    for (size_t i = 0; ok && i < pattern->stay_count; i++)
        weights.items[weights.count++] = pattern->stays[i];
    sizes_make_distinct(&weights);
    uint32_t samples = ok && weights.count > 0 ? samples_find(&weights, &freed) : 0;
    ok = ok && (samples == 0 || search_passes(pattern, &weights, samples, err));
    vec_free(weights.items, weights.capacity, sizeof(uint64_t), pattern->budget);
    vec_free(freed.items, freed.capacity, sizeof(uint64_t), pattern->budget);
    return ok;
}
