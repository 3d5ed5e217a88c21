#include "commands/plot/bands.h"

bool plot_bands_make(struct bands *bands, struct band_shapes *shapes, const struct plot_time *time,
                     size_t wanted, struct error *err)
{
    double tolerance = plot_time_half_pixel(time);
    if (wanted > PLOT_BANDS)
        wanted = PLOT_BANDS;
    for (bool fits = false; !fits;) {
        bands_release(bands);
        if (!bands_choose(bands, time->timeline, time->sampling, wanted, err))
            return false;
        for (double coarse = 1; !fits && coarse <= 4; coarse *= 2)
            if (!band_shapes_make(shapes, bands, time->sampling, coarse * tolerance, PLOT_RUNS,
                                  &fits, err))
                return false;
        wanted = bands->count / 2; /* a single band is never too much */
    }
    return true;
}
