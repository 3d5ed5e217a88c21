/* Counts the copies of the model's list of sizes. All sizes vote, with their bytes as weight. */
#include <math.h>

#include "analysis/category/roles_internal.h"

/* Passes add to gradients that stay if what they add has at least 1/32 of the bytes of all blocks
 * that stay. Fewer have the size of a weight by chance. */
#define LEAST_ADDED 32

/* The number of masters that a size may have: one for each weight of half the size. */
static uint32_t masters_of(const struct solver *solver, const struct size_tally *tally)
{
    return tally_of(solver, tally->size / 2)->count;
}

/* True if gradients stay: most of the bytes to which passes add belong to blocks that no pass
 * leaves. But if the trace begins before the model is made, and each block that stays has such a
 * gradient, all of these blocks are weights: a hook takes the gradients away. */
static bool gradients_stay(const struct solver *solver)
{
    double left = 0, added = 0, all = 0, of_weights = 0, stays = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t whole = staying(tally);
        stays += bytes_of(tally->size, whole);
        if (whole == 0 || roles_are_masters(solver, tally))
            continue;
        uint64_t most = tally->gradients.most < whole ? tally->gradients.most : whole;
        uint64_t used = tally->is_dropped ? 0 : least(tally->accumulated.most, whole);
        left += bytes_of(tally->size, most);
        added += bytes_of(tally->size, used);
        all += bytes_of(tally->size, tally->accumulated.most > 0 ? whole : 0);
        of_weights += bytes_of(tally->size, tally->accumulated.most >= whole ? whole : 0);
    }
    bool are_weights = !solver->begins_late && of_weights * 2 > all;
    return left * 4 < added && added * LEAST_ADDED >= stays && !are_weights;
}

/* Finds gradients that are copies of others in a type twice as wide: all sizes pair up. */
static void find_wide_gradients(struct solver *solver)
{
    double paired = 0, alone = 0;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        uint32_t rest = tally->count - tally->wide;
        struct size_tally *twice = rest > 0 ? tally_of(solver, tally->size * 2) : NULL;
        if (twice && twice->count - twice->wide >= rest) {
            twice->wide += rest;
            paired += bytes_of(tally->size, rest);
        } else {
            alone += bytes_of(tally->size, rest);
        }
    }
    bool all = paired > alone * 20;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        tally->wide = all ? tally->wide : 0;
        tally->count -= tally->wide;
    }
}

/* The number of blocks that stay for each gradient, by the vote of most bytes. If more blocks look
 * like gradients than stay, others have the size too, and there is one for each weight. */
static uint32_t count_copies(const struct solver *solver)
{
    struct ballot ballot = {0};
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t whole = staying(tally);
        if (tally->count > 0 && whole < tally->count)
            ballot.bytes[1] += bytes_of(tally->size, whole);
        else if (tally->count > 0)
            ballot_vote(&ballot, tally, whole);
    }
    ballot.bytes[0] = 0; /* a weight is one copy itself */
    return ballot_elected(&ballot);
}

/* Counts gradients that stay. They are not seen themselves, and other blocks of their sizes are
 * used up as well. If a size has as many blocks as the whole model has copies, or a multiple of
 * that, this tells their number. */
static void count_staying_gradients(struct solver *solver)
{
    for (uint32_t copies = most_states_of(solver) + 2; copies >= 2; copies--) {
        double fits = 0, all = 0;
        for (size_t i = 0; i < solver->count; i++) {
            const struct size_tally *tally = solver->sizes[i];
            uint64_t whole = staying(tally);
            all += bytes_of(tally->size, tally->count > 0 ? whole : 0);
            fits += bytes_of(tally->size, tally->count > 0 && whole % copies == 0 ? whole : 0);
        }
        if (fits < all * 0.9)
            continue;
        for (size_t i = 0; i < solver->count; i++) {
            struct size_tally *tally = solver->sizes[i];
            if (tally->count > 0 && staying(tally) % copies == 0)
                tally->count = (uint32_t)(staying(tally) / copies);
        }
        return;
    }
}

/* Corrects the number of gradients if the program computes them several times before a step and
 * keeps all, or never has several at a time. If the optimizer has a fixed number of states, the
 * blocks that stay tell the number of weights. */
static void count_repeated_gradients(struct solver *solver)
{
    uint32_t copies = solver->optimizers.fixed_states + 1;
    double fits = 0, all = 0;
    for (size_t i = 0; copies > 1 && i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t whole = staying(tally);
        all += bytes_of(tally->size, tally->count > 0 ? whole : 0);
        fits += bytes_of(tally->size, tally->count > 0 && whole % copies == 0 ? whole : 0);
    }
    for (size_t i = 0; all > 0 && fits >= all * 0.9 && i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        uint64_t weights = staying(tally) / copies;
        bool is_wrong = weights < tally->count || solver->optimizers.steps_alone;
        if (staying(tally) % copies == 0 && weights > 0 && tally->count > 0 && is_wrong)
            tally->count = (uint32_t)weights;
    }
}

/* True if optimizer steps make the states. Adafactor's have other sizes than the weights. But if
 * the steps make as many blocks that stay as there are gradients, in a trace from the first step
 * on, nothing that is older is a state. */
static bool states_are_made_in_trace(const struct solver *solver)
{
    double made = 0, gradients = 0;
    uint64_t made_count = 0, gradient_count = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t others = tally->replaced;
        if (solver->begins_late) /* these may be states of models that are also made in the trace */
            others += (uint64_t)tally->made * most_states_of(solver);
        uint32_t states = tally->made_in_step > others ? tally->made_in_step - (uint32_t)others : 0;
        uint32_t count = tally->count + tally->wide;
        if (count == 0 && roles_are_masters(solver, tally))
            made += bytes_of(tally->size / 2, least(states, masters_of(solver, tally)));
        made += bytes_of(tally->size, states < count ? states : count);
        gradients += bytes_of(tally->size, count);
        made_count += states;
        gradient_count += count;
    }
    return made * 2 > gradients ||
           (!solver->begins_late && gradient_count > 0 && made_count >= gradient_count);
}

/* True if steps replace the states: they free as many blocks from before the trace as the optimizer
 * has states for the gradients, and make others. Then no block that stays is a state. */
static bool states_are_replaced(const struct solver *solver)
{
    double replaced = 0, states = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t expected = (uint64_t)tally->count * solver->optimizers.fixed_states;
        replaced += bytes_of(tally->size, least(tally->replaced, expected));
        states += bytes_of(tally->size, expected);
    }
    return replaced * 2 > states;
}

/* The bytes of states that are missing among blocks of the weights' own sizes; infinite if all are
 * missing. */
static double missing_bytes(const struct solver *solver, uint32_t states)
{
    double missing = 0;
    bool any = false;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t needed = (uint64_t)tally->count * (1u + solver->roles->stay + states);
        if (tally->flat == 0 && needed > staying(tally))
            missing += bytes_of(tally->size, needed - staying(tally));
        else
            any = any || needed > 0;
    }
    return any ? missing : INFINITY;
}

/* True if so many blocks are missing that there are fewer states. A few sizes may seem to have more
 * gradients than weights. */
static bool lack_states(const struct solver *solver, uint32_t states)
{
    double needed = 0;
    for (size_t i = 0; i < solver->count; i++)
        needed += bytes_of(solver->sizes[i]->size, (uint64_t)solver->sizes[i]->count * states);
    return missing_bytes(solver, states) > needed * MOST_OFF;
}

/* The number of blocks of a size that neither a weight of this size nor its states account for. */
static uint64_t spare_blocks(const struct solver *solver, const struct size_tally *tally,
                             uint32_t states)
{
    uint64_t needed = (uint64_t)tally->count * (1u + solver->roles->stay + states);
    if (tally->count + tally->wide == 0)
        return kept_blocks(tally);
    return staying(tally) > needed ? staying(tally) - needed : 0;
}

/* True if other blocks hold the missing states. A weight that lies in one block, such as that of an
 * RNN, has a state for each of its parts, which may be as large as another weight. */
static bool others_hold_states(const struct solver *solver, uint32_t states)
{
    double missing = missing_bytes(solver, states), found = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t spare = spare_blocks(solver, tally, states);
        if (tally->flat == 0 && spare % states == 0)
            found += bytes_of(tally->size, spare);
    }
    return sums_agree(missing, found);
}

/* The number of states for which the sizes vote, unless other blocks hold more. An optimizer
 * without a known name has as many as the sizes allow. The names of several optimizers do not tell
 * which one a weight has. */
static uint32_t count_states(const struct solver *solver)
{
    if (states_are_made_in_trace(solver))
        return 0;
    uint32_t copies = count_copies(solver), base = 1u + solver->roles->stay;
    uint32_t most = most_states_of(solver), states = copies > base ? copies - base : 0;
    states = states < most ? states : most;
    for (uint32_t more = most; more > states; more--)
        if (others_hold_states(solver, more))
            return more;
    while (solver->optimizers.most_states == 0 && states > 1 && lack_states(solver, states))
        states--;
    return states;
}

uint32_t roles_count(struct solver *solver)
{
    struct roles *roles = solver->roles;
    solver->in_buckets = solver->optimizers.most_states > 0 && !roles->flat_buffers &&
                         roles_lie_in_buckets(solver, solver->optimizers.most_states + 1);
    roles->stay = !roles->flat_buffers && !solver->optimizers.in_passes &&
                  !solver->optimizers.frees_gradients && !solver->in_buckets &&
                  gradients_stay(solver);
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        tally->wide = 0;
        tally->count = tally->is_renewed
                           ? tally->parameters
                           : size_tally_gradients(tally, roles->stay || roles->flat_buffers);
    }
    if (!roles->stay)
        find_wide_gradients(solver);
    roles_count_unseen(solver, states_are_made_in_trace(solver));
    roles_count_tables(solver);
    if (roles->stay)
        count_staying_gradients(solver);
    if (!states_are_made_in_trace(solver) && !states_are_replaced(solver))
        count_repeated_gradients(solver);
    solver->makes_states = states_are_made_in_trace(solver);
    uint32_t masters = roles_count_masters(solver);
    solver->wide_average = roles_are_averages(solver, masters);
    roles->states = count_states(solver);
    return masters;
}
