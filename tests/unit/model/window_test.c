/* Parsing of a range or a moment as users type it. */
#include "model/window.h"

#include <stdlib.h>
#include <string.h>

#include "unit/model/model.h"
#include "unit/model/random_script.h"
#include "unit/unit.h"

#define FUZZED 300000

static struct error err;

static void check_point(const char *text, enum point_kind kind, int64_t value)
{
    struct point point;
    if (!point_parse(text, &point, &err))
        ck_abort_msg("%s", err.text);
    ck_assert_int_eq(point.kind, kind);
    ck_assert_int_eq(point.value, value);
}

static void refuse_point(const char *text)
{
    struct point point = {POINT_TIME, 4711};
    ck_assert_msg(!point_parse(text, &point, &err), "'%s' was taken", text);
    ck_assert_int_eq(err.status, STATUS_USAGE);
    ck_assert_int_eq(point.value, 4711);
}

static void check_window(const char *text, enum point_kind from_kind, int64_t from,
                         enum point_kind to_kind, int64_t to)
{
    struct window window;
    if (!window_parse(text, &window, &err))
        ck_abort_msg("%s", err.text);
    ck_assert_int_eq(window.from.kind, from_kind);
    ck_assert_int_eq(window.from.value, from);
    ck_assert_int_eq(window.to.kind, to_kind);
    ck_assert_int_eq(window.to.value, to);
}

static void refuse_window(const char *text)
{
    struct window window = {{POINT_TIME, 4711}, {POINT_TIME, 4712}};
    ck_assert_msg(!window_parse(text, &window, &err), "'%s' was taken", text);
    ck_assert_int_eq(err.status, STATUS_USAGE);
    ck_assert_int_eq(window.from.value, 4711);
    ck_assert_int_eq(window.to.value, 4712);
}

START_TEST(points)
{
    check_point("0", POINT_EVENT, 0);
    check_point("0012", POINT_EVENT, 12);
    check_point("9223372036854775807", POINT_EVENT, INT64_MAX);
    check_point("@1700000000000000", POINT_TIME, INT64_C(1700000000000000));
    check_point("+1.5s", POINT_OFFSET, 1500000);
    check_point("+20ms", POINT_OFFSET, 20000);
    check_point("+300us", POINT_OFFSET, 300);
    check_point("+300\xc2\xb5s", POINT_OFFSET, 300);
    check_point("+0.0000019s", POINT_OFFSET, 1);
    check_point("+0.123456789ms", POINT_OFFSET, 123);
    check_point("+9223372036854775807us", POINT_OFFSET, INT64_MAX);
}
END_TEST

START_TEST(no_points)
{
    static const char *const texts[] = {"",
                                        "+",
                                        "@",
                                        "-1",
                                        "+-1s",
                                        "@-1",
                                        "1s",
                                        "+1",
                                        "+1m",
                                        "+1 s",
                                        " 1",
                                        "1 ",
                                        "1:",
                                        "1.5",
                                        "@1.5",
                                        "+.5s",
                                        "+1.s",
                                        "+1.5.5s",
                                        "+1e3us",
                                        "0x10",
                                        "+s",
                                        "++1s",
                                        "1\n",
                                        "end",
                                        "9223372036854775808",
                                        "@9223372036854775808",
                                        "+9223372036854775807s",
                                        "+9223372036854.775808s",
                                        "+0.1234567891s",
                                        "+99999999999999999999us"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        refuse_point(texts[i]);
    refuse_point("soon");
    ck_assert_str_eq(err.text, "'soon' is not an event number, +OFFSET such as +1.5s, +20ms or "
                               "+300us, or @MICROSECONDS");
}
END_TEST

START_TEST(windows)
{
    check_window("10:20", POINT_EVENT, 10, POINT_EVENT, 20);
    check_window("10:", POINT_EVENT, 10, POINT_OPEN, 0);
    check_window("0:", POINT_EVENT, 0, POINT_OPEN, 0);
    check_window(":20", POINT_OPEN, 0, POINT_EVENT, 20);
    check_window("+1s:+1.000001s", POINT_OFFSET, 1000000, POINT_OFFSET, 1000001);
    check_window("@5:@6", POINT_TIME, 5, POINT_TIME, 6);
    check_window("100:+1s", POINT_EVENT, 100, POINT_OFFSET, 1000000);
    check_window(":@0", POINT_OPEN, 0, POINT_TIME, 0);
}
END_TEST

START_TEST(no_windows)
{
    static const char *const texts[] = {
        "",        ":",     "5",   "5:5", "6:5", "1:2:3", "::",   ":0",   "a:1",  "1:b", ":+0us",
        "+2s:+1s", "@2:@2", "-1:", "+1",  "1,2", "1 : 2", "1:2 ", "+1:2", "1:+2", "@:"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        refuse_window(texts[i]);
    refuse_window("7:7");
    ck_assert_str_eq(err.text, "range '7:7' is empty: its end is not after its start");
    refuse_window("7");
    ck_assert_ptr_nonnull(strstr(err.text, "1000:2000"));
}
END_TEST

/* Any text gives either a valid result or one line that explains the error. */
START_TEST(anything)
{
    static const char alphabet[] = "0123456789:+@.smu\xc2\xb5 -e";
    struct dice dice = dice_init(7);
    size_t taken = 0;
    for (size_t i = 0; i < unit_share(FUZZED); i++) {
        size_t size = dice_roll(&dice, dice_roll(&dice, 20) ? 12 : 400);
        char *text = malloc(size + 1); /* exactly: a look past the end is seen by the sanitizer */
        for (size_t at = 0; at < size; at++)
            text[at] = alphabet[dice_roll(&dice, sizeof(alphabet) - 1)];
        text[size] = '\0';
        struct window window;
        struct point point;
        bool is_point = point_parse(text, &point, &err);
        bool is_window = window_parse(text, &window, &err);
        if ((is_point && is_window) || (is_point && point.value < 0) ||
            (is_window && (window.from.value < 0 || window.to.value < 0)) ||
            (!is_window && (err.status != STATUS_USAGE || strlen(err.text) == 0)))
            ck_abort_msg("'%s'", text);
        taken += is_point + is_window;
        free(text);
    }
    ck_assert_uint_gt(taken, 200); /* of a small share, too */
}
END_TEST

static void check_text(enum point_kind kind, int64_t value, const char *expected)
{
    char text[UNITS_TEXT_SIZE];
    struct point point;
    ck_assert_str_eq(point_text(text, kind, value), expected);
    ck_assert(point_parse(text, &point, &err));
    ck_assert_int_eq(point.value, value);
    ck_assert_int_eq(point.kind, kind);
}

START_TEST(texts)
{
    check_text(POINT_TIME, 1700000000000000, "@1700000000000000");
    check_text(POINT_OFFSET, 0, "+0us");
    check_text(POINT_OFFSET, 999, "+999us");
    check_text(POINT_OFFSET, 1000, "+1ms");
    check_text(POINT_OFFSET, 25317, "+25.317ms");
    check_text(POINT_OFFSET, 20050, "+20.05ms");
    check_text(POINT_OFFSET, 1500000, "+1.5s");
    check_text(POINT_OFFSET, 99000001, "+99.000001s");
    check_text(POINT_OFFSET, INT64_MAX, "+9223372036854.775807s");
}
END_TEST

TCase *window_tests(void)
{
    TCase *tests = tcase_create("window");
    tcase_add_test(tests, points);
    tcase_add_test(tests, no_points);
    tcase_add_test(tests, windows);
    tcase_add_test(tests, no_windows);
    tcase_add_test(tests, anything);
    tcase_add_test(tests, texts);
    return tests;
}
