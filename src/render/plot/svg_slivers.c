#include "render/plot/svg_slivers.h"

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
