/* The rules that a user gives to `memsnap check`: kinds with limits. */
#ifndef MEMSNAP_ANALYSIS_CHECK_RULE_SET_H
#define MEMSNAP_ANALYSIS_CHECK_RULE_SET_H

#include "analysis/check/rules.h"
#include "analysis/code/reason.h"
#include "base/error.h"

#define CHECK_RULES_MOST 256

/* Bytes, or a share in millionths of a percent. */
struct check_limit {
    bool is_share;
    int64_t bytes;
    uint64_t share;
};

struct check_rule {
    const struct check_kind *kind;
    struct check_limit limit; /* 0 if the kind takes no argument */
    char *subject;            /* a category's name, a site's pattern, a number; NULL: none */
    bool is_replayed;         /* judged by a replay with the settings in `subject` */
    enum category category;   /* CHECK_TAKES_CATEGORY, once resolved */
    size_t checkpoints;       /* CHECK_TAKES_CHECKPOINTS */
};

/* How a rule counts if a file gives nothing to judge it by. */
enum check_not_judged {
    CHECK_NOT_JUDGED_DEFAULT, /* the same as PASS; anything else replaces it */
    CHECK_NOT_JUDGED_PASS,
    CHECK_NOT_JUDGED_ERROR,
};

struct check_rules {
    struct check_rule *items; /* in the order in which they were first named */
    size_t count;
    enum check_not_judged not_judged;
    char **alloc_confs; /* the settings with which max-reserved is judged; none: as recorded */
    size_t alloc_conf_count;
};

#define CHECK_NOT_JUDGED "not-judged" /* name of the option and of the key in a policy */

#define CHECK_ALLOC_CONF      "alloc-conf" /* name of the option and of the key in a policy */
#define CHECK_ALLOC_CONF_RULE "max-reserved"
#define CHECK_ALLOC_CONF_MOST 64

/* "pass", "error" */
bool check_not_judged_parse(const char *text, enum check_not_judged *not_judged);

/* Adds a rule, or replaces the limit of the rule with the same kind and subject. `argument` is what
 * the command line has: "70GiB", "30%", "activation=2GiB"; NULL where the kind takes nothing.
 * STATUS_USAGE, naming the rule and what it takes, also for a limit that nothing can exceed. */
bool check_rules_add(struct check_rules *rules, const struct check_kind *kind, const char *argument,
                     struct error *err);
/* Adds a setting of PYTORCH_CUDA_ALLOC_CONF with which max-reserved is judged. */
bool check_rules_add_conf(struct check_rules *rules, const char *conf, struct error *err);
/* Moves all rules of `more` into `rules`; `more` is empty afterwards. */
bool check_rules_merge(struct check_rules *rules, struct check_rules *more, struct error *err);
/* Looks up the categories, and makes a rule of each setting; to be called once the user's own
 * categories are defined. STATUS_USAGE for an unknown category, for settings without a limit, and
 * where there is no rule at all. */
bool check_rules_resolve(struct check_rules *rules, struct error *err);
void check_rules_release(struct check_rules *rules);

/* The limit in bytes, rounded down; a share is a share of `whole`, which must not be negative.
 * Rounding changes no verdict: a whole number of bytes exceeds the share exactly if it exceeds the
 * result. */
int64_t check_limit_bytes(const struct check_limit *limit, int64_t whole);

#endif
