#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "render/plot/svg_polygon.h"
#include "render/plot/svg_titles.h"

#define RED   0xFF0000
#define GREEN 0x00FF00

static void note(FILE *notes, unsigned colour, size_t points, double x, double y, const char *title)
{
    struct svg_shape shape = {colour, points, {x, x}, {y, colour == RED ? y - 80 : y - 59.5}};
    struct buffer text = BUFFER_INIT;
    struct error err;
    buffer_puts(&text, title);
    ck_assert(svg_titles_note(notes, &shape, &text, &err));
    buffer_release(&text);
}

/* The SVG with titles added; to be freed. */
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

/* Large enough to be drawn each by itself. */
#define FIRST                                                                                      \
    "\t\t<polygon fill = 'rgb(255, 0, 0)' points = '1.00,90.00 51.00,90.00 51.00,10.00 "           \
    "1.00,10.00 "                                                                                  \
    "'/>"
#define FIRST_PATH "\t\t<path fill=\"#ff0000\" d=\"M1 90h50v-80h-50z\""
#define SECOND                                                                                     \
    "<polygon fill = 'rgb(  0, 255,   0)' points = '2.00,90.00 92.25,90.00\n92.25,30.50 "          \
    "2.00,30.50 "                                                                                  \
    "'/>"
#define SECOND_PATH "\t\t<path fill=\"#00ff00\" d=\"M2 90h90.25v-59.5h-90.25z\""

START_TEST(test_each_gets_its_own)
{
    FILE *notes = begin();
    note(notes, RED, 4, 1, 90, "first \"<&\nline");
    note(notes, GREEN, 4, 2, 90, "second");
    char *svg = added(notes, "<title>Gnuplot</title>\n" FIRST "\n<path/>\n" SECOND "\n</svg>\n");
    ck_assert_ptr_nonnull(strstr(svg, "<title>a &#60;title&#62;&#10;&#38;</title>\n"));
    ck_assert_ptr_nonnull(strstr(svg, FIRST_PATH
                                 " pointer-events=\"all\"><title>first &#34;&#60;&#38;&#10;line"
                                 "</title></path>\n<path/>"));
    ck_assert_ptr_nonnull(
        strstr(svg, SECOND_PATH " pointer-events=\"all\"><title>second</title></path>\n</svg>\n"));
    free(svg);
}
END_TEST

/* A shape of another colour, place or number of points gets no title. The note waits for its own
 * shape. */
START_TEST(test_no_other_gets_it)
{
    static const struct {
        unsigned colour;
        size_t points;
        double x, y;
    } wrong[] = {{GREEN, 4, 1, 90}, {RED, 5, 1, 90}, {RED, 4, 1.2, 90}, {RED, 4, 1, 90.2}};
    for (size_t i = 0; i < 4; i++) {
        FILE *notes = begin();
        note(notes, wrong[i].colour, wrong[i].points, wrong[i].x, wrong[i].y, "never");
        note(notes, GREEN, 4, 2, 90, "behind it");
        char *svg = added(notes, FIRST "\n" SECOND "\n");
        ck_assert_str_eq(svg, FIRST_PATH "/>\n" SECOND_PATH "/>\n");
        free(svg);
    }
}
END_TEST

START_TEST(test_skips_what_is_not_noted)
{
    FILE *notes = begin();
    note(notes, GREEN, 4, 2, 90, "second");
    char *svg = added(notes, FIRST "\n" SECOND "\n" SECOND "\n");
    ck_assert_ptr_eq(strstr(svg, FIRST_PATH "/>\n"), svg);
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
                                      "<polygon fill = 'rgb(1,2,3)' points = ''/>",
                                      "<polygon fill = 'rgb(1,2,3)' points = '1,2 3e99,4 5,6 '/>"};
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
    note(notes, RED, 4, 1, 90, text);
    note(notes, GREEN, 4, 2, 90, text);
    char *svg = added(notes, FIRST "\n" SECOND "\n</svg>\n");
    char *title = strstr(svg, "<title>xxx");
    ck_assert_ptr_nonnull(title);
    ck_assert_ptr_null(strstr(title + 1, "<title>"));
    ck_assert_ptr_nonnull(strstr(svg, SECOND_PATH "/>\n</svg>\n"));
    free(svg);
    free(text);
}
END_TEST

/* The path of a polygon of these points. */
static char *path_of(const char *points)
{
    char line[400];
    snprintf(line, sizeof(line), "<polygon fill = 'rgb(1, 2, 3)' points = '%s '/>", points);
    struct svg_polygon polygon = {0};
    struct buffer path = BUFFER_INIT;
    ck_assert(svg_polygon_read(&polygon, line));
    svg_polygon_path(&polygon, &path);
    svg_polygon_release(&polygon);
    return path.bytes;
}

START_TEST(test_paths)
{
    static const struct {
        const char *points, *path;
    } cases[] = {
        {"1.00,2.00 3.00,2.00 5.00,2.00 5.00,1.50 5.00,1.00 1.00,1.00", "M1 2h4v-1h-4z"},
        {"0.00,0.00 0.00,0.00 0.07,0.00 0.07,-0.30 0.00,-0.30", "M0 0h0.07v-0.3h-0.07z"},
        {"1.00,1.00 2.00,3.00 4.50,2.00 1.00,1.00", "M1 1l1 2l2.5-1l-3.5-1z"},
        {"-5.00,4.00 -5.00,9.00 -5.00,6.00 -4.00,6.00", "M-5 4v2h1z"},
    };
    for (size_t i = 0; i < 4; i++) {
        char *path = path_of(cases[i].points);
        ck_assert_str_eq(path, cases[i].path);
        free(path);
    }
}
END_TEST

/* Thin and small shapes are merged into one path for each colour, behind the others and before
 * later output. */
START_TEST(test_slivers_become_one)
{
    static const char thin[] =
        "<polygon fill = 'rgb(9, 9, 9)' points = '0,0 500,0 500,0.5 0,0.5 '/>\n";
    static const char small[] = "<polygon fill = 'rgb(9, 9, 9)' points = '0,7 3,7 3,9 0,9 '/>\n";
    static const char other[] = "<polygon fill = 'rgb(8, 8, 8)' points = '5,7 8,7 8,9 5,9 '/>\n";
    char all[1000];
    snprintf(all, sizeof(all), "%s%s%s" FIRST "\n</g>\n%s", thin, other, small, other);
    char *svg = added(begin(), all);
    ck_assert_str_eq(svg, FIRST_PATH
                     "/>\n"
                     "\t\t<path fill=\"#090909\" d=\"M0 0h500v0.5h-500zM0 7h3v2h-3z\"/>\n"
                     "\t\t<path fill=\"#080808\" d=\"M5 7h3v2h-3z\"/>\n"
                     "</g>\n"
                     "\t\t<path fill=\"#080808\" d=\"M5 7h3v2h-3z\"/>\n");
    free(svg);
}
END_TEST

/* An area may come in parts; one in another colour, or elsewhere, is none of it. */
START_TEST(test_areas)
{
    static const struct svg_shape red = {RED, 0, {0, 60}, {0, 100}},
                                  green = {GREEN, 0, {0, 60}, {0, 100}};
    struct error err;
    struct buffer text = BUFFER_INIT;
    FILE *notes = begin();
    buffer_puts(&text, "red");
    ck_assert(svg_titles_note(notes, &red, &text, &err));
    buffer_clear(&text);
    buffer_puts(&text, "green");
    ck_assert(svg_titles_note(notes, &green, &text, &err));
    buffer_release(&text);
    char *svg = added(notes, FIRST
                      "\n" FIRST "\n" SECOND "\n"
                      "<polygon fill = 'rgb(0, 255, 0)' points = '70,90 90,90 90,10 70,10 '/>\n");
    ck_assert_str_eq(svg,
                     FIRST_PATH " pointer-events=\"all\"><title>red</title></path>\n" FIRST_PATH
                                " pointer-events=\"all\"><title>red</title></path>\n" SECOND_PATH
                                " pointer-events=\"all\"><title>green</title></path>\n"
                                "\t\t<path fill=\"#00ff00\" d=\"M70 90h20v-80h-20z\"/>\n");
    free(svg);
}
END_TEST

/* Many colours, and a path that grows without end: none is lost. */
START_TEST(test_many_slivers)
{
    char *all = NULL;
    size_t size = 0, found = 0;
    FILE *out = open_memstream(&all, &size);
    for (unsigned i = 0; i < 5000; i++)
        fprintf(out, "<polygon fill = 'rgb(0, 0, %u)' points = '%u,0 %u,0 %u,1 '/>\n",
                i < 200 ? i : 200, i, i + 1, i + 1);
    fclose(out);
    char *svg = added(begin(), all);
    for (const char *at = svg; (at = strchr(at, 'M')); at++)
        found++;
    ck_assert_uint_eq(found, 5000);
    size_t paths = 0, longest = 0;
    for (char *line = strtok(svg, "\n"); line; line = strtok(NULL, "\n"), paths++)
        longest = strlen(line) > longest ? strlen(line) : longest;
    ck_assert_uint_lt(paths, 220);
    ck_assert_uint_lt(longest, 20000);
    free(svg);
    free(all);
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
    tcase_add_test(tests, test_paths);
    tcase_add_test(tests, test_slivers_become_one);
    tcase_add_test(tests, test_areas);
    tcase_add_test(tests, test_many_slivers);
    return tests;
}
