/* Optimizer states in a narrower type than the weights, such as 8 bits: several blocks of a half or
 * a quarter of each weight's size. */
#include "analysis/category/roles_internal.h"

#define LEAST_STATES 2 /* for each weight; a single narrow block may be a copy of the weight */
#define MOST_WITHOUT 4 /* at most 1/4 of the bytes of weights may have no narrow states */

/* True if the size is that of no weight, as far as gradients show. What steps keep may have made it
 * count as one. */
static bool is_apart(const struct size_tally *tally)
{
    bool by_steps = tally->gradients.most == 0 && tally->accumulated.most == 0 &&
                    tally->parameters == 0 && tally->flat == 0;
    return is_left_over(tally) || by_steps;
}

/* The size that may be that of narrow states, or NULL. */
static struct size_tally *narrow_of(const struct solver *solver, const struct size_tally *tally,
                                    uint64_t part)
{
    if (tally->count == 0 || tally->flat > 0 || tally->expected.states > 0 ||
        tally->made_in_step > 0 || tally->size % part != 0)
        return NULL;
    struct size_tally *narrow = tally_of(solver, tally->size / part);
    bool fits = narrow && is_apart(narrow) && narrow->persistent >= tally->count &&
                narrow->persistent % tally->count == 0;
    return fits ? narrow : NULL;
}

/* The number of narrow states for each weight; 0 if there are none. */
static uint32_t elect_states(const struct solver *solver, uint64_t part)
{
    struct ballot ballot = {0};
    double weights = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        const struct size_tally *narrow = narrow_of(solver, tally, part);
        weights += bytes_of(tally->size, tally->count);
        if (narrow)
            ballot_vote(&ballot, tally, narrow->persistent);
    }
    uint32_t states = ballot_elected(&ballot);
    bool most_have = (weights - ballot.bytes[states]) * MOST_WITHOUT <= weights;
    return states >= LEAST_STATES && states <= most_states_of(solver) && most_have ? states : 0;
}

void roles_share_narrow(const struct solver *solver)
{
    for (uint64_t part = 2; part <= 4; part *= 2) {
        uint32_t states = elect_states(solver, part);
        for (size_t i = 0; states > 0 && i < solver->count; i++) {
            const struct size_tally *tally = solver->sizes[i];
            struct size_tally *narrow = narrow_of(solver, tally, part);
            if (!narrow || narrow->persistent != (uint64_t)tally->count * states)
                continue;
            narrow->count = 0;
            narrow->expected = (struct expected){.narrow_states = narrow->persistent};
        }
        if (states > 0)
            return;
    }
}
