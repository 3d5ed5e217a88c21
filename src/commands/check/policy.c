#include "commands/check/policy.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cli/complain.h"
#include "commands/cli/small_file.h"

#define SIZE_MOST ((size_t)1 << 20)

/* State while one policy is read. */
struct reader {
    const char *path;
    struct check_rules *rules;
    struct error *err;
};

static bool refuse(const struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool refuse(const struct reader *reader, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return error_set(reader->err, STATUS_USAGE, "%.60s: %s", reader->path, text);
}

/* Names the policy file in an error. */
static bool pass_on(const struct reader *reader, const struct error *plain)
{
    return plain->status == STATUS_USAGE ? refuse(reader, "%s", plain->text)
                                         : error_set(reader->err, plain->status, "%s", plain->text);
}

static bool add(const struct reader *reader, const struct check_kind *kind, const char *argument)
{
    struct error plain;
    return check_rules_add(reader->rules, kind, argument, &plain) || pass_on(reader, &plain);
}

static bool unknown_key(const struct reader *reader, const char *key)
{
    struct closest closest = {.word = key};
    for (const struct check_kind *kind = check_kinds; kind->name; kind++)
        closest_offer(&closest, kind->name);
    closest_offer(&closest, CHECK_NOT_JUDGED);
    closest_offer(&closest, CHECK_ALLOC_CONF);
    if (closest.best)
        return refuse(reader, "unknown rule '%.40s'; did you mean '%s'?", key, closest.best);
    return refuse(reader, "unknown rule '%.40s'; see 'memsnap check --help'", key);
}

/* Converts a limit, a string or a number of bytes, to its form on the command line. */
static bool add_limit(const struct reader *reader, const struct check_kind *kind,
                      const char *subject, const json_t *limit)
{
    struct buffer argument = BUFFER_INIT;
    if (subject)
        buffer_printf(&argument, "%s=", subject);
    if (json_is_string(limit))
        buffer_puts(&argument, json_string_value(limit));
    else if (json_is_integer(limit) && json_integer_value(limit) >= 0)
        buffer_printf(&argument, "%" JSON_INTEGER_FORMAT, json_integer_value(limit));
    else
        return buffer_release(&argument),
               refuse(reader, "%s%s%.40s must be a size, for example \"70GiB\" or 1024", kind->name,
                      subject ? " " : "", subject ? subject : "");
    bool ok = !argument.failed || error_out_of_memory(reader->err);
    ok = ok && add(reader, kind, argument.bytes);
    buffer_release(&argument);
    return ok;
}

static bool add_subjects(const struct reader *reader, const struct check_kind *kind, json_t *limits)
{
    const char *subject;
    json_t *limit;
    if (!json_is_object(limits) || json_object_size(limits) == 0) {
        const char *equals = strrchr(kind->example, '=');
        return refuse(reader, "%s must be an object, for example {\"%.*s\": \"%s\"}", kind->name,
                      (int)(equals - kind->example), kind->example, equals + 1);
    }
    json_object_foreach(limits, subject,
                        limit) if (!add_limit(reader, kind, subject, limit)) return false;
    return true;
}

static bool add_rule(const struct reader *reader, const char *key, json_t *value)
{
    const struct check_kind *kind = check_kind_find(key);
    if (!kind)
        return unknown_key(reader, key);
    if (kind->takes == CHECK_TAKES_NOTHING)
        return json_is_true(value)
                   ? add(reader, kind, NULL)
                   : refuse(reader, "%s must be true; leave it out to disable it", key);
    return kind->takes >= CHECK_TAKES_CATEGORY ? add_subjects(reader, kind, value)
                                               : add_limit(reader, kind, NULL, value);
}

static bool check_schema(const struct reader *reader, const json_t *root)
{
    const json_t *schema = json_object_get(root, "schema");
    if (json_is_string(schema) && strcmp(json_string_value(schema), CHECK_POLICY_SCHEMA) == 0)
        return true;
    return refuse(reader, "expected an object with \"schema\": \"%s\"", CHECK_POLICY_SCHEMA);
}

/* "$schema" is for editors and "comment" for readers; both are ignored. */
static bool is_no_rule(const char *key)
{
    return strcmp(key, "schema") == 0 || strcmp(key, "$schema") == 0 || strcmp(key, "comment") == 0;
}

static bool take_not_judged(const struct reader *reader, const json_t *value)
{
    return (json_is_string(value) &&
            check_not_judged_parse(json_string_value(value), &reader->rules->not_judged)) ||
           refuse(reader, CHECK_NOT_JUDGED " must be \"pass\" or \"error\"");
}

static bool add_conf(const struct reader *reader, const json_t *value)
{
    struct error plain;
    if (!json_is_string(value))
        return refuse(reader,
                      CHECK_ALLOC_CONF " must be a string or an array of strings, for example "
                                       "\"expandable_segments:True\"");
    return check_rules_add_conf(reader->rules, json_string_value(value), &plain) ||
           pass_on(reader, &plain);
}

static bool take_confs(const struct reader *reader, const json_t *value)
{
    size_t i;
    json_t *conf;
    if (!json_is_array(value) || json_array_size(value) == 0)
        return add_conf(reader, value);
    json_array_foreach(value, i, conf) if (!add_conf(reader, conf)) return false;
    return true;
}

static bool read_root(const struct reader *reader, json_t *root)
{
    const char *key;
    json_t *value;
    if (!check_schema(reader, root))
        return false;
    json_object_foreach(root, key, value)
    {
        if (strcmp(key, CHECK_NOT_JUDGED) == 0) {
            if (!take_not_judged(reader, value))
                return false;
            continue;
        }
        if (strcmp(key, CHECK_ALLOC_CONF) == 0) {
            if (!take_confs(reader, value))
                return false;
            continue;
        }
        if (!is_no_rule(key) && !add_rule(reader, key, value))
            return false;
        if (is_no_rule(key) && !json_is_string(value))
            return refuse(reader, "%s must be a string", key);
    }
    return reader->rules->count > 0 || refuse(reader, "the policy has no rule");
}

bool check_policy_parse(const char *path, const char *text, size_t size, struct check_rules *rules,
                        struct error *err)
{
    struct check_rules made = {0};
    const struct reader reader = {path, &made, err};
    json_error_t json_error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &json_error);
    bool ok = root ? read_root(&reader, root)
                   : refuse(&reader, "line %d: %.100s", json_error.line, json_error.text);
    json_decref(root);
    if (!ok) {
        check_rules_release(&made);
        return false;
    }
    *rules = made;
    return true;
}

bool check_policy_read(const char *path, struct check_rules *rules, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    bool ok =
        small_file_read(path, SIZE_MOST, "a policy", &text, err) &&
        check_policy_parse(path_name(path), text.size ? text.bytes : "", text.size, rules, err);
    buffer_release(&text);
    return ok;
}
