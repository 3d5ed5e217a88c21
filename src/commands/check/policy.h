/* Rules of `memsnap check` in a file: a policy, in JSON. share/policy.schema.json describes it. */
#ifndef MEMSNAP_COMMANDS_CHECK_POLICY_H
#define MEMSNAP_COMMANDS_CHECK_POLICY_H

#include "analysis/check/rule_set.h"

#define CHECK_POLICY_SCHEMA "memsnap.policy/1"

/* The rules of the file `path`, or of standard input for "-". `*rules` is empty before.
 * STATUS_USAGE, naming the file and the place, for what is no policy: other keys, other types, keys
 * that come twice, limits that cannot be exceeded, no rule at all. To be called before the sandbox
 * is entered. */
bool check_policy_read(const char *path, struct check_rules *rules, struct error *err);
/* The same of text. `path` is for messages. */
bool check_policy_parse(const char *path, const char *text, size_t size, struct check_rules *rules,
                        struct error *err);

#endif
