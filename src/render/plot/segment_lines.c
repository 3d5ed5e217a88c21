#include <string.h>

#include "render/plot/segments_internal.h"

#define HEADING      22 /* pixels above the first line of a pool: its name */
#define POOL_PIXELS  60 /* for each pool shown separately */
#define LEAST_PITCH  11
#define MOST_PITCH   50
#define LEAST_LINES  8
#define SPANS_A_LINE 10 /* where there are few */

static void add_to_group(struct segment_group *group, const struct pool_row *row)
{
    struct pool_row *sum = &group->sum;
    if (group->pools == 0)
        *sum = (struct pool_row){.key = row->key};
    group->pools += row->pools;
    sum->segments += row->segments;
    sum->reserved_bytes += row->reserved_bytes;
    sum->active_bytes += row->active_bytes;
    sum->inactive_split_bytes += row->inactive_split_bytes;
    sum->releasable_bytes += row->releasable_bytes;
    if (row->largest_hole_bytes > sum->largest_hole_bytes)
        sum->largest_hole_bytes = row->largest_hole_bytes;
}

/* Short pictures have room for only a few separate pools. */
static void make_groups(struct segment_lines *lines, const struct segment_map *map)
{
    size_t most = (size_t)(lines->height / POOL_PIXELS);
    most = most < 2 ? 2 : most > SEGMENTS_POOLS_MOST ? SEGMENTS_POOLS_MOST : most;
    for (size_t i = 0; i < map->pools.count; i++) {
        size_t group = i < most ? i : most - 1;
        add_to_group(&lines->groups[group], &map->pools.items[i]);
        lines->count = group + 1;
    }
    for (size_t i = 0; i < map->segment_count; i++) {
        size_t pool = map->segments[i].pool;
        struct segment_group *group = &lines->groups[pool < most ? pool : most - 1];
        if (group->count == 0)
            group->first = i;
        group->count++;
    }
}

static uint64_t group_bytes(const struct segment_group *group, const struct segment_map *map)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < group->count; i++)
        bytes += map->segments[group->first + i].size;
    return bytes;
}

static size_t count_lines(const uint64_t *bytes, size_t count, uint64_t row_bytes)
{
    size_t lines = 0;
    for (size_t i = 0; i < count; i++)
        lines += bytes[i] ? (size_t)((bytes[i] - 1) / row_bytes + 1) : 1;
    return lines;
}

/* Rounds up to a multiple of a power of two, which makes a readable length. */
static uint64_t round_up(uint64_t bytes)
{
    uint64_t step = 1;
    while (step * 16 <= bytes)
        step *= 2;
    return (bytes + step - 1) / step * step;
}

void segment_lines_make(struct segment_lines *lines, const struct plot_segments *plot)
{
    const struct segment_map *map = plot->map;
    *lines = (struct segment_lines){
        .width = plot->look->width - plot->margins.left - plot->margins.right,
        .height = plot->look->height - plot->margins.top - plot->margins.bottom};
    make_groups(lines, map);
    uint64_t bytes[SEGMENTS_POOLS_MOST] = {0};
    for (size_t i = 0; i < lines->count; i++)
        bytes[i] = group_bytes(&lines->groups[i], map);
    double room = lines->height - (double)(HEADING * lines->count);
    double least = (double)(LEAST_PITCH * lines->count);
    if (room < least)
        room = least;
    size_t most = (size_t)(room / LEAST_PITCH), wanted = map->span_count / SPANS_A_LINE;
    wanted = wanted < LEAST_LINES ? LEAST_LINES : wanted;
    wanted = wanted > most ? most : wanted;
    if (wanted < lines->count + 1)
        wanted = lines->count + 1;
    uint64_t row_bytes = round_up(map->bytes / wanted + 1);
    while (count_lines(bytes, lines->count, row_bytes) > wanted)
        row_bytes = round_up(row_bytes + row_bytes / 16 + 1);
    size_t count = count_lines(bytes, lines->count, row_bytes);
    lines->row_bytes = row_bytes;
    lines->pitch = count > 0 ? room / (double)count : MOST_PITCH;
    if (lines->pitch > MOST_PITCH)
        lines->pitch = MOST_PITCH;
    lines->box = lines->pitch > 16 ? lines->pitch - 4 : lines->pitch * 0.8;
    double top = 0;
    for (size_t i = 0; i < lines->count; i++) {
        lines->groups[i].top = top + HEADING;
        top += HEADING + (double)count_lines(&bytes[i], 1, row_bytes) * lines->pitch;
    }
    if (top + 1 < lines->height)
        lines->height = top + 1;
}

void segment_pieces(const struct segment_lines *lines, const struct segment_group *group,
                    uint64_t start, uint64_t size, segment_put *put, void *self)
{
    while (size > 0) {
        uint64_t line = start / lines->row_bytes, from = start % lines->row_bytes;
        uint64_t length = lines->row_bytes - from < size ? lines->row_bytes - from : size;
        double top = group->top + (double)line * lines->pitch;
        put(self,
            &(struct segment_piece){(double)from, (double)(from + length), top, top + lines->box});
        start += length;
        size -= length;
    }
}
