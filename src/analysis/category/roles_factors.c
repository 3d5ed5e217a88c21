/* Kronecker factors: for a weight of n x m elements, Shampoo, SOAP and K-FAC keep matrices of n x n
 * and of m x m, so that the product of their sizes is the square of the weight's size. Other sizes
 * may agree by chance, and the optimizers of torch.optim keep no factors. */
#include "analysis/category/roles_internal.h"

#define MOST_PAIRS  1000000 /* of a weight's size and a factor's, which are tried */
#define LEAST_PART  0.2     /* of the bytes of weights, which have factors */
#define LEAST_KNOWN 0.5     /* of those of weights that are not square, as far as sizes tell */
#define LEAST_MATCH 0.9     /* of the bytes of unknown role, if weights above a limit have none */

/* Blocks of unknown role, or more of a weight's size than weights and states need. */
static uint32_t spare_blocks(const struct size_tally *tally)
{
    return tally->count > 0 ? tally->expected.copies : is_left_over(tally) ? tally->persistent : 0;
}

/* The size of the factor beside one of size `factor`, or 0 if no block of it is spare. */
static uint64_t other_factor(const struct solver *solver, uint64_t weight, uint64_t factor)
{
    double other = bytes_of(weight, weight) / (double)factor;
    if (other < 1 || other >= (double)(1ull << 53) || other != (double)(uint64_t)other)
        return 0;
    const struct size_tally *tally = tally_of(solver, (uint64_t)other);
    return tally && spare_blocks(tally) > 0 ? tally->size : 0;
}

/* Finds the factors of a weight; marks them if told so. */
static bool find_pair(const struct solver *solver, const struct size_tally *weight, bool mark)
{
    bool found = false;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        uint64_t other = is_left_over(tally) && spare_blocks(tally) > 0
                             ? other_factor(solver, weight->size, tally->size)
                             : 0;
        if (other == 0)
            continue;
        found = true;
        if (mark)
            tally->is_factor = tally_of(solver, other)->is_factor = true;
    }
    return found;
}

/* True if one weight's factor is this size, and there are as many of both. */
static bool matches_a_weight(const struct solver *solver, const struct size_tally *factor)
{
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *weight = solver->sizes[i];
        if (weight->count > 0 && weight->count == factor->persistent &&
            other_factor(solver, weight->size, factor->size) > 0)
            return true;
    }
    return false;
}

/* True if factors of weights account for nearly all blocks of unknown role. Optimizers keep none
 * for a weight with a long side, such as an embedding, which may be most of the model. */
static bool factors_match(const struct solver *solver)
{
    double all = 0, matched = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (!is_left_over(tally))
            continue;
        double bytes = bytes_of(tally->size, tally->persistent);
        all += bytes;
        matched += matches_a_weight(solver, tally) ? bytes : 0;
    }
    return all > 0 && matched >= all * LEAST_MATCH;
}

void roles_find_factors(const struct solver *solver)
{
    double all = 0, known = 0, paired = 0;
    size_t weights = 0;
    for (size_t i = 0; i < solver->count; i++)
        weights += solver->sizes[i]->count > 0;
    const struct optimizers *optimizers = &solver->optimizers;
    bool is_unnamed = optimizers->most_states == 0 && optimizers->may_be_unnamed;
    if ((!optimizers->any_other && !is_unnamed) || weights * solver->count > MOST_PAIRS)
        return;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        double bytes = bytes_of(tally->size, tally->count);
        bool is_paired = tally->count > 0 && find_pair(solver, tally, false);
        paired += is_paired ? bytes : 0;
        all += bytes;
        /* spare blocks of a square weight's size may be its factors */
        known += is_paired || spare_blocks(tally) == 0 ? bytes : 0;
    }
    if (all == 0 || paired < all * LEAST_PART ||
        (paired < known * LEAST_KNOWN && !factors_match(solver)))
        return;
    for (size_t i = 0; i < solver->count; i++)
        if (solver->sizes[i]->count > 0)
            find_pair(solver, solver->sizes[i], true);
}
