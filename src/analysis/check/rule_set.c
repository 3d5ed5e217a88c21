#include "analysis/check/rule_set.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/replay/conf.h"
#include "base/buffer.h"
#include "base/units.h"

#define SHARE_DIGITS     6 /* after the decimal point of a percentage */
#define PERCENT          UINT64_C(1000000)
#define WHOLE            (100 * PERCENT)
#define MOST_PERCENT     UINT64_C(1000000)
#define MOST_CHECKPOINTS 1000000
#define LONGEST_SUBJECT  256 /* bytes */

__extension__ typedef unsigned __int128 uint128;

/* "2.5%" as 2500000 millionths of a percent. */
static bool parse_share(const char *text, uint64_t *share)
{
    uint64_t ones = 0, parts = 0, unit = PERCENT;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0)
        return false;
    for (; digits > 0; digits--, text++) {
        ones = 10 * ones + (uint64_t)(*text - '0');
        if (ones > MOST_PERCENT)
            return false;
    }
    if (*text == '.') {
        digits = strspn(++text, "0123456789");
        if (digits == 0 || digits > SHARE_DIGITS)
            return false;
        for (; digits > 0; digits--)
            parts += (uint64_t)(*text++ - '0') * (unit /= 10);
    }
    *share = ones * PERCENT + parts;
    return strcmp(text, "%") == 0;
}

static bool parse_limit(const struct check_kind *kind, const char *text, struct check_limit *limit,
                        struct error *err)
{
    struct check_limit parsed = {0};
    uint64_t bytes = 0;
    if (kind->takes == CHECK_TAKES_SIZE_OR_SHARE && parse_share(text, &parsed.share))
        parsed.is_share = true;
    else if (units_parse_bytes(text, &bytes))
        parsed.bytes = (int64_t)bytes;
    else
        return error_set(err, STATUS_USAGE, "%s takes a limit such as %s, not '%.60s'", kind->name,
                         kind->example, text);
    if (kind->at_most_whole && parsed.is_share && parsed.share >= WHOLE)
        return error_set(err, STATUS_USAGE, "%s %.30s cannot fail: %s", kind->name, text,
                         kind->at_most_whole);
    *limit = parsed;
    return true;
}

static bool parse_checkpoints(const struct check_kind *kind, const char *text, size_t *checkpoints,
                              struct error *err)
{
    size_t digits = strspn(text, "0123456789"), value = 0;
    for (size_t i = 0; i < digits && value <= MOST_CHECKPOINTS; i++)
        value = 10 * value + (size_t)(text[i] - '0');
    if (digits == 0 || text[digits] || value > MOST_CHECKPOINTS)
        return error_set(err, STATUS_USAGE,
                         "%s takes a number of checkpoints and a size, such as %s, not '%.60s' "
                         "checkpoints",
                         kind->name, kind->example, text);
    *checkpoints = value;
    return true;
}

/* Splits SUBJECT=LIMIT at the last '='. */
static bool split(const struct check_kind *kind, const char *argument, char **subject,
                  const char **limit, struct error *err)
{
    const char *equals = strrchr(argument, '=');
    if (!equals || equals == argument)
        return error_set(err, STATUS_USAGE, "%s takes %s, such as %s, not '%.60s'", kind->name,
                         kind->argument, kind->example, argument);
    if (equals - argument > LONGEST_SUBJECT)
        return error_set(err, STATUS_USAGE, "%s: the text before '=' is longer than %d bytes",
                         kind->name, LONGEST_SUBJECT);
    *subject = strndup(argument, (size_t)(equals - argument));
    *limit = equals + 1;
    return *subject || error_out_of_memory(err);
}

static bool same_subject(const struct check_rule *a, const struct check_rule *b)
{
    if (a->kind != b->kind)
        return false;
    return !a->subject || strcmp(a->subject, b->subject) == 0;
}

/* Takes ownership of rule->subject, also on failure. */
static bool put(struct check_rules *rules, struct check_rule *rule, struct error *err)
{
    for (size_t i = 0; i < rules->count; i++) {
        if (same_subject(&rules->items[i], rule)) {
            free(rules->items[i].subject);
            rules->items[i] = *rule;
            return true;
        }
    }
    struct check_rule *grown = NULL;
    bool ok = rules->count < CHECK_RULES_MOST ||
              error_set(err, STATUS_USAGE, "at most %d rules", CHECK_RULES_MOST);
    if (ok) {
        grown = realloc(rules->items, (rules->count + 1) * sizeof(*grown));
        ok = grown || error_out_of_memory(err);
    }
    if (!ok) {
        free(rule->subject);
        return false;
    }
    rules->items = grown;
    rules->items[rules->count++] = *rule;
    return true;
}

bool check_rules_add(struct check_rules *rules, const struct check_kind *kind, const char *argument,
                     struct error *err)
{
    struct check_rule rule = {.kind = kind};
    const char *limit = argument;
    if (kind->takes == CHECK_TAKES_NOTHING)
        return put(rules, &rule, err);
    bool ok =
        kind->takes < CHECK_TAKES_CATEGORY || split(kind, argument, &rule.subject, &limit, err);
    if (ok && kind->takes == CHECK_TAKES_CHECKPOINTS)
        ok = parse_checkpoints(kind, rule.subject, &rule.checkpoints, err);
    ok = ok && parse_limit(kind, limit, &rule.limit, err);
    if (!ok) {
        free(rule.subject);
        return false;
    }
    return put(rules, &rule, err);
}

bool check_rules_add_conf(struct check_rules *rules, const char *conf, struct error *err)
{
    struct allocator_settings settings;
    struct error why;
    if (!conf_parse(conf, &settings, &why))
        return error_set(err, STATUS_USAGE, CHECK_ALLOC_CONF " '%.60s': %.150s", conf, why.text);
    for (size_t i = 0; i < rules->alloc_conf_count; i++)
        if (strcmp(rules->alloc_confs[i], conf) == 0)
            return true;
    if (rules->alloc_conf_count == CHECK_ALLOC_CONF_MOST)
        return error_set(err, STATUS_USAGE, "at most %d times " CHECK_ALLOC_CONF,
                         CHECK_ALLOC_CONF_MOST);
    char **grown = realloc((void *)rules->alloc_confs,
                           (rules->alloc_conf_count + 1) * sizeof(*rules->alloc_confs));
    if (!grown)
        return error_out_of_memory(err);
    rules->alloc_confs = grown;
    grown[rules->alloc_conf_count] = strdup(conf);
    if (!grown[rules->alloc_conf_count])
        return error_out_of_memory(err);
    rules->alloc_conf_count++;
    return true;
}

static void release_confs(struct check_rules *rules)
{
    for (size_t i = 0; i < rules->alloc_conf_count; i++)
        free(rules->alloc_confs[i]);
    free((void *)rules->alloc_confs);
    rules->alloc_confs = NULL;
    rules->alloc_conf_count = 0;
}

bool check_not_judged_parse(const char *text, enum check_not_judged *not_judged)
{
    bool is_error = strcmp(text, "error") == 0;
    if (!is_error && strcmp(text, "pass") != 0)
        return false;
    *not_judged = is_error ? CHECK_NOT_JUDGED_ERROR : CHECK_NOT_JUDGED_PASS;
    return true;
}

bool check_rules_merge(struct check_rules *rules, struct check_rules *more, struct error *err)
{
    bool ok = true;
    if (more->not_judged != CHECK_NOT_JUDGED_DEFAULT)
        rules->not_judged = more->not_judged;
    if (more->alloc_conf_count > 0) {
        release_confs(rules);
        rules->alloc_confs = more->alloc_confs;
        rules->alloc_conf_count = more->alloc_conf_count;
        more->alloc_confs = NULL;
        more->alloc_conf_count = 0;
    }
    for (size_t i = 0; i < more->count; i++) {
        ok = ok && put(rules, &more->items[i], err);
        if (!ok && i + 1 < more->count)
            free(more->items[i + 1].subject);
    }
    free(more->items);
    release_confs(more);
    *more = (struct check_rules){0};
    return ok;
}

static bool resolve_category(struct check_rule *rule, struct error *err)
{
    if (category_find(rule->subject, &rule->category))
        return true;
    struct buffer names = BUFFER_INIT;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        buffer_printf(&names, "%s%s", i ? ", " : "", category_name((enum category)i));
    error_set(err, STATUS_USAGE, "%s: unknown category '%.40s'; the categories are: %s",
              rule->kind->name, rule->subject, names.failed ? "those of memsnap(1)" : names.bytes);
    buffer_release(&names);
    return false;
}

/* Replaces the rule on reserved memory by one for each setting. */
static bool resolve_confs(struct check_rules *rules, struct error *err)
{
    size_t at = 0;
    if (rules->alloc_conf_count == 0)
        return true;
    while (at < rules->count && strcmp(rules->items[at].kind->name, CHECK_ALLOC_CONF_RULE) != 0)
        at++;
    if (at == rules->count)
        return error_set(err, STATUS_USAGE, CHECK_ALLOC_CONF " needs " CHECK_ALLOC_CONF_RULE);
    struct check_rule rule = rules->items[at];
    for (size_t i = 0; i < rules->alloc_conf_count; i++) {
        rule.is_replayed = true;
        rule.subject = rules->alloc_confs[i];
        rules->alloc_confs[i] = NULL;
        if (i == 0)
            rules->items[at] = rule;
        else if (!put(rules, &rule, err))
            return false;
    }
    release_confs(rules);
    return true;
}

bool check_rules_resolve(struct check_rules *rules, struct error *err)
{
    if (rules->count == 0)
        return error_set(err, STATUS_USAGE,
                         "no rule to check: try --max-peak 70GiB, or see 'memsnap check --help'");
    for (size_t i = 0; i < rules->count; i++)
        if (rules->items[i].kind->takes == CHECK_TAKES_CATEGORY &&
            !resolve_category(&rules->items[i], err))
            return false;
    return resolve_confs(rules, err);
}

void check_rules_release(struct check_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        free(rules->items[i].subject);
    free(rules->items);
    release_confs(rules);
    *rules = (struct check_rules){0};
}

int64_t check_limit_bytes(const struct check_limit *limit, int64_t whole)
{
    if (!limit->is_share)
        return limit->bytes;
    uint128 bytes = (uint128)(uint64_t)whole * limit->share / WHOLE;
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}
