/* Which allocations get a band of their own in a picture of memory over time, and where it lies.
 *
 * Chosen by area: bytes times the columns of the picture in which they are live. Many small ones
 * that live long hide less so than when the largest are chosen. What is left is summed up.
 *
 * Bands are stacked as the memory viewer of PyTorch does: in the order of their birth, those above
 * falling when one is freed. What was there before the trace lies lowest: what is never freed, then
 * what is freed last. */
#ifndef MEMSNAP_ANALYSIS_CURVES_BANDS_H
#define MEMSNAP_ANALYSIS_CURVES_BANDS_H

#include "analysis/curves/sampling.h"

#define BANDS_USUAL  2000 /* without a wish of the user: more until they are 98 % of the area, */
#define BANDS_ENOUGH 6000 /* but no more than these */
#define BANDS_MOST   50000

struct band {
    bool in_trace; /* index is into timeline->lifetimes, else into ->preexisting */
    uint32_t index;
    uint32_t begin, end; /* columns: end is behind the last */
    uint64_t size;       /* bytes */
    stack_id stack;
};

struct bands {
    struct band *items; /* from the lowest to the highest */
    size_t count;
    double area, total_area; /* of these, and of all that the picture shows, in byte-columns */
    size_t left_out;         /* allocations that the picture shows without a band */
};

/* `wanted` 0: as many as it takes, see above; else at most so many, up to BANDS_MOST. */
bool bands_choose(struct bands *bands, const struct timeline *timeline,
                  const struct sampling *sampling, size_t wanted, struct error *err);
void bands_release(struct bands *bands);

/* From `column` to that of the next run the band's lower edge is at `low` bytes. */
struct band_run {
    uint32_t column;
    double low;
};

struct band_shapes {
    struct band_run *runs; /* of all bands */
    size_t *first;         /* band b has runs[first[b] .. first[b + 1]), at least one */
    size_t run_count;
};

/* Moves of less than `tolerance` bytes are left out. At most `most` runs: false in `*fits`, and
 * nothing made, if there are more. */
bool band_shapes_make(struct band_shapes *shapes, const struct bands *bands,
                      const struct sampling *sampling, double tolerance, size_t most, bool *fits,
                      struct error *err);
void band_shapes_release(struct band_shapes *shapes);

#endif
