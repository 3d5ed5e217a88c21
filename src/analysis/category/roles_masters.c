/* Votes of the sizes, and masters: copies of the model in a type twice as wide, with their states.
 */
#include "analysis/category/roles_internal.h"

#define MOST_WITHOUT 10 /* at most 1/10 of the bytes of weights may have no masters */
#define LEAST_SIZES  3  /* different ones, of weights that are made anew */

void ballot_vote(struct ballot *ballot, const struct size_tally *tally, uint64_t blocks)
{
    uint64_t copies = blocks / tally->count;
    ballot->bytes[copies < MOST_COPIES ? copies : MOST_COPIES] +=
        bytes_of(tally->size, tally->count);
}

uint32_t ballot_elected(const struct ballot *ballot)
{
    uint32_t best = 0;
    for (uint32_t copies = 1; copies <= MOST_COPIES; copies++)
        if (ballot->bytes[copies] > ballot->bytes[best])
            best = copies;
    return best;
}

/* True if blocks of the size come and go, each pass leaves gradients of it, and twice the size
 * stays once or more often for each of them. */
static bool may_be_renewed(const struct solver *solver, const struct size_tally *tally)
{
    const struct size_tally *twice = tally_of(solver, tally->size * 2);
    return staying(tally) == 0 && tally->gradients.most > 0 && tally->size >= 64 && twice &&
           twice->gradients.most == 0 && twice->persistent > 0 &&
           twice->persistent % tally->gradients.most == 0;
}

void roles_find_renewed(const struct solver *solver)
{
    double masters = 0, all = 0;
    size_t sizes = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        all += bytes_of(tally->size, tally->persistent);
        if (!may_be_renewed(solver, tally))
            continue;
        masters += bytes_of(2 * tally->size, tally_of(solver, 2 * tally->size)->persistent);
        sizes++;
    }
    for (size_t i = 0; sizes >= LEAST_SIZES && masters * 2 >= all && i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        const struct size_tally *twice = tally_of(solver, 2 * tally->size);
        tally->is_renewed = staying(tally) == 0 && tally->gradients.most > 0 && twice &&
                            twice->persistent >= tally->gradients.most;
    }
    for (size_t i = 0; i < solver->count; i++)
        if (solver->sizes[i]->is_renewed)
            solver->sizes[i]->parameters = solver->sizes[i]->gradients.most;
}

/* True if the size may be that of masters. */
static bool is_twice(const struct solver *solver, const struct size_tally *tally)
{
    const struct size_tally *half = tally->size % 2 == 0 ? tally_of(solver, tally->size / 2) : NULL;
    return half && half->count > 0 && staying(half) > 0;
}

/* True if nearly all weights have equally many blocks of their own size, and several. With masters,
 * sizes that are twice as large as others would have more than those. */
static bool have_equal_copies(const struct solver *solver)
{
    struct ballot ballot = {0};
    double all = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (tally->count == 0)
            continue;
        all += bytes_of(tally->size, tally->count);
        if (staying(tally) % tally->count == 0)
            ballot_vote(&ballot, tally, staying(tally));
    }
    uint32_t copies = ballot_elected(&ballot);
    return copies > 1 && ballot.bytes[copies] * MOST_WITHOUT > all * (MOST_WITHOUT - 1);
}

/* The same for every size that has no gradient itself. Another model that is twice as wide has some
 * of these sizes, but not all. If most weights have the size of others or twice that, the few that
 * can vote do not decide. */
static uint32_t elect_masters(const struct solver *solver)
{
    struct ballot ballot = {0};
    double voting = 0, all = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        const struct size_tally *twice =
            tally->count > 0 ? tally_of(solver, tally->size * 2) : NULL;
        uint64_t wide = twice ? staying(twice) : 0;
        bool collides = (twice && twice->count > 0) || (wide == 0 && is_twice(solver, tally));
        all += bytes_of(tally->size, tally->count);
        if (tally->count == 0 || staying(tally) == 0 || collides)
            continue;
        ballot_vote(&ballot, tally, wide);
        voting += bytes_of(tally->size, tally->count);
    }
    uint32_t masters = ballot_elected(&ballot);
    if (masters > 0 && voting * 2 < all && have_equal_copies(solver))
        return 0;
    return ballot.bytes[0] * MOST_WITHOUT > ballot.bytes[masters] ? 0 : masters;
}

/* Where a size has as many wide copies as all its blocks need, all of these are weights, and what
 * looks like a gradient of the wide size is none. */
static void correct_counts(struct solver *solver, uint32_t masters)
{
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        struct size_tally *twice = staying(tally) > 0 ? tally_of(solver, tally->size * 2) : NULL;
        if (!twice || staying(twice) != staying(tally) * masters)
            continue;
        tally->count = (uint32_t)staying(tally);
        twice->count = 0;
    }
}

uint32_t roles_count_masters(struct solver *solver)
{
    uint32_t masters = elect_masters(solver);
    if (masters > 0)
        correct_counts(solver, masters);
    return masters;
}

/* True if the weights of a size have all their states in blocks of the same size. In a trace that
 * begins late, the optimizer made its states before the trace, so its steps make none. */
static bool has_own_states(const struct solver *solver, const struct size_tally *tally)
{
    uint64_t copies = 1u + solver->roles->stay + most_states_of(solver);
    if (tally->made_in_earlier >= tally->count)
        return true;
    return solver->begins_late ? staying(tally) >= copies * tally->count
                               : tally->made_in_step >= tally->count;
}

bool roles_are_averages(const struct solver *solver, uint32_t masters)
{
    double all = 0, narrow = 0, wide = 0;
    for (size_t i = 0; masters == 1 && i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        const struct size_tally *twice =
            tally->count > 0 ? tally_of(solver, tally->size * 2) : NULL;
        if (!twice || twice->count > 0 || staying(twice) < tally->count)
            continue;
        double bytes = bytes_of(tally->size, tally->count);
        all += bytes;
        narrow += has_own_states(solver, tally) ? bytes : 0;
        wide += twice->made_in_step + twice->made_in_earlier >= tally->count ? bytes : 0;
    }
    return narrow * 2 > all && wide * 2 < all;
}
