/* The two pictures of predictions of `memsnap shard`. */
#ifndef MEMSNAP_RENDER_PLOT_SHARD_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_SHARD_INTERNAL_H

#include "model/shard_file.h"
#include "render/plot/kind.h"

/* Of plot_kind_shard. */
enum { SHARD_SCRIPT, SHARD_BOXES, SHARD_POINTS, SHARD_CURVES };

static const struct plot_margins shard_margins = {90, 250, 110, 64, PLOT_TITLES};

/* Both write the settings and the data. Side by side: a bar for each strategy. */
bool shard_bars_draw(const struct plot_job *job, const struct shard_file *file, struct error *err);
/* Sweep: the strategy that sends least among those that fit, by ranks and batch. */
bool shard_region_draw(const struct plot_job *job, const struct shard_file *file,
                       struct error *err);

/* gnuplot complains of files without points. This one lies outside of the graph. */
static inline void shard_put_hidden(FILE *out)
{
    fputs("-1\t-1\t-1\t-1\t-1\t-1\t0\n", out);
}

#endif
