/* Finds files and functions that have another name in the other capture. */
#ifndef MEMSNAP_ANALYSIS_DIFF_RENAMED_H
#define MEMSNAP_ANALYSIS_DIFF_RENAMED_H

#include "analysis/diff/matcher.h"

/* The time of both functions grows with the square of the number of call sites. If there are more
 * call sites than this, the functions are not called. */
#define DIFF_RENAMED_MOST 5000

/* If each capture has exactly one file of which no call site is matched, or one outside of
 * installed packages, the two files count as one from now on. False if there is no such pair. */
bool diff_join_files(struct diff_matcher *matcher);

/* The same for functions of a file that allocate by the same operators for the same categories, in
 * the same order. */
bool diff_join_functions(struct diff_matcher *matcher);

#endif
