/* Complete pictures of a snapshot: tests their settings and data, not their appearance. */
#include "render/plot/kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/replay/replay.h"
#include "render/plot/script.h"
#include "render/plot/snapshot.h"
#include "render/plot/timeline.h"
#include "unit/analysis/capture.h"
#include "unit/render/render.h"

#define KIND_ADDRESS(name) &plot_kind_##name,
static const struct plot_kind *const kinds[] = {PLOT_KINDS(KIND_ADDRESS)};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A name that would end a string, run a command, end a line and steer a terminal. */
#define HOSTILE                                                                                    \
    PY("f';system('a')#`touch owned`\\u001b[2J\\n\\\"\\\\\\u202e<b>&@x",                           \
       "/home/u/m\\t';`touch owned`.py", 7)

static struct capture capture;
static const struct replay_options replay;
static struct plot_request request;
static struct plot_job job;
static struct error err;

static void create(void)
{
    capture_init(&capture);
    request = (struct plot_request){
        .look = {.kind = "kind", .format = PLOT_SVG, .width = 1600, .height = 900, .title = "t"},
        .replay = &replay};
    job = (struct plot_job){.request = &request};
}

static void destroy(void)
{
    for (size_t i = 0; i < PLOT_FILES_MOST; i++)
        if (job.files[i])
            fclose(job.files[i]);
    capture_release(&capture);
}

/* Writes settings and data to job.files, and goes back to their beginnings. */
static void draw(const struct plot_kind *kind)
{
    capture_load(&capture);
    struct plot_snapshot snapshot = {
        .timeline = capture.timeline, .sites = capture.sites, .symbols = capture.snapshot->symbols};
    for (size_t i = 0; kind->files[i]; i++)
        job.files[i] = tmpfile();
    ck_assert_msg(kind->of_snapshot(&job, &snapshot, &err), "%s: %s", kind->name, err.text);
    plot_snapshot_release(&snapshot);
    for (size_t i = 0; kind->files[i]; i++)
        rewind(job.files[i]);
}

static size_t index_of(const struct plot_kind *kind, const char *file)
{
    size_t i = 0;
    while (strcmp(kind->files[i], file) != 0)
        ck_assert_ptr_nonnull(kind->files[++i]);
    return i;
}

/* Allocations of several sizes and call sites, some of which are freed. */
static void fill_capture(const char *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t size = (uint64_t)(1 + i % 7) << 20;
        capture_event(&capture, "alloc", (1 + i) << 24, size, i % 2 ? frames : STACK_FORWARD);
        if (i % 3 == 0)
            capture_free(&capture, (1 + i) << 24, size, STACK_BACKWARD);
        else
            capture_block(&capture, (1 + i) << 24, size, i % 2 ? frames : STACK_FORWARD);
    }
}

/* The sum of the areas of polygons, one line a point and a blank line between two. */
static double area_of(FILE *file, size_t *polygons)
{
    char line[256];
    double sum = 0, area = 0, x[2] = {0}, y[2] = {0}, first_x = 0, first_y = 0;
    bool begun = false;
    *polygons = 0;
    while (fgets(line, sizeof(line), file)) {
        if (*line == '#')
            continue;
        if (*line == '\n') {
            sum += fabs(area + x[0] * first_y - first_x * y[0]) / 2;
            area = 0;
            begun = false;
            ++*polygons;
            continue;
        }
        ck_assert_int_eq(sscanf(line, "%lf %lf", &x[1], &y[1]), 2);
        if (begun) {
            area += x[0] * y[1] - x[1] * y[0];
        } else {
            first_x = x[1];
            first_y = y[1];
        }
        begun = true;
        x[0] = x[1];
        y[0] = y[1];
    }
    return sum;
}

/* The area below a curve of steps in column 2, and the largest x. */
static double area_below(FILE *file)
{
    char line[256];
    double area = 0, x[2], y[2];
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), file)); /* the names of the columns */
    while (fscanf(file, "%lf %lf %*[^\n] %lf %lf %*[^\n]", &x[0], &y[0], &x[1], &y[1]) == 4) {
        ck_assert_double_eq(y[0], y[1]);
        area += (x[1] - x[0]) * y[0];
    }
    return area;
}

START_TEST(bands_of_all_allocations_fill_the_curve)
{
    size_t bands;
    fill_capture(STACK_LOSS, 60);
    draw(&plot_kind_timeline);
    double area = area_of(job.files[index_of(&plot_kind_timeline, "bands.tsv")], &bands);
    double below = area_below(job.files[index_of(&plot_kind_timeline, "curves.tsv")]);
    ck_assert_uint_eq(bands, 60);
    ck_assert_double_gt(below, 1);
    ck_assert_double_eq_tol(area, below, below * 1e-5);
}
END_TEST

START_TEST(as_many_bands_are_drawn_as_asked_for)
{
    size_t bands;
    fill_capture(STACK_LOSS, 60);
    request.bands = 5;
    draw(&plot_kind_timeline);
    double area = area_of(job.files[index_of(&plot_kind_timeline, "bands.tsv")], &bands);
    double below = area_below(job.files[index_of(&plot_kind_timeline, "curves.tsv")]);
    ck_assert_uint_eq(bands, 5);
    ck_assert_double_lt(area, below / 2);
}
END_TEST

/* A trace of more allocations than an SVG has room for. */
START_TEST(bands_stay_below_what_a_picture_can_hold)
{
    size_t bands;
    for (uint64_t i = 0; i < 20000; i++)
        capture_event(&capture, "alloc", (1 + i) << 12, 4096, "");
    request.bands = 20000;
    draw(&plot_kind_timeline);
    area_of(job.files[index_of(&plot_kind_timeline, "bands.tsv")], &bands);
    ck_assert_uint_ge(bands, 1000);
    ck_assert_uint_le(bands, PLOT_BANDS);
}
END_TEST

/* The data and scripts have no character that ends a text. */
static void check_bytes(FILE *file, const char *kind, const char *name)
{
    int previous = '\n';
    bool is_settings = strcmp(name, "plot.gp") == 0;
    for (int c; (c = fgetc(file)) != EOF; previous = c) {
        bool is_control = (c < ' ' && c != '\n' && (c != '\t' || is_settings)) || c == 0x7f;
        ck_assert_msg(!is_control && !strchr("`\"\\<>&", c), "%s: %s has '%c'", kind, name, c);
        ck_assert_msg(c != '\'' || is_settings, "%s: %s has a quote", kind, name);
    }
    ck_assert_msg(previous == '\n', "%s: %s does not end with a line", kind, name);
}

START_TEST(names_are_nothing_but_text)
{
    static const enum plot_format formats[] = {PLOT_SVG, PLOT_DUMB};
    const struct plot_kind *kind = kinds[_i / 2];
    static char *const templates[PLOT_TEMPLATES_MOST] = {
        (char *)"", (char *)"", (char *)"", (char *)"", (char *)"", (char *)"", (char *)""};
    const struct plot_script_parts parts = {kind->files, templates, PLOT_TEMPLATES_MOST};
    request.look.format = formats[_i % 2];
    if (!kind->of_snapshot || (request.look.format == PLOT_DUMB && !kind->in_text[0]))
        return;
    request.colour = COLOUR_SITE;
    fill_capture(HOSTILE, 20);
    draw(kind);
    FILE *script = tmpfile();
    ck_assert_msg(plot_script_add(script, job.files[0], &parts, &err), "%s: %s", kind->name,
                  err.text);
    fclose(script);
    rewind(job.files[0]);
    for (size_t i = 0; kind->files[i]; i++)
        check_bytes(job.files[i], kind->name, kind->files[i]);
}
END_TEST

TCase *plot_kinds_tests(void)
{
    TCase *tests = tcase_create("plot kinds");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, bands_of_all_allocations_fill_the_curve);
    tcase_add_test(tests, as_many_bands_are_drawn_as_asked_for);
    tcase_add_test(tests, bands_stay_below_what_a_picture_can_hold);
    tcase_add_loop_test(tests, names_are_nothing_but_text, 0, 2 * KINDS);
    return tests;
}
