/* Which allocations get a band of their own in a picture of memory over time, and where it lies.
 *
 * Bands are chosen by area: bytes times the columns of the picture in which an allocation is live.
 * Choosing by size alone would hide many small allocations that live long. The rest is summed up.
 *
 * Bands are stacked as in PyTorch's memory viewer: in the order of allocation. When one is freed,
 * those above it move down. Allocations from before the trace are lowest: first those that are
 * never freed, then the others, those that are freed last first. */
#ifndef MEMSNAP_ANALYSIS_CURVES_BANDS_H
#define MEMSNAP_ANALYSIS_CURVES_BANDS_H

#include "analysis/curves/sampling.h"

/* The default number of bands is BANDS_USUAL, or as many more as make up 98 % of the area, but at
 * most BANDS_ENOUGH. */
#define BANDS_USUAL  2000
#define BANDS_ENOUGH 6000
#define BANDS_MOST   50000

struct band {
    bool in_trace; /* index is in timeline->lifetimes, else in ->preexisting */
    uint32_t index;
    uint32_t begin, end; /* columns [begin, end) */
    uint64_t size;       /* bytes */
    stack_id stack;
};

/* The allocation of a band, without its address. */
static inline struct live band_live(const struct band *band)
{
    return (struct live){
        .in_trace = band->in_trace, .index = band->index, .size = band->size, .stack = band->stack};
}

struct bands {
    struct band *items; /* from bottom to top */
    size_t count;
    double area, total_area; /* of these bands and of all allocations, in byte-columns */
    size_t left_out;         /* allocations in the picture that got no band */
};

/* At most `wanted` bands, up to BANDS_MOST; 0 for the default number, see above. */
bool bands_choose(struct bands *bands, const struct timeline *timeline,
                  const struct sampling *sampling, size_t wanted, struct error *err);
void bands_release(struct bands *bands);

/* From `column` until the column of the next run, the band's lower edge is at `low` bytes. */
struct band_run {
    uint32_t column;
    double low;
};

struct band_shapes {
    struct band_run *runs; /* of all bands */
    size_t *first;         /* band b has runs [first[b], first[b + 1]), at least one */
    size_t run_count;
};

/* Moves of less than `tolerance` bytes are ignored. If there are more than `most` runs, sets
 * `*fits` to false and makes nothing. */
bool band_shapes_make(struct band_shapes *shapes, const struct bands *bands,
                      const struct sampling *sampling, double tolerance, size_t most, bool *fits,
                      struct error *err);
void band_shapes_release(struct band_shapes *shapes);

#endif
