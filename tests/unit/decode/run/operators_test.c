#include "decode/run/operators.h"

#include <stdio.h>
#include <string.h>

#include "unit/decode/run/run.h"

/* The rows and tables as text: "NAME [SHAPES] CALLS FIGURES... ; " for the figures that the table
 * has, then "= line LINE DEVICE TOTALS ". */
static bool take_row(void *self, const struct operator_row *row, struct error *err)
{
    struct told *told = self;
    (void)err;
    buffer_printf(&told->text, "%s", symbols_text(told->symbols, row->name).bytes);
    if (row->shapes != STRING_EMPTY)
        buffer_printf(&told->text, " %s", symbols_text(told->symbols, row->shapes).bytes);
    buffer_printf(&told->text, " %lld", (long long)row->calls);
    for (size_t i = 0; i < OPERATOR_FIGURES; i++)
        buffer_printf(&told->text, "%s%lld", i ? "," : " ", (long long)row->values[i]);
    buffer_puts(&told->text, "; ");
    return true;
}

static bool take_table(void *self, const struct operator_table_facts *facts, struct error *err)
{
    struct told *told = self;
    (void)err;
    buffer_printf(&told->text, "= %llu %s %lld %lld %#x ", (unsigned long long)facts->line,
                  symbols_text(told->symbols, facts->device).bytes, (long long)facts->totals[0],
                  (long long)facts->totals[1], facts->present);
    return true;
}

static bool read_all(struct source *source, struct told *told)
{
    const struct operators_sink sink = {told, take_row, take_table};
    return decode_operators(source, told->symbols, &sink, &told->err);
}

/* A table as torch writes it: titles and cells are aligned to the right, and one title is wider
 * than its column. */
#define RULE                                                                                       \
    "--------------  ------------  ------------  ------------  ------------  ------------  "       \
    "------------  \n"
#define TITLES                                                                                     \
    "          Name    Self CPU %      Self CPU      CUDA Mem  Self CUDA Mem  CPU time avg    "    \
    "# of Calls  \n"
#define HEAD RULE TITLES RULE
#define ROW                                                                                        \
    "   aten::empty        -1.50%       1.250ms       1.50 MB         -12 B       2.000us      "   \
    "       7  \n"
#define TOTALS "Self CPU time total: 2.000s\nSelf CUDA time total: 3.500us\n"

START_TEST(tables)
{
    told_check(read_all, HEAD ROW RULE TOTALS,
               "aten::empty 7 1250000,0,0,0,0,0,-12,1572864; = 1 CUDA 2000000000 3500 0xc1 ");
    told_check(read_all, "words\n" HEAD RULE "Self CPU time total: 0.000us\nwords\n" HEAD ROW RULE,
               "= 2 CUDA 0 -1 0xc1 aten::empty 7 1250000,0,0,0,0,0,-12,1572864; "
               "= 8 CUDA -1 -1 0xc1 ");
    told_check(read_all, "no table\n----\n", "");
}
END_TEST

/* The spellings of torch 1.4, and a table with shapes and the source. */
START_TEST(columns)
{
    told_check(read_all,
               "----------  ---------------  ---------------  ---------------  ---------------\n"
               "      Name  Self CPU total %   Self CPU total    CPU Mem Total  Number of Calls\n"
               "----------  ---------------  ---------------  ---------------  ---------------\n"
               "       mul           NaN            1.000s          2.00 Kb                3\n"
               "----------  ---------------  ---------------  ---------------  ---------------\n",
               "mul 3 1000000000,0,0,0,0,2048,0,0; = 1  -1 -1 0x21 ");
    told_check(
        read_all,
        "------------  ----------  ------------  ------------  ----------------  ------  \n"
        "        Name  Overload Name    Self CPU      # of Calls      Input Shapes  "
        "Source Location  \n"
        "------------  ----------  ------------  ------------  ----------------  ------  \n"
        "   \xc3\xa4ten::add      Tensor       1.000us             2  [[2, 3], [4, 5]]  a.py(1)  \n"
        "                                                                        b.py(2)\n"
        "                                                                            \n"
        "------------  ----------  ------------  ------------  ----------------  ------  \n",
        "\xc3\xa4ten::add.Tensor [[2, 3], [4, 5]] 2 1000,0,0,0,0,0,0,0; = 1  -1 -1 0x1 ");
}
END_TEST

static void check_cell(const char *good, const char *bad, const char *wanted)
{
    char row[] = ROW, text[2048];
    char *at = strstr(row, good);
    ck_assert(at != NULL && strlen(good) == strlen(bad));
    memcpy(at, bad, strlen(bad));
    snprintf(text, sizeof(text), "%s%s%s", HEAD, row, RULE);
    told_check_refused(read_all, text, wanted);
}

START_TEST(bad_cells)
{
    check_cell("-1.50%", "-1.x0%", "line 4: expected a percentage, found '-1.x0%'");
    check_cell("1.250ms", "1.250xs", "line 4: expected a time such as '1.250ms', found '1.250xs'");
    check_cell("1.50 MB", "1.50 ZB", "line 4: expected a size such as '12.50 MB', found '1.50 ZB'");
    check_cell("-12 B", "-12 b", "line 4: expected a unit such as 'MB', as above, found '-12 b'");
    check_cell("  7  ", " 7.5 ", "line 4: expected a number of calls, found '7.5'");
    check_cell("2.000us             7  ", "                       ",
               "line 4: expected a time such as '1.250ms', found nothing");
    told_check_refused(read_all, HEAD ROW RULE "Self CPU time total: many\n",
                       "line 6: expected a time such as '1.250ms', found 'many'");
}
END_TEST

START_TEST(bad_tables)
{
    told_check_refused(read_all, "\n" HEAD ROW, "line 2: the table that begins here is cut off");
    told_check_refused(read_all, RULE TITLES, "line 1: the table that begins here is cut off");
    told_check_refused(read_all, RULE TITLES ROW,
                       "line 3: expected a line of dashes below the titles, found '   "
                       "aten::empty        -1.50%       1.250ms       1.50 MB    '");
    told_check_refused(read_all,
                       "----------  ---------------\n      Name         Self CPU          Beauty\n",
                       "line 2: expected the title of a column of torch.profiler, found 'Beauty'");
    told_check_refused(read_all,
                       "----------  ---------------\n      Name  Self CPU        Self CPU %\n",
                       "line 2: expected 2 titles, as the line above has columns, found 3");
}
END_TEST

TCase *run_operators_tests(void)
{
    TCase *tests = tcase_create("operators");
    tcase_add_test(tests, tables);
    tcase_add_test(tests, columns);
    tcase_add_test(tests, bad_cells);
    tcase_add_test(tests, bad_tables);
    return tests;
}
