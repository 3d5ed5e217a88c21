/* The parts of a comparison that are made once its rows are there. */
#ifndef MEMSNAP_ANALYSIS_DIFF_INTERNAL_H
#define MEMSNAP_ANALYSIS_DIFF_INTERNAL_H

#include "analysis/diff/diff.h"
#include "analysis/diff/words.h"

/* diff->lines, of `top` rows that changed (0: all). What a failure leaves is released like the
 * rest; so it is with all below. */
bool diff_lines_make(struct diff *diff, size_t top, struct error *err);
void diff_lines_release(struct diff *diff);

/* diff->summary, warnings and next. */
bool diff_words_make(struct diff *diff, const struct diff_options *options, struct error *err);
bool diff_warnings_make(struct diff *diff, const struct diff_options *options, struct error *err);

#endif
