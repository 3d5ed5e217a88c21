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

#define LEAST_SEEN 8 /* gradients that must be seen, if they are those of a few bytes */

/* True if the gradients that are seen explain as many blocks of their sizes as the optimizer keeps
 * for them, with the weights. Then they are all there are, and what has no gradient is frozen, as
 * most of a model is that low-rank adapters train. */
static bool explain_states(const struct solver *solver, uint32_t copies)
{
    double fits = 0, all = 0;
    uint64_t gradients = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t whole = staying(tally);
        if (tally->count == 0)
            continue;
        gradients += tally->count;
        all += bytes_of(tally->size, whole);
        fits += whole == (uint64_t)tally->count * copies ? bytes_of(tally->size, whole) : 0;
    }
    return gradients >= LEAST_SEEN && fits >= all * 0.9;
}

void roles_count_unseen(struct solver *solver, bool makes_states)
{
    double trained = 0, all = 0;
    uint32_t copies = solver->optimizers.most_states + 1;
    bool explained = explain_states(solver, copies);
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        uint32_t made = tally->made_in_step > tally->replaced ? tally->made_in_step : 0;
        uint64_t whole = staying(tally);
        if (tally->count == 0 && made > 0 && whole > 0 && !roles_are_masters(solver, tally))
            tally->count = least(whole, (made - 1) / most_states_of(solver) + 1);
        trained += tally->count > 0 ? bytes_of(tally->size, whole) : 0;
        all += bytes_of(tally->size, whole);
    }
    bool are_seen = explained || makes_states || trained * 20 > all;
    if (solver->optimizers.most_states == 0 || (!solver->in_buckets && are_seen))
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
