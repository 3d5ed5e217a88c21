#include "render/core/escape.h"

#include <string.h>

#include "unit/render/render.h"

static const struct escape_case {
    const char *text, *markup, *data, *property;
} cases[] = {
    {"plain, text: 1", "plain, text: 1", "plain, text: 1", "plain%2C text%3A 1"},
    {"100%", "100%", "100%25", "100%25"},
    {"%0A::error::", "%0A::error::", "%250A::error::", "%250A%3A%3Aerror%3A%3A"},
    {"a\r\nb", "a\\r\\nb", "a%0D%0Ab", "a%0D%0Ab"},
    {"\n", "\\n", "%0A", "%0A"},
    {"<a b=\"'&\">", "&#60;a b=&#34;&#39;&#38;&#34;&#62;", "<a b=\"'&\">", "<a b=\"'&\">"},
    {"]]>", "]]&#62;", "]]>", "]]>"},
    {"\x01\x1b[31m\x7f", "\\x01\\x1b[31m\\x7f", "\\x01\\x1b[31m\\x7f", "\\x01\\x1b[31m\\x7f"},
    {"\xff\xef\xbf\xbe", "\\xff\\u{fffe}", "\\xff\\u{fffe}", "\\xff\\u{fffe}"},
    {"\xe2\x80\xae,", "\\u{202e},", "\\u{202e},", "\\u{202e}%2C"},
    {"caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9"},
    {"", "", "", ""},
};

static void expect(const struct buffer *got, const char *wanted)
{
    ck_assert_str_eq(got->size > 0 ? got->bytes : "", wanted);
}

START_TEST(becomes_markup_and_commands)
{
    const struct escape_case *c = &cases[_i];
    struct buffer got = BUFFER_INIT;
    escape_markup(&got, c->text, strlen(c->text));
    expect(&got, c->markup);
    buffer_clear(&got);
    escape_workflow(&got, c->text, strlen(c->text), false);
    expect(&got, c->data);
    buffer_clear(&got);
    escape_workflow(&got, c->text, strlen(c->text), true);
    expect(&got, c->property);
    buffer_release(&got);
}
END_TEST

TCase *escape_tests(void)
{
    TCase *tcase = tcase_create("escape");
    tcase_add_loop_test(tcase, becomes_markup_and_commands, 0,
                        (int)(sizeof(cases) / sizeof(cases[0])));
    return tcase;
}
