#include "render/check/words.h"

#include <string.h>

#include "unit/render/render.h"

/* The sentences of a failed rule of the kind. */
static const char *failure_of(const struct check_kind *kind, int64_t device, struct buffer *words)
{
    char subject[] = "subject";
    const struct check_rule rule = {.kind = kind,
                                    .subject = kind->takes < CHECK_TAKES_CATEGORY ? NULL : subject};
    const struct check_row row = {.rule = &rule, .device = device, .value = 3};
    buffer_clear(words);
    check_words_failure(words, &row, UNIT_BYTES);
    ck_assert(!words->failed);
    return words->bytes;
}

START_TEST(every_rule_has_words)
{
    static const struct check_kind unknown = {.name = "max-nothing"};
    struct buffer plain = BUFFER_INIT, words = BUFFER_INIT;
    failure_of(&unknown, 0, &plain);
    for (const struct check_kind *kind = check_kinds; kind->name; kind++) {
        for (int64_t device = CHECK_NO_DEVICE; device <= 0; device++) {
            const char *text = failure_of(kind, device, &words);
            ck_assert_msg(strcmp(text, plain.bytes) != 0, "%s: %s", kind->name, text);
            ck_assert_msg(strchr(text, '3') && !strchr(text, '%'), "%s: %s", kind->name, text);
        }
    }
    buffer_release(&plain);
    buffer_release(&words);
}
END_TEST

TCase *check_words_tests(void)
{
    TCase *tcase = tcase_create("check_words");
    tcase_add_test(tcase, every_rule_has_words);
    return tcase;
}
