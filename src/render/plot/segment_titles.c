#include "base/units.h"
#include "render/analyze/memory.h"
#include "render/plot/segments_internal.h"
#include "render/plot/svg_titles.h"

/* Notes the titles of one line of segments, at the positions where segments.gp draws them. */
struct title_notes {
    FILE *notes;
    double left, top; /* pixels of the graph's corner */
    double pixel,
        stretch;  /* bytes of a pixel; gnuplot's height of the graph by that of the lines */
    double least; /* bytes; narrower boxes have no title */
    unsigned colour;
    struct buffer *title;
    struct error *err;
    bool ok;
};

static void note_piece(void *self, const struct segment_piece *piece)
{
    struct title_notes *title_notes = self;
    if (!title_notes->ok || piece->to - piece->from < title_notes->least)
        return;
    struct svg_box box = {title_notes->colour, title_notes->left + piece->from / title_notes->pixel,
                          title_notes->left + piece->to / title_notes->pixel,
                          title_notes->top + piece->top * title_notes->stretch,
                          title_notes->top + piece->bottom * title_notes->stretch};
    title_notes->ok =
        svg_titles_note_box(title_notes->notes, &box, title_notes->title, title_notes->err);
}

static const char *state_words(const struct map_span *span)
{
    switch (span->state) {
    case SPAN_ALLOCATED:
        return "in use";
    case SPAN_PENDING:
        return "freed, but waits for another stream";
    case SPAN_UNTOLD:
        return "not covered by any block";
    default:
        return !span->is_releasable ? "free, between blocks"
               : span->after_graph  ? "free, but kept for the CUDA graph of its pool"
                                    : "free, and could go back to the device";
    }
}

/* "model.py:7 forward", "12.00 MiB, in use", "segment of 20.00 MiB, pool large, stream 0x7" */
static bool describe(const struct plot_segments *plot, const struct map_segment *segment,
                     const struct map_span *span, struct buffer *out, struct error *err)
{
    char size[UNITS_TEXT_SIZE], whole[UNITS_TEXT_SIZE], pool[POOL_TEXT_SIZE];
    bool is_block = span->state == SPAN_ALLOCATED || span->state == SPAN_PENDING;
    struct site site;
    buffer_clear(out);
    if (is_block && span->stack != STACK_NONE) {
        if (!site_of(plot->sites, span->stack, &site, err))
            return false;
        site_label_long(plot->sites, span->stack, &site, 0, true, out);
    } else {
        buffer_puts(out, is_block                     ? "a block without a stack"
                         : span->state == SPAN_UNTOLD ? "reserved"
                                                      : "hole");
    }
    plot_segment_annotation(plot, span, out);
    svg_title_begin(out);
    units_bytes(size, (int64_t)span->size, UNIT_AUTO);
    units_bytes(whole, (int64_t)segment->size, UNIT_AUTO);
    const struct pool_row *row = &plot->map->pools.items[segment->pool];
    buffer_printf(out, "\n%s, %s\nsegment of %s", size, state_words(span), whole);
    if (row->pools <= 1)
        buffer_printf(out, ", pool %s", pool_text(pool, &row->key));
    return !out->failed || error_out_of_memory(err);
}

static double span_bytes(const void *self, size_t i)
{
    const struct segment_map *map = self;
    return (double)map->spans[i].size;
}

static bool note_segment(const struct plot_segments *plot, const struct segment_lines *lines,
                         const struct segment_group *group, const struct map_segment *segment,
                         uint64_t *at, struct title_notes *title_notes)
{
    for (size_t i = 0; i < segment->span_count; i++) {
        const struct map_span *span = &plot->map->spans[segment->first_span + i];
        if ((double)span->size >= title_notes->least) {
            if (!describe(plot, segment, span, title_notes->title, title_notes->err))
                return false;
            title_notes->colour = segment_span_colour(span, i);
            segment_pieces(lines, group, *at, span->size, note_piece, title_notes);
        }
        *at += span->size;
    }
    return title_notes->ok;
}

bool plot_segment_titles(const struct plot_segments *plot, const struct segment_lines *lines,
                         struct error *err)
{
    struct buffer title = BUFFER_INIT;
    struct title_notes title_notes = {
        .notes = plot->notes,
        .left = plot->margins.left,
        .top = plot->margins.top,
        .pixel = (double)lines->row_bytes / lines->width,
        .stretch = (double)(unsigned)lines->height / lines->height,
        .least = svg_titles_least(segment_piece_least(plot->map, lines), plot->map->span_count,
                                  span_bytes, plot->map),
        .title = &title,
        .err = err,
        .ok = true};
    bool ok = true;
    for (size_t g = 0; ok && g < lines->count; g++) {
        const struct segment_group *group = &lines->groups[g];
        uint64_t at = 0;
        for (size_t s = 0; ok && s < group->count; s++)
            ok = note_segment(plot, lines, group, &plot->map->segments[group->first + s], &at,
                              &title_notes);
    }
    buffer_release(&title);
    return ok;
}
