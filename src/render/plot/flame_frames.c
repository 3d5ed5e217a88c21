#include <string.h>

#include "base/units.h"
#include "render/core/escape.h"
#include "render/core/fit.h"
#include "render/core/page.h"
#include "render/plot/flame_internal.h"
#include "render/plot/svg_titles.h"

#define ROW_PART        0.94 /* height of a box as a part of a row, in flame.gp */
#define ROW_TWO_LINES   32.0 /* has room for the size below the name */
#define LABEL_MOST      300  /* letters */
#define LABEL_LEAST     4
#define LABEL_LEAST_CUT 7

const struct plot_margins plot_flame_margins = {30, 270, 100, 60, PLOT_TITLES};

const struct flame_node *plot_flame_found(const struct flame_visitor *visitor,
                                          const struct flame_node **up)
{
    const struct flame *flame = visitor->flame;
    *up = &flame->nodes[visitor->depth > 1 ? visitor->path[visitor->depth - 2] : 0];
    return &flame->nodes[visitor->path[visitor->depth - 1]];
}

struct tag {
    const struct flame_layout *layout;
    double from;
    size_t row;
    uint64_t bytes;
    unsigned colour;
    size_t room; /* letters */
};

/* `down`: vertical position in the row, 0 to 1. */
static void put_line(FILE *out, const struct tag *tag, double down, const char *text)
{
    fprintf(out, "%.9g\t%.9g\t%s\t%u\n", tag->from + 4 * tag->layout->pixel,
            (double)tag->row + down, text, plot_text_colour(tag->colour));
}

static void put_fitted(FILE *out, const struct tag *tag, const struct buffer *text, enum cut cut,
                       const char *size)
{
    struct buffer fitted = BUFFER_INIT;
    size_t used = text_fit(&fitted, text->bytes, text->size, tag->room, cut);
    bool is_whole = fitted.size == text->size;
    bool two_lines = tag->layout->row >= ROW_TWO_LINES;
    if (is_whole && !two_lines && used + 3 + strlen(size) <= tag->room)
        buffer_printf(&fitted, "   %s", size);
    if (!fitted.failed && (is_whole || tag->room >= LABEL_LEAST_CUT))
        put_line(out, tag, two_lines ? 0.33 : 0.48, fitted.bytes);
    buffer_release(&fitted);
    if (two_lines && strlen(size) <= tag->room)
        put_line(out, tag, 0.68, size);
}

/* The text, cut if necessary, and the size below or after it if there is room. */
static void put_label(FILE *out, const struct tag *tag, const struct buffer *text, enum cut cut)
{
    char size[UNITS_TEXT_SIZE];
    struct buffer escaped = BUFFER_INIT;
    if (tag->room < LABEL_LEAST || !text->bytes)
        return;
    units_bytes(size, (int64_t)tag->bytes, UNIT_AUTO);
    escape_plot(&escaped, text->bytes, text->size, LABEL_MOST);
    if (!escaped.failed && escaped.bytes)
        put_fitted(out, tag, &escaped, cut, size);
    buffer_release(&escaped);
}

static struct tag tag_at(const struct flame_layout *layout, double from, size_t row, uint64_t bytes,
                         unsigned colour)
{
    double letters = ((double)bytes / layout->pixel - 6) / PLOT_CHARACTER;
    return (struct tag){layout, from, row, bytes, colour, letters < 0 ? 0 : (size_t)letters};
}

/* Leaves a gap between neighbours if there is room. */
static double frame_end(const struct flame_layout *layout, double from, uint64_t bytes)
{
    double gap = (double)bytes > 3 * layout->pixel ? 0.7 * layout->pixel : 0;
    return from + (double)bytes - gap;
}

static void put_frame(FILE *out, const struct tag *tag)
{
    fprintf(out, "%.9g\t%.9g\t%zu\t%u\n", tag->from, frame_end(tag->layout, tag->from, tag->bytes),
            tag->row, tag->colour);
}

/* "model.py:7 forward", "12.00 MiB, 7.1% of all", "mostly activations" */
static bool note_frame(const struct plot_flame *plot, const struct tag *tag,
                       const struct buffer *text, const char *category, struct error *err)
{
    char size[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    const struct flame_layout *layout = tag->layout;
    if (!plot->notes || tag->bytes < layout->told)
        return true;
    struct buffer title = BUFFER_INIT;
    buffer_add(&title, text->bytes, text->size);
    svg_title_begin(&title);
    buffer_printf(&title, "\n%s, %s of all", units_bytes(size, (int64_t)tag->bytes, UNIT_AUTO),
                  page_share(share, (int64_t)tag->bytes, (int64_t)plot->flame->total));
    if (category)
        buffer_printf(&title, "\nmostly %s", category);
    double top = plot_flame_margins.top + (double)tag->row * layout->row;
    struct svg_box box = {tag->colour, plot_flame_margins.left + tag->from / layout->pixel,
                          plot_flame_margins.left +
                              frame_end(layout, tag->from, tag->bytes) / layout->pixel,
                          top, top + ROW_PART * layout->row};
    bool ok = title.failed ? error_out_of_memory(err)
                           : svg_titles_note_box(plot->notes, &box, &title, err);
    buffer_release(&title);
    return ok;
}

/* Removes the most common prefix of operators. */
static void shorten(struct buffer *text, const struct flame *flame, uint32_t frame)
{
    static const char prefix[] = "aten::";
    size_t size = sizeof(prefix) - 1;
    if (flame->frames[frame].kind != FLAME_NAME || text->size <= size ||
        memcmp(text->bytes, prefix, size) != 0)
        return;
    memmove(text->bytes, text->bytes + size, text->size - size + 1);
    text->size -= size;
}

static enum cut cut_of(const struct flame *flame, uint32_t frame)
{
    enum flame_kind kind = flame->frames[frame].kind;
    return kind == FLAME_USER || kind == FLAME_LIBRARY ? CUT_SITE : CUT_END;
}

bool plot_flame_frames(const struct plot_flame *plot, const struct flame_layout *layout,
                       FILE *const files[], struct error *err)
{
    const struct flame *flame = plot->flame;
    double next[FLAME_DEPTH + 1] = {0}; /* by depth: where the next frame begins */
    struct flame_visitor visitor;
    struct buffer text = BUFFER_INIT;
    const struct flame_node *parent;
    bool ok = true;
    buffer_puts(&text, "everything");
    if (flame->total > 0) {
        struct tag tag = tag_at(layout, 0, 0, flame->total, PLOT_REST);
        put_frame(files[FLAME_FRAMES], &tag);
        put_label(files[FLAME_LABELS], &tag, &text, CUT_END);
        ok = note_frame(plot, &tag, &text, NULL, err);
    }
    flame_visitor_begin(&visitor, flame);
    while (ok && flame_visitor_next(&visitor)) {
        const struct flame_node *node = plot_flame_found(&visitor, &parent);
        double from = next[visitor.depth - 1];
        next[visitor.depth - 1] += (double)node->total;
        next[visitor.depth] = from;
        if (node->total < layout->narrowest || visitor.depth >= layout->rows)
            continue;
        uint32_t index = visitor.path[visitor.depth - 1];
        unsigned colour = plot_shade(plot_category_colour(flame->category[index]), visitor.depth);
        buffer_clear(&text);
        flame_label(flame, node->frame, &text);
        struct tag tag = tag_at(layout, from, visitor.depth, node->total, colour);
        char category[80];
        plot_category_name(category, flame->category[index]);
        put_frame(files[FLAME_FRAMES], &tag);
        ok = note_frame(plot, &tag, &text, category, err);
        shorten(&text, flame, node->frame);
        put_label(files[FLAME_LABELS], &tag, &text, cut_of(flame, node->frame));
    }
    if (ok && text.failed)
        ok = error_out_of_memory(err);
    buffer_release(&text);
    return ok;
}
