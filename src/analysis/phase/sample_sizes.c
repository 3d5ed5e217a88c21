/* Finds the number of samples by sizes, since it is the same for nearly all weights. */
#include "analysis/phase/sample_sizes.h"

#include <stdlib.h>

#include "analysis/phase/passes.h"
#include "base/bisect.h"

#define MOST_SAMPLES  65536
#define LEAST_COVERED 0.9 /* part of the bytes of weights, counting one of each size */
#define LEAST_PART    3   /* quarters of those sizes; the others may be sizes of results */

void sizes_make_distinct(struct sizes *sizes)
{
    size_t kept = 0;
    if (sizes->count > 0)
        qsort(sizes->items, sizes->count, sizeof(*sizes->items), compare_64);
    for (size_t i = 0; i < sizes->count; i++)
        if (kept == 0 || sizes->items[kept - 1] != sizes->items[i])
            sizes->items[kept++] = sizes->items[i];
    sizes->count = kept;
}

bool sizes_hold(const struct sizes *sizes, uint64_t size)
{
    return sizes->count > 0 && bsearch(&size, sizes->items, sizes->count, sizeof(size), compare_64);
}

/* True if `samples` times the size of a weight is not the size of another weight. If sizes are
 * powers of two it often is, and then blocks of that size show nothing. */
static bool is_own_size(const struct sizes *weights, uint64_t weight, uint64_t samples)
{
    return weight <= UINT64_MAX / samples && !sizes_hold(weights, weight * samples);
}

/* The bytes of the weights of which gradients for `samples` samples are made. */
static double covered_by(const struct sizes *weights, const struct sizes *freed, uint64_t samples,
                         size_t *count)
{
    double covered = 0;
    *count = 0;
    for (size_t i = 0; i < weights->count; i++) {
        if (weights->items[i] < LEAST_WEIGHT || !is_own_size(weights, weights->items[i], samples) ||
            !sizes_hold(freed, weights->items[i] * samples))
            continue;
        covered += (double)weights->items[i];
        *count += 1;
    }
    return covered;
}

bool are_enough_sizes(size_t count, size_t sizes, double covered, double all)
{
    return count >= LEAST_SIZES && count * 4 >= sizes * LEAST_PART &&
           covered >= all * LEAST_COVERED;
}

uint32_t samples_find(const struct sizes *weights, const struct sizes *freed)
{
    uint64_t largest = weights->items[weights->count - 1], found = 0;
    double all = 0, most = 0;
    size_t sizes = 0;
    for (size_t i = 0; i < weights->count; i++) {
        all += weights->items[i] < LEAST_WEIGHT ? 0 : (double)weights->items[i];
        sizes += weights->items[i] >= LEAST_WEIGHT;
    }
    if (largest < LEAST_WEIGHT || largest > UINT64_MAX / 2)
        return 0;
    for (size_t i = bisect_less_64(freed->items, sizeof(uint64_t), freed->count, 2 * largest);
         i < freed->count && freed->items[i] / largest <= MOST_SAMPLES; i++) {
        size_t count;
        if (freed->items[i] % largest != 0)
            continue;
        double covered = covered_by(weights, freed, freed->items[i] / largest, &count);
        if (are_enough_sizes(count, sizes, covered, all) && covered > most) {
            most = covered;
            found = freed->items[i] / largest;
        }
    }
    return (uint32_t)found;
}

uint32_t samples_by_sizes(uint64_t *weights, size_t weight_count, uint64_t *blocks,
                          size_t block_count)
{
    struct sizes of_weights = {.items = weights, .count = weight_count};
    struct sizes of_blocks = {.items = blocks, .count = block_count};
    sizes_make_distinct(&of_weights);
    sizes_make_distinct(&of_blocks);
    return of_weights.count > 0 ? samples_find(&of_weights, &of_blocks) : 0;
}
