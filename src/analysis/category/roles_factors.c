/* Kronecker factors. For a weight of n x m elements, Shampoo, SOAP and K-FAC keep matrices of n x n
 * and of m x m, so that the product of their sizes is the square of the weight's size. Other sizes
 * may match by chance. The optimizers of torch.optim keep no factors. */
#include "analysis/category/roles_internal.h"

#define MOST_PAIRS 1000000 /* pairs of a weight's size and a factor's size that are tried */
#define LEAST_PART 0.2     /* part of the bytes of weights that must have factors */
/* Part of the bytes of the weights that are not square, as far as sizes tell; they must have
 * factors. */
#define LEAST_KNOWN 0.5
/* Part of the bytes of unknown role that factors must account for, if weights above a limit have
 * no factors. */
#define LEAST_MATCH 0.9

/* The number of blocks of unknown role or, for the size of a weight, of blocks beyond what weights
 * and states need. */
static uint32_t spare_blocks(const struct size_tally *tally)
{
    return tally->count > 0 ? tally->expected.copies : is_left_over(tally) ? tally->persistent : 0;
}

/* The size of the factor that goes with a factor of size `factor`; 0 if no block of that size is
 * spare. */
static uint64_t other_factor(const struct solver *solver, uint64_t weight, uint64_t factor)
{
    double other = bytes_of(weight, weight) / (double)factor;
    if (other < 1 || other >= (double)(1ull << 53) || other != (double)(uint64_t)other)
        return 0;
    const struct size_tally *tally = tally_of(solver, (uint64_t)other);
    return tally && spare_blocks(tally) > 0 ? tally->size : 0;
}

/* True if a weight has factors. With `mark`, marks them. */
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

/* True if a weight has a factor of this size, and there are as many weights as factors. */
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

/* True if factors of weights account for nearly all blocks of unknown role. Optimizers keep no
 * factors for a weight with a long side, such as an embedding, which may be most of the model. */
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
        /* Spare blocks of the size of a square weight may be its factors. */
        known += is_paired || spare_blocks(tally) == 0 ? bytes : 0;
    }
    if (all == 0 || paired < all * LEAST_PART ||
        (paired < known * LEAST_KNOWN && !factors_match(solver)))
        return;
    for (size_t i = 0; i < solver->count; i++)
        if (solver->sizes[i]->count > 0)
            find_pair(solver, solver->sizes[i], true);
}
