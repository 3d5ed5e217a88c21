#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "render/svg_titles.h"

#define RED   0xFF0000
#define GREEN 0x00FF00

static void note(FILE *notes, unsigned colour, size_t points, double x, double y, const char *title)
{
    struct svg_shape shape = {colour, points, {x, x}, {y, y - 10}};
    struct buffer text = BUFFER_INIT;
    struct error err;
    buffer_puts(&text, title);
    ck_assert(svg_titles_note(notes, &shape, &text, &err));
    buffer_release(&text);
}

/* What becomes of an SVG; to be freed. */
static char *added(FILE *notes, const char *svg)
{
    char *result = NULL;
    size_t size = 0;
    struct error err;
    FILE *in = fmemopen((void *)svg, strlen(svg), "r"), *out = open_memstream(&result, &size);
    rewind(notes);
    ck_assert(svg_titles_add(in, notes, out, &err));
    fclose(in);
    fclose(out);
    fclose(notes);
    return result;
}

static FILE *begin(void)
{
    struct error err;
    FILE *notes = tmpfile();
    ck_assert_ptr_nonnull(notes);
    ck_assert(svg_titles_begin(notes, "a <title>\n&", &err));
    return notes;
}

#define FIRST                                                                                      \
    "\t\t<polygon fill = 'rgb(255, 0, 0)' points = '1.00,20.00 5.00,20.00 5.00,10.00 1.00,10.00 "  \
    "'/>"
#define SECOND                                                                                     \
    "<polygon fill = 'rgb(  0, 255,   0)' points = '2.00,40.00 9.00,40.00\n9.00,30.00 2.00,30.00 " \
    "'/>"

START_TEST(test_each_gets_its_own)
{
    FILE *notes = begin();
    note(notes, RED, 4, 1, 20, "first \"<&\nline");
    note(notes, GREEN, 4, 2, 40, "second");
    char *svg = added(notes, "<title>Gnuplot</title>\n" FIRST "\n<path/>\n" SECOND "\n</svg>\n");
    ck_assert_ptr_nonnull(strstr(svg, "<title>a &#60;title&#62;&#10;&#38;</title>\n"));
    ck_assert_ptr_nonnull(
        strstr(svg, "1.00,10.00 ' pointer-events=\"all\"><title>first &#34;&#60;&#38;&#10;line"
                    "</title></polygon>\n<path/>"));
    ck_assert_ptr_nonnull(strstr(svg, "<title>second</title></polygon>\n</svg>\n"));
    free(svg);
}
END_TEST

/* Another colour, place or number of points: no title, and the note waits for its shape. */
START_TEST(test_no_other_gets_it)
{
    static const struct {
        unsigned colour;
        size_t points;
        double x, y;
    } wrong[] = {{GREEN, 4, 1, 20}, {RED, 5, 1, 20}, {RED, 4, 1.2, 20}, {RED, 4, 1, 20.2}};
    for (size_t i = 0; i < 4; i++) {
        FILE *notes = begin();
        note(notes, wrong[i].colour, wrong[i].points, wrong[i].x, wrong[i].y, "never");
        note(notes, GREEN, 4, 2, 40, "behind it");
        char *svg = added(notes, FIRST "\n" SECOND "\n");
        ck_assert_str_eq(svg, FIRST "\n" SECOND "\n");
        free(svg);
    }
}
END_TEST

START_TEST(test_skips_what_is_not_noted)
{
    FILE *notes = begin();
    note(notes, GREEN, 4, 2, 40, "second");
    char *svg = added(notes, FIRST "\n" SECOND "\n" SECOND "\n");
    ck_assert_ptr_eq(strstr(svg, FIRST "\n"), svg);
    char *title = strstr(svg, "<title>second");
    ck_assert_ptr_nonnull(title);
    ck_assert_ptr_null(strstr(title + 1, "<title>"));
    free(svg);
}
END_TEST

START_TEST(test_takes_out_those_of_gnuplot)
{
    FILE *notes = begin();
    char *svg = added(notes, "\t<g id=\"gnuplot_plot_2\" ><title>gnuplot_plot_2</title>\n<g>\n");
    ck_assert_str_eq(svg, "\t<g id=\"gnuplot_plot_2\"  pointer-events=\"none\">\n<g>\n");
    free(svg);
}
END_TEST

START_TEST(test_cut_short)
{
    static const char *const cut[] = {"<polygon ", "<polygon fill = 'rgb(1,2,3)' points = '1.0,",
                                      "<polygon fill = 'rgb(1,2,3)' points = ''/>", FIRST};
    for (size_t i = 0; i < 4; i++) {
        char *svg = added(tmpfile(), cut[i]);
        ck_assert_int_eq(strncmp(svg, cut[i], strlen(cut[i])), 0);
        free(svg);
    }
}
END_TEST

START_TEST(test_long_ones_are_left_out)
{
    const size_t size = (size_t)2 << 20;
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    FILE *notes = begin();
    note(notes, RED, 4, 1, 20, text);
    note(notes, GREEN, 4, 2, 40, text);
    char *svg = added(notes, FIRST "\n" SECOND "\n</svg>\n");
    char *title = strstr(svg, "<title>xxx");
    ck_assert_ptr_nonnull(title);
    ck_assert_ptr_null(strstr(title + 1, "<title>"));
    ck_assert_ptr_nonnull(strstr(svg, SECOND "\n</svg>\n"));
    free(svg);
    free(text);
}
END_TEST

TCase *svg_titles_tests(void)
{
    TCase *tests = tcase_create("svg_titles");
    tcase_add_test(tests, test_each_gets_its_own);
    tcase_add_test(tests, test_no_other_gets_it);
    tcase_add_test(tests, test_skips_what_is_not_noted);
    tcase_add_test(tests, test_takes_out_those_of_gnuplot);
    tcase_add_test(tests, test_cut_short);
    tcase_add_test(tests, test_long_ones_are_left_out);
    return tests;
}
