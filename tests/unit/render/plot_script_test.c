#include "render/plot/script.h"

#include <stdlib.h>
#include <string.h>

#include "unit/render/render.h"

static const char *const files[] = {"plot.gp", "bars.tsv", NULL};
static char *const templates[] = {(char *)"plot 'bars.tsv'\n", (char *)"plot sin(x)\n"};
static const struct plot_script_parts parts = {files, templates, 2};

/* The script made from settings, malloc'ed; NULL where they are refused. */
static char *script_of(const char *settings, size_t size, enum status *status)
{
    char *bytes = NULL;
    size_t written = 0;
    struct error err;
    FILE *in = tmpfile(), *script = open_memstream(&bytes, &written);
    fwrite(settings, 1, size, in);
    rewind(in);
    bool ok = plot_script_add(script, in, &parts, &err);
    fclose(script);
    fclose(in);
    *status = ok ? STATUS_OK : err.status;
    if (ok)
        return bytes;
    ck_assert_uint_eq(written, 0);
    free(bytes);
    return NULL;
}

static const struct {
    const char *settings, *script; /* NULL: the settings themselves */
} accepted[] = {
    {"", NULL},
    {"x = 1\n", NULL},
    {"x = -1.5e+06; left = 0x00FFCC\n", NULL},
    {"plot_title = 'system(x); $HOME @x {/=50 big} | cmd \u2026'\n", NULL},
    {"array key_text[3]\nkey_text[1] = ''; key_text[2] = 'b'\n", NULL},
    {"\nreset\nunset multiplot\n", NULL},
    {"bars_file = 'bars.tsv'\ntitle_font = ',16'\n", NULL},
    {"x = 1\ntemplate 1\ntemplate 0\ny = 2\n", "x = 1\nplot sin(x)\nplot 'bars.tsv'\ny = 2\n"},
};

START_TEST(settings_are_copied)
{
    const char *given = accepted[_i].settings, *expected = accepted[_i].script;
    enum status status;
    char *script = script_of(given, strlen(given), &status);
    ck_assert_ptr_nonnull(script);
    ck_assert_str_eq(script, expected ? expected : given);
    free(script);
}
END_TEST

/* Everything by which a script runs commands, reads or writes files, and how text could end. */
static const char *const refused[] = {
    "system('touch owned')\n",
    "system \"touch owned\"\n",
    "! touch owned\n",
    "shell\n",
    "!\n",
    "load 'other.gp'\n",
    "call 'other.gp'\n",
    "eval 'x = 1'\n",
    "set print '|touch owned'\n",
    "set output '|touch owned'\n",
    "set output 'owned'\n",
    "plot '< touch owned'\n",
    "cd '/'\n",
    "save 'owned'\n",
    "unset multiplot; system('touch owned')\n",
    "reset; load 'x'\n",
    "reset session\n",
    "# a comment\n",
    "#\\\n",
    /* values that are more than numbers and text */
    "x = system('touch owned')\n",
    "x = `touch owned`\n",
    "x = \"`touch owned`\"\n",
    "x = '`touch owned`'\n",
    "x = 'a' . system('b')\n",
    "x = 'a'.'b'\n",
    "x = 'a''b'\n",
    "x = 'a\n",
    "x = 'a\\'\n",
    "x = 'a\rsystem'\n",
    "x = '\x1b[2J'\n",
    "x = '\xff'\n",
    "x = '\"'\n",
    "x = '< touch owned'\n",
    "x = y\n",
    "x = @y\n",
    "x = 1 + 1\n",
    "x = 1; system('touch owned')\n",
    "x = 1;\n",
    "x = 1 ; y = 2\n",
    "x = nan\n",
    "x = inf\n",
    "x = 1e99999999\n",
    "x = -\n",
    "x = 0x\n",
    "x = 1.\n",
    "x = \n",
    "x =\n",
    "x\n",
    " x = 1\n",
    "x = 1",
    "x = 1 \\\n",
    "x(y) = system('touch owned')\n",
    "X = 1\n",
    "GPVAL_TERM = 1\n",
    "$data << end\n",
    "an_extraordinarily_long_name_of_a_variable = 1\n",
    /* places where gnuplot takes names of files and fonts */
    "bars_file = '< touch owned'\n",
    "bars_file = '|touch owned'\n",
    "bars_file = '/etc/passwd'\n",
    "bars_file = '../bars.tsv'\n",
    "bars_file = '-'\n",
    "title_font = 'x\" onload=alert(1)'\n",
    "title_font = 'Sans,16'\n",
    /* arrays */
    "x[1] = 2\n",
    "system[1] = 'touch owned'\n",
    "array x[1\n",
    "array x[999999999]\n",
    "array x[1] = [system('touch owned')]\n",
    "array x[system('a')]\n",
    "array x[3]\nx[y] = 1\n",
    "array x[3]\nx[1][1] = 1\n",
    /* templates */
    "template 2\n",
    "template -1\n",
    "template 00\n",
    "template\n",
    "template \n",
    "template 0; system('a')\n",
    "template /etc/passwd\n",
};

START_TEST(anything_else_is_refused)
{
    enum status status;
    char *script = script_of(refused[_i], strlen(refused[_i]), &status);
    ck_assert_ptr_null(script);
    ck_assert_int_eq(status, STATUS_IO);
}
END_TEST

/* A command after a valid setting is refused as well: the rest of the file is checked, too. */
START_TEST(it_is_refused_wherever_it_stands)
{
    char settings[256];
    enum status status;
    int size = snprintf(settings, sizeof(settings), "x = 1\ntemplate 0\n%s", refused[_i]);
    ck_assert_ptr_null(script_of(settings, (size_t)size, &status));
}
END_TEST

START_TEST(null_bytes_are_refused)
{
    static const char settings[] = "x = 1\0\nsystem('a')\n";
    enum status status;
    ck_assert_ptr_null(script_of(settings, sizeof(settings) - 1, &status));
    ck_assert_int_eq(status, STATUS_IO);
}
END_TEST

START_TEST(settings_are_bounded)
{
    size_t size = (size_t)3 << 20;
    char *settings = malloc(size);
    enum status status;
    memset(settings, '\n', size);
    ck_assert_ptr_null(script_of(settings, size, &status));
    ck_assert_int_eq(status, STATUS_LIMIT);
    free(settings);
}
END_TEST

TCase *plot_script_tests(void)
{
    TCase *tests = tcase_create("plot script");
    tcase_add_loop_test(tests, settings_are_copied, 0, sizeof(accepted) / sizeof(accepted[0]));
    tcase_add_loop_test(tests, anything_else_is_refused, 0, sizeof(refused) / sizeof(refused[0]));
    tcase_add_loop_test(tests, it_is_refused_wherever_it_stands, 0,
                        sizeof(refused) / sizeof(refused[0]));
    tcase_add_test(tests, null_bytes_are_refused);
    tcase_add_test(tests, settings_are_bounded);
    return tests;
}
