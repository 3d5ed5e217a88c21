#include "render/plot/svg_polygon.h"

#include <stdlib.h>
#include <string.h>

#define HUNDREDTHS 100
#define FARTHEST   1e7 /* pixels: keeps sums of coordinates in range */

static int64_t hundredths(double pixels)
{
    return (int64_t)(pixels * HUNDREDTHS + (pixels < 0 ? -0.5 : 0.5));
}

static int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

static bool add_point(struct svg_polygon *polygon, double x, double y)
{
    if (!(x > -FARTHEST && x < FARTHEST && y > -FARTHEST && y < FARTHEST))
        return false;
    if (polygon->count == polygon->room) {
        size_t room = polygon->room ? 2 * polygon->room : 64;
        struct svg_point *points = reallocarray(polygon->points, room, sizeof(*points));
        if (!points) {
            polygon->failed = true;
            return false;
        }
        polygon->points = points;
        polygon->room = room;
    }
    polygon->points[polygon->count++] = (struct svg_point){hundredths(x), hundredths(y)};
    return true;
}

/* Points are "x,y", each followed by a space or a line feed. */
static bool read_points(struct svg_polygon *polygon, const char *at)
{
    for (;;) {
        char *end;
        double x = strtod(at, &end);
        if (end == at || *end != ',')
            break;
        at = end + 1;
        double y = strtod(at, &end);
        if (end == at || !add_point(polygon, x, y))
            return false;
        at = end + strspn(end, " \n");
    }
    return strcmp(at, "'/>") == 0 && polygon->count > 1;
}

bool svg_polygon_read(struct svg_polygon *polygon, const char *line)
{
    unsigned red, green, blue;
    int begin = 0;
    polygon->count = 0;
    if (sscanf(line, " <polygon fill = 'rgb(%3u, %3u, %3u)' points = '%n", &red, &green, &blue,
               &begin) != 3 ||
        begin == 0)
        return false;
    polygon->colour = (red & 255) << 16 | (green & 255) << 8 | (blue & 255);
    return read_points(polygon, line + begin);
}

void svg_polygon_release(struct svg_polygon *polygon)
{
    free(polygon->points);
    *polygon = (struct svg_polygon){0};
}

/* Square pixels, and pixels of its outline as measured along the axes. */
static double svg_polygon_area(const struct svg_polygon *polygon, double *outline)
{
    double area = 0;
    *outline = 0;
    for (size_t i = 0; i < polygon->count; i++) {
        const struct svg_point *a = &polygon->points[i];
        const struct svg_point *b = &polygon->points[i + 1 < polygon->count ? i + 1 : 0];
        area += ((double)a->x * (double)b->y - (double)b->x * (double)a->y) / 2;
        *outline += (double)(distance(a->x, b->x) + distance(a->y, b->y)) / HUNDREDTHS;
    }
    return (area < 0 ? -area : area) / HUNDREDTHS / HUNDREDTHS;
}

/* "-12.3": without trailing zeros. */
static void put_number(struct buffer *out, int64_t hundredths)
{
    int64_t size = hundredths < 0 ? -hundredths : hundredths, part = size % HUNDREDTHS;
    buffer_printf(out, "%s%lld", hundredths < 0 ? "-" : "", (long long)(size / HUNDREDTHS));
    if (part > 0)
        buffer_printf(out, part % 10 ? ".%02lld" : ".%lld",
                      (long long)(part % 10 ? part : part / 10));
}

static void put_move(struct buffer *out, int64_t x, int64_t y)
{
    if (x == 0 && y == 0)
        return;
    buffer_putc(out, y == 0 ? 'h' : x == 0 ? 'v' : 'l');
    if (x != 0)
        put_number(out, x);
    if (x != 0 && y > 0)
        buffer_putc(out, ' '); /* a sign is enough to tell numbers apart */
    if (y != 0)
        put_number(out, y);
}

void svg_polygon_path(const struct svg_polygon *polygon, struct buffer *out)
{
    const struct svg_point *at = polygon->points;
    int64_t x = 0, y = 0; /* offset of a move that may continue */
    buffer_putc(out, 'M');
    put_number(out, at->x);
    buffer_putc(out, ' ');
    put_number(out, at->y);
    for (size_t i = 1; i < polygon->count; i++) {
        int64_t right = polygon->points[i].x - at->x, down = polygon->points[i].y - at->y;
        at = &polygon->points[i];
        bool goes_on = (y == 0 && down == 0) || (x == 0 && right == 0);
        if (!goes_on) {
            put_move(out, x, y);
            x = y = 0;
        }
        x += right;
        y += down;
    }
    put_move(out, x, y);
    buffer_putc(out, 'z');
}

#define ROOM  (sizeof(((struct svg_slivers *)0)->paths) / sizeof(struct svg_sliver_path))
#define SMALL 400 /* square pixels */
#define PATH                                                                                       \
    16384 /* bytes of a path: one that is all over the picture is drawn for every part of it */

bool svg_is_sliver(const struct svg_polygon *polygon)
{
    double outline, area = svg_polygon_area(polygon, &outline);
    return area < SMALL || area < SVG_SLIVER * outline / 2;
}

static void put(struct svg_sliver_path *sliver, FILE *out)
{
    if (sliver->path.size > 0)
        fprintf(out, "\t\t<path fill=\"#%06x\" d=\"%s\"/>\n", sliver->colour, sliver->path.bytes);
    buffer_clear(&sliver->path);
}

void svg_slivers_flush(struct svg_slivers *slivers, FILE *out)
{
    for (size_t i = 0; i < slivers->count; i++) {
        put(&slivers->paths[i], out);
        slivers->failed = slivers->failed || slivers->paths[i].path.failed;
        buffer_release(&slivers->paths[i].path);
    }
    slivers->count = 0;
}

void svg_slivers_add(struct svg_slivers *slivers, const struct svg_polygon *polygon, FILE *out)
{
    size_t i = 0;
    while (i < slivers->count && slivers->paths[i].colour != polygon->colour)
        i++;
    if (i == ROOM) {
        svg_slivers_flush(slivers, out);
        i = 0;
    }
    struct svg_sliver_path *sliver = &slivers->paths[i];
    if (i == slivers->count) {
        *sliver = (struct svg_sliver_path){.colour = polygon->colour};
        slivers->count++;
    }
    svg_polygon_path(polygon, &sliver->path);
    if (sliver->path.size > PATH)
        put(sliver, out);
}
