#include "analysis/code/labels.h"
#include "base/units.h"
#include "render/core/escape.h"
#include "render/plot/segments_internal.h"

#define SPANS_EXACT   12000 /* more of them are drawn a little coarser */
#define FINE          1.0   /* pixels below which blocks and holes are mixed.. */
#define COARSE        3.0
#define BOXES_MOST    30000 /* about: keeps an SVG below 4 MB, and drawn in half a second */
#define END_PIXELS    4     /* segments that are shorter have no line at their ends */
#define LABELS_MOST   400
#define LETTERS_LEAST 9
#define LABEL_PITCH   14 /* pixels */

/* Colours by kind of span. */
enum {
    COLOUR_ALLOCATED = 0x0072B2,
    COLOUR_PENDING = 0xD55E00,
    COLOUR_HOLE = 0xBDBDBD,
    COLOUR_RELEASABLE = 0xEBEBEB,
    COLOUR_UNTOLD = 0xF6E7C1
};

static unsigned span_colour(const struct map_span *span)
{
    if (span->state == SPAN_ALLOCATED)
        return COLOUR_ALLOCATED;
    if (span->state == SPAN_PENDING)
        return COLOUR_PENDING;
    if (span->state == SPAN_UNTOLD)
        return COLOUR_UNTOLD;
    return span->is_releasable ? COLOUR_RELEASABLE : COLOUR_HOLE;
}

unsigned segment_span_colour(const struct map_span *span, size_t i)
{
    bool is_block = span->state == SPAN_ALLOCATED || span->state == SPAN_PENDING;
    return is_block ? plot_shade(span_colour(span), i) : span_colour(span);
}

double segment_piece_least(const struct segment_map *map, const struct segment_lines *lines)
{
    double pixel = (double)lines->row_bytes / lines->width;
    double even = (double)map->bytes /
                  BOXES_MOST; /* bytes of a box if all memory is in as many boxes as allowed */
    double coarse = COARSE * pixel > even ? COARSE * pixel : even;
    return map->span_count > SPANS_EXACT ? coarse : FINE * pixel;
}

/* Merges adjacent small pieces into one box of their average colour. */
struct mixture {
    FILE *out;
    double unit, limit; /* limit: bytes; larger pieces have their own box */
    struct segment_piece piece;
    double red, green, blue; /* sums of colours, weighted by bytes */
    bool any;
    unsigned colour; /* colour of the box that is being drawn */
};

static void put_box(FILE *out, const struct segment_piece *piece, double unit, unsigned colour)
{
    fprintf(out, "%.8g\t%.8g\t%.7g\t%.7g\t%u\n", piece->from / unit, piece->to / unit, piece->top,
            piece->bottom, colour);
}

static void flush(struct mixture *mixture)
{
    if (!mixture->any)
        return;
    double bytes = mixture->piece.to - mixture->piece.from;
    unsigned colour = (unsigned)(mixture->red / bytes) << 16 |
                      (unsigned)(mixture->green / bytes) << 8 | (unsigned)(mixture->blue / bytes);
    put_box(mixture->out, &mixture->piece, mixture->unit, colour);
    mixture->any = false;
}

static void put_piece(void *self, const struct segment_piece *piece)
{
    struct mixture *mixture = self;
    double bytes = piece->to - piece->from;
    if (mixture->any && (mixture->piece.top < piece->top || piece->from < mixture->piece.to))
        flush(mixture);
    if (bytes >= mixture->limit) {
        flush(mixture);
        put_box(mixture->out, piece, mixture->unit, mixture->colour);
        return;
    }
    if (!mixture->any) {
        mixture->piece = *piece;
        mixture->red = mixture->green = mixture->blue = 0;
        mixture->any = true;
    }
    mixture->piece.to = piece->to;
    mixture->red += bytes * (mixture->colour >> 16);
    mixture->green += bytes * (mixture->colour >> 8 & 0xFF);
    mixture->blue += bytes * (mixture->colour & 0xFF);
    if (mixture->piece.to - mixture->piece.from >= mixture->limit)
        flush(mixture);
}

/* A line where a segment ends. */
static void put_end(FILE *out, const struct segment_lines *lines, const struct segment_group *group,
                    uint64_t end, double unit)
{
    uint64_t line = (end - 1) / lines->row_bytes;
    double top = group->top + (double)line * lines->pitch;
    fprintf(out, "%.8g\t%.5g\t%.5g\n", (double)(end - line * lines->row_bytes) / unit, top,
            lines->box);
}

static void put_hole(void *self, const struct segment_piece *piece)
{
    struct mixture *mixture = self;
    put_box(mixture->out, piece, mixture->unit, 0);
}

void plot_segment_boxes(const struct plot_segments *plot, const struct segment_lines *lines,
                        FILE *const files[])
{
    const struct segment_map *map = plot->map;
    const char *name;
    double unit = plot_unit((double)lines->row_bytes, &name);
    double pixel = (double)lines->row_bytes / lines->width;
    struct mixture mixture = {
        .out = files[SEGMENTS_BOXES], .unit = unit, .limit = segment_piece_least(map, lines)};
    struct mixture hole = {.out = files[SEGMENTS_HOLE], .unit = unit};
    fputs("# from\tto\ttop\tbottom\tcolour\n", files[SEGMENTS_BOXES]);
    fputs("# from\tto\ttop\tbottom\t0\n", files[SEGMENTS_HOLE]);
    fputs("# where\ttop\theight\n", files[SEGMENTS_ENDS]);
    for (size_t g = 0; g < lines->count; g++) {
        const struct segment_group *group = &lines->groups[g];
        uint64_t at = 0;
        for (size_t s = 0; s < group->count; s++) {
            const struct map_segment *segment = &map->segments[group->first + s];
            for (size_t i = 0; i < segment->span_count; i++) {
                const struct map_span *span = &map->spans[segment->first_span + i];
                mixture.colour = segment_span_colour(span, i);
                segment_pieces(lines, group, at, span->size, put_piece, &mixture);
                if (segment->first_span + i == map->largest_span)
                    segment_pieces(lines, group, at, span->size, put_hole, &hole);
                at += span->size;
            }
            if ((double)segment->size >= END_PIXELS * pixel)
                put_end(files[SEGMENTS_ENDS], lines, group, at, unit);
        }
        flush(&mixture);
    }
}

/* The widest piece of a span. */
static void keep_widest(void *self, const struct segment_piece *piece)
{
    struct segment_piece *widest = self;
    if (piece->to - piece->from > widest->to - widest->from)
        *widest = *piece;
}

void plot_segment_annotation(const struct plot_segments *plot, const struct map_span *span,
                             struct buffer *label)
{
    if (span->note == STRING_EMPTY)
        return;
    if (label->size > 0)
        buffer_puts(label, ", ");
    label_add_name(label, symbols_text(site_table_symbols(plot->sites), span->note));
}

static bool put_label(const struct plot_segments *plot, const struct map_span *span, size_t letters,
                      FILE *out, struct error *err)
{
    char size[UNITS_TEXT_SIZE];
    struct buffer label = BUFFER_INIT, text = BUFFER_INIT;
    struct site site;
    bool ok = true;
    buffer_puts(&text, units_bytes(size, (int64_t)span->size, UNIT_AUTO));
    if (span->stack != STACK_NONE) {
        ok = site_of(plot->sites, span->stack, &site, err);
        if (ok)
            site_label_long(plot->sites, span->stack, &site, 0, true, &label);
    }
    plot_segment_annotation(plot, span, &label);
    if (ok && label.size > 0 && letters > text.size + 8) {
        buffer_putc(&text, ' ');
        escape_plot(&text, label.bytes, label.size, letters - text.size);
    }
    ok = ok && ((!text.failed && !label.failed) || error_out_of_memory(err));
    if (ok)
        fputs(text.bytes, out);
    buffer_release(&label);
    buffer_release(&text);
    return ok;
}

bool plot_segment_labels(const struct plot_segments *plot, const struct segment_lines *lines,
                         FILE *out, struct error *err)
{
    const struct segment_map *map = plot->map;
    const char *name;
    double unit = plot_unit((double)lines->row_bytes, &name);
    double pixel = (double)lines->row_bytes / lines->width;
    size_t written = 0;
    fputs("# where\theight\ttext\tcolour\n", out);
    if (lines->box < LABEL_PITCH)
        return true;
    for (size_t g = 0; g < lines->count; g++) {
        const struct segment_group *group = &lines->groups[g];
        uint64_t at = 0;
        for (size_t s = 0; s < group->count; s++) {
            const struct map_segment *segment = &map->segments[group->first + s];
            for (size_t i = 0; i < segment->span_count; i++) {
                const struct map_span *span = &map->spans[segment->first_span + i];
                struct segment_piece piece = {0};
                segment_pieces(lines, group, at, span->size, keep_widest, &piece);
                at += span->size;
                double letters = (piece.to - piece.from) / pixel / PLOT_CHARACTER - 1;
                if (letters < LETTERS_LEAST || written == LABELS_MOST)
                    continue;
                fprintf(out, "%.8g\t%.5g\t", (piece.from + PLOT_CHARACTER / 2 * pixel) / unit,
                        (piece.top + piece.bottom) / 2);
                if (!put_label(plot, span, (size_t)letters, out, err))
                    return false;
                fprintf(out, "\t%u\n", plot_text_colour(span_colour(span)));
                written++;
            }
        }
    }
    return true;
}
