/* A model that a program makes, computes with, and drops, in a trace without stacks: a teacher
 * whose outputs are stored before training begins, or a network that judges images. All of its
 * weights are made in a row, and freed in a row when it is dropped. A list of batches is made and
 * freed so, too. But the sizes of weights differ widely. Optimizers make lists of temporaries, too.
 * But they have the sizes of the weights that train, and little else is made while they exist. */
#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"

#define MOST_APART    3 /* items from one weight to the next: there may be one of the allocator */
#define LEAST_WEIGHTS 8
#define LEAST_SIZES   4  /* different ones */
#define LEAST_RATIO   64 /* of the largest to the smallest */
/* Results that the model computes meanwhile, for each weight. */
#define LEAST_RESULTS       1
#define LEAST_WHILE_TRAINED 4

/* The lifetimes [first, end). */
struct row {
    size_t first, end;
};

static uint64_t size_of(const struct classifier *classifier, size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

/* The number of the first lifetime that is made after lifetime `index` is freed. */
static size_t next_after(const struct classifier *classifier, size_t index)
{
    return births_from(classifier->timeline, lifetime_end(&classifier->timeline->lifetimes[index]));
}

/* True for what plain code makes and frees, between two phases of a step. */
static bool may_be_weight(const struct classifier *classifier, const struct categories *categories,
                          size_t index)
{
    return reason_of(categories->why_lifetime[index]) == REASON_PLAIN_FREED &&
           classifier_phase(classifier, classifier->phases->of_lifetime[index].birth) <= PHASE_DATA;
}

/* The row of lifetimes that begins with number `first`: made right one after the other, and freed
 * with nothing made in between. */
static struct row find_row(const struct classifier *classifier, const struct categories *categories,
                           size_t first)
{
    const struct timeline *timeline = classifier->timeline;
    size_t next = next_after(classifier, first), end = first + 1;
    while (end < timeline->lifetime_count && may_be_weight(classifier, categories, end) &&
           timeline->lifetimes[end].alloc - timeline->lifetimes[end - 1].alloc <= MOST_APART &&
           next_after(classifier, end) == next)
        end++;
    return (struct row){first, end};
}

/* True if the sizes differ as those of weights do, and most bytes do not have the sizes of weights
 * that train. Vectors of two models often have the same sizes. */
static bool has_sizes_of_weights(const struct classifier *classifier, struct row row)
{
    uint64_t sizes[LEAST_SIZES], least = UINT64_MAX, most = 0;
    size_t count = 0;
    double bytes = 0, trained = 0;
    for (size_t i = row.first; i < row.end; i++) {
        uint64_t size = size_of(classifier, i);
        least = size < least ? size : least;
        most = size > most ? size : most;
        bytes += (double)size;
        trained += classifier_has_early(classifier, size) ? (double)size : 0;
        size_t same = 0;
        while (same < count && sizes[same] != size)
            same++;
        if (same == count && count < LEAST_SIZES)
            sizes[count++] = size;
    }
    return count == LEAST_SIZES && most / LEAST_RATIO >= least && trained * 2 <= bytes;
}

static bool is_model(const struct classifier *classifier, struct row row)
{
    size_t weights = row.end - row.first, results = next_after(classifier, row.first) - row.end;
    bool trains = classifier->phases->of_lifetime[row.first].birth >= classifier->first_step_run;
    return weights >= LEAST_WEIGHTS &&
           results / weights >= (trains ? LEAST_WHILE_TRAINED : LEAST_RESULTS) &&
           has_sizes_of_weights(classifier, row);
}

void classify_dropped_models(const struct classifier *classifier, struct categories *categories)
{
    size_t count = classifier->timeline->lifetime_count;
    struct row row;
    if (classifier->phases->has_stacks)
        return;
    for (size_t i = 0; i < count; i = row.end) {
        row = (struct row){i, i + 1};
        if (!may_be_weight(classifier, categories, i))
            continue;
        row = find_row(classifier, categories, i);
        if (!is_model(classifier, row))
            continue;
        for (size_t weight = row.first; weight < row.end; weight++) {
            categories->of_lifetime[weight] = CATEGORY_PARAMETER;
            categories->why_lifetime[weight] = reason_byte(REASON_MODEL_MADE, DOUBT_GUESS);
        }
    }
}
