#include "render/plot_timeline.h"

#include <stdlib.h>

#include "base/units.h"
#include "render/plot_timeline_parts.h"

const char *const plot_colours[] = {"category", "site", "size", NULL};

static void put_subtitle(FILE *script, const struct plot_timeline *plot)
{
    char bands[UNITS_TEXT_SIZE], rest[UNITS_TEXT_SIZE], events[UNITS_TEXT_SIZE];
    const struct timeline *timeline = plot->time.timeline;
    units_count(events, timeline->trace->count);
    units_count(bands, plot->bands->count);
    units_count(rest, plot->bands->left_out);
    fprintf(script, "plot_subtitle = 'device %u, %s events; ", timeline->device, events);
    if (plot->bands->left_out)
        fprintf(script, "%s allocations with a band each, %s smaller or shorter ones in grey; ",
                bands, rest);
    else
        fprintf(script, "%s allocations with a band each; ", bands);
    fprintf(script, "colour: %s'\n", plot_colours[plot->colour]);
}

static bool write(const struct plot_timeline *plot, FILE *const files[], unsigned *colours,
                  struct error *err)
{
    struct plot_scale scale = plot_time_scale(&plot->time);
    struct plot_legend legend = {0};
    FILE *script = files[TIMELINE_SCRIPT];
    if (!plot_bands_colour(plot, colours, &legend, err))
        return false;
    put_subtitle(script, plot);
    plot_time_put(script, &plot->time, &scale);
    plot_legend_put(script, &legend, plot_time_height(&plot->time));
    plot_time_curves(files[TIMELINE_CURVES], &plot->time, &scale);
    plot_time_phases(files[TIMELINE_PHASES], &plot->time, &scale);
    plot_bands_write(files[TIMELINE_BANDS], plot, &scale, colours);
    return plot_band_labels_write(files[TIMELINE_LABELS], plot, &scale, colours, err);
}

bool plot_timeline_write(const struct plot_timeline *plot, FILE *const files[], struct error *err)
{
    unsigned *colours = calloc(plot->bands->count + 1, sizeof(*colours));
    bool ok = colours ? write(plot, files, colours, err)
                      : error_set(err, STATUS_LIMIT, "out of memory");
    free(colours);
    return ok;
}
