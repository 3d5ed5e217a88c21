/* The three pictures of predictions of `memsnap shard`. */
#ifndef MEMSNAP_RENDER_PLOT_SHARD_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_SHARD_INTERNAL_H

#include "analysis/category/category.h"
#include "model/shard_file.h"
#include "render/plot/kind.h"

/* Of plot_kind_shard. */
enum { SHARD_SCRIPT, SHARD_BOXES, SHARD_POINTS, SHARD_CURVES };

static const struct plot_margins shard_margins = {90, 250, 110, 64, PLOT_TITLES};

/* The kinds of memory, from the lowest in a stack to the highest. */
extern const struct shard_part {
    const char *name;
    enum category category;
} shard_parts[SHARD_FILE_PARTS];

/* All three write the settings and the data. Strategies side by side: a bar for each. */
bool shard_bars_draw(const struct plot_job *job, const struct shard_file *file, struct error *err);
/* The same with --curve: the memory along the step. */
bool shard_curves_draw(const struct plot_job *job, const struct shard_file *file,
                       struct error *err);
/* Sweep: the strategy that sends least among those that fit, by ranks and batch. */
bool shard_region_draw(const struct plot_job *job, const struct shard_file *file,
                       struct error *err);

/* The highest value of the axis, in bytes. `has_gpu`: the GPU's memory is shown; one that is many
 * times as large would make the rest too small to read. */
double shard_highest(const struct shard_file *file, bool *has_gpu);
bool shard_is_recommended(const struct shard_file *file, const struct shard_file_row *row);
/* The subtitle, which begins with the number of ranks, and the note. */
void shard_put_words(const struct plot_job *job, const struct shard_file *file, bool has_gpu,
                     const char *what);

/* gnuplot complains of files without points. This one lies outside of the graph. */
static inline void shard_put_hidden(FILE *out)
{
    fputs("-1\t-1\t-1\t-1\t-1\t-1\t0\n", out);
}

#endif
