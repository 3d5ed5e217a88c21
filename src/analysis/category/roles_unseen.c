/* Weights whose gradients a trace does not show. */
#include "analysis/category/roles_internal.h"

bool roles_are_masters(const struct solver *solver, const struct size_tally *tally)
{
    const struct size_tally *half = tally->size % 2 == 0 ? tally_of(solver, tally->size / 2) : NULL;
    return tally->gradients.most == 0 && half && half->gradients.most > 0 && staying(half) > 0;
}

/* True if most bytes that stay belong to sizes of which a multiple of so many blocks stays. */
static bool are_multiples(const struct solver *solver, uint32_t copies)
{
    double fits = 0, others = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t whole = staying(tally);
        *(whole % copies == 0 ? &fits : &others) += bytes_of(tally->size, whole);
    }
    return fits >= (fits + others) * 0.9;
}

/* True if blocks of the sizes of what stays were there before the trace and are freed in it. These
 * may be the gradients. */
static bool sizes_end(const struct solver *solver, uint32_t copies)
{
    double ended = 0, all = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t weights = staying(tally) / copies;
        all += bytes_of(tally->size, weights);
        ended += bytes_of(tally->size, least(tally->ended, weights));
    }
    return ended * 2 > all;
}

void roles_count_unseen(struct solver *solver)
{
    double trained = 0, all = 0;
    uint32_t copies = solver->optimizers.most_states + 1;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        uint32_t made = tally->made_in_step > tally->replaced ? tally->made_in_step : 0;
        uint64_t whole = staying(tally);
        if (tally->count == 0 && made > 0 && whole > 0 && !roles_are_masters(solver, tally))
            tally->count = least(whole, (made - 1) / most_states_of(solver) + 1);
        trained += tally->count > 0 ? bytes_of(tally->size, whole) : 0;
        all += bytes_of(tally->size, whole);
    }
    if (solver->optimizers.most_states == 0 || (!solver->in_buckets && trained * 20 > all))
        return;
    bool stay = !solver->in_buckets && !are_multiples(solver, copies);
    if (stay && (!are_multiples(solver, ++copies) || sizes_end(solver, copies)))
        return;
    solver->roles->stay = stay;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        if (staying(tally) % copies == 0)
            tally->count = (uint32_t)(staying(tally) / copies);
    }
}
