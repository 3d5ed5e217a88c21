/* The heat map of the page of a run, with a bar for each rank: SVG. */
#include <string.h>

#include "base/units.h"
#include "render/page/run_internal.h"
#include "render/plot/ranks_lines.h"
#include "render/ranks/rows.h"

#define LINES_MOST  250
#define COLUMNS     200
#define NAME        110 /* units of the drawing, which are pixels if the page is wide enough */
#define MAP         700
#define BARS        380 /* width of the bars with their figures */
#define BAR         150
#define GAP         20
#define HEAD        24
#define FOOT        30
#define TEXT_HEIGHT 13  /* height of a row from which on it has its own texts */
#define PICTURE     620 /* height of all rows, at most as long as they have texts.. */

struct map {
    struct rank_lines lines;
    const struct run_details *details;
    double pitch;
    struct buffer out;
};

static double top_of(const struct map *map, size_t line)
{
    return HEAD + (double)line * map->pitch;
}

/* The boxes of one shade are one path. */
static void add_shade(struct map *map, int8_t level)
{
    const struct rank_lines *lines = &map->lines;
    double width = (double)MAP / (double)lines->columns, height = map->pitch;
    size_t boxes = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const int8_t *levels = lines->levels + i * lines->columns;
        for (size_t from = 0, to; from < lines->columns; from = to) {
            for (to = from + 1; to < lines->columns && levels[to] == levels[from];)
                to++;
            if (levels[from] != level)
                continue;
            if (boxes++ == 0)
                buffer_printf(&map->out, "<path fill=\"#%06X\" d=\"",
                              rank_level_colour((size_t)level));
            buffer_printf(&map->out, "M%g %gh%gv%gh-%gz", NAME + (double)from * width,
                          top_of(map, i), (double)(to - from) * width, height,
                          (double)(to - from) * width);
        }
    }
    if (boxes > 0)
        buffer_puts(&map->out, "\"/>\n");
}

static void add_bar(struct map *map, size_t line)
{
    const struct rank_lines *lines = &map->lines;
    const struct rank_line *item = &lines->items[line];
    char figures[RANK_FIGURES];
    double share = (double)rank_line_bytes(lines, line) / (double)lines->top_bytes;
    double left = NAME + MAP + GAP, width = share * BAR;
    double gap = map->pitch >= TEXT_HEIGHT ? 1.5 : 0;
    buffer_printf(&map->out,
                  "<rect x=\"%g\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"#%06X\"/>\n",
                  left, top_of(map, line) + gap, width, map->pitch - 2 * gap,
                  rank_group_colour(rank_line_group(lines, line)));
    if (map->pitch < TEXT_HEIGHT && item->outlier == SIZE_MAX)
        return;
    rank_line_figures(figures, lines, line);
    buffer_printf(&map->out, "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", left + width + 6,
                  top_of(map, line) + map->pitch / 2 + 4,
                  item->outlier == SIZE_MAX ? "" : " class=\"outlier\"", figures);
}

static void add_name(struct map *map, size_t line)
{
    struct buffer name = BUFFER_INIT;
    buffer_printf(&map->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", NAME - 6,
                  top_of(map, line) + map->pitch / 2 + 4);
    rank_line_name(&name, &map->lines, line);
    buffer_putc(&name, '\0');
    if (!name.failed && name.size > 18) { /* the end of a path tells more */
        buffer_puts(&map->out, "..");
        size_t from = name.size - 17;
        while (from < name.size && (name.bytes[from] & 0xC0) == 0x80)
            from++;
        run_add_text(&map->out, name.bytes + from);
    } else {
        run_add_text(&map->out, name.failed ? "" : name.bytes);
    }
    map->out.failed |= name.failed;
    buffer_puts(&map->out, "</text>\n");
    buffer_release(&name);
}

/* The row as a link to the rank with the highest peak in it, or to its outlier. */
static void add_link(struct map *map, size_t line)
{
    const struct rank_lines *lines = &map->lines;
    const struct rank_line *item = &lines->items[line];
    size_t row =
        item->outlier == SIZE_MAX ? item->highest : lines->ranks->outliers[item->outlier].row;
    struct buffer name = BUFFER_INIT;
    if (map->details->texts[row].size == 0)
        return;
    add_row_name(&name, &lines->ranks->rows[row]);
    buffer_putc(&name, '\0');
    buffer_printf(&map->out,
                  "<a href=\"#r%zu\"><rect class=\"row\" x=\"0\" y=\"%.2f\" width=\"%d\" "
                  "height=\"%.2f\"><title>",
                  row, top_of(map, line), NAME + MAP + GAP + BARS, map->pitch);
    run_add_text(&map->out, name.failed ? "" : name.bytes);
    buffer_puts(&map->out, "</title></rect></a>\n");
    map->out.failed |= name.failed;
    buffer_release(&name);
}

static void add_scale(struct map *map)
{
    const struct rank_lines *lines = &map->lines;
    double top = top_of(map, lines->count) + 10;
    char size[UNITS_TEXT_SIZE], end[UNITS_TEXT_SIZE];
    for (size_t level = 0; level < RANKS_LEVELS; level++)
        buffer_printf(&map->out,
                      "<rect x=\"%g\" y=\"%.1f\" width=\"5\" height=\"12\" fill=\"#%06X\"/>",
                      NAME + 14 + 5.0 * (double)level, top, rank_level_colour(level));
    units_bytes(size, lines->top_bytes, UNIT_AUTO);
    buffer_printf(&map->out,
                  "<text x=\"%d\" y=\"%.1f\">0</text><text x=\"%d\" y=\"%.1f\">%s</text>\n", NAME,
                  top + 11, NAME + 20 + 5 * RANKS_LEVELS, top + 11, size);
    if (lines->by_time)
        buffer_printf(&map->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">time: %s</text>\n",
                      NAME + MAP, top + 11, units_duration(end, (int64_t)lines->duration) + 1);
    else
        buffer_printf(&map->out,
                      "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">part of each trace</text>\n",
                      NAME + MAP, top + 11);
}

static void add_all(struct map *map)
{
    const struct rank_lines *lines = &map->lines;
    size_t step = map->pitch < TEXT_HEIGHT ? (size_t)(TEXT_HEIGHT * 1.4 / map->pitch) + 1 : 1;
    buffer_printf(&map->out,
                  "<svg class=\"map\" viewBox=\"0 0 %d %.0f\">\n"
                  "<text x=\"%d\" y=\"14\">active memory over time</text>"
                  "<text x=\"%d\" y=\"14\">peak, coloured by group</text>\n",
                  NAME + MAP + GAP + BARS, top_of(map, lines->count) + FOOT, NAME,
                  NAME + MAP + GAP);
    for (int8_t level = 0; level < RANKS_LEVELS; level++)
        add_shade(map, level);
    for (size_t i = 0; i < lines->count; i++) {
        add_bar(map, i);
        if (i % step == 0)
            add_name(map, i);
    }
    for (size_t i = 0; i < lines->count; i++)
        add_link(map, i);
    add_scale(map);
    buffer_puts(&map->out, "</svg>\n");
    if (lines->most > 1)
        buffer_printf(&map->out,
                      "<p class=\"soft\">A row is up to %zu ranks, and shows the highest of "
                      "them.</p>\n",
                      lines->most);
}

bool run_map_put(FILE *out, const struct ranks *ranks, const struct run_details *details,
                 struct error *err)
{
    struct map map = {.details = details, .out = BUFFER_INIT};
    if (!rank_lines_make(&map.lines, ranks, LINES_MOST, COLUMNS, err))
        return false;
    double even = (double)PICTURE / (double)map.lines.count;
    map.pitch = even > 22 ? 22 : even > TEXT_HEIGHT ? even : 3;
    if (map.lines.count * TEXT_HEIGHT <= 1300 && map.pitch < TEXT_HEIGHT)
        map.pitch = TEXT_HEIGHT;
    add_all(&map);
    bool ok = !map.out.failed || error_out_of_memory(err);
    if (ok)
        fwrite(map.out.bytes, 1, map.out.size, out);
    buffer_release(&map.out);
    rank_lines_release(&map.lines);
    return ok;
}
