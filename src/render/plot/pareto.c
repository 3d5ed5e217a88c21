#include "render/plot/kind.h"
#include "render/plot/legend.h"
#include "render/suggest/parts.h"
#include "solve/advice/advice.h"

#define LABELS_MOST (ADVICE_KNEES + COMPARISON_POINTS + 1)
#define LABEL_LINE  17  /* pixels */
#define LABEL_WIDTH 420 /* about */
#define WIDE        1000
#define LEAST_ROOM                                                                                 \
    0.4 /* part of the axis that the front has at least: labels stand right of it                  \
         */

/* Characters of a line of the legend below a picture made of characters, and beside them. */
#define LEGEND_LEAST 20
#define LEGEND_FRAME 14

static const struct plot_margins margins = {90, 60, 110, 60, PLOT_TITLES};

enum { PARETO_SCRIPT, PARETO_FRONT, PARETO_LABELS };

/* Nothing is owned. */
struct plot_pareto {
    const struct plot_look *look;
    const struct problem *problem;
    const struct front_advice *advice;
};

enum mark { MARK_KNEE, MARK_LEAST, MARK_OTHER };

static const unsigned colours[] = {
    [MARK_KNEE] = 0xD55E00, [MARK_LEAST] = 0x0072B2, [MARK_OTHER] = 0x6E6E6E};

/* A point that has a label, in bytes and in the unit of the problem's time. */
struct named_point {
    int64_t peak_bytes, extra_time;
    enum mark mark;
    const char *what;
};

static double percent(const struct problem *problem, int64_t time)
{
    return 100 * problem_cost_share(problem, time);
}

/* Chooses the points that get a label; returns their number. */
static size_t choose(const struct front_advice *advice, struct named_point points[LABELS_MOST])
{
    const struct front *front = &advice->front;
    size_t count = 0;
    for (size_t i = 0; i < front->count && count < ADVICE_KNEES; i++)
        if (advice->knees[i])
            points[count++] = (struct named_point){front->points[i].peak_bytes,
                                                   front->points[i].extra_time, MARK_KNEE, "knee"};
    for (size_t k = 0; k < COMPARISON_POINTS; k++) {
        const struct comparison_point *point = &advice->comparison[k];
        points[count++] = (struct named_point){point->outcome.peak_bytes, point->outcome.extra_time,
                                               MARK_OTHER, suggest_comparison_remark(point->name)};
    }
    if (front->count > 1)
        points[count++] =
            (struct named_point){front->points[0].peak_bytes, front->points[0].extra_time,
                                 MARK_LEAST, "least with one level"};
    return count;
}

/* "knee: 724.00 MiB (42.0%), +19.4% compute". The last word is left out if there is little room;
 * the label of the axis says it too. */
static void describe(char out[PLOT_TEXT], const struct plot_pareto *plot,
                     const struct named_point *point)
{
    char size[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE], extra[UNITS_TEXT_SIZE];
    units_bytes(size, point->peak_bytes, UNIT_AUTO);
    page_share(share, point->peak_bytes, suggest_peak_without(plot->problem));
    if (point->extra_time > 0)
        snprintf(out, PLOT_TEXT, "%s: %.20s (%.8s), +%.8s%s", point->what, size, share,
                 suggest_extra(extra, plot->problem, point->extra_time),
                 plot->look->format == PLOT_DUMB || plot->look->width < WIDE ? ""
                 : plot->problem->timed                                      ? " compute"
                                                                             : " recomputed");
    else
        snprintf(out, PLOT_TEXT, "%s: %.20s (%.8s)", point->what, size, share);
}

static void write_labels(const struct plot_pareto *plot, const struct named_point *points,
                         size_t count, double unit, double x_last, double y_top, FILE *script,
                         FILE *out)
{
    struct plot_label labels[LABELS_MOST];
    const struct plot_look *look = plot->look;
    size_t most = PLOT_TEXT, columns = look->width / PLOT_CELL_WIDTH;
    if (look->format == PLOT_DUMB)
        most = columns > LEGEND_LEAST + LEGEND_FRAME ? columns - LEGEND_FRAME : LEGEND_LEAST;
    for (size_t i = 0; i < count; i++)
        labels[i] = (struct plot_label){.of = i,
                                        .x = percent(plot->problem, points[i].extra_time),
                                        .y = (double)points[i].peak_bytes / unit};
    plot_spread(labels, count, LABEL_LINE * y_top / plot_graph_height(look, margins),
                LABEL_WIDTH * x_last / plot_graph_width(look, margins));
    fprintf(script, "labels = %zu\narray label_text[%zu]\n", count, count);
    fputs("# more compute, %\tmemory\theight of the label\ttext\tcolour\n", out);
    for (size_t i = 0; i < count; i++) {
        const struct named_point *point = &points[labels[i].of];
        char text[PLOT_TEXT], variable[40];
        describe(text, plot, point);
        snprintf(variable, sizeof(variable), "label_text[%zu]", i + 1);
        plot_put_text(script, variable, text, most);
        fprintf(out, "%.7g\t%.7g\t%.7g\t%s\t%u\n", labels[i].x, labels[i].y, labels[i].at, text,
                colours[point->mark]);
    }
}

static void put_words(FILE *script, const struct plot_pareto *plot)
{
    char words[260], layers[UNITS_TEXT_SIZE];
    const struct problem *problem = plot->problem;
    snprintf(words, sizeof(words),
             "what one level of checkpoints does to activations and their gradients; %s layers "
             "to cut between; %s",
             units_count(layers, problem->chain.layers),
             problem->timed ? "100%: a step's forward and backward"
                            : "no times in the trace; 100%: all activations");
    plot_put_words(script, plot->look, margins, words,
                   "the points in bytes, and how to print their plans: memsnap suggest FILE");
}

static void put_axes(FILE *script, bool timed, double x_last, double y_top, const char *unit)
{
    fprintf(script, "x_last = %.7g\ny_top = %.7g\n", x_last, y_top);
    fprintf(script, "x_label = '%s, %%'\n",
            timed ? "compute on top of a step" : "recomputed activations");
    fprintf(script, "y_label = 'peak of activations and their gradients, %s'\n", unit);
}

static void write_all(const struct plot_pareto *plot, FILE *const files[])
{
    const struct front *front = &plot->advice->front;
    struct named_point points[LABELS_MOST];
    size_t count = choose(plot->advice, points);
    double most = 1, last = 0;
    for (size_t i = 0; i < count; i++) {
        double bytes = (double)points[i].peak_bytes,
               extra = percent(plot->problem, points[i].extra_time);
        most = bytes > most ? bytes : most;
        last = extra > last ? extra : last;
    }
    const char *name;
    double unit = plot_unit(most, &name);
    double room = 1 - LABEL_WIDTH / plot_graph_width(plot->look, margins);
    double x_last = last > 0 ? last / (room > LEAST_ROOM ? room : LEAST_ROOM) : 1;
    if (plot->look->format == PLOT_DUMB)
        x_last = last > 0 ? 1.05 * last : 1; /* its labels stand below */
    double y_top = most / unit * 1.2;
    plot_put_margins(files[PARETO_SCRIPT], plot->look, margins);
    put_words(files[PARETO_SCRIPT], plot);
    put_axes(files[PARETO_SCRIPT], plot->problem->timed, x_last, y_top, name);
    fputs("# more compute, %\tmemory\n", files[PARETO_FRONT]);
    for (size_t i = front->count; i-- > 0;)
        fprintf(files[PARETO_FRONT], "%.7g\t%.7g\n",
                percent(plot->problem, front->points[i].extra_time),
                (double)front->points[i].peak_bytes / unit);
    write_labels(plot, points, count, unit, x_last, y_top, files[PARETO_SCRIPT],
                 files[PARETO_LABELS]);
}

static bool draw(const struct plot_job *job, const struct problem *problem, struct budget *budget,
                 struct error *err)
{
    struct front_advice advice;
    if (!advise_front(problem, ADVICE_KNEES, 0, &advice, budget, err))
        return false;
    write_all(&(struct plot_pareto){&job->request->look, problem, &advice}, job->files);
    front_advice_release(&advice, budget);
    return true;
}

const struct plot_kind plot_kind_pareto = {
    .name = "pareto",
    .summary = "memory against extra compute of checkpoints, as in suggest",
    .files = {"plot.gp", "front.tsv", "labels.tsv"},
    .templates = {"page.gp", "pareto.gp"},
    .in_text = {"text-pareto.gp"},
    .of_model = draw,
};
