#include "analysis/code/site_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/unit.h"

static const struct pattern_case {
    const char *pattern, *text;
    bool matches;
} cases[] = {
    {"", "", true},
    {"", "a", false},
    {"*", "", true},
    {"**", "any/thing", true},
    {"a*c", "abbc", true},
    {"a*c", "abbcd", false},
    {"*.py:3?", "model.py:39", true},
    {"*.py:3?", "model.py:3", false},
    {"?", "\xc3\xa9", true},
    {"??", "\xc3\xa9", false},
    {"?", "\xff", true},
    {"[a-c]x", "bx", true},
    {"[!a-c]x", "bx", false},
    {"[^a-c]x", "dx", true},
    {"[]]", "]", true},
    {"[!]]", "]", false},
    {"[a-]", "-", true},
    {"[ab", "[ab", true},
    {"[ab", "a", false},
    {"[\xc3\xa9]", "\xc3\xa8", false},
    {"[!a]", "\xc3\xa8", true},
    {"[[:digit:]]x", "7x", true},
    {"[[:digit:]]x", "ax", false},
    {"[![:alpha:]_]", "7", true},
    {"[![:alpha:]_]", "_", false},
    {"[a[:upper:]-]", "-", true},
    {"[[:alpha:]]", "\xc3\xa9", false},
    {"[[:none:]]", ":]", true},
    {"[[:digit:]", "[d", true},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"\\", "\\", true},
    {"a/b", "a\\b", true},
    {"a\\\\b", "a/b", false},
    {"*aab", "aaaaab", true},
    {"*a*b*c", "xaxxbxxc", true},
    {"*a*b*c", "xaxxcxxb", false},
};

START_TEST(matches_as_a_shell_does)
{
    const struct pattern_case *c = &cases[_i];
    ck_assert_msg(pattern_matches(c->pattern, (struct text){c->text, strlen(c->text)}) ==
                      c->matches,
                  "'%s' and '%s'", c->pattern, c->text);
}
END_TEST

/* The definition, tried in every way. */
static bool reference(const char *pattern, const char *text)
{
    if (*pattern == '*')
        return reference(pattern + 1, text) || (*text && reference(pattern, text + 1));
    if (!*pattern || !*text)
        return !*pattern && !*text;
    return (*pattern == '?' || *pattern == *text) && reference(pattern + 1, text + 1);
}

START_TEST(agrees_with_the_definition)
{
    static const char letters[] = "aab*?";
    unsigned state = 1, matched = 0;
    for (unsigned round = 0; round < unit_share(20000); round++) {
        char pattern[9] = "", text[9] = "";
        for (unsigned i = 0; i < 8; i++) {
            state = state * 1103515245 + 12345;
            pattern[i] = letters[(state >> 16) % 6]; /* 5: the NUL */
            text[i] = letters[(state >> 20) % 3];
            if (i >= 2 + round % 7)
                text[i] = '\0';
        }
        bool found = pattern_matches(pattern, (struct text){text, strlen(text)});
        ck_assert_msg(found == reference(pattern, text), "'%s' and '%s'", pattern, text);
        matched += found;
    }
    ck_assert_uint_gt(matched, unit_share(20000) / 20);
}
END_TEST

/* Stars do not multiply: this would take longer than the universe lasts. */
START_TEST(many_stars_take_no_longer)
{
    char pattern[257], text[513];
    for (int i = 0; i < 256; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[254] = 'b';
    pattern[256] = '\0';
    memset(text, 'a', 512);
    text[512] = '\0';
    ck_assert(!pattern_matches(pattern, (struct text){text, 512}));
}
END_TEST

static const struct site_case {
    const char *pattern;
    bool matches;
} site_cases[] = {
    {"model.py", true},
    {"model.py:39", true},
    {"model.py:39 forward", true},
    {"model.py:*", true},
    {"* forward", true},
    {"*:39", true},
    {"model.py:3", false},
    {"model", false},
    {"odel.py", false},
    {"forward", false},
    {"train/model.py", true},
    {"rain/model.py", false},
    {"/home/u/train/model.py:39", true},
    {"home/u/*.py:39 forward", true},
    {"u/*", true},
    {"*/model.py:*", true},
    {"/model.py", false},
    {"other/model.py", false},
    {"the label", false},
};

START_TEST(names_files_lines_and_functions)
{
    struct budget budget = {.limit = 1 << 20};
    struct error err;
    struct buffer scratch = BUFFER_INIT;
    struct symbols *symbols = symbols_create(&budget, &err);
    struct frame frame = {.line = 39};
    frame_id id;
    stack_id stack;
    struct site site;
    ck_assert(symbols_string(symbols, "forward", 7, &frame.name, &err));
    ck_assert(symbols_string(symbols, "/home/u/train/model.py", 22, &frame.file, &err));
    ck_assert(symbols_frame(symbols, frame, &id, &err));
    ck_assert(symbols_stack(symbols, &id, 1, &stack, &err));
    struct site_table *sites = site_table_create(symbols, &err);
    ck_assert(site_of(sites, stack, &site, &err));
    const struct text label = {"the label", 9};
    for (size_t i = 0; i < sizeof(site_cases) / sizeof(site_cases[0]); i++)
        ck_assert_msg(pattern_matches_site(site_cases[i].pattern, sites, stack, &site, label,
                                           &scratch) == site_cases[i].matches,
                      "'%s'", site_cases[i].pattern);
    ck_assert(site_of(sites, STACK_NONE, &site, &err));
    ck_assert(pattern_matches_site("the *", sites, STACK_NONE, &site, label, &scratch));
    ck_assert(!pattern_matches_site("model.py", sites, STACK_NONE, &site, label, &scratch));
    buffer_release(&scratch);
    site_table_destroy(sites);
    symbols_destroy(symbols);
}
END_TEST

TCase *site_pattern_tests(void)
{
    TCase *tcase = tcase_create("site_pattern");
    tcase_add_loop_test(tcase, matches_as_a_shell_does, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_test(tcase, agrees_with_the_definition);
    tcase_add_test(tcase, many_stars_take_no_longer);
    tcase_add_test(tcase, names_files_lines_and_functions);
    return tcase;
}
