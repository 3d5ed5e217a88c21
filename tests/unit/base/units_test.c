#include "base/units.h"

#include "unit/base/base.h"

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

static const struct {
    int64_t bytes;
    enum unit unit;
    const char *text;
} sizes[] = {
    {0, UNIT_AUTO, "0 B"},
    {512, UNIT_AUTO, "512 B"},
    {1023, UNIT_AUTO, "1,023 B"},
    {1024, UNIT_AUTO, "1.00 KiB"},
    {1536, UNIT_AUTO, "1.50 KiB"},
    {1048575, UNIT_AUTO, "1,024.00 KiB"},
    {1048576, UNIT_AUTO, "1.00 MiB"},
    {INT64_C(12426629128), UNIT_AUTO, "11.57 GiB"},
    {INT64_C(-12426629128), UNIT_AUTO, "-11.57 GiB"},
    {-1, UNIT_AUTO, "-1 B"},
    {1024, UNIT_BYTES, "1,024 B"},
    {-1234567, UNIT_BYTES, "-1,234,567 B"},
    {1, UNIT_GIB, "0.00 GiB"},
    {INT64_C(2048) << 20, UNIT_KIB, "2,097,152.00 KiB"},
    {5 << 20, UNIT_MIB, "5.00 MiB"},
    {INT64_MAX, UNIT_AUTO, "8,589,934,592.00 GiB"},
    {INT64_MIN, UNIT_BYTES, "-9,223,372,036,854,775,808 B"},
};

START_TEST(sizes_for_people)
{
    char out[UNITS_TEXT_SIZE];
    ck_assert_str_eq(units_bytes(out, sizes[_i].bytes, sizes[_i].unit), sizes[_i].text);
}
END_TEST

START_TEST(counts_for_people)
{
    char out[UNITS_TEXT_SIZE];
    ck_assert_str_eq(units_count(out, 0), "0");
    ck_assert_str_eq(units_count(out, 999), "999");
    ck_assert_str_eq(units_count(out, 1000), "1,000");
    ck_assert_str_eq(units_count(out, 1234567), "1,234,567");
    ck_assert_str_eq(units_times(out, 1), "once");
    ck_assert_str_eq(units_times(out, 2000), "2,000 times");
    ck_assert_str_eq(units_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
}
END_TEST

static const struct {
    int64_t microseconds;
    const char *text;
} durations[] = {
    {0, "+0 us"},
    {999, "+999 us"},
    {-999, "-999 us"},
    {1000, "+1.0 ms"},
    {12345, "+12.3 ms"},
    {999949, "+999.9 ms"},
    {999950, "+0.999950 s"},
    {1234567, "+1.234567 s"},
    {-60000001, "-60.000001 s"},
    {INT64_MIN, "-9223372036854.775808 s"},
};

START_TEST(durations_for_people)
{
    char out[UNITS_TEXT_SIZE];
    ck_assert_str_eq(units_duration(out, durations[_i].microseconds), durations[_i].text);
}
END_TEST

START_TEST(unit_names)
{
    enum unit unit = UNIT_AUTO;
    ck_assert(units_parse("gib", &unit));
    ck_assert_int_eq(unit, UNIT_GIB);
    ck_assert(units_parse("BYTES", &unit));
    ck_assert_int_eq(unit, UNIT_BYTES);
    ck_assert(units_parse("auto", &unit));
    ck_assert_int_eq(unit, UNIT_AUTO);
    ck_assert(units_parse("KiB", &unit));
    ck_assert_int_eq(unit, UNIT_KIB);
    ck_assert(units_parse("MiB", &unit));
    ck_assert_int_eq(unit, UNIT_MIB);
    ck_assert(!units_parse("", &unit));
    ck_assert(!units_parse("TiB", &unit));
    ck_assert(!units_parse("MiB ", &unit));
    ck_assert_int_eq(unit, UNIT_MIB);
}
END_TEST

static const struct {
    const char *text;
    uint64_t bytes;
} typed[] = {
    {"0", 0},
    {"4096", 4096},
    {"4096B", 4096},
    {"1k", 1024},
    {"1KiB", 1024},
    {"1kb", 1000},
    {"512MiB", UINT64_C(512) << 20},
    {"1.5G", UINT64_C(3) << 29},
    {"70GiB", UINT64_C(70) << 30},
    {"80 GB", UINT64_C(80000000000)},
    {"2T", UINT64_C(2) << 40},
    {"0.0009765625KiB", 1},
    {"1.99999999999999999999999KiB", 2047},
    {"9223372036854775807", INT64_MAX},
    {"8388607.9999999999T", UINT64_C(9223372036854775698)},
};

START_TEST(sizes_from_people)
{
    uint64_t bytes;
    ck_assert(units_parse_bytes(typed[_i].text, &bytes));
    ck_assert_uint_eq(bytes, typed[_i].bytes);
}
END_TEST

static const char *const malformed[] = {
    "",
    " 1",
    "-1",
    "+1",
    "G",
    ".5G",
    "1.G",
    "1.5",
    "1.5B",
    "1x",
    "1GiBs",
    "1Gi",
    "1 G ",
    "1e9",
    "0x10",
    "1,000",
    "1..5G",
    "nan",
    "9223372036854775808",
    "18446744073709551616",
    "8388608T",
    "99999999999999999999999999999",
};

START_TEST(malformed_sizes)
{
    uint64_t bytes = 7;
    ck_assert_msg(!units_parse_bytes(malformed[_i], &bytes), "\"%s\"", malformed[_i]);
    ck_assert_uint_eq(bytes, 7);
}
END_TEST

TCase *units_tests(void)
{
    TCase *tests = tcase_create("units");
    tcase_add_loop_test(tests, sizes_for_people, 0, ROWS(sizes));
    tcase_add_test(tests, counts_for_people);
    tcase_add_loop_test(tests, durations_for_people, 0, ROWS(durations));
    tcase_add_test(tests, unit_names);
    tcase_add_loop_test(tests, sizes_from_people, 0, ROWS(typed));
    tcase_add_loop_test(tests, malformed_sizes, 0, ROWS(malformed));
    return tests;
}
