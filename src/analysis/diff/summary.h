/* The sentences of a comparison. To be made after its rows and lines. */
#ifndef MEMSNAP_ANALYSIS_DIFF_SUMMARY_H
#define MEMSNAP_ANALYSIS_DIFF_SUMMARY_H

#include "analysis/diff/diff.h"

/* Adds to diff->summary, which says what changed, and to diff->next, which says what to do. */
bool diff_summary_make(struct diff *diff, const struct diff_options *options, struct error *err);
/* warnings.c: adds to diff->warnings, which says what makes the two captures hard to compare. */
bool diff_warnings_make(struct diff *diff, const struct diff_options *options, struct error *err);

#endif
