#include <stdlib.h>

#include "analysis/layers/operator_curves.h"
#include "unit/analysis/analysis.h"
#include "unit/decode/layers/layers.h"

static struct operator_curves *load(const char *bytes, size_t size, struct error *err)
{
    struct input input;
    ck_assert(input_from_memory(&input, bytes, size, (size_t)1 << 20, err));
    return operator_curves_load_input(&input, err);
}

/* The pickles are of protocol 0, whose numbers can be read here. */
#define KEY(name)           "V" name "\n"
#define POINT(n, name, mib) "I" n "\n(V" name "\nF" mib "\nts"
#define CURVE(points)       "ccollections\ndefaultdict\n(tR" points "s"
#define FILE_OF(allocated, active, reserved, markers)                                              \
    "(d" KEY("memories_allocated") CURVE(allocated) KEY("memories_active") CURVE(active)           \
        KEY("memories_reserved") CURVE(reserved)                                                   \
            KEY("markers") "(d" markers "s" KEY("num_alloc_retries") "I2\ns."
#define TWO(a, b) POINT("0", "x", a) POINT("1", "y", b)

START_TEST(curves_are_read)
{
    static const char text[] = FILE_OF(POINT("1", "y", "2.5") POINT("0", "x", "1.5"), TWO("3", "1"),
                                       TWO("4", "4"), "Vfw\nI1\ns");
    struct error err;
    struct operator_curves *curves = load(text, sizeof(text) - 1, &err);
    ck_assert_msg(curves != NULL, "%s", err.text);
    ck_assert_uint_eq(curves->count, 2);
    ck_assert_uint_eq(curves->num_alloc_retries, 2);
    ck_assert_int_eq(curves->points[0].allocated, 1572864);
    ck_assert_int_eq(curves->points[1].reserved, 4194304);
    struct curves_report *report = curves_report_build(curves, &err);
    ck_assert_ptr_nonnull(report);
    ck_assert_uint_eq(report->allocated, 1);
    ck_assert_uint_eq(report->active, 0);
    ck_assert_uint_eq(report->reserved, 0);
    ck_assert_uint_eq(report->span_count, 2);
    ck_assert_uint_eq(report->spans[0].to, 1);
    ck_assert_uint_eq(report->growth_count, 1);
    ck_assert_int_eq(report->growths[0].bytes, 1048576);
    curves_report_destroy(report);
    operator_curves_destroy(curves);
    operator_curves_destroy(NULL);
}
END_TEST

static void refused(const char *text, const char *says)
{
    struct error err = {0};
    ck_assert_msg(load(text, strlen(text), &err) == NULL, "taken: %s", says);
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert_msg(strstr(err.text, says) != NULL, "'%s', not '%s'", err.text, says);
}

START_TEST(curves_are_checked)
{
    refused("(dVmemories_allocated\nI1\ns.", "expected a dict of operators, found an int");
    refused("(dVmarkers\nI1\ns.", "no key 'memories_allocated'");
    refused("(l.", "expected a dict, found a list");
    refused(FILE_OF(TWO("1", "2"), POINT("0", "x", "1"), TWO("1", "2"), ""),
            "1 operators in memories_active, but 2 in memories_allocated");
    refused(FILE_OF(POINT("0", "x", "1") POINT("2", "y", "1"), TWO("1", "1"), TWO("1", "1"), ""),
            "operator 2 is out of place, among 2");
    refused(FILE_OF(POINT("0", "x", "1") POINT("0", "y", "1"), TWO("1", "1"), TWO("1", "1"), ""),
            "operator 0 twice");
    refused(FILE_OF(TWO("1", "-1"), TWO("1", "1"), TWO("1", "1"), ""), "found -1");
    refused(FILE_OF(TWO("1", "nan"), TWO("1", "1"), TWO("1", "1"), ""), "expected a number of MiB");
    refused(FILE_OF(TWO("1", "1e300"), TWO("1", "1"), TWO("1", "1"), ""), "found 1e+300");
    refused(FILE_OF(TWO("1", "1"), TWO("1", "1"), TWO("1", "1"), "Vfw\nI3\ns"),
            "a marker's place among the operators");
}
END_TEST

TCase *operator_curves_tests(void)
{
    TCase *tests = tcase_create("curves");
    tcase_add_test(tests, curves_are_read);
    tcase_add_test(tests, curves_are_checked);
    return tests;
}
