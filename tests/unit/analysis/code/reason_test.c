/* `memsnap help categories`, which is also the manual page, must describe every category and every
 * reason in the program's own words. */
#include <string.h>

#include "base/buffer.h"
#include "commands/cli/topics.h"
#include "unit/analysis/analysis.h"

static struct buffer text; /* of the topic, a space for every run of white space */

static void create(void)
{
    text = BUFFER_INIT;
    bool in_space = true;
    for (size_t i = 0; i < topic_categories_size; i++) {
        char c = (char)topic_categories[i];
        bool is_space = c == ' ' || c == '\n';
        if (!is_space || !in_space)
            buffer_putc(&text, is_space ? ' ' : c);
        in_space = is_space;
    }
    ck_assert(!text.failed && text.size > 0);
}

static void destroy(void)
{
    buffer_release(&text);
}

static void check_has(const struct buffer *wanted)
{
    ck_assert_msg(strstr(text.bytes, wanted->bytes) != NULL,
                  "man/memsnap-categories.7 does not say '%s'", wanted->bytes);
}

START_TEST(every_reason_is_told)
{
    struct buffer wanted = BUFFER_INIT;
    uint8_t byte = (uint8_t)_i;
    buffer_printf(&wanted, " %s %s (", reason_name(byte), reason_sentence(byte));
    if (reason_of(byte) == REASON_FILE || reason_of(byte) == REASON_RULE ||
        reason_of(byte) == REASON_ANNOTATED)
        buffer_puts(&wanted, "as named");
    else
        buffer_puts(&wanted, category_name(reason_category((enum reason)byte)));
    if (reason_of(byte) != REASON_NONE)
        buffer_printf(&wanted, ", %s", confidence_name(reason_confidence(byte)));
    buffer_puts(&wanted, ").");
    check_has(&wanted);
    buffer_release(&wanted);
}
END_TEST

START_TEST(every_category_is_told)
{
    struct buffer wanted = BUFFER_INIT;
    const char *list = strstr(text.bytes, "THE CATEGORIES ");
    ck_assert_ptr_nonnull(list);
    buffer_printf(&wanted, " %s ", category_name((enum category)_i));
    ck_assert_msg(strstr(list, wanted.bytes) != NULL, "no category '%s'", wanted.bytes);
    buffer_release(&wanted);
}
END_TEST

TCase *reason_tests(void)
{
    TCase *tests = tcase_create("reason");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, every_reason_is_told, 0, REASON_COUNT);
    tcase_add_loop_test(tests, every_category_is_told, 0, CATEGORY_COUNT);
    return tests;
}
