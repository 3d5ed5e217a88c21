/* Finds files and functions that have another name in the other capture. */
#ifndef MEMSNAP_ANALYSIS_DIFF_RENAMED_H
#define MEMSNAP_ANALYSIS_DIFF_RENAMED_H

#include "analysis/diff/matcher.h"

/* The time of both functions grows with the square of the number of call sites. If there are more
 * call sites than this, the functions are not called. */
#define DIFF_RENAMED_MOST 5000

/* If each capture has exactly one file without a matched call site, the two files count as one from
 * now on. If there are more, those of installed packages are left out. False if no pair is found.
 */
bool diff_join_files(struct diff_matcher *matcher);

/* The same for functions of a file that allocate by the same operators for the same categories, in
 * the same order. */
bool diff_join_functions(struct diff_matcher *matcher);

#endif
