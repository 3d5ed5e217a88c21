/* Buckets in which ranks exchange gradients, as DistributedDataParallel makes: a few large blocks
 * that together are as large as all gradients. Gradients may be views of them. Then no pass leaves
 * gradients. */
#include "analysis/category/roles_internal.h"

#define LEAST_IN_BUCKET 2           /* weights for each bucket, on average */
#define LEAST_BUCKET    (64u << 10) /* bytes; smaller blocks are buffers of the model */
#define MOST_SEEN       4 /* passes leave at most 1/4 of the bytes of gradients that are views */

bool roles_lie_in_buckets(const struct solver *solver, uint32_t copies)
{
    double fits = 0, others = 0, left = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint64_t whole = staying(tally);
        *(whole % copies == 0 ? &fits : &others) += bytes_of(tally->size, whole);
        left += bytes_of(tally->size, tally->gradients.most);
    }
    return left * MOST_SEEN < fits / copies && sums_agree(fits / copies, others);
}

/* The blocks of a size that may be buckets. */
static uint32_t spare_of(const struct size_tally *tally)
{
    if (tally->count > 0)
        return tally->expected.copies;
    return is_left_over(tally) ? tally->persistent : 0;
}

void roles_share_buckets(const struct solver *solver)
{
    struct size_sum weights = {0}, spare = {0};
    double of_copies = 0; /* bytes of the spare blocks that have the size of a weight */
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        uint32_t blocks = spare_of(tally);
        weights.bytes += bytes_of(tally->size, tally->count);
        weights.count += tally->count;
        spare.bytes += bytes_of(tally->size, blocks);
        spare.count += tally->size >= LEAST_BUCKET ? blocks : 0;
        of_copies += tally->count > 0 ? bytes_of(tally->size, blocks) : 0;
    }
    if (spare.count < 2 || spare.count * LEAST_IN_BUCKET > weights.count ||
        of_copies * 2 > spare.bytes || !sums_agree(weights.bytes, spare.bytes))
        return;
    for (size_t i = 0; i < solver->count; i++) {
        struct size_tally *tally = solver->sizes[i];
        if (tally->size < LEAST_BUCKET)
            continue;
        tally->expected.buckets = spare_of(tally);
        tally->expected.copies = 0;
    }
}
