#include <string.h>

#include "decode/stats/stats.h"
#include "unit/unit.h"

#define ROWS_MOST 4

typedef bool decoder(struct source *source, const struct stats_sink *sink, struct error *err);

struct rows {
    struct stats_row items[ROWS_MOST];
    size_t count;
};

static bool take(void *self, const struct stats_row *row, struct error *err)
{
    struct rows *rows = self;
    (void)err;
    ck_assert_uint_lt(rows->count, ROWS_MOST);
    rows->items[rows->count++] = *row;
    return true;
}

static bool decode(decoder *decode_stats, const char *text, struct rows *rows, struct error *err)
{
    struct budget budget = {.limit = (size_t)1 << 20};
    const struct stats_sink sink = {rows, take};
    struct source source;
    *rows = (struct rows){.count = 0};
    ck_assert(source_open_memory(&source, text, strlen(text), &budget, err));
    bool ok = decode_stats(&source, &sink, err);
    source_close(&source);
    ck_assert_uint_eq(budget.used, 0);
    return ok;
}

static bool take_line(void *self, const struct log_line *line, struct error *err)
{
    return stats_tables_take(self, line, err);
}

static bool decode_log(struct source *source, const struct stats_sink *sink, struct error *err)
{
    struct stats_tables *tables = stats_tables_create(sink, err);
    bool ok =
        tables && log_lines_each(source, take_line, tables, err) && stats_tables_end(tables, err);
    stats_tables_destroy(tables);
    return ok;
}

static void check_refused(decoder *decode_stats, const char *text, const char *message)
{
    struct rows rows;
    struct error err;
    ck_assert_msg(!decode(decode_stats, text, &rows, &err), "taken: %s", text);
    ck_assert_msg(strstr(err.text, message) != NULL, "%s", err.text);
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
}

START_TEST(flat_and_nested)
{
    static const char *const forms[] = {
        "{\"reserved_bytes.small_pool.freed\":-5,\"oversize_segments.peak\":6,\"num_ooms\":7}",
        "{\"reserved_bytes\":{\"small_pool\":{\"freed\":-5},\"all\":{}},"
        "\"oversize_segments\":{\"peak\":6},\"num_ooms\":7}",
        "{\"x\":{\"y\":{\"z\":{\"num_ooms\":1}}},\"reserved_bytes.small_pool\":{\"freed\":-5},"
        "\"oversize_segments.peak\":6,\"num_ooms\":7,\"segment.all\":{},\"a\":null,\"b\":[1]}",
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct rows rows;
        struct error err;
        ck_assert_msg(decode(decode_stats_json, forms[i], &rows, &err), "%s", err.text);
        ck_assert_uint_eq(rows.count, 1);
        const struct stats_row *row = &rows.items[0];
        ck_assert(row->device == -1 && row->line == 0 && !row->is_rounded && !row->is_cut);
        ck_assert(stats_has(row, STATS_RESERVED_BYTES, STATS_SMALL, STATS_FREED));
        ck_assert_int_eq(row->values[STATS_RESERVED_BYTES][STATS_SMALL][STATS_FREED], -5);
        ck_assert(!stats_has(row, STATS_RESERVED_BYTES, STATS_ALL, STATS_FREED));
        ck_assert_int_eq(row->values[STATS_OVERSIZE_SEGMENTS][STATS_ALL][STATS_PEAK], 6);
        ck_assert_uint_eq(row->counters_present, 1u << STATS_OOMS);
        ck_assert_int_eq(row->counters[STATS_OOMS], 7);
    }
    check_refused(decode_stats_json, "[]", "memory statistics (an object)");
    check_refused(decode_stats_json, "{\"num_ooms\":1.5}", "a whole number");
    check_refused(decode_stats_json, "{\"a\":{\"b\":{\"num_ooms\":1}", "the end of the file");
}
END_TEST

#define HEADING "| PyTorch CUDA memory summary, device ID 3 |\n"
#define RULE    "|====|\n"
#define ACTIVE  "| Active memory | 1 KiB | 2 MiB | 3 GiB | 0 B |\n"

START_TEST(tables)
{
    struct rows rows;
    struct error err;
    ck_assert(decode(decode_log,
                     RULE HEADING RULE "x " ACTIVE "| from small pool | 1 B | 2 B | 3 B | 4 B |\n"
                                       "text\n" RULE ACTIVE,
                     &rows, &err));
    ck_assert_uint_eq(rows.count, 1);
    const struct stats_row *row = &rows.items[0];
    ck_assert(row->device == 3 && row->line == 2 && row->is_rounded && !row->is_cut);
    ck_assert_int_eq(row->values[STATS_ACTIVE_BYTES][STATS_ALL][STATS_TOTAL], INT64_C(3) << 30);
    ck_assert_int_eq(row->values[STATS_ACTIVE_BYTES][STATS_SMALL][STATS_FREED], 4);

    ck_assert(decode(decode_log, HEADING "| CUDA OOMs: 4 | cudaMalloc retries: 5 |\n" HEADING,
                     &rows, &err));
    ck_assert_uint_eq(rows.count, 2);
    ck_assert(rows.items[0].is_cut && rows.items[1].is_cut && rows.items[1].line == 3);
    ck_assert_int_eq(rows.items[0].counters[STATS_OOMS], 4);
    ck_assert_int_eq(rows.items[0].counters[STATS_RETRIES], 5);
    ck_assert_uint_eq(rows.items[1].counters_present, 0);

    ck_assert(decode(decode_log, "no tables\n| Active memory | x |\n", &rows, &err));
    ck_assert_uint_eq(rows.count, 0);
}
END_TEST

START_TEST(bad_cells)
{
    check_refused(decode_log, HEADING "| Active memory | 1 KiB | 2 MiB |\n",
                  "line 2: expected a size such as 512 KiB, found ''");
    check_refused(decode_log, HEADING "\n| Allocations | 1 KiB |\n",
                  "line 3: expected a number, found '1 KiB'");
    check_refused(decode_log, HEADING "| Active memory | 9000000000000000000 KiB |\n",
                  "line 2: expected a size");
    check_refused(decode_log, HEADING "| CUDA OOMs: many |\n",
                  "line 2: expected a number, found 'many'");
}
END_TEST

Suite *unit_suite(void)
{
    Suite *suite = suite_create("stats");
    TCase *tests = tcase_create("stats");
    tcase_add_test(tests, flat_and_nested);
    tcase_add_test(tests, tables);
    tcase_add_test(tests, bad_cells);
    suite_add_tcase(suite, tests);
    return suite;
}
