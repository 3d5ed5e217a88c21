/* Checks the argument of --rank-pattern. */
#ifndef MEMSNAP_COMMANDS_SUMMARY_PATTERN_H
#define MEMSNAP_COMMANDS_SUMMARY_PATTERN_H

#include "analysis/ranks/rank_name.h"
#include "base/error.h"

static inline bool rank_pattern_check(const char *pattern, struct error *err)
{
    return rank_pattern_is_valid(pattern) ||
           error_set(err, STATUS_USAGE, "--rank-pattern needs " RANK_PLACEHOLDER " once");
}

#endif
