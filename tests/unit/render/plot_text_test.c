/* Text in pictures: fitting, and the placement of labels and legends. */
#include <stdlib.h>
#include <string.h>

#include "render/plot/legend.h"
#include "render/plot/plot.h"
#include "unit/render/render.h"

static const struct plot_look look = {
    .format = PLOT_SVG, .width = 800, .height = 450, .title = "title"};

/* The output of `put`, to be freed. */
static char *settings;
static size_t size;

static FILE *begin(void)
{
    free(settings);
    settings = NULL;
    return open_memstream(&settings, &size);
}

static size_t count_of(const char *text)
{
    size_t count = 0;
    for (const char *at = settings; (at = strstr(at, text)); at++)
        count++;
    return count;
}

static void put_legend(size_t keys, unsigned pixels)
{
    struct plot_legend legend = {0};
    FILE *script = begin();
    for (size_t i = 0; i < keys; i++)
        plot_legend_add(&legend, 0x123456, "name", "  1 MiB");
    plot_legend_put(script, &legend, pixels);
    fclose(script);
}

START_TEST(a_legend_fits_its_room)
{
    for (size_t keys = 0; keys < 200; keys += 7) {
        for (unsigned pixels = 0; pixels < 2000; pixels += 90) {
            size_t room = pixels / PLOT_KEY_LINE;
            put_legend(keys, pixels);
            size_t lines = count_of("; key_text[");
            ck_assert_uint_le(lines, room < 2 ? 2 : room);
            ck_assert_uint_le(lines, PLOT_KEYS_MOST);
            unsigned long more = 0;
            const char *last = strstr(settings, "'and ");
            if (last)
                more = strtoul(last + 5, NULL, 10);
            ck_assert_uint_eq(lines - (last != NULL) + more, keys);
        }
    }
}
END_TEST

START_TEST(a_legend_has_text_only)
{
    struct plot_legend legend = {0};
    FILE *script = begin();
    plot_legend_add(&legend, 0, "a';system('b')#`c`\n\"\\", "  2 MiB");
    plot_legend_put(script, &legend, 500);
    fclose(script);
    ck_assert_ptr_nonnull(
        strstr(settings, "key_text[1] = 'a\u2019;system(\u2019b\u2019)#\u2018c\u2018"));
    ck_assert_ptr_nonnull(strstr(settings, "  2 MiB'\n"));
    ck_assert_uint_eq(count_of("'"), 2);
}
END_TEST

START_TEST(a_long_name_leaves_the_remark_whole)
{
    struct plot_legend legend = {0};
    char name[1000];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    plot_legend_add(&legend, 0, name, "  123.45 MiB");
    ck_assert_uint_eq(legend.count, 1);
    ck_assert_uint_lt(strspn(legend.keys[0].text, "n"), PLOT_KEY_TEXT);
    ck_assert_ptr_nonnull(strstr(legend.keys[0].text, "\u2026  123.45 MiB"));
}
END_TEST

START_TEST(text_is_cut_at_a_space_that_fits)
{
    ck_assert_uint_eq(plot_fitting(&look, "two words", 13.4, 1000), 9);
    ck_assert_uint_eq(plot_fitting(&look, "two words", 13.4, 50), 3);
    ck_assert_uint_eq(plot_fitting(&look, "two words", 13.4, 1), 0);
    ck_assert_uint_gt(plot_fitting(&look, "mmmmmmmmmm", 13.4, 50), 2); /* a word is cut */
    ck_assert_uint_lt(plot_fitting(&look, "mmmmmmmmmm", 13.4, 50), 6);
    ck_assert_uint_gt(plot_fitting(&look, "iiiiiiiiii", 13.4, 50),
                      plot_fitting(&look, "mmmmmmmmmm", 13.4, 50));
    /* never within a character */
    for (double pixels = 0; pixels < 100; pixels += 1)
        ck_assert_uint_eq(plot_fitting(&look, "\u00e9\u00e9\u00e9\u00e9\u00e9", 13.4, pixels) % 2,
                          0);
}
END_TEST

START_TEST(what_a_line_has_no_room_for_goes_to_the_next)
{
    static const struct plot_margins margins = {.words = 110};
    FILE *script = begin();
    plot_put_words(script, &look, margins, "a subtitle of several words", "note");
    fclose(script);
    ck_assert_str_eq(settings,
                     "plot_subtitle = 'a subtitle of'\nplot_note = 'several words;\u2026'\n"
                     "note_colour = '#333333'\n");
    script = begin();
    plot_put_words(script, &look, margins, "a subtitle", "note");
    fclose(script);
    ck_assert_str_eq(settings,
                     "plot_subtitle = 'a subtitle'\nplot_note = 'note'\nnote_colour = '#666666'\n");
}
END_TEST

START_TEST(labels_do_not_cover_one_another)
{
    struct plot_label labels[40];
    const double line = 2, width = 10;
    size_t count = sizeof(labels) / sizeof(labels[0]);
    for (size_t i = 0; i < count; i++)
        labels[i] =
            (struct plot_label){.of = i, .x = (double)(i * 7 % 31), .y = (double)(i * 13 % 17) / 4};
    plot_spread(labels, count, line, width);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_ge(labels[i].at, labels[i].y + line);
        for (size_t k = 0; k < i; k++) {
            double beside = labels[i].x - labels[k].x, above = labels[i].at - labels[k].at;
            ck_assert((beside < 0 ? -beside : beside) >= width ||
                      (above < 0 ? -above : above) >= line);
        }
    }
}
END_TEST

static void release(void)
{
    free(settings);
    settings = NULL;
}

TCase *plot_text_tests(void)
{
    TCase *tests = tcase_create("plot text");
    tcase_add_checked_fixture(tests, NULL, release);
    tcase_add_test(tests, a_legend_fits_its_room);
    tcase_add_test(tests, a_legend_has_text_only);
    tcase_add_test(tests, a_long_name_leaves_the_remark_whole);
    tcase_add_test(tests, text_is_cut_at_a_space_that_fits);
    tcase_add_test(tests, what_a_line_has_no_room_for_goes_to_the_next);
    tcase_add_test(tests, labels_do_not_cover_one_another);
    return tests;
}
