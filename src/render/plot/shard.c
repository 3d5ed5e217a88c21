#include "render/plot/shard_internal.h"

static bool draw(const struct plot_job *job, const struct shard_file *file, struct error *err)
{
    FILE *script = job->files[SHARD_SCRIPT];
    plot_put_margins(script, &job->request->look, shard_margins);
    bool has_curves = !file->is_sweep;
    for (size_t i = 0; i < file->count; i++)
        has_curves = has_curves && file->rows[i].column_count > 0;
    fprintf(script, "is_region = %d\nhas_curves = %d\n", file->is_sweep, has_curves);
    if (has_curves)
        return shard_curves_draw(job, file, err);
    return (file->is_sweep ? shard_region_draw : shard_bars_draw)(job, file, err);
}

const struct plot_kind plot_kind_shard = {
    .name = "shard",
    .summary = "predictions of memsnap shard: peaks, curves, largest batches",
    .files = {"plot.gp", "boxes.tsv", "points.tsv", "curves.tsv"},
    .templates = {"page.gp", "shard.gp"},
    .in_text = {"text-shard.gp"},
    .of_shard = draw,
};
