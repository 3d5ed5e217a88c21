#include "analysis/code/regex.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit/analysis/analysis.h"
#include "unit/unit.h"

static struct text text_of(const char *text)
{
    return (struct text){text, strlen(text)};
}

/* glibc's regular expressions are the reference. */
static void compare_with_regexec(const char *pattern, const char *const *texts, size_t count)
{
    regex_t reference;
    const char *why = NULL;
    struct regex *regex = regex_compile(text_of(pattern), &why);
    int code = regcomp(&reference, pattern, REG_EXTENDED | REG_NOSUB);
    ck_assert_msg((code == 0) == (regex != NULL), "'%s': %s", pattern, why ? why : "compiles");
    for (size_t i = 0; regex && i < count; i++) {
        bool expected = regexec(&reference, texts[i], 0, NULL, 0) == 0;
        ck_assert_msg(regex_search(regex, text_of(texts[i])) == expected, "'%s' in '%s'", pattern,
                      texts[i]);
    }
    regex_destroy(regex);
    if (code == 0)
        regfree(&reference);
}

static const char *const patterns[] = {
    "model\\.py:(forward|attend)$",
    "^/usr/.*/torch/",
    "a|b|c|",
    "(|a)b",
    "()",
    "a**",
    "(a+)+b",
    "((a*)*)*b",
    "a{0}b",
    "(ab){2}",
    "(a|bc){2,3}x",
    "a{,2}b",
    "a{1,}b{0,}",
    "[]a]",
    "[^]a]",
    "[a-]",
    "[+--]",
    "[\\]",
    "[[:alpha:]_][[:alnum:]_]*:",
    "[[:digit:][:space:]]x",
    "\\.\\*\\[\\(",
    "a\\{2",
    ")",
    "a)",
    "(^a|b$)",
    "a^b",
    "a$b",
    "\\bpy\\b",
    "\\<py",
    "py\\>",
    "\\Bpy",
    "\\w+\\W\\w",
    "\\s|\\S{4}",
    "\\`a.*b\\'",
    "(^)*a",
    ".",
    "..*",
    "x{3}{2}",
    "",
    /* errors */
    "(",
    "[a",
    "[",
    "[]",
    "a{",
    "a{x}",
    "a{2,1}",
    "a{1",
    "{2}",
    "*a",
    "(*a)",
    "a|*b",
    "[b-a]",
    "[[:nothing:]]",
    "[[:alpha:",
    "a{40000}",
    "a\\",
    "^*",
};

START_TEST(matches_as_glibc_does)
{
    static const char *const texts[] = {
        "",
        "a",
        "b",
        "ab",
        "abab",
        "aabx",
        "bcax",
        "aaab",
        "model.py:forward",
        "model.py:forwards",
        "/usr/lib/torch/x.py",
        "[(.*",
        "]",
        "-",
        "\\",
        "a\n",
        ")",
        "a{2",
        "a^b",
        "x.py:fpy",
        "py",
        "pyx",
        " x",
        "1x",
        "xxxxxx",
        "e",
        "caaab",
        "a b",
    };
    compare_with_regexec(patterns[_i], texts, sizeof(texts) / sizeof(texts[0]));
}
END_TEST

static char pick(const char *from)
{
    return from[(size_t)rand() % strlen(from)];
}

static void add(char *pattern, const char *piece)
{
    if (strlen(pattern) + strlen(piece) < 60)
        strcat(pattern, piece);
}

/* A well-formed pattern. Nothing that is repeated has anchors in it (`may_anchor`): glibc 2.36
 * matches "(^a){2}" with "aa". */
static void random_pattern(char *pattern, int depth, bool may_anchor)
{
    static const char *const atoms[] = {"a",      "b",  "c",   ".",   "[ab]", "[^a]",
                                        "[b-c_]", "()", "\\.", "\\w", "\\W",  "[[:upper:]]"};
    static const char *const anchors[] = {"^", "$", "\\b", "\\<", "\\>", "\\B"};
    static const char *const repeats[] = {"*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "{0}"};
    int pieces = rand() % 4;
    for (int i = 0; i < pieces; i++) {
        bool repeated = rand() % 3 == 0;
        if (may_anchor && rand() % 5 == 0)
            add(pattern, anchors[(size_t)rand() % (sizeof(anchors) / sizeof(anchors[0]))]);
        if (depth > 0 && rand() % 3 == 0) {
            char inner[64] = "";
            random_pattern(inner, depth - 1, may_anchor && !repeated);
            add(pattern, "(");
            add(pattern, inner);
            add(pattern, ")");
        } else {
            add(pattern, atoms[(size_t)rand() % (sizeof(atoms) / sizeof(atoms[0]))]);
        }
        if (repeated)
            add(pattern, repeats[(size_t)rand() % (sizeof(repeats) / sizeof(repeats[0]))]);
        if (rand() % 5 == 0)
            add(pattern, "|");
    }
}

START_TEST(matches_as_glibc_does_at_random)
{
    srand((unsigned)_i + 1);
    for (int n = 0; n < 400; n++) {
        char pattern[64] = "", texts[20][12];
        const char *list[20];
        random_pattern(pattern, 3, true);
        for (size_t i = 0; i < 20; i++) {
            size_t size = (size_t)rand() % sizeof(texts[i]);
            for (size_t k = 0; k < size; k++)
                texts[i][k] = pick("aaabbc._ B");
            texts[i][size] = '\0';
            list[i] = texts[i];
        }
        compare_with_regexec(pattern, list, 20);
    }
}
END_TEST

/* Small patterns that a matcher of another kind multiplies out, or backtracks on. */
START_TEST(is_bounded)
{
    static const char *const hostile[] = {
        "((((((a{99}){99}){99}){99}){99}){99})",
        "((((((a{0,99}){0,99}){0,99}){0,99})))",
        "(((((((x|){9}){9}){9}){9}){9}){9}){9}",
        "(((.{1,255}){1,255}){1,255}){1,255}",
        "a{32767}",
        "(a{1000}){1000}{0}(b{1000}){1000}",
        "(((((((((a+)+)+)+)+)+)+)+)+)+b",
        "(a|a|a|a|a|a|a|a)*(a|a|a|a|a|a)*b",
        "(((((((((()*)*)*)*)*)*)*)*)*)*b",
        "((a{0,40}){0,40})b",
    };
    char text[1024];
    clock_t begin = clock();
    memset(text, 'a', sizeof(text));
    const char *why = "";
    struct regex *regex = regex_compile(text_of(hostile[_i]), &why);
    if (regex) {
        ck_assert_uint_le(regex_states(regex), REGEX_STATES_MOST);
        ck_assert(!regex_search(regex, (struct text){text, sizeof(text)}));
        regex_destroy(regex);
    } else {
        ck_assert_ptr_nonnull(strstr(why, "states"));
    }
    ck_assert((double)(clock() - begin) / CLOCKS_PER_SEC < 2);
}
END_TEST

START_TEST(refuses)
{
    static const struct {
        const char *pattern, *why;
    } cases[] = {
        {"(a)\\1", "back-references"},
        {"(", "'(' without ')'"},
        {"[a", "'[' without ']'"},
        {"[[.a.]]", "collating"},
        {"[[=a=]]", "collating"},
        {"+", "repeat of nothing"},
        {"a{2,1}", "{2,4}"},
        {"[c-a]", "ends before it begins"},
        {"a\\", "backslash at the end"},
        {"[[:word:]]", "name of a class"},
        {"[a-[:digit:]]", "ends in a class"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *why = "";
        ck_assert_ptr_null(regex_compile(text_of(cases[i].pattern), &why));
        ck_assert_msg(strstr(why, cases[i].why) != NULL, "'%s': %s", cases[i].pattern, why);
    }
    char deep[1000];
    const char *why = "";
    memset(deep, '(', sizeof(deep));
    ck_assert_ptr_null(regex_compile((struct text){deep, sizeof(deep)}, &why));
    ck_assert_ptr_nonnull(strstr(why, "nested"));
}
END_TEST

START_TEST(takes_any_bytes)
{
    static const char text[] = "a\0b\xff";
    const char *why;
    struct regex *regex = regex_compile(text_of("^a[^x]b.$"), &why);
    ck_assert(regex_search(regex, (struct text){text, 4}));
    ck_assert(!regex_search(regex, (struct text){text, 3}));
    regex_destroy(regex);
}
END_TEST

TCase *regex_tests(void)
{
    TCase *tcase = tcase_create("regex");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, matches_as_glibc_does, 0, sizeof(patterns) / sizeof(patterns[0]));
    tcase_add_loop_test(tcase, matches_as_glibc_does_at_random, 0, 20);
    tcase_add_loop_test(tcase, is_bounded, 0, 10);
    tcase_add_test(tcase, refuses);
    tcase_add_test(tcase, takes_any_bytes);
    return tcase;
}
