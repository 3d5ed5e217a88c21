/* The comparison of `memsnap diff` where a side is a summary (model/summary.h): the peaks, their
 * categories, and the call sites that the summaries have.
 *
 * Call sites are matched by name, operator and category; then by name without line numbers. */
#ifndef MEMSNAP_ANALYSIS_DIFF_SUMMARIES_H
#define MEMSNAP_ANALYSIS_DIFF_SUMMARIES_H

#include "analysis/code/reason.h"
#include "analysis/diff/side.h"
#include "analysis/diff/words.h"
#include "model/summary.h"

/* Texts belong to the summaries. */
struct summaries_diff_row {
    const char *site; /* in B, or in A if B does not have it */
    const char *was;  /* in A if it differs from that in B; else "" */
    const char *op, *category;
    struct diff_sum sums[2];
    bool present[2];
    bool by_line;      /* matched with its line number */
    bool is_remainder; /* of the call sites that a summary leaves out */
};

struct summaries_diff {
    const struct summary_device *devices[2]; /* A, B; not owned */
    struct summaries_diff_row *rows;         /* the largest change first; malloc'ed */
    size_t count;
    size_t changed; /* rows, at the front, that differ */
    struct diff_sum categories[2][CATEGORY_LIMIT];
    struct summary_step_figures steps[2]; /* count 0: not known, or there are none */
    struct diff_words summary, warnings;
};

/* `is_summary` says which sides are all that is known of their captures. */
bool summaries_diff_make(struct summaries_diff *diff, const struct summary_device *a,
                         const struct summary_device *b, const bool is_summary[2], enum unit unit,
                         struct error *err);
void summaries_diff_release(struct summaries_diff *diff);

#endif
