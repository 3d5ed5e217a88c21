/* Shared by the files of the picture of segments. */
#ifndef MEMSNAP_RENDER_PLOT_SEGMENTS_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_SEGMENTS_INTERNAL_H

#include "base/buffer.h"
#include "render/plot/segments.h"

#define SEGMENTS_POOLS_MOST 8 /* the last one may combine all others */

/* The segments of a pool, in lines one below the other. */
struct segment_group {
    size_t first, count; /* in map->segments */
    size_t pools;        /* the number of pools combined in it */
    struct pool_row sum;
    double top; /* pixels from the graph's upper side to the first line */
};

/* The division of the picture into lines. A line is row_bytes long, and `pitch` pixels below the
 * previous one. */
struct segment_lines {
    struct segment_group groups[SEGMENTS_POOLS_MOST];
    size_t count;
    uint64_t row_bytes;
    double pitch, box;    /* pixels; box: the height of a line itself */
    double width, height; /* pixels of the used part of the graph */
};

void segment_lines_make(struct segment_lines *lines, const struct plot_segments *plot);

/* A stretch of a line. */
struct segment_piece {
    double from, to;    /* bytes from the line's beginning */
    double top, bottom; /* pixels */
};

/* Splits `size` bytes that begin `start` bytes after the group's beginning into pieces, one for
 * each line, and calls `put` for each. */
typedef void segment_put(void *self, const struct segment_piece *piece);
void segment_pieces(const struct segment_lines *lines, const struct segment_group *group,
                    uint64_t start, uint64_t size, segment_put *put, void *self);

/* The colour of the box of a segment's span number `i`. */
unsigned segment_span_colour(const struct map_span *span, size_t i);
/* The size in bytes below which pieces share a box with their neighbours. */
double segment_piece_least(const struct segment_map *map, const struct segment_lines *lines);

/* Adds the annotations of a block, if it has some, after ", ": raw bytes. */
void plot_segment_annotation(const struct plot_segments *plot, const struct map_span *span,
                             struct buffer *label);
/* Notes the titles of all boxes (svg_titles.h). */
bool plot_segment_titles(const struct plot_segments *plot, const struct segment_lines *lines,
                         struct error *err);

/* The data files of blocks and holes. */
void plot_segment_boxes(const struct plot_segments *plot, const struct segment_lines *lines,
                        FILE *const files[]);
bool plot_segment_labels(const struct plot_segments *plot, const struct segment_lines *lines,
                         FILE *out, struct error *err);

#endif
