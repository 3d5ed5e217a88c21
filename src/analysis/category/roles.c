#include "analysis/category/roles_internal.h"

#include <stdlib.h>

#define MOST_DATA_BLOCKS 3
/* Blocks that make a model, even a frozen one, if they have at least half as many sizes. */
#define LEAST_OF_MODEL 12
#define LEAST_WEIGHT   64  /* bytes; smaller blocks may as well be scalars */
#define LEAST_IN_FEW   0.8 /* part of the bytes without a gradient that is in a few blocks */

/* Decides the roles of `count` blocks that are twice as wide as `weights`: masters, the gradients
 * that masters need, states, and copies of the masters such as averages. Masters need own gradients
 * if those of the weights are freed before the optimizer steps, or if more blocks remain than
 * states. But if exactly the states of the named optimizer remain, these gradients come and go. */
static void share_masters(const struct solver *solver, struct expected *expected, uint32_t weights,
                          uint32_t count)
{
    if (solver->wide_average) {
        expected->wide_copies = count;
        return;
    }
    expected->masters = least(weights, count);
    count -= expected->masters;
    uint64_t states = (uint64_t)weights * most_states_of(solver);
    expected->main_gradients = count > states ? least(count - states, weights) : 0;
    expected->states = count - expected->main_gradients;
    uint64_t fixed = (uint64_t)weights * solver->optimizers.fixed_states;
    bool are_states = fixed > 0 && count == fixed && !solver->makes_states;
    if (!solver->optimizers.use_others || are_states)
        return;
    expected->main_gradients = least(count, weights);
    count -= expected->main_gradients;
    expected->states = solver->makes_states ? 0 : least(count, states);
    expected->wide_copies = count - expected->states;
}

static void expect_roles(const struct solver *solver, struct size_tally *tally, uint32_t masters)
{
    struct expected *expected = &tally->expected;
    const struct size_tally *half = tally->size % 2 == 0 ? tally_of(solver, tally->size / 2) : NULL;
    uint64_t wide = half ? (uint64_t)half->count * masters : 0;
    uint32_t left = tally->persistent;
    /* Models from before the trace have weights besides those of models that are made in it. */
    uint32_t known = tally->parameters - (solver->begins_late ? tally->made : 0);
    uint32_t weights = tally->count > known ? tally->count - known : 0;
    *expected = (struct expected){.weights = least(weights, left)};
    left -= expected->weights;
    if (tally->wide > 0)
        wide = left;
    share_masters(solver, expected, half ? half->count : 0, least(wide, left));
    left -= least(wide, left);
    uint32_t states = least((uint64_t)tally->count * solver->roles->states, left);
    expected->states += states;
    left -= states;
    uint32_t stay = solver->roles->stay ? least(tally->count, left) : 0;
    expected->gradients = stay;
    expected->copies = tally->count > 0 ? left - stay : 0;
}

/* The number of blocks of a size that may be states of parts of a weight, with R blocks for each
 * part. */
static uint32_t parts_of(const struct size_tally *tally, uint32_t states)
{
    uint32_t spare = tally->count > 0      ? tally->expected.copies
                     : is_left_over(tally) ? kept_blocks(tally)
                                           : 0;
    return spare % states == 0 ? spare : 0;
}

/* True if the blocks of which no weight has the size, R for each part, hold the bytes of states
 * that are missing. */
static bool are_states_of_flat_weights(const struct solver *solver)
{
    double missing = 0, found = 0;
    uint32_t states = solver->roles->states;
    for (size_t i = 0; i < solver->count && states > 0; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (tally->count > 0)
            missing += bytes_of(tally->size, (uint64_t)tally->count * states) -
                       bytes_of(tally->size, tally->expected.states);
        found += bytes_of(tally->size, parts_of(tally, states));
    }
    return sums_agree(missing, found);
}

static void share_states_of_flat_weights(const struct solver *solver)
{
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        uint32_t parts = parts_of(tally, solver->roles->states);
        if (tally->count == 0) {
            tally->expected.parts = parts;
            continue;
        }
        tally->expected.copies -= parts;
        tally->expected.states += parts;
    }
}

/* True if the blocks without a gradient are so many, and of so many sizes, as those of a model. Its
 * layers have biases and scales besides a few large weights. Data is in few blocks, and the buffers
 * of a model that is trained repeat the sizes of one layer. */
static bool are_many(const struct solver *solver)
{
    uint64_t blocks = 0, sizes = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (!is_left_over(tally) || tally->size < LEAST_WEIGHT || tally->persistent == 0)
            continue;
        blocks += tally->persistent;
        sizes++;
    }
    return blocks >= LEAST_OF_MODEL && sizes * 2 >= LEAST_OF_MODEL;
}

/* True if blocks without a gradient hold more bytes than the weights, most of them in a few blocks,
 * and are neither a frozen model nor tables of which a pass leaves gradients of rows. */
static bool look_like_data(const struct solver *solver)
{
    double all = 0, weights = 0, in_few = 0;
    uint64_t few = 0, sizes = 0;
    for (size_t i = solver->count; i-- > 0;) {
        const struct size_tally *tally = solver->sizes[i];
        weights += bytes_of(tally->size, tally->count);
        if (!is_left_over(tally) || tally->is_factor)
            continue;
        uint64_t count = tally->persistent;
        uint64_t chosen = few + count < MOST_DATA_BLOCKS ? count : MOST_DATA_BLOCKS - few;
        all += bytes_of(tally->size, count);
        in_few += bytes_of(tally->size, chosen);
        few += chosen;
        sizes += chosen > 0;
    }
    return all > weights && in_few > all * LEAST_IN_FEW && !are_many(solver) &&
           roles_row_gradients(solver) < sizes;
}

/* True if no more blocks stay than data has. A model has one or two tensors for each layer. */
static bool stay_few(const struct solver *solver)
{
    uint64_t count = 0;
    for (size_t i = 0; i < solver->count; i++)
        count += staying(solver->sizes[i]);
    return count > 0 && count <= MOST_DATA_BLOCKS;
}

/* True if most blocks that have gradients are not freed when the program ends. The model is then
 * still allocated, so the blocks that are freed at the end do not belong to it. */
static bool is_model_kept(const struct solver *solver)
{
    double all = 0, released = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (tally->count == 0)
            continue;
        all += bytes_of(tally->size, staying(tally));
        released += bytes_of(tally->size, tally->released);
    }
    return released * 2 < all;
}

static int compare_tallies(const void *a, const void *b)
{
    const struct size_tally *x = *(struct size_tally *const *)a;
    const struct size_tally *y = *(struct size_tally *const *)b;
    return (x->size > y->size) - (x->size < y->size);
}

static bool solve(struct solver *solver, struct error *err)
{
    struct roles *roles = solver->roles;
    roles_find_renewed(solver);
    if (!roles_find_flat(solver, err))
        return false;
    uint32_t masters = roles_count(solver);
    for (size_t i = 0; i < solver->count; i++)
        expect_roles(solver, solver->sizes[i], masters);
    roles_share_flat(solver);
    if (are_states_of_flat_weights(solver))
        share_states_of_flat_weights(solver);
    roles_share_narrow(solver);
    roles_share_buckets(solver);
    roles->in_buckets = solver->in_buckets;
    roles_find_factors(solver);
    roles->kept = is_model_kept(solver);
    roles->data = look_like_data(solver);
    roles->few = stay_few(solver);
    return true;
}

bool roles_solve(struct roles *roles, struct size_tallies *tallies,
                 const struct optimizers *optimizers, const struct size_sum *replaced,
                 bool begins_late, struct error *err)
{
    struct solver solver = {.tallies = tallies,
                            .optimizers = *optimizers,
                            .replaced = *replaced,
                            .begins_late = begins_late,
                            .roles = roles};
    size_t capacity = 0;
    *roles = (struct roles){0};
    if (tallies->used == 0)
        return true;
    if (!vec_reserve(solver.sizes, capacity, tallies->used, tallies->budget, err))
        return false;
    for (size_t i = 0; i < tallies->slot_count; i++)
        if (tallies->slots[i].used)
            solver.sizes[solver.count++] = &tallies->slots[i];
    qsort(solver.sizes, solver.count, sizeof(struct size_tally *), compare_tallies);
    for (size_t i = 0; begins_late && i < solver.count; i++) {
        struct size_tally *tally = solver.sizes[i];
        /* Each step replaces some blocks of the previous step. Such blocks also existed before the
         * trace. */
        tally->replaced =
            tally->renewed.most > tally->replaced ? tally->renewed.most : tally->replaced;
    }
    bool ok = solve(&solver, err);
    vec_free(solver.sizes, capacity, sizeof(struct size_tally *), tallies->budget);
    return ok;
}
