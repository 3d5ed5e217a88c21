#include "render/plot_timeline.h"

#include <stdlib.h>

#include "base/units.h"
#include "render/plot_timeline_parts.h"

const char *const plot_colours[] = {"category", "site", "size", NULL};

static void subtitle(const struct plot_timeline *plot, struct buffer *out)
{
    char bands[UNITS_TEXT_SIZE], rest[UNITS_TEXT_SIZE], events[UNITS_TEXT_SIZE];
    const struct timeline *timeline = plot->time.timeline;
    buffer_printf(out, "device %u, %s events; %s allocations with a band each", timeline->device,
                  units_count(events, timeline->trace->count),
                  units_count(bands, plot->bands->count));
    if (plot->bands->left_out)
        buffer_printf(out, ", %s smaller or shorter ones in grey",
                      units_count(rest, plot->bands->left_out));
    buffer_printf(out, "; colour: %s", plot_colours[plot->colour]);
}

static bool write(const struct plot_timeline *plot, FILE *const files[], unsigned *colours,
                  struct error *err)
{
    struct plot_scale scale = plot_time_scale(&plot->time);
    struct plot_legend legend = {0};
    FILE *script = files[TIMELINE_SCRIPT];
    if (!plot_bands_colour(plot, colours, &legend, err))
        return false;
    struct buffer text = BUFFER_INIT;
    subtitle(plot, &text);
    plot_time_put(script, &plot->time, &scale, text.failed ? "" : text.bytes);
    buffer_release(&text);
    plot_legend_put(script, &legend, plot_time_height(&plot->time));
    plot_time_curves(files[TIMELINE_CURVES], &plot->time, &scale);
    plot_time_phases(files[TIMELINE_PHASES], &plot->time, &scale);
    plot_bands_write(files[TIMELINE_BANDS], plot, &scale, colours);
    return plot_band_labels_write(files[TIMELINE_LABELS], plot, &scale, colours, err) &&
           (!plot->notes || plot_band_titles_write(plot->notes, plot, &scale, colours, err));
}

bool plot_timeline_write(const struct plot_timeline *plot, FILE *const files[], struct error *err)
{
    unsigned *colours = calloc(plot->bands->count + 1, sizeof(*colours));
    bool ok =
        colours ? write(plot, files, colours, err) : error_set(err, STATUS_LIMIT, "out of memory");
    free(colours);
    return ok;
}
