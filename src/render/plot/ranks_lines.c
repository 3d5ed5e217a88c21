/* The rows of the picture of ranks, and the shades of its heat map. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/plot/ranks_lines.h"

static const unsigned group_colours[RANK_COLOURS + 1] = {0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7,
                                                         0x56B4E9, 0x882255, 0x999933, 0x777777};

/* Light to dark, so that prints without colour keep the order (ColorBrewer's YlGnBu). */
static const unsigned ramp_stops[] = {0xFFFFD9, 0xEDF8B1, 0xC7E9B4, 0x7FCDBB, 0x41B6C4,
                                      0x1D91C0, 0x225EA8, 0x253494, 0x081D58};

static const struct rank_row *row_at(const struct rank_lines *lines, size_t row)
{
    return &lines->ranks->rows[row];
}

static void fill_line(const struct rank_lines *lines, struct rank_line *line)
{
    line->highest = line->first;
    line->outlier = SIZE_MAX;
    for (size_t row = line->first; row < line->first + line->count; row++)
        if (row_at(lines, row)->device->peak_bytes >
            row_at(lines, line->highest)->device->peak_bytes)
            line->highest = row;
    for (size_t i = lines->ranks->outlier_count; i-- > 0;) {
        size_t row = lines->ranks->outliers[i].row;
        if (row >= line->first && row < line->first + line->count)
            line->outlier = i;
    }
}

/* The axis is time only if that is known of all ranks. */
static void choose_axis(struct rank_lines *lines)
{
    lines->by_time = lines->ranks->row_count > 0;
    for (size_t row = 0; row < lines->ranks->row_count; row++) {
        const struct summary_device *device = row_at(lines, row)->device;
        if (!device->curve.by_time || device->duration_us <= 0)
            lines->by_time = false;
        if ((double)device->duration_us > lines->duration)
            lines->duration = (double)device->duration_us;
    }
}

/* The highest active memory in a column of the picture; -1 after the end of the trace. */
static int64_t highest_in(const struct rank_lines *lines, const struct summary_device *device,
                          size_t column)
{
    const struct summary_curve *curve = &device->curve;
    double count = (double)curve->columns, all = (double)lines->columns;
    double share = lines->by_time ? (double)device->duration_us / lines->duration : 1;
    size_t from = (size_t)((double)column / all / share * count);
    double to = ((double)column + 1) / all / share * count;
    int64_t highest = -1;
    for (size_t c = from; (double)c < to && c < curve->columns; c++)
        if (curve->high[c] > highest)
            highest = curve->high[c];
    return highest;
}

static int8_t level_of(const struct rank_lines *lines, int64_t bytes)
{
    if (bytes < 0)
        return -1;
    double level = (double)bytes / (double)lines->top_bytes * RANKS_LEVELS;
    return (int8_t)(level >= RANKS_LEVELS ? RANKS_LEVELS - 1 : (int)level);
}

static void shade(struct rank_lines *lines, size_t index)
{
    const struct rank_line *line = &lines->items[index];
    for (size_t c = 0; c < lines->columns; c++) {
        int64_t highest = -1;
        for (size_t row = line->first; row < line->first + line->count; row++) {
            int64_t bytes = highest_in(lines, row_at(lines, row)->device, c);
            highest = bytes > highest ? bytes : highest;
        }
        lines->levels[index * lines->columns + c] = level_of(lines, highest);
    }
}

bool rank_lines_make(struct rank_lines *lines, const struct ranks *ranks, size_t most,
                     size_t columns, struct error *err)
{
    size_t count = ranks->row_count < most ? ranks->row_count : most;
    struct rank_lines made = {.ranks = ranks,
                              .items = calloc(count + 1, sizeof(*made.items)),
                              .count = count,
                              .columns = columns,
                              .top_bytes = ranks->peak.max_bytes > 0 ? ranks->peak.max_bytes : 1,
                              .levels = calloc(count + 1, columns)};
    if (!made.items || !made.levels) {
        rank_lines_release(&made);
        return error_out_of_memory(err);
    }
    choose_axis(&made);
    for (size_t i = 0; i < count; i++) {
        struct rank_line *line = &made.items[i];
        line->first = i * ranks->row_count / count;
        line->count = (i + 1) * ranks->row_count / count - line->first;
        made.most = line->count > made.most ? line->count : made.most;
        fill_line(&made, line);
        shade(&made, i);
    }
    *lines = made;
    return true;
}

void rank_lines_release(struct rank_lines *lines)
{
    free(lines->items);
    free(lines->levels);
    *lines = (struct rank_lines){0};
}

int64_t rank_line_bytes(const struct rank_lines *lines, size_t line)
{
    int64_t bytes = row_at(lines, lines->items[line].highest)->device->peak_bytes;
    return bytes > 0 ? bytes : 0;
}

size_t rank_line_group(const struct rank_lines *lines, size_t line)
{
    return row_at(lines, lines->items[line].highest)->group;
}

static void add_file_name(struct buffer *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    buffer_puts(out, slash && slash[1] ? slash + 1 : path);
}

void rank_line_name(struct buffer *out, const struct rank_lines *lines, size_t line)
{
    const struct rank_line *item = &lines->items[line];
    const struct rank_row *first = row_at(lines, item->first);
    int64_t from = first->summary->rank;
    int64_t to = row_at(lines, item->first + item->count - 1)->summary->rank;
    if (from < 0)
        add_file_name(out, first->summary->path);
    else if (from == to)
        buffer_printf(out, "rank %" PRId64, from);
    else
        buffer_printf(out, "ranks %" PRId64 "-%" PRId64, from, to);
    if (from < 0 && item->count > 1)
        buffer_printf(out, " and %zu more", item->count - 1);
    if (item->count == 1 && first->summary->device_count > 1)
        buffer_printf(out, "/%" PRId64, first->device->device);
}

void rank_line_figures(char out[RANK_FIGURES], const struct rank_lines *lines, size_t line)
{
    const struct rank_line *item = &lines->items[line];
    char size[UNITS_TEXT_SIZE], usual[UNITS_TEXT_SIZE];
    if (item->outlier == SIZE_MAX) {
        snprintf(out, RANK_FIGURES, "%s",
                 units_bytes(size, rank_line_bytes(lines, line), UNIT_AUTO));
        return;
    }
    const struct rank_outlier *outlier = &lines->ranks->outliers[item->outlier];
    const struct rank_row *row = row_at(lines, outlier->row);
    int used = 0;
    if (item->count > 1 && row->summary->rank >= 0)
        used = snprintf(out, RANK_FIGURES, "rank %" PRId64 ": ", row->summary->rank);
    snprintf(out + used, (size_t)(RANK_FIGURES - used), "%s, usual %s",
             units_bytes(size, row->device->peak_bytes, UNIT_AUTO),
             units_bytes(usual, outlier->usual_bytes, UNIT_AUTO));
}

static unsigned mix(unsigned a, unsigned b, double part, unsigned shift)
{
    double x = a >> shift & 0xFF, y = b >> shift & 0xFF;
    return (unsigned)(x + (y - x) * part + 0.5) << shift;
}

unsigned rank_level_colour(size_t level)
{
    size_t last = sizeof(ramp_stops) / sizeof(ramp_stops[0]) - 1;
    double at = (double)level / (RANKS_LEVELS - 1) * (double)last;
    size_t stop = at >= (double)last ? last - 1 : (size_t)at;
    unsigned a = ramp_stops[stop], b = ramp_stops[stop + 1];
    double part = at - (double)stop;
    return mix(a, b, part, 16) | mix(a, b, part, 8) | mix(a, b, part, 0);
}

unsigned rank_group_colour(size_t group)
{
    return group_colours[group < RANK_COLOURS ? group : RANK_COLOURS];
}
