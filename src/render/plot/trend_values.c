/* The values of runs: their place, colour and words. */
#include <inttypes.h>

#include "render/plot/svg_titles.h"
#include "render/plot/trend_internal.h"

#define BLUE  0x0072B2
#define RED   0xCC0000
#define GREEN 0x008A5E

const struct plot_margins trend_margins = {90, 110, 110, 150, PLOT_TITLES};

unsigned trend_colour(const struct shown_run *run)
{
    return !run->is_jump ? BLUE : run->change > 0 ? RED : GREEN;
}

void trend_value_words(const struct picture *picture, int64_t value, char out[UNITS_TEXT_SIZE])
{
    if (picture->trend->unit == TREND_EVENTS)
        snprintf(out, UNITS_TEXT_SIZE, "%" PRId64, value);
    else
        units_bytes(out, value, UNIT_AUTO);
}

double trend_in_unit(const struct picture *picture, const struct trend_point *point)
{
    return (double)point->value / picture->unit;
}

void trend_put_hidden(FILE *out, const char *more)
{
    fprintf(out, "-1\t-1e300%s\n", more);
}
