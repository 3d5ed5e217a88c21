#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/core/escape.h"
#include "render/core/fit.h"
#include "render/plot/legend.h"
#include "render/plot/ranks_internal.h"
#include "render/plot/svg_titles.h"
#include "render/ranks/rows.h"

#define LINE_LEAST   3     /* pixels of a row */
#define BOXES_MOST   30000 /* boxes of the heat map, to keep an SVG small */
#define COLUMNS_MOST 240
#define TEXT_LINE    14   /* pixels of a row from which on each one has its texts */
#define GAP_PITCH    8    /* pixels of a row from which on there are gaps between rows */
#define NAME_LETTERS 19   /* letters of a row's name that fit into the left margin */
#define HEAT_SHARE   0.55 /* part of the graphs' width */
#define GAP          40   /* pixels between the graphs */
#define FIGURES_ROOM 1.6  /* the axis of the bars, as a multiple of the highest one */
#define GREY         0xC8C8C8
#define OUTLIER_RED  0xCC0000

enum { RANKS_SCRIPT, RANKS_HEAT, RANKS_BARS, RANKS_NAMES, RANKS_LABELS, RANKS_MARKS };

struct picture {
    const struct plot_look *look;
    const struct ranks_report *report;
    struct rank_lines lines;
    struct plot_margins margins;
    double pitch;      /* pixels of a row */
    double bars_from;  /* pixels from the left of the picture */
    double bars_width; /* pixels */
    double unit, x_top;
    const char *unit_name;
};

/* Half the height of what is drawn in a row; the row is 1. */
static double half_of(const struct picture *picture)
{
    return picture->pitch < GAP_PITCH ? 0.5 : 0.42;
}

/* Boxes of equal shade. Each reaches a little below the next one, which covers that: otherwise
 * light seams show between them. */
static void write_heat(const struct picture *picture, FILE *out)
{
    const struct rank_lines *lines = &picture->lines;
    double half = half_of(picture);
    fputs("# from\tto\trow\thalf of its height\tcolour\n", out);
    for (size_t i = 0; i < lines->count; i++) {
        const int8_t *levels = lines->levels + i * lines->columns;
        for (size_t from = 0, to; from < lines->columns; from = to) {
            for (to = from + 1; to < lines->columns && levels[to] == levels[from];)
                to++;
            bool joins = to < lines->columns && levels[to] >= 0;
            if (levels[from] >= 0)
                fprintf(out, "%zu\t%.7g\t%zu\t%g\t%u\n", from, (double)to + (joins ? 0.2 : 0),
                        i + 1, half, rank_level_colour((size_t)levels[from]));
        }
    }
    fputs("-2\t-1\t1\t0\t0\n", out); /* outside: gnuplot complains of a file without points */
}

static bool note_bar(const struct picture *picture, size_t line, FILE *notes, struct error *err)
{
    const struct rank_lines *lines = &picture->lines;
    const struct rank_line *item = &lines->items[line];
    const struct rank_row *row = &lines->ranks->rows[item->highest];
    char size[UNITS_TEXT_SIZE];
    struct buffer title = BUFFER_INIT, name = BUFFER_INIT;
    double middle = picture->margins.top + ((double)line + 0.5) * picture->pitch;
    double end = (double)rank_line_bytes(lines, line) / picture->unit / picture->x_top;
    struct svg_box box = {rank_group_colour(row->group), picture->bars_from,
                          picture->bars_from + end * picture->bars_width,
                          middle - half_of(picture) * picture->pitch,
                          middle + half_of(picture) * picture->pitch};
    rank_line_name(&name, lines, line);
    buffer_putc(&name, '\0');
    if (!name.failed)
        buffer_puts(&title, name.bytes);
    buffer_printf(&title, ": %s active at the peak",
                  units_bytes(size, rank_line_bytes(lines, line), UNIT_AUTO));
    buffer_printf(&title, "\n%s reserved, group ",
                  units_bytes(size, row->device->reserved_peak_bytes, UNIT_AUTO));
    add_group_name(&title, row->group);
    bool ok = !title.failed || error_out_of_memory(err);
    ok = ok && svg_titles_note_box(notes, &box, &title, err);
    buffer_release(&title);
    buffer_release(&name);
    return ok;
}

static bool write_bars(const struct picture *picture, FILE *out, FILE *notes, struct error *err)
{
    const struct rank_lines *lines = &picture->lines;
    bool ok = true;
    fputs("# row\tactive\tcolour\treserved\n", out);
    for (size_t i = 0; ok && i < lines->count; i++) {
        int64_t reserved = 0;
        const struct rank_line *line = &lines->items[i];
        for (size_t row = line->first; row < line->first + line->count; row++)
            if (lines->ranks->rows[row].device->reserved_peak_bytes > reserved)
                reserved = lines->ranks->rows[row].device->reserved_peak_bytes;
        fprintf(out, "%zu\t%.7g\t%u\t%.7g\n", i + 1,
                (double)rank_line_bytes(lines, i) / picture->unit,
                rank_group_colour(rank_line_group(lines, i)), (double)reserved / picture->unit);
        ok = !notes || note_bar(picture, i, notes, err);
    }
    return ok;
}

/* Adds a name that fits the margin, escaped. */
static bool add_name(const struct picture *picture, size_t line, struct buffer *out,
                     struct error *err)
{
    struct buffer name = BUFFER_INIT, escaped = BUFFER_INIT;
    rank_line_name(&name, &picture->lines, line);
    escape_plot(&escaped, name.bytes, name.size, SUMMARY_TEXT_MOST);
    if (!name.failed && !escaped.failed && escaped.size > 0)
        text_fit(out, escaped.bytes, escaped.size, NAME_LETTERS, CUT_START);
    bool ok = (!name.failed && !escaped.failed && !out->failed) || error_out_of_memory(err);
    buffer_release(&name);
    buffer_release(&escaped);
    return ok;
}

/* All rows if there is room, otherwise one in so many. */
static bool write_names(const struct picture *picture, FILE *out, struct error *err)
{
    size_t step = picture->pitch < TEXT_LINE ? (size_t)(1.3 * TEXT_LINE / picture->pitch) + 1 : 1;
    struct buffer name = BUFFER_INIT;
    bool ok = true;
    fputs("# row\tname\n", out);
    for (size_t i = 0; ok && i < picture->lines.count; i += step) {
        buffer_clear(&name);
        ok = add_name(picture, i, &name, err);
        if (ok)
            fprintf(out, "%zu\t%.*s\n", i + 1, (int)name.size, name.size ? name.bytes : "");
    }
    buffer_release(&name);
    return ok;
}

static bool is_free(const struct picture *picture, const bool *taken, size_t line)
{
    size_t near = (size_t)(TEXT_LINE / picture->pitch);
    for (size_t i = line > near ? line - near : 0; i <= line + near && i < picture->lines.count;
         i++)
        if (taken[i])
            return false;
    return true;
}

static bool write_label(const struct picture *picture, size_t line, FILE *out, struct error *err)
{
    const struct rank_lines *lines = &picture->lines;
    const struct rank_line *item = &lines->items[line];
    char figures[RANK_FIGURES];
    struct buffer name = BUFFER_INIT;
    const struct ranks *ranks = lines->ranks;
    int64_t bytes = rank_line_bytes(lines, line),
            reserved = ranks->rows[item->highest].device->reserved_peak_bytes;
    if (picture->pitch < TEXT_LINE) { /* the text covers bars beside it, so it is right of all */
        bytes = ranks->peak.max_bytes;
        reserved = ranks->reserved.max_bytes;
    }
    bool named = picture->pitch < TEXT_LINE && (item->count == 1 || item->outlier == SIZE_MAX);
    bool ok = !named || add_name(picture, line, &name, err);
    rank_line_figures(figures, lines, line);
    if (ok)
        fprintf(out, "%zu\t%.7g\t%.*s%s%s\t%u\n", line + 1,
                (double)(bytes > reserved ? bytes : reserved) / picture->unit, (int)name.size,
                name.size ? name.bytes : "", name.size ? ": " : "", figures,
                item->outlier == SIZE_MAX ? 0x333333 : OUTLIER_RED);
    buffer_release(&name);
    return ok;
}

/* The figures of all rows, or of outliers and the highest, where they do not cover each other. */
static bool write_labels(const struct picture *picture, FILE *out, struct error *err)
{
    const struct rank_lines *lines = &picture->lines;
    const struct ranks *ranks = lines->ranks;
    bool *taken = calloc(lines->count + 1, sizeof(*taken)), ok = taken || error_out_of_memory(err);
    fputs("# row\tend of the bar\ttext\tcolour\n", out);
    for (size_t i = 0; ok && i < ranks->outlier_count + 1; i++) {
        size_t row = i < ranks->outlier_count ? ranks->outliers[i].row : ranks->peak.max_row;
        for (size_t line = 0; ok && line < lines->count; line++) {
            const struct rank_line *item = &lines->items[line];
            if (row < item->first || row >= item->first + item->count ||
                !is_free(picture, taken, line))
                continue;
            ok = write_label(picture, line, out, err);
            taken[line] = true;
        }
    }
    for (size_t line = 0; ok && line < lines->count && picture->pitch >= TEXT_LINE; line++)
        if (!taken[line])
            ok = write_label(picture, line, out, err);
    free(taken);
    return ok;
}

static void write_marks(const struct picture *picture, FILE *out)
{
    const struct rank_lines *lines = &picture->lines;
    fputs("# row\tpeak of an outlier\n", out);
    for (size_t i = 0; i < lines->count; i++) {
        size_t outlier = lines->items[i].outlier;
        if (outlier == SIZE_MAX)
            continue;
        int64_t bytes = lines->ranks->rows[lines->ranks->outliers[outlier].row].device->peak_bytes;
        fprintf(out, "%zu\t%.7g\n", i + 1, (double)bytes / picture->unit);
    }
    fputs("1\t-1\n", out); /* outside */
}

static void put_keys(const struct picture *picture, FILE *script)
{
    const struct ranks *ranks = picture->lines.ranks;
    struct plot_legend legend = {.count = 0};
    for (size_t i = 0; i < ranks->group_count && i < RANK_COLOURS; i++) {
        struct buffer name = BUFFER_INIT;
        char count[UNITS_TEXT_SIZE + 4];
        buffer_puts(&name, "group ");
        add_group_name(&name, i);
        snprintf(count, sizeof(count), " (%zu)", ranks->groups[i].count);
        buffer_putc(&name, '\0');
        plot_legend_add(&legend, rank_group_colour(i), name.failed ? "" : name.bytes, count);
        buffer_release(&name);
    }
    if (ranks->group_count > RANK_COLOURS)
        plot_legend_add(&legend, rank_group_colour(RANK_COLOURS), "other groups", "");
    plot_legend_add(&legend, GREY, "reserved", "");
    plot_legend_put(script, &legend, PLOT_KEY_LINE * PLOT_KEYS_MOST);
}

static void put_axis(const struct rank_lines *lines, FILE *script)
{
    double seconds = lines->duration / 1e6;
    if (!lines->by_time)
        fputs("heat_last = 100\nheat_label = 'share of each trace, %'\n", script);
    else if (seconds < 2)
        fprintf(script, "heat_last = %.7g\nheat_label = 'since the first event of the rank, ms'\n",
                seconds * 1000);
    else
        fprintf(script, "heat_last = %.7g\nheat_label = 'since the first event of the rank, s'\n",
                seconds);
}

static void put_scale(const struct rank_lines *lines, FILE *script)
{
    char size[UNITS_TEXT_SIZE];
    fprintf(script, "levels = %d\narray ramp[%d]\n", RANKS_LEVELS, RANKS_LEVELS);
    for (size_t i = 0; i < RANKS_LEVELS; i++)
        fprintf(script, "ramp[%zu] = %u\n", i + 1, rank_level_colour(i));
    fprintf(script, "scale_text = '%s'\n", units_bytes(size, lines->top_bytes, UNIT_AUTO));
}

static void put_settings(const struct picture *picture, FILE *script)
{
    const struct rank_lines *lines = &picture->lines;
    double width = picture->look->width;
    struct buffer subtitle = BUFFER_INIT, note = BUFFER_INIT;
    plot_put_margins(script, picture->look, picture->margins);
    plot_ranks_words(&subtitle, &note, picture->report, lines);
    plot_put_words(script, picture->look, picture->margins,
                   subtitle.failed || !subtitle.size ? "" : subtitle.bytes,
                   note.failed || !note.size ? "" : note.bytes);
    buffer_release(&subtitle);
    buffer_release(&note);
    fprintf(script, "heat_right = %.6f\nbars_left = %.6f\n", (picture->bars_from - GAP) / width,
            picture->bars_from / width);
    fprintf(script, "rows = %zu\ncolumns = %zu\nbar_half = %g\n", lines->count, lines->columns,
            half_of(picture));
    fprintf(script, "x_top = %.7g\nx_label = 'peak of active memory, %s'\n", picture->x_top,
            picture->unit_name);
    fprintf(script, "key_below = %.6f\n", 66.0 / picture->look->height);
    put_axis(lines, script);
    put_scale(lines, script);
    put_keys(picture, script);
}

static void measure(struct picture *picture, const struct ranks *ranks)
{
    const struct plot_look *look = picture->look;
    double width = plot_graph_width(look, picture->margins) - GAP;
    int64_t most = ranks->peak.max_bytes > ranks->reserved.max_bytes ? ranks->peak.max_bytes
                                                                     : ranks->reserved.max_bytes;
    picture->unit = plot_unit((double)most, &picture->unit_name);
    picture->x_top = (most > 0 ? (double)most : 1) / picture->unit * FIGURES_ROOM;
    picture->bars_from = picture->margins.left + width * HEAT_SHARE + GAP;
    picture->bars_width = look->width - picture->margins.right - picture->bars_from;
}

static bool draw_picture(const struct plot_job *job, const struct ranks_report *report,
                         struct error *err)
{
    struct picture picture = {
        .look = &job->request->look, .report = report, .margins = {150, 30, 100, 105, PLOT_TITLES}};
    double height = plot_graph_height(picture.look, picture.margins);
    size_t most = (size_t)(height / LINE_LEAST);
    size_t count = report->ranks->row_count < most ? report->ranks->row_count : most;
    size_t columns = BOXES_MOST / (count ? count : 1);
    if (!rank_lines_make(&picture.lines, report->ranks, most ? most : 1,
                         columns < COLUMNS_MOST ? columns : COLUMNS_MOST, err))
        return false;
    picture.pitch = height / (double)picture.lines.count;
    if (picture.pitch < TEXT_LINE) { /* whole pixels, otherwise seams show between rows */
        picture.pitch = (double)(size_t)picture.pitch;
        picture.margins.bottom += (unsigned)(height - picture.pitch * (double)picture.lines.count);
    }
    measure(&picture, report->ranks);
    put_settings(&picture, job->files[RANKS_SCRIPT]);
    write_heat(&picture, job->files[RANKS_HEAT]);
    write_marks(&picture, job->files[RANKS_MARKS]);
    bool ok = write_bars(&picture, job->files[RANKS_BARS], job->notes, err) &&
              write_names(&picture, job->files[RANKS_NAMES], err) &&
              write_labels(&picture, job->files[RANKS_LABELS], err);
    rank_lines_release(&picture.lines);
    return ok;
}

static bool draw(const struct plot_job *job, const struct ranks_report *report, struct error *err)
{
    return (job->request->look.format == PLOT_DUMB ? plot_ranks_in_text : draw_picture)(job, report,
                                                                                        err);
}

const struct plot_kind plot_kind_ranks = {
    .name = "ranks",
    .summary = "ranks of a run: memory over time, and their peaks",
    .files = {"plot.gp", "heat.tsv", "bars.tsv", "names.tsv", "labels.tsv", "marks.tsv"},
    .templates = {"page.gp", "ranks.gp"},
    .in_text = {"text-ranks.gp"},
    .of_ranks = draw,
};
