#include <stdlib.h>

#include "render/plot/timeline_internal.h"

/* Makes the curves of what has no band. */
static bool make_curves(const struct plot_timeline *plot, const struct plot_groups *groups,
                        struct category_curves *curves, struct error *err)
{
    if (!group_curves_make(curves, plot->time.timeline, groups->of_lifetime, groups->of_preexisting,
                           plot->time.sampling, err))
        return false;
    for (size_t b = 0; b < plot->bands->count; b++) {
        const struct band *band = &plot->bands->items[b];
        group_curves_subtract(curves, plot_group_of(groups, band), band->size, band->begin, band->end);
    }
    return true;
}

static bool is_shown(const struct category_curves *curves, size_t group)
{
    const double *curve = category_curve(curves, group);
    for (size_t c = 0; c < curves->columns; c++)
        if (curve[c] > 0)
            return true;
    return false;
}

static void add_keys(const struct plot_timeline *plot, const struct plot_groups *groups,
                     const struct category_curves *curves, struct plot_legend *legend)
{
    bool used[CATEGORY_LIMIT] = {false};
    for (size_t b = 0; b < plot->bands->count; b++)
        used[plot_group_of(groups, &plot->bands->items[b])] = true;
    for (size_t i = CATEGORY_LIMIT; i-- > 0;) {
        size_t group = groups->order[i];
        if (groups->name[group] && (used[group] || is_shown(curves, group)))
            plot_legend_add(legend, groups->colour[group], groups->name[group], "");
    }
}

/* Each area reaches from 0 to its upper edge: the highest is drawn first, and bands above them all.
 */
static void write_areas(const struct plot_timeline *plot, const struct plot_scale *scale,
                        const struct category_curves *curves, const uint8_t *shown, size_t count,
                        FILE *out)
{
    const struct sampling *sampling = plot->time.sampling;
    fputs("# where\tup to each, from the highest\n", out);
    for (size_t c = 0; c < sampling->count; c++)
        for (size_t side = 0; side < 2; side++) {
            double top = (double)sampling->active[c];
            fprintf(out, "%.9g", sampling->edges[c + side] / scale->x_unit);
            for (size_t i = 0; i < count; i++) {
                fprintf(out, "\t%.7g", top / scale->y_unit);
                top -= category_curve(curves, shown[i])[c];
            }
            fputc('\n', out);
        }
}

bool plot_rest_write(const struct plot_timeline *plot, const struct plot_scale *scale,
                     const struct plot_groups *groups, struct plot_legend *legend, FILE *script,
                     FILE *out, struct error *err)
{
    struct category_curves curves = {0};
    uint8_t shown[CATEGORY_LIMIT];
    size_t count = 0;
    if (!make_curves(plot, groups, &curves, err))
        return false;
    for (size_t i = CATEGORY_LIMIT; i-- > 0;)
        if (is_shown(&curves, groups->order[i]))
            shown[count++] = groups->order[i];
    if (count == 0) /* gnuplot wants something to draw */
        shown[count++] = CATEGORY_COUNT;
    add_keys(plot, groups, &curves, legend);
    fprintf(script, "rests = %zu\narray rest_colour[%zu]\n", count, count + 1);
    for (size_t i = 0; i < count; i++)
        fprintf(script, "rest_colour[%zu] = 0x%06X\n", i + 1,
                plot_shade(groups->colour[shown[i]], 2));
    write_areas(plot, scale, &curves, shown, count, out);
    category_curves_release(&curves);
    return true;
}
