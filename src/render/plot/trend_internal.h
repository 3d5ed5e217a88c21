/* Shared by the files that draw a trend. Internal to render/plot. */
#ifndef MEMSNAP_RENDER_PLOT_TREND_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_TREND_INTERNAL_H

#include "base/units.h"
#include "model/trend.h"
#include "render/plot/kind.h"

#define JUMP_LEAST 0.05 /* of the median: marked from this on */

enum { TREND_SCRIPT, TREND_VALUES, TREND_MEDIANS, TREND_POINTS, TREND_LABELS, TREND_TICKS };

/* A run, and the median of those before it. */
struct shown_run {
    const struct trend_point *point;
    const struct trend_point *usual; /* has the median; NULL: not judged */
    double change; /* relative to the median, if it is judged; infinite if that is not positive */
    bool is_jump;
};

/* Nothing is owned but runs. */
struct picture {
    const struct plot_job *job;
    const struct trend *trend;
    struct shown_run *runs;
    size_t count, before;
    double unit, y_from, y_top;
    const char *unit_name;
    bool by_commit; /* the runs have the same name */
};

/* trend_values.c */
extern const struct plot_margins trend_margins;
unsigned trend_colour(const struct shown_run *run);
void trend_value_words(const struct picture *picture, int64_t value, char out[UNITS_TEXT_SIZE]);
double trend_in_unit(const struct picture *picture, const struct trend_point *point);
/* gnuplot complains of files without points. This one lies outside of the graph. */
void trend_put_hidden(FILE *out, const char *more);

/* trend_labels.c: the newest run, and the largest jumps. */
void trend_write_labels(const struct picture *picture);

#endif
