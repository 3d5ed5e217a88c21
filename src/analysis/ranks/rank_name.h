/* The rank of a file, by its name. */
#ifndef MEMSNAP_ANALYSIS_RANKS_RANK_NAME_H
#define MEMSNAP_ANALYSIS_RANKS_RANK_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANK_PLACEHOLDER "{RANK}"

/* What told the rank of a capture. RANK_NUMBER is the least certain. */
enum rank_source { RANK_UNKNOWN, RANK_NUMBER, RANK_NAMED, RANK_PATTERN, RANK_IN_FILE };

/* "unknown", "number", "name", "pattern", "file" */
const char *rank_source_name(enum rank_source source);

/* True if the pattern has the placeholder once. */
bool rank_pattern_is_valid(const char *pattern);

/* The rank, or -1 if the path tells none. With a pattern, the digits that stand for
 * RANK_PLACEHOLDER in the last part of the path that matches it. Without (NULL), in this order,
 * each in the file's name first and then in its folders from the innermost: "rank3", "rank_3",
 * "rank-3", "rank=3", but not "local_rank3" or "tp_rank3"; then, in the file's name alone,
 * "_3.pickle" (RANK_NUMBER), unless the word before the number counts something else, as in
 * "step_3.pickle" and "rtx-4090.pickle", or it is a year, or part of a date, a time or a version.
 * `source` may be NULL. */
int64_t rank_of_path(const char *path, const char *pattern, enum rank_source *source);

/* True if the numbers at the ends of `count` names, of which `highest` is the largest, may be
 * ranks. False if they are more likely something else, such as sizes of models. */
bool rank_numbers_may_be_ranks(int64_t highest, size_t count);

#endif
