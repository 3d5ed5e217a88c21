/* The bars of the picture of iterations. */
#ifndef MEMSNAP_RENDER_PLOT_ITERATIONS_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_ITERATIONS_INTERNAL_H

#include "analysis/run/report.h"
#include "base/buffer.h"
#include "render/plot/kind.h"

/* The figures that a bar shows, from the lowest part to the highest. */
enum iterations_layer { LAYER_END, LAYER_PEAK, LAYER_RESERVED, LAYERS };

/* A rank in a call. If there are too many, a bar stands for several and shows the highest. */
struct iterations_bar {
    const struct run_row *row;
    size_t count;
    int64_t bytes[LAYERS]; /* 0: not known */
};

/* The struct owns the bars. */
struct iterations {
    const struct run_report *report;
    const struct plot_look *look;
    FILE *const *files;
    FILE *notes; /* or NULL */
    struct iterations_bar *bars;
    size_t count, calls;
    double most; /* the highest bar, bytes */
};

/* Makes at most `most` bars, sorted by call, then by rank. If there are too many, a bar stands for
 * all ranks of a call; if there are still too many, for several calls. The caller releases
 * plot->bars, also on failure. */
bool iterations_make_bars(struct iterations *plot, size_t most, struct error *err);

/* "rank 1, training_step 2", and the figures from the start of the call to its end: raw bytes. */
bool iterations_describe(const struct iterations *plot, const struct iterations_bar *bar,
                         struct buffer *out, struct error *err);

#endif
