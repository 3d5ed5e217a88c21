#include "base/units.h"
#include "render/core/escape.h"
#include "render/core/fit.h"
#include "render/plot/bars.h"
#include "render/plot/fsdp_internal.h"
#include "render/plot/legend.h"
#include "render/plot/svg_titles.h"
#include "render/plot/text_rows.h"
#include "render/run/run.h"

#define NAME_PIXELS    330 /* left of the bars */
#define INDENT_PIXELS  14
#define INDENT_CELLS   2
#define FIGURE_LETTERS 12
#define FIGURE_PIXELS  90

enum { FSDP_SCRIPT, FSDP_ROWS, FSDP_BOXES, FSDP_TEXT };

static const struct plot_margins margins = {32, 250, 110, 60, PLOT_TITLES};

/* In the order of a bar's parts. */
static const struct {
    enum run_kind kind;
    unsigned colour;
    char letter; /* its letter in text */
} kinds[] = {
    {RUN_SHARDED_PARAM, 0x0072B2, 'P'},  {RUN_UNSHARDED_PARAM, 0x56B4E9, 'U'},
    {RUN_PARAM, 0x0072B2, 'P'},          {RUN_BUFFER, 0x999933, 'B'},
    {RUN_OPT_STATE, 0x009E73, 'O'},      {RUN_SHARDED_GRAD, 0xD55E00, 'G'},
    {RUN_UNSHARDED_GRAD, 0xF2A36B, 'H'}, {RUN_GRAD, 0xD55E00, 'G'},
    {RUN_INPUTS, 0x882255, 'I'},         {RUN_ACTIVATION, 0xF0C63C, 'A'},
    {RUN_TEMP, 0xCC79A7, 'T'},           {RUN_ALL_GATHER, 0x332288, 'W'},
    {RUN_REDUCE_SCATTER, 0x8A73D6, 'R'}, {RUN_OTHER, 0x6E6E6E, '?'},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool is_used(const struct fsdp *plot, enum run_kind kind)
{
    for (size_t r = 0; r < plot->count; r++)
        if (plot->rows[r].bytes && plot->rows[r].bytes[kind] > 0)
            return true;
    return false;
}

/* The letters of a picture made of characters. */
static void put_letters(const struct fsdp *plot, FILE *script)
{
    struct buffer words = BUFFER_INIT;
    for (size_t i = 0; i < KINDS; i++)
        if (is_used(plot, kinds[i].kind))
            buffer_printf(&words, "%s%c %s", words.size > 0 ? ", " : "", kinds[i].letter,
                          run_kind_titles[kinds[i].kind]);
    plot_put_words(script, plot->look, margins, words.failed || words.size == 0 ? "" : words.bytes,
                   "");
    buffer_release(&words);
}

static void put_words(const struct fsdp *plot, FILE *script)
{
    struct buffer words = BUFFER_INIT, note = BUFFER_INIT;
    struct text device = symbols_text(plot->report->run->symbols, plot->tables.device);
    int64_t peak = plot->tables.peak ? plot->tables.peak->bytes[RUN_TOTAL] : (int64_t)plot->most;
    char bytes[UNITS_TEXT_SIZE];
    buffer_add(&words, device.bytes, device.size);
    buffer_printf(&words, ": peak %s, by kind of memory", units_bytes(bytes, peak, UNIT_AUTO));
    if (plot->peaks_shown < plot->peaks)
        buffer_printf(&note, "the highest %zu of %zu peaks; ", plot->peaks_shown, plot->peaks);
    if (plot->modules_shown < plot->tables.module_count)
        buffer_printf(&note, "%zu of %zu modules, the outer ones; ", plot->modules_shown,
                      plot->tables.module_count);
    if (note.size >= 2 && !note.failed)
        note.bytes[note.size - 2] = '\0'; /* without the last separator */
    plot_put_words(script, plot->look, margins, words.failed ? "" : words.bytes,
                   note.failed || note.size == 0 ? "" : note.bytes);
    buffer_release(&words);
    buffer_release(&note);
}

static void put_legend(const struct fsdp *plot, FILE *script)
{
    struct plot_legend legend = {0};
    for (size_t i = KINDS; i-- > 0;)
        if (is_used(plot, kinds[i].kind))
            plot_legend_add(&legend, kinds[i].colour, run_kind_titles[kinds[i].kind], "");
    plot_legend_put(script, &legend, plot->look->height - margins.top - margins.bottom);
}

/* What a row needs to be drawn. */
struct scale {
    double unit, x_low, x_top; /* the axis, in units of `unit` bytes; bars begin at 0 */
    double bar_pixels, row_pixels;
    const char *unit_name;
};

static struct scale make_scale(const struct fsdp *plot)
{
    struct scale scale = {.bar_pixels = plot_graph_width(plot->look, margins) - NAME_PIXELS,
                          .row_pixels = PLOT_BAR_PIXELS};
    scale.unit = plot_unit(plot->most, &scale.unit_name);
    if (scale.bar_pixels < 2 * FIGURE_PIXELS)
        scale.bar_pixels = 2 * FIGURE_PIXELS;
    scale.x_top = plot->most / scale.unit * scale.bar_pixels / (scale.bar_pixels - FIGURE_PIXELS);
    scale.x_low = -scale.x_top * NAME_PIXELS / scale.bar_pixels;
    double pixels = plot_graph_height(plot->look, margins) / (double)plot->count;
    scale.row_pixels = pixels < PLOT_BAR_MOST ? pixels : PLOT_BAR_MOST;
    return scale;
}

/* The name, escaped and cut to its room. */
static bool fit_name(const struct fsdp_row *row, size_t letters, struct buffer *out,
                     struct error *err)
{
    struct buffer escaped = BUFFER_INIT;
    buffer_clear(out);
    if (row->name.size > 0)
        escape_plot(&escaped, row->name.bytes, row->name.size, PLOT_TEXT);
    if (escaped.size > 0)
        text_fit(out, escaped.bytes, escaped.size, letters < 8 ? 8 : letters, CUT_MIDDLE);
    else
        buffer_puts(out, "(no name)");
    bool failed = escaped.failed || out->failed;
    buffer_release(&escaped);
    return !failed || error_out_of_memory(err);
}

static const char *total_words(char out[UNITS_TEXT_SIZE], const struct fsdp_row *row)
{
    return units_bytes(out, (int64_t)fsdp_total(row->bytes), UNIT_AUTO);
}

/* "activations 3.61 MiB", "39.8% of 9.07 MiB", and the row. */
static void describe(const struct fsdp_row *row, size_t kind, int64_t bytes, struct buffer *title)
{
    char size[UNITS_TEXT_SIZE], total[UNITS_TEXT_SIZE];
    buffer_clear(title);
    if (row->name.size > 0)
        buffer_add(title, row->name.bytes, row->name.size);
    svg_title_begin(title);
    buffer_printf(title, "\n%s %s\n%.1f%% of %s", run_kind_titles[kinds[kind].kind],
                  units_bytes(size, bytes, UNIT_AUTO),
                  100.0 * (double)bytes / fsdp_total(row->bytes), total_words(total, row));
}

/* The parts of a bar, and their tooltips. */
static bool write_boxes(const struct fsdp *plot, const struct scale *scale, size_t r, FILE *out,
                        FILE *notes, struct error *err)
{
    const struct fsdp_row *row = &plot->rows[r];
    const double left = margins.left + NAME_PIXELS, pixel = scale->bar_pixels / scale->x_top;
    double from = 0, middle = margins.top + ((double)r + 0.5) * scale->row_pixels;
    struct buffer title = BUFFER_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < KINDS; i++) {
        int64_t bytes = row->bytes[kinds[i].kind];
        if (bytes <= 0)
            continue;
        double to = from + (double)bytes / scale->unit;
        fprintf(out, "%zu\t%.7g\t%.7g\t%u\n", r + 1, from, to, kinds[i].colour);
        struct svg_box box = {kinds[i].colour, left + from * pixel, left + to * pixel,
                              middle - PLOT_BAR_HALF * scale->row_pixels,
                              middle + PLOT_BAR_HALF * scale->row_pixels};
        describe(row, i, bytes, &title);
        if (notes)
            ok = title.failed ? error_out_of_memory(err)
                              : svg_titles_note_box(notes, &box, &title, err);
        from = to;
    }
    buffer_release(&title);
    return ok;
}

static bool draw_rows(const struct fsdp *plot, const struct plot_job *job, struct error *err)
{
    FILE *script = job->files[FSDP_SCRIPT], *out = job->files[FSDP_ROWS];
    const struct scale scale = make_scale(plot);
    struct plot_margins all = margins;
    double free_pixels =
        plot_graph_height(plot->look, margins) - scale.row_pixels * (double)plot->count;
    struct buffer name = BUFFER_INIT;
    bool ok = true;
    if (free_pixels > 1)
        all.bottom += (unsigned)free_pixels;
    plot_put_margins(script, plot->look, all);
    put_legend(plot, script);
    fprintf(script, "rows = %zu\nx_low = %.7g\nx_top = %.7g\nx_label = '%s'\n", plot->count,
            scale.x_low, scale.x_top, scale.unit_name);
    fputs("# row\twhere its name begins\tname\tend of its bar\tfigures\tcolour\n", out);
    fputs("# row\tfrom\tto\tcolour\n", job->files[FSDP_BOXES]);
    for (size_t r = 0; ok && r < plot->count; r++) {
        const struct fsdp_row *row = &plot->rows[r];
        char figures[UNITS_TEXT_SIZE] = " ";
        unsigned indent = (row->depth < 12 ? row->depth : 12) * INDENT_PIXELS;
        double pixels = row->bytes ? NAME_PIXELS - indent - 12 : 1e4;
        if (row->bytes)
            total_words(figures, row);
        ok = fit_name(row, (size_t)(pixels / PLOT_CHARACTER), &name, err);
        if (!ok)
            break;
        fprintf(out, "%zu\t%.7g\t%s\t%.7g\t%s\t%u\n", r + 1,
                scale.x_low * (1 - (double)indent / NAME_PIXELS), name.bytes,
                row->bytes ? fsdp_total(row->bytes) / scale.unit : 0, figures,
                row->bytes ? 0x555555 : 0x000000);
        ok = !row->bytes || write_boxes(plot, &scale, r, job->files[FSDP_BOXES], job->notes, err);
    }
    buffer_release(&name);
    return ok;
}

static bool draw_text(const struct fsdp *plot, const struct plot_job *job, struct error *err)
{
    struct plot_text_rows rows;
    struct buffer name = BUFFER_INIT;
    char letters[KINDS];
    double bytes[KINDS];
    bool ok = true;
    plot_text_rows_begin(&rows, job->files[FSDP_SCRIPT], job->files[FSDP_TEXT], plot->look,
                         plot->most, FIGURE_LETTERS);
    for (size_t r = 0; ok && r < plot->count; r++) {
        const struct fsdp_row *row = &plot->rows[r];
        char figures[UNITS_TEXT_SIZE] = "";
        size_t indent = (row->depth < 8 ? row->depth : 8) * INDENT_CELLS;
        size_t room = plot_text_rows_letters(plot->look);
        if (row->bytes)
            total_words(figures, row);
        for (size_t i = 0; i < KINDS; i++) {
            letters[i] = kinds[i].letter;
            bytes[i] =
                row->bytes && row->bytes[kinds[i].kind] > 0 ? (double)row->bytes[kinds[i].kind] : 0;
        }
        ok = fit_name(row, !row->bytes ? 3 * room : room > indent ? room - indent : 8, &name, err);
        if (ok)
            plot_text_rows_add(&rows, (unsigned)indent, name.bytes, bytes, letters, KINDS, figures);
    }
    buffer_release(&name);
    return ok;
}

static bool draw(const struct plot_job *job, const struct run_report *report, struct error *err)
{
    struct fsdp plot = {.look = &job->request->look, .report = report};
    size_t room = plot.look->format == PLOT_DUMB ? plot_text_rows_room(plot.look)
                                                 : plot_bars_room(plot.look, margins);
    bool ok = fsdp_make_rows(&plot, room, err);
    if (ok && plot.look->format == PLOT_DUMB) {
        put_letters(&plot, job->files[FSDP_SCRIPT]);
        ok = draw_text(&plot, job, err);
    } else if (ok) {
        put_words(&plot, job->files[FSDP_SCRIPT]);
        ok = draw_rows(&plot, job, err);
    }
    fsdp_release(&plot);
    return ok;
}

const struct plot_kind plot_kind_fsdp = {
    .name = "fsdp",
    .summary = "FSDP memory of a MemProfiler run: ranks and modules by kind",
    .files = {"plot.gp", "rows.tsv", "boxes.tsv", "text.tsv"},
    .templates = {"page.gp", "fsdp.gp"},
    .in_text = {"text-rows.gp"},
    .needs_tables = true,
    .of_run = draw,
};
