/* The peak of a rank under each strategy, by kind, and the memory of the GPU. */
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "render/plot/legend.h"
#include "render/plot/shard_internal.h"
#include "render/shard/words.h"

#define BARS_MOST 32

const struct shard_part shard_parts[SHARD_FILE_PARTS] = {
    [SHARD_FILE_PARAMETERS] = {"parameters", CATEGORY_PARAMETER},
    [SHARD_FILE_GRADIENTS] = {"gradients", CATEGORY_GRADIENT},
    [SHARD_FILE_STATE] = {"optimizer state", CATEGORY_OPTIMIZER_STATE},
    [SHARD_FILE_ACTIVATIONS] = {"activations", CATEGORY_ACTIVATION},
    [SHARD_FILE_BUFFERS] = {"buffers", CATEGORY_COUNT},
};

static double highest(const struct shard_file *file)
{
    double most = (double)file->gpu_bytes;
    for (size_t i = 0; i < file->count; i++)
        if (most < (double)file->rows[i].peak_bytes)
            most = (double)file->rows[i].peak_bytes;
    return most > 1 ? most : 1;
}

double shard_highest(const struct shard_file *file, bool *has_gpu)
{
    struct shard_file bars = *file;
    bars.gpu_bytes = 0;
    double most_bar = highest(&bars);
    *has_gpu = file->gpu_bytes > 0 && (double)file->gpu_bytes < 8 * most_bar;
    return *has_gpu ? highest(file) : most_bar;
}

bool shard_is_recommended(const struct shard_file *file, const struct shard_file_row *row)
{
    return strcmp(row->name, file->recommended) == 0 &&
           row->is_checkpointed == file->is_recommended_checkpointed;
}

/* left, right, bottom, top, colour */
static void put_stack(FILE *out, size_t at, const struct shard_file_row *row, double unit)
{
    double from = 0;
    for (size_t i = 0; i < SHARD_FILE_PARTS; i++) {
        double to = from + (double)row->parts[i] / unit;
        if (row->parts[i] > 0)
            fprintf(out, "%.9g\t%.9g\t%.9g\t%.9g\t%u\n", (double)at + 0.62, (double)at + 1.38, from,
                    to, plot_category_colour(shard_parts[i].category));
        from = to;
    }
}

static void put_name(FILE *script, size_t at, const struct shard_file_row *row,
                     const struct shard_file *file, double unit)
{
    char variable[40], text[60], size[UNITS_TEXT_SIZE];
    bool fits = file->gpu_bytes == 0 || row->peak_bytes <= file->gpu_bytes;
    snprintf(variable, sizeof(variable), "name[%zu]", at + 1);
    plot_put_text(script, variable, row->name, PLOT_TEXT);
    fprintf(script, "under[%zu] = '%s'\n", at + 1, row->is_checkpointed ? "checkpoints" : "");
    snprintf(variable, sizeof(variable), "above[%zu]", at + 1);
    snprintf(text, sizeof(text), "%s%s", units_bytes(size, (int64_t)row->peak_bytes, UNIT_AUTO),
             shard_is_recommended(file, row) ? " *" : "");
    plot_put_text(script, variable, text, PLOT_TEXT);
    fprintf(script, "fits[%zu] = %d\nbrief[%zu] = '%.3g'\n", at + 1, fits, at + 1,
            (double)row->peak_bytes / unit);
}

void shard_put_words(const struct plot_job *job, const struct shard_file *file, bool has_gpu,
                     const char *what)
{
    char subtitle[160], note[160], size[UNITS_TEXT_SIZE];
    FILE *script = job->files[SHARD_SCRIPT];
    snprintf(subtitle, sizeof(subtitle), "%" PRIu64 " rank%s: %s", file->world,
             file->world == 1 ? "" : "s", what);
    if (file->gpu_bytes == 0)
        snprintf(note, sizeof(note), "no GPU was given");
    else
        snprintf(
            note, sizeof(note), "GPU memory: %s%s; %s%s%s",
            units_bytes(size, (int64_t)file->gpu_bytes, UNIT_AUTO),
            has_gpu ? "" : ", far above these bars",
            file->recommended[0] ? "*: recommended is " : "",
            file->recommended[0] ? shard_name_on(file->recommended, file->world) : "nothing fits",
            file->recommended[0] && file->is_recommended_checkpointed ? " with checkpoints" : "");
    plot_put_words(script, &job->request->look, shard_margins, subtitle, note);
}

bool shard_bars_draw(const struct plot_job *job, const struct shard_file *file, struct error *err)
{
    FILE *script = job->files[SHARD_SCRIPT];
    struct plot_legend legend = {.count = 0};
    const char *unit_name;
    if (file->count > BARS_MOST)
        return error_set(err, STATUS_LIMIT, "more than %d strategies to plot", BARS_MOST);
    bool gpu;
    double most = shard_highest(file, &gpu), unit = plot_unit(most, &unit_name);
    fprintf(script, "bars = %zu\ny_top = %.9g\ny_label = 'peak of a rank, %s'\ngpu = %.9g\n",
            file->count, most / unit * 1.1, unit_name, gpu ? (double)file->gpu_bytes / unit : -1);
    fprintf(script,
            "array name[%zu]\narray under[%zu]\narray above[%zu]\narray fits[%zu]\n"
            "array brief[%zu]\n",
            file->count, file->count, file->count, file->count, file->count);
    fputs("# left\tright\tbottom\ttop\tcolour\n", job->files[SHARD_BOXES]);
    fputs("# place\ttop\n", job->files[SHARD_POINTS]);
    for (size_t i = 0; i < file->count; i++) {
        put_stack(job->files[SHARD_BOXES], i, &file->rows[i], unit);
        put_name(script, i, &file->rows[i], file, unit);
        fprintf(job->files[SHARD_POINTS], "%zu\t%.9g\n", i + 1,
                (double)file->rows[i].peak_bytes / unit);
    }
    shard_put_hidden(job->files[SHARD_BOXES]);
    shard_put_hidden(job->files[SHARD_CURVES]);
    for (size_t i = SHARD_FILE_PARTS; i-- > 0;)
        plot_legend_add(&legend, plot_category_colour(shard_parts[i].category), shard_parts[i].name,
                        "");
    plot_legend_put(script, &legend, job->request->look.height);
    shard_put_words(job, file, gpu, "the peak of the highest rank, by kind");
    return true;
}
