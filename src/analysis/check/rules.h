/* The rules that `memsnap check` holds captures to. */
#ifndef MEMSNAP_ANALYSIS_CHECK_RULES_H
#define MEMSNAP_ANALYSIS_CHECK_RULES_H

#include <stddef.h>

#include "analysis/code/reason.h"
#include "base/error.h"

#define CHECK_RULES_MOST 256

enum check_kind {
    CHECK_MAX_PEAK,
    CHECK_MAX_RESERVED,
    CHECK_MAX_FRAGMENTATION,
    CHECK_MAX_GROWTH,
    CHECK_MAX_CATEGORY,
    CHECK_MAX_SITE,
    CHECK_MAX_INCREASE,
    CHECK_MAX_AFTER_SUGGEST,
    CHECK_NO_OOM,
    CHECK_NO_LEAKS,
    CHECK_KINDS,
};

/* "max-peak": the option, the key of a policy, and the rule's name in a report */
const char *check_kind_name(enum check_kind kind);

/* What a kind of rule takes. */
enum check_takes {
    CHECK_TAKES_NOTHING,
    CHECK_TAKES_SIZE,
    CHECK_TAKES_SIZE_OR_SHARE, /* "2GiB" or "30%" */
    CHECK_TAKES_SUBJECT,       /* "activation=2GiB" */
};

enum check_takes check_kind_takes(enum check_kind kind);

/* Bytes, or millionths of a percent of something. */
struct check_limit {
    bool is_share;
    int64_t bytes;
    uint64_t share;
};

struct check_rule {
    enum check_kind kind;
    struct check_limit limit; /* 0 of what takes nothing */
    char *subject;            /* a category's name, a site's pattern, a count; NULL: none */
    enum category category;   /* CHECK_MAX_CATEGORY, once resolved */
    size_t checkpoints;       /* CHECK_MAX_AFTER_SUGGEST */
};

struct check_rules {
    struct check_rule *items; /* in the order in which they were first named */
    size_t count;
};

/* Adds a rule, or gives that of the same kind and subject another limit. `argument` as it stands on
 * the command line: "70GiB", "30%", "activation=2GiB"; NULL where the kind takes nothing.
 * STATUS_USAGE names the rule and says what it takes: also of a limit that nothing can exceed. */
bool check_rules_add(struct check_rules *rules, enum check_kind kind, const char *argument,
                     struct error *err);
/* Adds all of `more`, which is empty afterwards. */
bool check_rules_merge(struct check_rules *rules, struct check_rules *more, struct error *err);
/* Finds the categories, once all that a user may define are. STATUS_USAGE where there is none of
 * the name, or no rule at all. */
bool check_rules_resolve(struct check_rules *rules, struct error *err);
void check_rules_release(struct check_rules *rules);

const struct check_rule *check_rules_find(const struct check_rules *rules, enum check_kind kind);

/* What a limit is in bytes, of a whole that is not negative; exact: a whole number of bytes is
 * above the limit where it is above this. */
int64_t check_limit_bytes(const struct check_limit *limit, int64_t whole);

#endif
