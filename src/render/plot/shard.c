#include "render/plot/shard_internal.h"

static bool draw(const struct plot_job *job, const struct shard_file *file, struct error *err)
{
    FILE *script = job->files[SHARD_SCRIPT];
    plot_put_margins(script, &job->request->look, shard_margins);
    fprintf(script, "is_region = %d\n", file->is_sweep);
    return (file->is_sweep ? shard_region_draw : shard_bars_draw)(job, file, err);
}

const struct plot_kind plot_kind_shard = {
    .name = "shard",
    .summary = "predictions of memsnap shard: peaks, or which strategy fits where",
    .files = {"plot.gp", "boxes.tsv", "points.tsv", "curves.tsv"},
    .templates = {"page.gp", "shard.gp"},
    .in_text = {"text-shard.gp"},
    .of_shard = draw,
};
