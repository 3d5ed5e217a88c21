/* The rank of a file, by its name. */
#ifndef MEMSNAP_ANALYSIS_RANKS_RANK_NAME_H
#define MEMSNAP_ANALYSIS_RANKS_RANK_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define RANK_PLACEHOLDER "{RANK}"

/* True if the pattern has the placeholder once. */
bool rank_pattern_is_valid(const char *pattern);

/* The rank, or -1 if the path tells none. With a pattern, the digits that stand for
 * RANK_PLACEHOLDER in the last part of the path that matches it. Without (NULL), in this order,
 * each in the file's name first and then in its folders from the innermost: "rank3", "rank_3",
 * "rank-3", "rank=3", but not "local_rank3" or "tp_rank3"; then, in the file's name alone,
 * "_3.pickle", unless the word before the number counts something else, as in "step_3.pickle", or
 * it is part of a time. */
int64_t rank_of_path(const char *path, const char *pattern);

#endif
