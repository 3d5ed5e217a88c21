#include "analysis/check/rule_set.h"

#include <stdio.h>
#include <string.h>

#include "unit/analysis/analysis.h"

static struct check_rules rules;
static struct error err;

static void create(void)
{
    rules = (struct check_rules){0};
}

static void destroy(void)
{
    check_rules_release(&rules);
}

static bool add(const char *kind, const char *argument)
{
    return check_rules_add(&rules, check_kind_find(kind), argument, &err);
}

static const struct limit_case {
    const char *kind;
    const char *argument;
    bool is_share;
    uint64_t value; /* bytes, or millionths of a percent */
} limits[] = {
    {"max-peak", "70GiB", false, UINT64_C(70) << 30},
    {"max-peak", "0", false, 0},
    {"max-peak", "9223372036854775807", false, INT64_MAX},
    {"max-growth", "1.5K", false, 1536},
    {"max-increase", "2%", true, 2000000},
    {"max-increase", "2.000001%", true, 2000001},
    {"max-increase", "0002.5%", true, 2500000},
    {"max-increase", "1000000%", true, UINT64_C(1000000000000)},
    {"max-increase", "512MiB", false, 512 << 20},
    {"max-fragmentation", "99.999999%", true, 99999999},
    {"max-site", "a=b=1KiB", false, 1024},
};

START_TEST(reads_limits)
{
    const struct limit_case *c = &limits[_i];
    ck_assert_msg(add(c->kind, c->argument), "%s", err.text);
    ck_assert(rules.items[0].limit.is_share == c->is_share);
    ck_assert_uint_eq(
        c->is_share ? rules.items[0].limit.share : (uint64_t)rules.items[0].limit.bytes, c->value);
}
END_TEST

static const struct refusal {
    const char *kind;
    const char *argument;
} refusals[] = {
    {"max-peak", ""},
    {"max-peak", "-1"},
    {"max-peak", "2%"},
    {"max-peak", "9223372036854775808"},
    {"max-increase", "%"},
    {"max-increase", "2%%"},
    {"max-increase", ".5%"},
    {"max-increase", "1.%"},
    {"max-increase", "1.0000000%"},
    {"max-increase", "1000001%"},
    {"max-increase", "18446744073709551617%"},
    {"max-fragmentation", "100%"},
    {"max-fragmentation", "1000%"},
    {"max-category", "activation"},
    {"max-category", "=1"},
    {"max-site", "a="},
    {"max-memory-after-suggest", "=1"},
    {"max-memory-after-suggest", "x=1"},
    {"max-memory-after-suggest", "1000001=1"},
    {"max-memory-after-suggest", "99999999999999999999=1"},
};

START_TEST(refuses_what_is_no_limit)
{
    ck_assert(!add(refusals[_i].kind, refusals[_i].argument));
    ck_assert_int_eq(err.status, STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, refusals[_i].kind));
    ck_assert_uint_eq(rules.count, 0);
}
END_TEST

START_TEST(a_rule_replaces_its_namesake)
{
    struct check_rules more = {0};
    ck_assert(add("max-peak", "1"));
    ck_assert(add("max-site", "a=1"));
    ck_assert(add("max-site", "b=2"));
    ck_assert(add("max-peak", "3"));
    ck_assert_uint_eq(rules.count, 3);
    ck_assert_int_eq(rules.items[0].limit.bytes, 3);
    ck_assert(check_rules_add(&more, check_kind_find("max-site"), "b=5", &err));
    ck_assert(check_rules_add(&more, check_kind_find("no-oom"), NULL, &err));
    ck_assert(check_rules_merge(&rules, &more, &err));
    ck_assert_uint_eq(more.count, 0);
    ck_assert_uint_eq(rules.count, 4);
    ck_assert_int_eq(rules.items[2].limit.bytes, 5);
}
END_TEST

START_TEST(there_is_an_end_of_rules)
{
    struct check_rules more = {0};
    char argument[32];
    for (int i = 0; i < CHECK_RULES_MOST; i++) {
        snprintf(argument, sizeof(argument), "%d.py=1", i);
        ck_assert(add("max-site", argument));
        ck_assert(check_rules_add(&more, check_kind_find("max-category"), argument, &err));
    }
    ck_assert(!add("max-peak", "1"));
    ck_assert_int_eq(err.status, STATUS_USAGE);
    ck_assert(!check_rules_merge(&rules, &more, &err));
    ck_assert_uint_eq(more.count, 0);
}
END_TEST

START_TEST(categories_must_exist)
{
    ck_assert(!check_rules_resolve(&rules, &err));
    ck_assert(add("max-category", "optimizer_state=1"));
    ck_assert(check_rules_resolve(&rules, &err));
    ck_assert_int_eq(rules.items[0].category, CATEGORY_OPTIMIZER_STATE);
    ck_assert(add("max-category", "unexplained=1"));
    ck_assert(!check_rules_resolve(&rules, &err));
    ck_assert_int_eq(err.status, STATUS_USAGE);
}
END_TEST

START_TEST(settings_are_rules_of_their_own)
{
    struct check_rules more = {0};
    ck_assert(check_rules_add_conf(&rules, "max_split_size_mb:64", &err));
    ck_assert(add("max-peak", "1"));
    ck_assert(!check_rules_resolve(&rules, &err)); /* no limit */
    ck_assert_int_eq(err.status, STATUS_USAGE);
    ck_assert(!check_rules_add_conf(&rules, "no_such_key:1", &err));
    ck_assert_int_eq(err.status, STATUS_USAGE);
    /* Those of the command line replace those of the policy. */
    ck_assert(check_rules_add(&more, check_kind_find("max-reserved"), "7", &err));
    ck_assert(check_rules_add_conf(&more, "expandable_segments:True", &err));
    ck_assert(check_rules_add_conf(&more, "", &err));
    ck_assert(check_rules_add_conf(&more, "expandable_segments:True", &err));
    ck_assert(check_rules_merge(&rules, &more, &err));
    ck_assert(check_rules_resolve(&rules, &err));
    ck_assert_uint_eq(rules.count, 3);
    ck_assert(!rules.items[0].is_replayed);
    ck_assert_str_eq(rules.items[1].subject, "expandable_segments:True");
    ck_assert_str_eq(rules.items[2].subject, "");
    for (size_t i = 1; i < rules.count; i++) {
        ck_assert(rules.items[i].is_replayed);
        ck_assert_int_eq(rules.items[i].limit.bytes, 7);
    }
}
END_TEST

/* A number of whole bytes exceeds the share if and only if it exceeds the limit in bytes. */
START_TEST(shares_are_exact)
{
    static const int64_t wholes[] = {0, 1, 3, 7, 100, 1000, 999999937, INT64_C(1) << 40, INT64_MAX};
    static const char *const shares[] = {"0%",  "0.000001%", "12.8%",      "33.333333%",
                                         "50%", "66.6%",     "99.999999%", "100%"};
    for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
        for (size_t k = 0; k < sizeof(shares) / sizeof(shares[0]); k++) {
            ck_assert(add("max-increase", shares[k]));
            const struct check_limit *limit = &rules.items[0].limit;
            __extension__ typedef unsigned __int128 wide;
            int64_t bytes = check_limit_bytes(limit, wholes[i]);
            wide share = (wide)(uint64_t)wholes[i] * limit->share;
            ck_assert((wide)(uint64_t)bytes * 100000000 <= share);
            ck_assert(((wide)(uint64_t)bytes + 1) * 100000000 > share);
        }
    }
    ck_assert(add("max-increase", "1000000%"));
    ck_assert(check_limit_bytes(&rules.items[0].limit, INT64_MAX) == INT64_MAX);
}
END_TEST

TCase *check_rule_set_tests(void)
{
    TCase *tcase = tcase_create("check_rule_set");
    tcase_add_checked_fixture(tcase, create, destroy);
    tcase_add_loop_test(tcase, reads_limits, 0, (int)(sizeof(limits) / sizeof(limits[0])));
    tcase_add_loop_test(tcase, refuses_what_is_no_limit, 0,
                        (int)(sizeof(refusals) / sizeof(refusals[0])));
    tcase_add_test(tcase, a_rule_replaces_its_namesake);
    tcase_add_test(tcase, there_is_an_end_of_rules);
    tcase_add_test(tcase, categories_must_exist);
    tcase_add_test(tcase, settings_are_rules_of_their_own);
    tcase_add_test(tcase, shares_are_exact);
    return tcase;
}
