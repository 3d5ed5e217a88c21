/* Reads a policy: a JSON file with rules for `memsnap check`. See share/policy.schema.json. */
#ifndef MEMSNAP_COMMANDS_CHECK_POLICY_H
#define MEMSNAP_COMMANDS_CHECK_POLICY_H

#include "analysis/check/rule_set.h"

#define CHECK_POLICY_SCHEMA "memsnap.policy/1"

/* Adds the rules in the file `path` ("-": standard input) to `*rules`, which must be empty. An
 * invalid policy is STATUS_USAGE with the file and position: unknown or repeated keys, wrong types,
 * limits that cannot be exceeded, or no rule. Call it before entering the sandbox. */
bool check_policy_read(const char *path, struct check_rules *rules, struct error *err);
/* The same for a text in memory; messages name `path`. */
bool check_policy_parse(const char *path, const char *text, size_t size, struct check_rules *rules,
                        struct error *err);

#endif
