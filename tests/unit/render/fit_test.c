#include "render/core/fit.h"

#include <string.h>

#include "render/core/escape.h"
#include "unit/render/render.h"

static const struct fit_case {
    enum cut cut;
    size_t columns;
    const char *text, *fitted;
} cases[] = {
    {CUT_END, 10, "short", "short"},
    {CUT_END, 10, "exactly 10", "exactly 10"},
    {CUT_END, 10, "_log_softmax_backward_data", "_log_sof.."},
    {CUT_START, 12, "/home/user/train.py", "..r/train.py"},
    {CUT_MIDDLE, 20, "lr-1e-3/a/b/c/d/rank0/1.pickle", "lr-1e-..nk0/1.pickle"},
    {CUT_END, 4, "abcdef", "ab.."},
    {CUT_START, 4, "abcdef", "..ef"},
    {CUT_MIDDLE, 4, "abcdef", "..ef"},
    /* two columns a character */
    {CUT_END, 5, "\u6f22\u5b57\u6f22\u5b57", "\u6f22.."},
    {CUT_START, 5, "\u6f22\u5b57\u6f22\u5b57", "..\u5b57"},
    /* labels */
    {CUT_SITE, 25, "model.py:434 scaled_dot_product_attention", "model.py:434 scaled_dot.."},
    {CUT_SITE, 20, "transformer_block.py:44 forward", "..lock.py:44 forward"},
    {CUT_SITE, 22, "a/model.py:3 forward (its backward)", "a/model.py:3 forward.."},
    {CUT_SITE, 25, "a/model.py:3 forward (its backward)", "a/model.py:3 forward (..)"},
    {CUT_SITE, 20, "IndexBackward0 (backward)", "IndexBackward0 (..)"},
    {CUT_SITE, 14, "IndexBackward0 (backward)", "IndexBackwar.."},
    {CUT_SITE, 20, "(allocated before recording began)", "(allocated before .."},
    {CUT_SITE, 8, "model.py:434 f", "..:434 f"},
    {CUT_SITE, 8, "model.py:123456 forward", "..123456"},
    {CUT_SITE, 12, "my file.py:7 forward", "..:7 forward"},
    /* with their operators */
    {CUT_OPERATOR, 24, "model.py:53 forward [mm]", "model.py:53 forward [mm]"},
    {CUT_OPERATOR, 24, "model.py:53 forward [silu]", "..l.py:53 forward [silu]"},
    {CUT_OPERATOR, 25, "model.py:9 f (line 8 in A) [mm]", "model.py:9 f (..) [mm]"},
    {CUT_OPERATOR, 20, "model.py:53 forward [native_dropout]", "..el.py:53 [nativ..]"},
    {CUT_OPERATOR, 26, "model.py:53 forward [a b c d e f g h i]", "..:53 forward [a b c d ..]"},
    {CUT_OPERATOR, 10, "model.py:53 forward [mm]", "..el.py:53"},
    {CUT_OPERATOR, 20, "model.py:53 forward (backward)", "model.py:53 forwar.."},
    {CUT_OPERATOR, 20, "operator new[]", "operator new[]"},
};

START_TEST(text_is_cut_where_it_says_least)
{
    const struct fit_case *given = &cases[_i];
    struct buffer out = BUFFER_INIT;
    size_t used = text_fit(&out, given->text, strlen(given->text), given->columns, given->cut);
    ck_assert_str_eq(out.bytes, given->fitted);
    ck_assert_uint_eq(used, text_columns(out.bytes, out.size));
    ck_assert_uint_le(used, given->columns);
    buffer_release(&out);
}
END_TEST

/* Every text fits every width. */
START_TEST(it_always_fits)
{
    static const char *const texts[] = {
        "a.py:1 f",
        "aaaaaaaaaaaaaaaa.py:123 ffffffffffffffffff (x)",
        " ",
        "  (",
        "a.py:1 ffffffffffffffffffff [\u5b57\u5b57]",
        " [] [] []",
        "( ( ( (",
        ":::: ::::: (((( ))))",
        "\u6f22 \u5b57:7 \u6f22\u5b57\u6f22\u5b57\u6f22\u5b57 (\u5b57)"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t columns = 4; columns < 60; columns++) {
            for (enum cut cut = CUT_END; cut <= CUT_OPERATOR; cut++) {
                struct buffer out = BUFFER_INIT;
                size_t used = text_fit(&out, texts[i], strlen(texts[i]), columns, cut);
                ck_assert_uint_le(used, columns);
                ck_assert_uint_eq(used, text_columns(out.bytes, out.size));
                buffer_release(&out);
            }
        }
    }
}
END_TEST

TCase *fit_tests(void)
{
    TCase *tests = tcase_create("fit");
    tcase_add_loop_test(tests, text_is_cut_where_it_says_least, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(tests, it_always_fits);
    return tests;
}
