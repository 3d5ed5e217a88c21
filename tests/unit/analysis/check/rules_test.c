#include "analysis/check/rule_set.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "unit/analysis/analysis.h"

/* share/policy.schema.json; make sets srcdir. */
static json_t *load_schema(void)
{
    char path[4096];
    json_error_t err;
    const char *folder = getenv("srcdir");
    snprintf(path, sizeof(path), "%s/share/policy.schema.json", folder ? folder : ".");
    json_t *schema = json_load_file(path, 0, &err);
    ck_assert_msg(schema, "%s: %s", path, err.text);
    return schema;
}

static bool is_rule(const char *key)
{
    return strcmp(key, "schema") != 0 && strcmp(key, "$schema") != 0 &&
           strcmp(key, CHECK_NOT_JUDGED) && strcmp(key, CHECK_ALLOC_CONF) &&
           strcmp(key, "comment") != 0;
}

/* One of "anyOf" requires the rule: a policy needs one at least. */
static bool is_alternative(json_t *schema, const char *name)
{
    size_t i;
    json_t *alternative;
    json_array_foreach(json_object_get(schema, "anyOf"), i, alternative)
    {
        json_t *required = json_object_get(alternative, "required");
        if (strcmp(json_string_value(json_array_get(required, 0)), name) == 0)
            return true;
    }
    return false;
}

static bool is_size(const json_t *property)
{
    const char *reference = json_string_value(json_object_get(property, "$ref"));
    return reference && strcmp(reference, "#/$defs/size") == 0;
}

static enum check_takes property_takes(const json_t *property)
{
    const json_t *type = json_object_get(property, "type");
    if (json_is_true(json_object_get(property, "const")))
        return CHECK_TAKES_NOTHING;
    if (is_size(property))
        return CHECK_TAKES_SIZE;
    if (is_size(json_array_get(json_object_get(property, "anyOf"), 0)))
        return CHECK_TAKES_SIZE_OR_SHARE;
    ck_assert_str_eq(json_string_value(type), "object");
    return CHECK_TAKES_CATEGORY; /* or another SUBJECT=SIZE */
}

START_TEST(the_policy_schema_has_every_rule)
{
    json_t *schema = load_schema(), *properties = json_object_get(schema, "properties"), *property;
    const char *key;
    for (const struct check_kind *kind = check_kinds; kind->name; kind++) {
        property = json_object_get(properties, kind->name);
        ck_assert_msg(property, "%s is not in the schema", kind->name);
        ck_assert_msg(is_alternative(schema, kind->name), "%s", kind->name);
        enum check_takes takes =
            kind->takes < CHECK_TAKES_CATEGORY ? kind->takes : CHECK_TAKES_CATEGORY;
        ck_assert_msg(property_takes(property) == takes, "%s", kind->name);
    }
    json_object_foreach(properties, key, property)
        ck_assert_msg(!is_rule(key) || check_kind_find(key), "%s is not a rule", key);
    ck_assert_uint_eq(json_array_size(json_object_get(schema, "anyOf")) + 5,
                      json_object_size(properties));
    json_decref(schema);
}
END_TEST

START_TEST(rows_are_whole)
{
    for (const struct check_kind *kind = check_kinds; kind->name; kind++) {
        ck_assert_ptr_eq(check_kind_find(kind->name), kind);
        ck_assert_ptr_nonnull(kind->help);
        ck_assert_ptr_nonnull(kind->absence);
        ck_assert(kind->judge && kind->captures);
        ck_assert(!(kind->captures & CHECK_OF_SNAPSHOT) || kind->blame);
        ck_assert((kind->takes != CHECK_TAKES_NOTHING) == (kind->argument && kind->example));
        ck_assert(kind->takes < CHECK_TAKES_CATEGORY || strchr(kind->example, '='));
    }
    ck_assert_ptr_null(check_kind_find("max-nothing"));
}
END_TEST

TCase *check_rules_tests(void)
{
    TCase *tcase = tcase_create("check_rules");
    tcase_add_test(tcase, the_policy_schema_has_every_rule);
    tcase_add_test(tcase, rows_are_whole);
    return tcase;
}
