#include "model/trend.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/trend/trend.h"
#include "base/units.h"
#include "render/core/escape.h"
#include "render/core/fit.h"
#include "render/plot/legend.h"
#include "render/plot/svg_titles.h"
#include "render/plot/trend_internal.h"

#define RUNS_MOST      500 /* runs that a picture shows */
#define RUNS_BEFORE    10  /* default: those whose median a run is compared with */
#define TICK_PIXELS    20  /* between names of runs */
#define NAME_LETTERS   20
#define COMMIT_LETTERS 10
#define POINT_PIXELS   4.5 /* half the side of a run's square */
#define HEADROOM       1.18

static bool judge(struct picture *picture, struct error *err)
{
    const struct trend *trend = picture->trend;
    picture->count = trend->count < RUNS_MOST ? trend->count : RUNS_MOST;
    picture->runs = calloc(picture->count + 1, sizeof(*picture->runs));
    if (!picture->runs)
        return error_out_of_memory(err);
    for (size_t i = 0, at = trend->count - picture->count; i < picture->count; i++, at++) {
        struct shown_run *run = &picture->runs[i];
        struct trend_jump jump;
        if (!trend_judge_at(trend, at, picture->before, &jump, err))
            return false;
        run->point = jump.newest;
        run->usual = jump.usual;
        if (!run->usual)
            continue;
        double usual = (double)run->usual->value, apart = (double)run->point->value - usual;
        run->change = apart == 0 ? 0 : usual > 0 ? apart / usual : apart > 0 ? INFINITY : -INFINITY;
        run->is_jump = run->change >= JUMP_LEAST || run->change <= -JUMP_LEAST;
    }
    return true;
}

/* The axis begins at 0, unless all values are so close to each other that nothing would be seen. */
static void scale(struct picture *picture)
{
    double most = 0, least = 0;
    bool is_first = true;
    for (size_t i = 0; i < picture->count; i++) {
        double value = (double)picture->runs[i].point->value;
        if (!picture->runs[i].point->is_known)
            continue;
        most = is_first || value > most ? value : most;
        least = is_first || value < least ? value : least;
        is_first = false;
    }
    picture->unit = 1;
    picture->unit_name = "events";
    if (picture->trend->unit != TREND_EVENTS)
        picture->unit = plot_unit(most > -least ? most : -least, &picture->unit_name);
    double span = most - least > 0.02 * most ? most - least : 0.02 * most;
    double from = least < 0 ? least * HEADROOM : span < 0.2 * least ? least - span : 0;
    picture->y_from = from / picture->unit;
    picture->y_top = (from + (most - from) * HEADROOM) / picture->unit;
    if (picture->y_top <= picture->y_from)
        picture->y_top = picture->y_from + 1;
}

/* Runs without the metric leave gaps. */
static void write_lines(const struct picture *picture)
{
    FILE *values = picture->job->files[TREND_VALUES], *medians = picture->job->files[TREND_MEDIANS];
    fputs("# run\tvalue\n", values);
    fputs("# run\tmedian of those before\n", medians);
    for (size_t i = 0; i < picture->count; i++) {
        const struct shown_run *run = &picture->runs[i];
        if (run->point->is_known)
            fprintf(values, "%zu\t%.9g\n", i + 1, trend_in_unit(picture, run->point));
        else
            fputs("\n", values);
        if (run->usual)
            fprintf(medians, "%zu\t%.9g\n", i + 1, trend_in_unit(picture, run->usual));
        else
            fputs("\n", medians);
    }
    trend_put_hidden(values, "");
    trend_put_hidden(medians, "");
}

static void point_words(const struct picture *picture, const struct shown_run *run,
                        struct buffer *title)
{
    char value[UNITS_TEXT_SIZE], usual[UNITS_TEXT_SIZE], when[40] = "";
    const struct trend_point *point = run->point;
    time_t time_s = (time_t)point->time_s;
    struct tm parts;
    trend_value_words(picture, point->value, value);
    buffer_add(title, point->name.bytes, point->name.size);
    if (point->commit.size > 0) {
        buffer_puts(title, " ");
        buffer_add(title, point->commit.bytes, point->commit.size);
    }
    svg_title_begin(title);
    buffer_printf(title, "\n%s", value);
    if (point->rank >= 0)
        buffer_printf(title, " in rank %" PRId64, point->rank);
    if (run->usual) {
        trend_value_words(picture, run->usual->value, usual);
        buffer_puts(title, "\n");
        if (isfinite(run->change))
            buffer_printf(title, "%+.1f%% ", 100 * run->change);
        buffer_printf(title, "against the median before, %s", usual);
    }
    if (gmtime_r(&time_s, &parts) && strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &parts) > 0)
        buffer_printf(title, "\nrun %" PRId64 ", stored %s UTC", point->run, when);
}

static bool note_point(const struct picture *picture, size_t i, double half, struct error *err)
{
    const struct plot_look *look = &picture->job->request->look;
    struct buffer title = BUFFER_INIT;
    double x = trend_margins.left +
               ((double)i + 0.5) * plot_graph_width(look, trend_margins) / (double)picture->count;
    double part = (trend_in_unit(picture, picture->runs[i].point) - picture->y_from) /
                  (picture->y_top - picture->y_from);
    double y = trend_margins.top + (1 - part) * plot_graph_height(look, trend_margins);
    point_words(picture, &picture->runs[i], &title);
    struct svg_box box = {trend_colour(&picture->runs[i]), x - half, x + half, y - half, y + half};
    bool ok = (!title.failed || error_out_of_memory(err)) &&
              svg_titles_note_box(picture->job->notes, &box, &title, err);
    buffer_release(&title);
    return ok;
}

/* A square for each run. */
static bool write_points(const struct picture *picture, struct error *err)
{
    const struct plot_look *look = &picture->job->request->look;
    FILE *out = picture->job->files[TREND_POINTS];
    double pitch = plot_graph_width(look, trend_margins) / (double)picture->count;
    double half = POINT_PIXELS < 0.4 * pitch ? POINT_PIXELS : 0.4 * pitch;
    double x_half = half / pitch;
    double y_half =
        half * (picture->y_top - picture->y_from) / plot_graph_height(look, trend_margins);
    bool ok = true;
    fputs("# run\tvalue\tleft\tright\tbottom\ttop\tcolour\n", out);
    for (size_t i = 0; ok && i < picture->count; i++) {
        const struct shown_run *run = &picture->runs[i];
        double x = (double)i + 1, y = trend_in_unit(picture, run->point);
        if (!run->point->is_known)
            continue;
        fprintf(out, "%zu\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%u\n", i + 1, y, x - x_half, x + x_half,
                y - y_half, y + y_half, trend_colour(run));
        ok = !picture->job->notes || note_point(picture, i, half, err);
    }
    trend_put_hidden(out, "\t-1\t-1\t-1e300\t-1e300\t0");
    return ok;
}

static bool put_tick(const struct picture *picture, size_t i, FILE *out, struct error *err)
{
    const struct trend_point *point = picture->runs[i].point;
    bool commit = picture->by_commit && point->commit.size > 0;
    struct text text = commit ? text_first(point->commit, COMMIT_LETTERS) : point->name;
    struct buffer escaped = BUFFER_INIT, name = BUFFER_INIT;
    escape_plot(&escaped, text.bytes, text.size, SIZE_MAX);
    if (escaped.size > 0 && !escaped.failed)
        text_fit(&name, escaped.bytes, escaped.size, NAME_LETTERS, CUT_START);
    bool ok = (!escaped.failed && !name.failed) || error_out_of_memory(err);
    if (ok)
        fprintf(out, "%zu\t%.*s\n", i + 1, (int)name.size, name.size > 0 ? name.bytes : "");
    buffer_release(&escaped);
    buffer_release(&name);
    return ok;
}

static bool write_ticks(struct picture *picture, struct error *err)
{
    FILE *out = picture->job->files[TREND_TICKS];
    double pitch =
        plot_graph_width(&picture->job->request->look, trend_margins) / (double)picture->count;
    size_t step = pitch < TICK_PIXELS ? (size_t)(TICK_PIXELS / pitch) + 1 : 1;
    const struct text first = picture->runs[0].point->name;
    bool ok = true;
    picture->by_commit = true;
    for (size_t i = 1; i < picture->count; i++)
        picture->by_commit = picture->by_commit && text_same(first, picture->runs[i].point->name);
    fputs("# run\tname\n", out);
    for (size_t i = (picture->count - 1) % step; ok && i < picture->count; i += step)
        ok = put_tick(picture, i, out, err);
    return ok;
}

static void newest_words(const struct picture *picture, struct buffer *out)
{
    char value[UNITS_TEXT_SIZE], usual[UNITS_TEXT_SIZE];
    const struct shown_run *newest = &picture->runs[picture->count - 1];
    buffer_printf(out, "%s: ", picture->trend->metric);
    if (!newest->point->is_known) {
        buffer_puts(out, "not known of the newest run");
        return;
    }
    trend_value_words(picture, newest->point->value, value);
    buffer_printf(out, "%s%s in the newest run", value,
                  picture->trend->unit == TREND_BYTES_A_STEP ? " a step" : "");
    if (newest->usual) {
        trend_value_words(picture, newest->usual->value, usual);
        if (isfinite(newest->change))
            buffer_printf(out, ", %+.1f%%", 100 * newest->change);
        buffer_printf(out, " against the median of the runs before, %s", usual);
    }
}

static bool put_words(const struct picture *picture, struct error *err)
{
    FILE *script = picture->job->files[TREND_SCRIPT];
    struct buffer words = BUFFER_INIT, note = BUFFER_INIT;
    char all[UNITS_TEXT_SIZE];
    newest_words(picture, &words);
    buffer_putc(&words, '\0');
    if (picture->count < picture->trend->count)
        buffer_printf(&note, "the newest %zu of %s runs; ", picture->count,
                      units_count(all, picture->trend->count));
    buffer_printf(&note,
                  "grey line: median of the %zu runs before; marked: from 5%% above (red) or below "
                  "it (green)",
                  picture->before);
    if (picture->y_from > 0)
        buffer_puts(&note, "; the axis does not begin at 0");
    buffer_putc(&note, '\0');
    bool ok = (!words.failed && !note.failed) || error_out_of_memory(err);
    if (ok)
        plot_put_words(script, &picture->job->request->look, trend_margins, words.bytes,
                       note.bytes);
    buffer_release(&words);
    buffer_release(&note);
    return ok;
}

static void put_axes(const struct picture *picture)
{
    FILE *script = picture->job->files[TREND_SCRIPT];
    char label[PLOT_TEXT];
    snprintf(label, sizeof(label), "%.80s, %s%s", picture->trend->metric, picture->unit_name,
             picture->trend->unit == TREND_BYTES_A_STEP ? " a step" : "");
    plot_put_text(script, "y_label", label, PLOT_TEXT);
    fprintf(script, "x_last = %zu\ny_from = %.9g\ny_top = %.9g\n", picture->count, picture->y_from,
            picture->y_top);
}

static bool draw(const struct plot_job *job, const struct trend *trend, struct error *err)
{
    size_t before = job->request->runs_before;
    struct picture picture = {.job = job, .trend = trend, .before = before ? before : RUNS_BEFORE};
    bool ok = judge(&picture, err);
    if (ok) {
        scale(&picture);
        plot_put_margins(job->files[TREND_SCRIPT], &job->request->look, trend_margins);
        put_axes(&picture);
        write_lines(&picture);
        trend_write_labels(&picture);
        ok = put_words(&picture, err) && write_points(&picture, err) && write_ticks(&picture, err);
    }
    free(picture.runs);
    return ok;
}

const struct plot_kind plot_kind_trend = {
    .name = "trend",
    .summary = "a metric over the runs of a history, and its jumps",
    .files = {"plot.gp", "values.tsv", "medians.tsv", "points.tsv", "labels.tsv", "ticks.tsv"},
    .templates = {"page.gp", "trend.gp"},
    .in_text = {"text-trend.gp"},
    .of_trend = draw,
};
