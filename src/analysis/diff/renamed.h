/* Finds files and functions that have another name in the other capture. */
#ifndef MEMSNAP_ANALYSIS_DIFF_RENAMED_H
#define MEMSNAP_ANALYSIS_DIFF_RENAMED_H

#include "analysis/diff/matcher.h"

/* Both functions take time by the square of the number of call sites: with more of them than this,
 * they are not worth it. */
#define DIFF_RENAMED_MOST 5000

/* Each capture has one file of which no call site is matched: from now on both count as one. False
 * if there is no such pair. */
bool diff_join_files(struct diff_matcher *matcher);

/* The same for functions of a file that allocate by the same operators for the same categories, in
 * the same order. */
bool diff_join_functions(struct diff_matcher *matcher);

#endif
