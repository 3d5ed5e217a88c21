/* Searches the largest value that fits into memory with few runs.
 *
 * It assumes that smaller values fit if a value fits, and that peaks are about linear in the value.
 * The second assumption only saves runs: the search ends when a value fits and the next one does
 * not, and it never needs more than a few runs beyond twice those of a binary search.
 *
 * Where memory runs out although active memory alone would fit, how blocks lie in segments decides,
 * and the first assumption may not hold. The search then tries a few values beyond. */
#ifndef MEMSNAP_ANALYSIS_FIT_SEARCH_H
#define MEMSNAP_ANALYSIS_FIT_SEARCH_H

#include "analysis/fit/values.h"

#define FIT_POINTS_MOST 64

/* Peaks of a run in bytes; 0: unknown. */
struct fit_peaks {
    uint64_t active, reserved;
};

enum { FIT_RESERVED, FIT_ACTIVE, FIT_MEASURES };

struct fit_point {
    double value, bytes[FIT_MEASURES];
};

struct fit_points {
    struct fit_point items[FIT_POINTS_MOST]; /* ascending by value */
    size_t count;
};

enum fit_mode {
    FIT_GUESS, /* where the line through the points meets the available memory */
    FIT_UP,    /* upwards from the largest that fits, in growing strides */
    FIT_DOWN,  /* downwards from the smallest that does not */
    FIT_BISECT,
};

/* A plain copy of it may be used to see what the search would do next after a certain result. */
struct fit_search {
    const struct fit_values *values; /* not owned */
    double available;                /* bytes */
    int64_t fits;                    /* index of the largest below `fails` known to fit; -1: none */
    int64_t fails;                   /* of the smallest known not to fit; values->count: none */
    uint64_t tried;                  /* a bit for each value of a list */
    int64_t told[FIT_POINTS_MOST];   /* the latest results, in any order */
    size_t told_count;
    struct fit_points own, hints;
    enum fit_mode mode;
    int64_t stride;
    unsigned guesses;
    unsigned measure;  /* that guesses are about. Reserved memory comes first: while the allocator
                          need not release cached memory, a value fits if that fits. */
    bool is_guess_far; /* halve the interval before the next guess */
};

void fit_search_begin(struct fit_search *search, const struct fit_values *values,
                      uint64_t available);
/* Tells the search the peaks of a run on another GPU, from which it makes its first guess. */
void fit_search_hint(struct fit_search *search, uint64_t value, struct fit_peaks peaks);

/* The index of the value to try next; false if the search is done. */
bool fit_search_next(const struct fit_search *search, size_t *index);
/* Tells the search the result of a run. The peaks are used only if the value fits. */
void fit_search_tell(struct fit_search *search, size_t index, bool fits, struct fit_peaks peaks);

/* The peaks that the points predict for a value. */
struct fit_peaks fit_search_predict(const struct fit_search *search, size_t index);

#endif
