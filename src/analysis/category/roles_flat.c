/* Weights in one flat block, and the gradients, masters and states of the same length. */
#include <stdlib.h>

#include "analysis/category/flat_buffers.h"
#include "analysis/category/roles_internal.h"

#define FEW  20  /* weights outside of a buffer have at most 1/20 of its bytes */
#define UNIT 512 /* bytes: a buffer may align each weight to this, as the allocator does blocks */

/* The kinds of memory for the weights that are already found, in a flat buffer or in one block for
 * each weight. */
struct shared {
    bool weights, gradients, masters;
};

/* Sums over the blocks that have the size of a weight. */
struct totals {
    struct size_sum gradients; /* gradients that one backward pass makes for weights */
    struct size_sum known;     /* known parameters */
    double left;               /* bytes of gradients that a pass leaves */
    double weights;            /* bytes of blocks that stay, each of which may be a weight */
    double pairs;              /* bytes of those of which another block has the size */
    double masters;            /* bytes of those that have a copy in a wider type */
};

static void size_sum_add(struct size_sum *sum, uint64_t size, uint64_t count)
{
    sum->bytes += bytes_of(size, count);
    sum->count += count;
}

static struct totals sum_totals(const struct solver *solver)
{
    struct totals totals = {0};
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint32_t left = tally->gradients.most, added = tally->accumulated.most;
        uint32_t count = left > added ? left : added, known = tally->parameters;
        if (tally->flat > 0)
            continue;
        size_sum_add(&totals.gradients, tally->size, count);
        size_sum_add(&totals.known, tally->size, known);
        totals.left += bytes_of(tally->size, left);
        uint64_t weights = known > 0 ? known : least(count, staying(tally));
        totals.weights += bytes_of(tally->size, weights);
        if (staying(tally) >= 2 * weights)
            totals.pairs += bytes_of(tally->size, weights);
        const struct size_tally *twice = weights > 0 ? tally_of(solver, tally->size * 2) : NULL;
        if (twice)
            totals.masters += bytes_of(tally->size, least(weights, staying(twice)));
    }
    return totals;
}

/* True if a block is as large as other blocks together, or `width` times as large. */
static bool holds_all(uint64_t size, unsigned width, const struct size_sum *sum)
{
    double off = (double)size - width * sum->bytes;
    return sum->count > 1 && (off < 0 ? -off : off) <= width * bytes_of(UNIT, sum->count);
}

/* Finds the size of the buffer by the sizes of blocks that stay. */
static bool size_by_structure(const struct solver *solver, uint64_t *size, struct error *err)
{
    uint64_t *sizes = NULL;
    size_t count = 0, used = 0, capacity = 0;
    for (size_t i = 0; i < solver->count; i++)
        count += staying(solver->sizes[i]);
    *size = 0;
    if (count == 0)
        return true;
    if (!vec_reserve(sizes, capacity, count, solver->tallies->budget, err))
        return false;
    for (size_t i = 0; i < solver->count; i++)
        for (uint64_t k = 0; k < staying(solver->sizes[i]); k++)
            sizes[used++] = solver->sizes[i]->size;
    *size = flat_buffer_size(sizes, count);
    vec_free(sizes, capacity, sizeof(*sizes), solver->tallies->budget);
    return true;
}

/* Returns 1 if a block is a flat buffer in the type of the gradients, 2 if it is one in a wider
 * type, and otherwise 0. */
static unsigned width_by_sum(const struct solver *solver, const struct size_tally *tally,
                             const struct totals *totals)
{
    for (unsigned width = 1; width <= 2 && tally->gradients.most == 0; width++)
        if (holds_all(tally->size, width, &totals->gradients) ||
            holds_all(tally->size, width, &totals->known) ||
            holds_all(tally->size, width, &solver->replaced))
            return width;
    return 0;
}

static unsigned width_by_structure(const struct size_tally *tally, uint64_t buffer)
{
    if (tally->size == buffer)
        return tally->gradients.most + tally->accumulated.most == 0;
    return flat_buffer_fits(tally->size, buffer, 2) ? 2 : 0;
}

static void clear_flat(struct solver *solver)
{
    solver->roles->flat_buffers = false;
    for (size_t i = 0; i < solver->count; i++)
        solver->sizes[i]->flat = 0;
}

/* Sets `flat` of every size: by the size `buffer` or, if that is 0, by sums. */
static void mark_flat(struct solver *solver, uint64_t buffer)
{
    clear_flat(solver);
    struct totals totals = sum_totals(solver);
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        unsigned width =
            buffer > 0 ? width_by_structure(tally, buffer) : width_by_sum(solver, tally, &totals);
        tally->flat = (uint8_t)(tally->persistent > 0 ? width : 0);
        solver->roles->flat_buffers = solver->roles->flat_buffers || tally->flat > 0;
    }
}

/* Decides the roles of the blocks of one width, in the order in which frameworks make them: weights
 * or masters, then gradients if no other block holds them, then states. Masters have own gradients
 * if more blocks are left than states need. */
static void share_buffers(const struct solver *solver, struct size_tally *tally,
                          struct shared *shared)
{
    bool is_wide = tally->flat == 2, makes_states = tally->made_in_step > tally->replaced;
    uint32_t states = makes_states ? 0 : most_states_of(solver), left = tally->persistent;
    struct expected expected = {.weights = !shared->weights};
    expected.masters = is_wide && shared->weights && !shared->masters;
    left -= expected.weights + expected.masters;
    expected.main_gradients =
        left > (shared->gradients ? states : 0) && (is_wide || !shared->gradients);
    expected.states = left - expected.main_gradients;
    shared->weights = true;
    shared->masters = shared->masters || is_wide;
    shared->gradients = shared->gradients || expected.main_gradients > 0;
    tally->expected = expected;
}

/* The kinds of memory of which blocks of single weights hold at least half. */
static struct shared find_shared(const struct solver *solver)
{
    struct totals totals = sum_totals(solver);
    double whole = 0; /* bytes of all weights */
    for (size_t i = solver->count; i-- > 0;)
        if (solver->sizes[i]->flat > 0)
            whole = (double)solver->sizes[i]->size / solver->sizes[i]->flat;
    return (struct shared){.weights = totals.weights * 2 >= whole,
                           .gradients = (totals.left + totals.pairs) * 2 >= whole,
                           .masters = totals.masters * 2 >= whole};
}

bool roles_find_flat(struct solver *solver, struct error *err)
{
    uint64_t buffer;
    if (!size_by_structure(solver, &buffer, err))
        return false;
    mark_flat(solver, buffer);
    struct totals totals = sum_totals(solver);
    if ((double)buffer > 2 * totals.gradients.bytes || totals.weights * FEW > (double)buffer)
        mark_flat(solver, 0);
    struct shared shared = find_shared(solver);
    if (shared.weights &&
        shared.gradients) /* nothing is missing, so some block is as large by chance */
        clear_flat(solver);
    return true;
}

/* True if the states have the length of the narrow buffers. */
static bool states_are_narrow(const struct solver *solver)
{
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (tally->flat == 1 &&
            (tally->made_in_step > tally->replaced || tally->persistent > most_states_of(solver)))
            return true;
    }
    return false;
}

/* Decides a single wide buffer besides narrow states: it holds gradients that are summed in a wider
 * type. States have the length of the masters. If ranks share the masters, those may be as large as
 * the weights. */
static bool share_wide_gradients(struct solver *solver, struct shared *shared)
{
    struct size_tally *wide = NULL;
    for (size_t i = 0; i < solver->count; i++)
        if (solver->sizes[i]->flat == 2) {
            if (wide)
                return false;
            wide = solver->sizes[i];
        }
    if (!wide || wide->persistent != 1 || wide->made_in_step > 0 || shared->gradients ||
        !states_are_narrow(solver))
        return false;
    wide->expected = (struct expected){.main_gradients = 1};
    shared->gradients = shared->masters = true;
    return true;
}

void roles_share_flat(struct solver *solver)
{
    struct shared shared = find_shared(solver);
    unsigned widths = share_wide_gradients(solver, &shared) ? 1 : 2;
    for (unsigned width = 1; width <= widths; width++)
        for (size_t i = 0; i < solver->count; i++)
            if (solver->sizes[i]->flat == width)
                share_buffers(solver, solver->sizes[i], &shared);
}
