/* The memory of ranks along the step under each strategy, side by side. The kinds are those of the
 * highest rank; every rank is a line. */
#include <inttypes.h>
#include <string.h>

#include "analysis/shard/shard.h"
#include "base/units.h"
#include "render/plot/legend.h"
#include "render/plot/shard_internal.h"

#define PANELS_MOST 32
#define LINES_MOST  32   /* lines of a panel; of more ranks, only some are drawn */
#define PANEL_WIDTH 0.88 /* part of the distance between panels */
#define HEADROOM    1.3  /* as a multiple of the highest peak, for three lines of text above it */

struct panels {
    const struct shard_file *file;
    double unit; /* bytes */
    bool has_gpu;
};

static uint64_t height_at(const struct shard_file_column *column, size_t parts)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < parts; i++)
        sum += column->parts[i];
    return sum;
}

/* The left edge of a column; that of the column behind the last is the right edge of the panel. */
static double edge(size_t panel, size_t column, size_t count)
{
    return (double)panel + 1 - PANEL_WIDTH / 2 + PANEL_WIDTH * (double)column / (double)count;
}

static void put_point(FILE *out, double x, double y, unsigned colour)
{
    fprintf(out, "%.6g\t%.6g\t%u\n", x, y, colour);
}

/* The outline of a kind: along its lower edge and back along its upper one. */
static void put_area(const struct panels *panels, size_t panel, size_t part, FILE *out)
{
    const struct shard_file_row *row = &panels->file->rows[panel];
    const struct shard_file_column *columns = panels->file->columns + row->first_column;
    unsigned colour = plot_category_colour(shard_parts[part].category);
    size_t count = row->column_count;
    for (size_t i = 0; i < count; i++) {
        double y = (double)height_at(&columns[i], part) / panels->unit;
        put_point(out, edge(panel, i, count), y, colour);
        put_point(out, edge(panel, i + 1, count), y, colour);
    }
    for (size_t i = count; i-- > 0;) {
        double y = (double)height_at(&columns[i], part + 1) / panels->unit;
        put_point(out, edge(panel, i + 1, count), y, colour);
        put_point(out, edge(panel, i, count), y, colour);
    }
    fputc('\n', out);
}

static void put_areas(const struct panels *panels, size_t panel, FILE *out)
{
    const struct shard_file_row *row = &panels->file->rows[panel];
    const struct shard_file_column *columns = panels->file->columns + row->first_column;
    for (size_t part = 0; part < SHARD_FILE_PARTS; part++) {
        uint64_t most = 0;
        for (size_t i = 0; i < row->column_count; i++)
            most = columns[i].parts[part] > most ? columns[i].parts[part] : most;
        if (most > 0)
            put_area(panels, panel, part, out);
    }
}

static void put_lines(const struct panels *panels, size_t panel, FILE *out)
{
    const struct shard_file_row *row = &panels->file->rows[panel];
    size_t step = (row->line_count + LINES_MOST - 1) / LINES_MOST;
    for (size_t k = 0; k < row->line_count; k += step) {
        const struct shard_file_line *line = &panels->file->lines[row->first_line + k];
        const uint64_t *heights = panels->file->heights + line->first;
        fprintf(out, "# %s, ranks %" PRIu64 " to %" PRIu64 "\n", row->name, line->first_rank,
                line->last_rank);
        for (size_t i = 0; i < line->count; i++) {
            double y = (double)heights[i] / panels->unit;
            fprintf(out, "%.6g\t%.6g\n", edge(panel, i, line->count), y);
            fprintf(out, "%.6g\t%.6g\n", edge(panel, i + 1, line->count), y);
        }
        fputc('\n', out);
    }
}

static void put_array_text(FILE *script, const char *array, size_t at, const char *text,
                           size_t most)
{
    char variable[40];
    snprintf(variable, sizeof(variable), "%s[%zu]", array, at + 1);
    plot_put_text(script, variable, text, most);
}

static const char *unit_of(const struct shard_file_row *row)
{
    bool is_root = row->has_units && strcmp(row->peak_phase, shard_phase_name(SHARD_STEP)) != 0;
    return row->peak_unit[0] || !is_root ? row->peak_unit : "the root";
}

/* The strategy below the panel; its peak, and the phase and unit of that, above it. */
static void put_names(const struct panels *panels, size_t panel, size_t letters, FILE *script)
{
    const struct shard_file_row *row = &panels->file->rows[panel];
    char text[60], size[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text), "%s%s", units_bytes(size, (int64_t)row->peak_bytes, UNIT_AUTO),
             shard_is_recommended(panels->file, row) ? " *" : "");
    put_array_text(script, "name", panel, row->name, PLOT_TEXT);
    put_array_text(script, "above", panel, text, letters);
    put_array_text(script, "phase", panel, row->peak_phase, letters);
    put_array_text(script, "unit", panel, unit_of(row), letters);
    fprintf(script, "under[%zu] = '%s'\nfits[%zu] = %d\n", panel + 1,
            row->is_checkpointed ? "checkpoints" : "", panel + 1,
            panels->file->gpu_bytes == 0 || row->peak_bytes <= panels->file->gpu_bytes);
}

static void put_peak(const struct panels *panels, size_t panel, FILE *out)
{
    const struct shard_file_row *row = &panels->file->rows[panel];
    double x = (edge(panel, row->peak_column, row->column_count) +
                edge(panel, row->peak_column + 1, row->column_count)) /
               2;
    fprintf(out, "%zu\t%.6g\t%.6g\n", panel + 1, (double)row->peak_bytes / panels->unit, x);
}

static void put_legend(const struct plot_job *job)
{
    struct plot_legend legend = {.count = 0};
    for (size_t i = SHARD_FILE_PARTS; i-- > 0;)
        plot_legend_add(&legend, plot_category_colour(shard_parts[i].category), shard_parts[i].name,
                        "");
    plot_legend_put(job->files[SHARD_SCRIPT], &legend, job->request->look.height);
}

bool shard_curves_draw(const struct plot_job *job, const struct shard_file *file, struct error *err)
{
    FILE *script = job->files[SHARD_SCRIPT];
    struct panels panels = {.file = file};
    const char *unit_name;
    double most = shard_highest(file, &panels.has_gpu);
    if (file->count > PANELS_MOST)
        return error_set(err, STATUS_LIMIT, "more than %d strategies to plot", PANELS_MOST);
    panels.unit = plot_unit(most, &unit_name);
    fprintf(script, "bars = %zu\ny_top = %.9g\ny_label = 'memory of a rank, %s'\ngpu = %.9g\n",
            file->count, most / panels.unit * HEADROOM, unit_name,
            panels.has_gpu ? (double)file->gpu_bytes / panels.unit : -1);
    fprintf(script,
            "array name[%zu]\narray under[%zu]\narray above[%zu]\narray fits[%zu]\n"
            "array phase[%zu]\narray unit[%zu]\n",
            file->count, file->count, file->count, file->count, file->count, file->count);
    double width = plot_graph_width(&job->request->look, shard_margins) / (double)file->count;
    size_t letters = (size_t)(width / PLOT_CHARACTER) + 1;
    fputs("# place\tmemory\tcolour; a shape a strategy and kind\n", job->files[SHARD_BOXES]);
    fputs("# place\tpeak\tplace of the peak\n", job->files[SHARD_POINTS]);
    fputs("# place\tmemory; a block for the ranks of a curve\n", job->files[SHARD_CURVES]);
    for (size_t i = 0; i < file->count; i++) {
        put_areas(&panels, i, job->files[SHARD_BOXES]);
        put_lines(&panels, i, job->files[SHARD_CURVES]);
        put_names(&panels, i, letters, script);
        put_peak(&panels, i, job->files[SHARD_POINTS]);
    }
    shard_put_hidden(job->files[SHARD_CURVES]);
    put_legend(job);
    shard_put_words(job, file, panels.has_gpu, "memory along the step, forward to optimizer");
    return true;
}
