/* Data on the device from which the program takes batches: a table with a tensor for each column,
 * or the ring of a replay buffer. No gradient has its sizes, so it looks like frozen weights. But a
 * batch has as many rows of each tensor, so its tensors are the same part of the stored ones. */
#include <stdlib.h>
#include <string.h>

#include "analysis/category/classifier.h"
#include "base/bisect.h"

#define LEAST_SIZES 2   /* of stored tensors that a batch has rows of */
#define LEAST_PART  0.9 /* of the bytes of what looks like frozen weights */
#define MOST_STORED 8   /* different sizes; a frozen model has more */
#define MOST_BATCH  64  /* different sizes of tensors of batches */
#define LEAST_MADE  2   /* batches with a tensor of such a size */
#define LEAST_ROWS  64  /* bytes; smaller tensors are as often scalars */

struct sizes {
    uint64_t *items; /* ascending, once they are sorted */
    size_t count, capacity;
};

struct finder {
    const struct classifier *classifier;
    struct categories *categories;
    struct budget *budget;
    struct sizes stored, batches;
    size_t model, model_end;
};

static bool add(struct finder *finder, struct sizes *sizes, uint64_t size, struct error *err)
{
    return size < LEAST_ROWS ||
           vec_push(sizes->items, sizes->count, sizes->capacity, finder->budget, err, size);
}

/* Keeps those that occur at least so often, once each. */
static void keep_distinct(struct sizes *sizes, size_t least)
{
    size_t kept = 0;
    if (sizes->count > 0)
        qsort(sizes->items, sizes->count, sizeof(*sizes->items), compare_64);
    for (size_t i = 0, next; i < sizes->count; i = next) {
        for (next = i + 1; next < sizes->count && sizes->items[next] == sizes->items[i];)
            next++;
        if (next - i >= least)
            sizes->items[kept++] = sizes->items[i];
    }
    sizes->count = kept;
}

static bool seems_frozen(uint8_t why)
{
    return reason_of(why) == REASON_PERSISTENT;
}

static bool is_trained(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->classifier->timeline;
    const struct size_tally *tally =
        size_tallies_find(&finder->classifier->tallies,
                          trace_size(timeline->trace, timeline->lifetimes[index].alloc));
    return finder->categories->of_lifetime[index] == CATEGORY_PARAMETER && tally &&
           tally->count > 0;
}

/* Sets the lifetimes from the first to the last trained weight, of those before the first step.
 * What is made between them belongs to the model. */
static void find_model(struct finder *finder)
{
    const struct classifier *classifier = finder->classifier;
    size_t count = 0;
    while (count < classifier->timeline->lifetime_count &&
           classifier->phases->of_lifetime[count].birth < classifier->first_step_run)
        count++;
    finder->model_end = 0;
    for (finder->model = 0; finder->model < count && !is_trained(finder, finder->model);)
        finder->model++;
    for (size_t i = finder->model; i < count; i++)
        if (is_trained(finder, i))
            finder->model_end = i;
}

static bool may_be_stored(const struct finder *finder, size_t index)
{
    return seems_frozen(finder->categories->why_lifetime[index]) &&
           (index < finder->model || index > finder->model_end);
}

static bool find_stored(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    const struct categories *categories = finder->categories;
    find_model(finder);
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (seems_frozen(categories->why_preexisting[i]) &&
            !add(finder, &finder->stored, timeline->preexisting[i].size, err))
            return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (may_be_stored(finder, i) &&
            !add(finder, &finder->stored, trace_size(timeline->trace, timeline->lifetimes[i].alloc),
                 err))
            return false;
    keep_distinct(&finder->stored, 1);
    return true;
}

static bool find_batches(struct finder *finder, struct error *err)
{
    const struct classifier *classifier = finder->classifier;
    const struct timeline *timeline = classifier->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        if (finder->categories->of_lifetime[i] == CATEGORY_INPUT &&
            classifier_phase(classifier, classifier->phases->of_lifetime[i].birth) <= PHASE_DATA &&
            !add(finder, &finder->batches, trace_size(timeline->trace, item), err))
            return false;
    }
    keep_distinct(&finder->batches, LEAST_MADE);
    return true;
}

/* True if a batch has rows of a tensor of a size, so that whole / part is the same as of another
 * tensor. */
static bool has_rows(const struct sizes *batches, uint64_t size, uint64_t whole, uint64_t part)
{
    __extension__ typedef unsigned __int128 wide;
    wide scaled = (wide)size * part;
    if (scaled % whole != 0)
        return false;
    uint64_t rows = (uint64_t)(scaled / whole);
    return bsearch(&rows, batches->items, batches->count, sizeof(rows), compare_64) != NULL;
}

/* Leaves the stored sizes of which batches have rows, the same part of each; none if these are not
 * half of the sizes and most of the bytes. */
static void keep_with_rows(struct finder *finder)
{
    struct sizes *stored = &finder->stored, *batches = &finder->batches;
    double all = 0;
    size_t kept = 0;
    for (size_t i = 0; i < stored->count; i++)
        all += (double)stored->items[i];
    uint64_t largest = stored->count > 0 ? stored->items[stored->count - 1] : 0;
    bool may_be_data = stored->count >= LEAST_SIZES && stored->count <= MOST_STORED &&
                       batches->count <= MOST_BATCH;
    for (size_t b = 0; may_be_data && b < batches->count && batches->items[b] < largest; b++) {
        uint64_t found[MOST_STORED];
        double bytes = 0;
        kept = 0;
        for (size_t i = 0; i < stored->count; i++) {
            if (!has_rows(batches, stored->items[i], largest, batches->items[b]))
                continue;
            bytes += (double)stored->items[i];
            found[kept++] = stored->items[i];
        }
        if (kept >= LEAST_SIZES && kept * 2 >= stored->count && bytes >= all * LEAST_PART) {
            memcpy(stored->items, found, kept * sizeof(*found));
            break;
        }
        kept = 0;
    }
    stored->count = kept;
}

static bool has_stored_size(const struct finder *finder, uint64_t size)
{
    const struct sizes *stored = &finder->stored;
    return bsearch(&size, stored->items, stored->count, sizeof(size), compare_64) != NULL;
}

static void correct(const struct finder *finder)
{
    const struct timeline *timeline = finder->classifier->timeline;
    struct categories *categories = finder->categories;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (seems_frozen(categories->why_preexisting[i]) &&
            has_stored_size(finder, timeline->preexisting[i].size)) {
            categories->of_preexisting[i] = CATEGORY_INPUT;
            categories->why_preexisting[i] = REASON_PERSISTENT_DATA;
        }
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (may_be_stored(finder, i) &&
            has_stored_size(finder, trace_size(timeline->trace, timeline->lifetimes[i].alloc))) {
            categories->of_lifetime[i] = CATEGORY_INPUT;
            categories->why_lifetime[i] = REASON_PERSISTENT_DATA;
        }
}

bool classify_stored_rows(const struct classifier *classifier, struct categories *categories,
                          struct error *err)
{
    struct budget *budget = classifier->timeline->snapshot->budget;
    struct finder finder = {.classifier = classifier, .categories = categories, .budget = budget};
    bool ok = classifier->first_backward_run == NO_RUN ||
              (find_stored(&finder, err) &&
               (finder.stored.count < LEAST_SIZES || find_batches(&finder, err)));
    if (ok)
        keep_with_rows(&finder);
    if (ok && finder.stored.count > 0)
        correct(&finder);
    vec_free(finder.stored.items, finder.stored.capacity, sizeof(uint64_t), budget);
    vec_free(finder.batches.items, finder.batches.capacity, sizeof(uint64_t), budget);
    return ok;
}
