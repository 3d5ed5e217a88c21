/* The labels of runs. */
#include <math.h>
#include <string.h>

#include "render/plot/legend.h"
#include "render/plot/trend_internal.h"

#define LABELS_MOST 12
#define LABEL_LINE  17  /* pixels */
#define LABEL_WIDTH 150 /* about */

static double size_of_jump(const struct shown_run *run)
{
    return run->change < 0 ? -run->change : run->change;
}

/* False for a run that stays where the run before it jumped to. */
static bool begins_jump(const struct picture *picture, size_t i)
{
    const struct shown_run *run = &picture->runs[i], *before = run;
    if (!run->is_jump)
        return false;
    do
        if (before == picture->runs)
            return true;
    while (!(--before)->point->is_known);
    double apart = (double)run->point->value - (double)before->point->value;
    apart = run->change > 0 ? apart : -apart;
    return apart > 0 && apart >= JUMP_LEAST * (double)run->usual->value;
}

/* The runs with a label: the newest, and the largest jumps. Returns their number. */
static size_t choose_labels(const struct picture *picture, size_t chosen[LABELS_MOST])
{
    size_t count = 0, last = picture->count - 1;
    if (picture->runs[last].point->is_known)
        chosen[count++] = last;
    size_t first = count;
    for (size_t i = 0; i < last; i++) {
        double size = size_of_jump(&picture->runs[i]);
        if (!begins_jump(picture, i))
            continue;
        size_t at = count;
        while (at > first && size_of_jump(&picture->runs[chosen[at - 1]]) < size)
            at--;
        if (at == LABELS_MOST)
            continue;
        count += count < LABELS_MOST;
        memmove(&chosen[at + 1], &chosen[at], (count - at - 1) * sizeof(*chosen));
        chosen[at] = i;
    }
    return count;
}

static void put_run_label(const struct picture *picture, const struct plot_label *label, FILE *out)
{
    const struct shown_run *run = &picture->runs[label->of];
    char value[UNITS_TEXT_SIZE];
    trend_value_words(picture, run->point->value, value);
    fprintf(out, "%g\t%.9g\t%u\t%s", label->x, label->at, trend_colour(run), value);
    if (run->is_jump && isfinite(run->change))
        fprintf(out, ", %+.1f%%", 100 * run->change);
    fputs("\n", out);
}

/* Labels stand above their points, those of falls below. */
void trend_write_labels(const struct picture *picture)
{
    const struct plot_look *look = &picture->job->request->look;
    FILE *out = picture->job->files[TREND_LABELS];
    struct plot_label labels[LABELS_MOST];
    size_t chosen[LABELS_MOST], count = choose_labels(picture, chosen), above = 0;
    double line =
        LABEL_LINE * (picture->y_top - picture->y_from) / plot_graph_height(look, trend_margins);
    fputs("# run\theight of the label\tcolour\ttext\n", out);
    for (size_t i = 0; i < count; i++) {
        const struct shown_run *run = &picture->runs[chosen[i]];
        struct plot_label label = {
            .of = chosen[i], .x = (double)chosen[i] + 1, .y = trend_in_unit(picture, run->point)};
        label.at = label.y - 2 * line;
        if (run->is_jump && run->change < 0)
            put_run_label(picture, &label, out);
        else
            labels[above++] = label;
    }
    plot_spread(labels, above, line,
                LABEL_WIDTH * (double)picture->count / plot_graph_width(look, trend_margins));
    for (size_t i = 0; i < above; i++)
        put_run_label(picture, &labels[i], out);
    trend_put_hidden(out, "\t0\t.");
}
