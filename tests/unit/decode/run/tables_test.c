#include "decode/run/tables.h"

#include <string.h>

#include "unit/decode/run/run.h"

/* The rows as text: "[training_step 2] cuda:0 SHARDED ACTIVATION TOTAL; ..." with
 * "MODULE/STATE#CALL" before the device of a module. */
static bool take_heading(void *self, string_id function, uint32_t iteration, struct error *err)
{
    struct told *told = self;
    (void)err;
    buffer_printf(&told->text, "[%s %u] ", symbols_text(told->symbols, function).bytes, iteration);
    return true;
}

static bool take_row(void *self, const struct run_table_row *row, struct error *err)
{
    struct told *told = self;
    (void)err;
    if (row->module != STRING_EMPTY)
        buffer_printf(&told->text, "%s/%u#%u ", symbols_text(told->symbols, row->module).bytes,
                      row->state, row->call);
    buffer_printf(&told->text, "%s %lld %lld %lld; ",
                  symbols_text(told->symbols, row->device).bytes,
                  (long long)row->bytes[RUN_SHARDED_PARAM], (long long)row->bytes[RUN_ACTIVATION],
                  (long long)row->bytes[RUN_TOTAL]);
    return true;
}

static bool read_all(struct source *source, struct told *told)
{
    const struct run_tables_sink sink = {told, take_heading, take_row};
    return decode_run_tables(source, told->symbols, &sink, &told->err);
}

#define BORDER3 "======  ===========================  =================  ==========\n"
#define STATES  "======================  ======  ==========  =======\n"

START_TEST(four_spellings)
{
    static const char *const forms[] = {
        /* a table with the names of the kinds, and with those of the enum */
        BORDER3 "Device  Sharded Param                Activation         Total\n" BORDER3
                "cuda:0  1024 B                       1536 B             2560 B\n" BORDER3,
        BORDER3 "Device  _FSDPRefType.SHARDED_PARAM   _FSDPRefType.ACT   Total\n" BORDER3
                "cuda:0  1024 B                       1536 B             2560 B\n" BORDER3,
        /* lists of lines, likewise */
        "Device: cuda:0\n\tSharded Param: 1024 B\n\tActivation: 1536 B\n\tTotal: 2560 B\n",
        ("Device: cuda:0\n\t_FSDPRefType.SHARDED_PARAM: 1024 B\n\t_FSDPRefType.ACT: 1536 B\n"
         "\tTotal: 2560 B\n"),
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        told_check(read_all, forms[i], "cuda:0 1024 1536 2560; ");
}
END_TEST

START_TEST(modules)
{
    static const char table[] =
        "Module:  net.0\n" STATES "State & Call            Device  Activation  Total\n" STATES
        "Peak Forward # 1        cuda:0  1.5 KiB     2.5 KiB\n"
        "..                      cpu     0.0 KiB     1.0 KiB\n"
        "_FSDPModState.AFT_POST_FW # 2  x  1.0 KiB     1.0 KiB\n" STATES;
    static const char list[] = "Module: net.0\nPeak Forward\n# 1:\nDevice: cuda:0\n"
                               "\tActivation: 1.5 KiB\n\tTotal: 2.5 KiB\n";
    struct told told;
    told_check(read_all, list, "net.0/1#1 cuda:0 -1 1536 2560; ");
    /* the last row has a state that is wider than its column */
    ck_assert(!told_decode(read_all, &told, table, strlen(table)));
    ck_assert_msg(strncmp(told.err.text, "line 7: expected ", 17) == 0, "%s", told.err.text);
    ck_assert_str_eq(told.text.bytes, "net.0/1#1 cuda:0 -1 1536 2560; net.0/1#1 cpu -1 0 1024; ");
    buffer_release(&told.text);
}
END_TEST

START_TEST(headings)
{
    told_check(read_all,
               "Iteration 2 training_step Peak FSDP memory stats: \n"
               "--------------------\n"
               "Device: cuda:0\n\tTotal: 512 B\n"
               "--------------------\n",
               "[training_step 2] cuda:0 -1 -1 512; ");
    told_check(read_all, "some words\nNo memory tracked.\n\n", "");
}
END_TEST

START_TEST(bad_cells)
{
    told_check_refused(read_all,
                       BORDER3
                       "Device  Sharded Param                Activation         Total\n" BORDER3
                       "cuda:0  1024 B                       many               2560 B\n" BORDER3,
                       "line 4: expected a size such as '12.5 MiB', found 'many'");
    told_check_refused(read_all,
                       BORDER3
                       "Device  Sharded Param                Activation         Total\n" BORDER3
                       "cuda:0  1024 B                       1.5 KiB            2560 B\n" BORDER3,
                       "line 4: expected the unit of the sizes above, found '1.5 KiB'");
    told_check_refused(read_all,
                       BORDER3 "Device  Sharded Param                Something          Total\n",
                       "line 2: expected the name of a column, found 'Something'");
    told_check_refused(read_all,
                       BORDER3 "Device  Activation                   Activation         Total\n",
                       "line 2: expected each column once, found 'Activation'");
    told_check_refused(read_all, "Device: cuda:0\n\tActivation: 99999999999 GiB\n",
                       "line 2: expected a size such as '12.5 MiB', found '99999999999 GiB'");
    told_check_refused(read_all, "Device: cuda:0\n\tActivation: -5 B\n",
                       "line 2: expected a size such as '12.5 MiB', found '-5 B'");
}
END_TEST

START_TEST(cut_off)
{
    told_check_refused(read_all,
                       "\n" BORDER3
                       "Device  Sharded Param                Activation         Total\n" BORDER3
                       "cuda:0  1024 B                       1536 B             2560 B\n",
                       "line 2: the table that begins here is cut off");
    told_check_refused(read_all, "Device: cuda:0\n\tActivation: 1 B\n",
                       "line 1: the table that begins here is cut off");
    told_check_refused(read_all,
                       "Iteration 2 training_step Peak FSDP memory stats:\n--------------------\n"
                       "Device: cuda:0\n\tTotal: 512 B\n",
                       "line 4: the log is cut off: expected a line of dashes at its end");
    told_check_refused(read_all, "Iteration 2 training_step Peak FSDP memory stats:\nwhatever\n",
                       "line 2: expected a table of FSDP memory, found 'whatever'");
}
END_TEST

TCase *run_tables_tests(void)
{
    TCase *tests = tcase_create("tables");
    tcase_add_test(tests, four_spellings);
    tcase_add_test(tests, modules);
    tcase_add_test(tests, headings);
    tcase_add_test(tests, bad_cells);
    tcase_add_test(tests, cut_off);
    return tests;
}
