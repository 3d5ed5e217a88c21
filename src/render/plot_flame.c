#include "render/plot_flame.h"

#include <string.h>

#include "base/units.h"
#include "render/escape.h"
#include "render/fit.h"
#include "render/page.h"
#include "render/plot_legend.h"

#define FRAMES_MOST     20000 /* keeps an SVG below 4 MB */
#define ROW_MOST        46.0  /* pixels */
#define ROW_LEAST       13.0
#define ROW_TWO_LINES   32.0 /* has room for the size below the name */
#define LABEL_MOST      300  /* letters */
#define LABEL_LEAST     4
#define LABEL_LEAST_CUT 7

static const struct plot_margins margins = {30, 270, 100, 60, PLOT_TITLES};

/* Where frames go: x in bytes, y in rows from the top, of which the first is for everything. */
struct layout {
    double pixel;       /* bytes */
    double row;         /* pixels */
    double graph_rows;  /* that the graph is high */
    size_t rows;        /* that are drawn */
    uint64_t narrowest; /* bytes; what is narrower is left out */
    uint64_t left_out;  /* bytes whose innermost frames are too narrow, or */
    uint64_t too_deep;  /* beyond the last row */
};

static unsigned graph_width(const struct plot_look *look)
{
    return look->width - margins.left - margins.right;
}

static unsigned graph_height(const struct plot_look *look)
{
    return look->height - margins.top - margins.bottom;
}

/* The node that the walk is at, and its parent, which is drawn if it is the root. */
static const struct flame_node *found(const struct flame_walk *walk, const struct flame_node **up)
{
    const struct flame *flame = walk->flame;
    *up = &flame->nodes[walk->depth > 1 ? walk->path[walk->depth - 2] : 0];
    return &flame->nodes[walk->path[walk->depth - 1]];
}

/* How many frames are at least so wide, and how deep they lie. */
static size_t count_frames(const struct flame *flame, uint64_t narrowest, size_t *deepest)
{
    struct flame_walk walk;
    const struct flame_node *parent;
    size_t count = 0;
    *deepest = 0;
    flame_walk_begin(&walk, flame);
    while (flame_walk_next(&walk)) {
        if (found(&walk, &parent)->total < narrowest)
            continue;
        count++;
        *deepest = walk.depth > *deepest ? walk.depth : *deepest;
    }
    return count;
}

static void sum_left_out(const struct flame *flame, struct layout *layout)
{
    struct flame_walk walk;
    const struct flame_node *parent;
    flame_walk_begin(&walk, flame);
    while (flame_walk_next(&walk)) {
        const struct flame_node *node = found(&walk, &parent);
        bool hangs = walk.depth == 1 || parent->total >= layout->narrowest;
        if (!hangs || walk.depth > layout->rows)
            continue; /* counted above it */
        if (node->total < layout->narrowest)
            layout->left_out += node->total;
        else if (walk.depth == layout->rows)
            layout->too_deep += node->total;
    }
}

static struct layout lay_out(const struct plot_flame *plot)
{
    const struct flame *flame = plot->flame;
    struct layout layout = {0};
    size_t deepest;
    double height = graph_height(plot->look);
    layout.pixel = flame->total > 0 ? (double)flame->total / graph_width(plot->look) : 1;
    layout.narrowest = (uint64_t)(layout.pixel / 2) + 1;
    while (count_frames(flame, layout.narrowest, &deepest) > FRAMES_MOST)
        layout.narrowest *= 2;
    layout.rows = deepest + 1;
    layout.row = height / (double)layout.rows;
    if (layout.row > ROW_MOST)
        layout.row = ROW_MOST;
    if (layout.row < ROW_LEAST) {
        layout.row = ROW_LEAST;
        layout.rows = (size_t)(height / ROW_LEAST);
    }
    layout.graph_rows = height / layout.row;
    sum_left_out(flame, &layout);
    return layout;
}

struct tag {
    const struct layout *layout;
    double from;
    size_t row;
    uint64_t bytes;
    unsigned colour;
    size_t room; /* letters */
};

/* `down`: where in the row, 0 to 1. */
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

/* The text, cut where it must be, and below or behind it the size where there is room for that. */
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

static struct tag tag_at(const struct layout *layout, double from, size_t row, uint64_t bytes,
                         unsigned colour)
{
    double letters = ((double)bytes / layout->pixel - 6) / PLOT_CHARACTER;
    return (struct tag){layout, from, row, bytes, colour, letters < 0 ? 0 : (size_t)letters};
}

/* A gap, where there is room for one, tells it from its neighbour. */
static void put_frame(FILE *out, const struct layout *layout, double from, size_t row,
                      uint64_t bytes, unsigned colour)
{
    double to = from + (double)bytes;
    if ((double)bytes > 3 * layout->pixel)
        to -= 0.7 * layout->pixel;
    fprintf(out, "%.9g\t%.9g\t%zu\t%u\n", from, to, row, colour);
}

/* What most operators begin with says nothing. */
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

static bool write_frames(const struct plot_flame *plot, const struct layout *layout,
                         FILE *const files[], struct error *err)
{
    const struct flame *flame = plot->flame;
    double next[FLAME_DEPTH + 1] = {0}; /* by depth: where the next frame begins */
    struct flame_walk walk;
    struct buffer text = BUFFER_INIT;
    const struct flame_node *parent;
    buffer_puts(&text, "everything");
    if (flame->total > 0) {
        put_frame(files[FLAME_FRAMES], layout, 0, 0, flame->total, PLOT_REST);
        struct tag tag = tag_at(layout, 0, 0, flame->total, PLOT_REST);
        put_label(files[FLAME_LABELS], &tag, &text, CUT_END);
    }
    flame_walk_begin(&walk, flame);
    while (flame_walk_next(&walk)) {
        const struct flame_node *node = found(&walk, &parent);
        double from = next[walk.depth - 1];
        next[walk.depth - 1] += (double)node->total;
        next[walk.depth] = from;
        if (node->total < layout->narrowest || walk.depth >= layout->rows)
            continue;
        uint32_t index = walk.path[walk.depth - 1];
        unsigned colour = plot_shade(plot_category_colour(flame->category[index]), walk.depth);
        buffer_clear(&text);
        flame_label(flame, node->frame, &text);
        shorten(&text, flame, node->frame);
        put_frame(files[FLAME_FRAMES], layout, from, walk.depth, node->total, colour);
        struct tag tag = tag_at(layout, from, walk.depth, node->total, colour);
        put_label(files[FLAME_LABELS], &tag, &text, cut_of(flame, node->frame));
    }
    bool ok = !text.failed;
    buffer_release(&text);
    return ok || error_set(err, STATUS_LIMIT, "out of memory");
}

static void put_legend(FILE *script, const struct plot_flame *plot)
{
    const struct device_report *report = plot->subject.report;
    struct plot_legend legend = {0};
    for (size_t i = 0; i < report->category_count; i++) {
        const struct category_row *row = &report->categories[i];
        char name[80], size[UNITS_TEXT_SIZE], remark[UNITS_TEXT_SIZE + 4];
        plot_category_name(name, row->category);
        snprintf(remark, sizeof(remark), "  %s", units_bytes(size, row->bytes, UNIT_AUTO));
        plot_legend_add(&legend, plot_category_colour(row->category), name, remark);
    }
    plot_legend_put(script, &legend, graph_height(plot->look));
}

/* What is not drawn; nothing where all is. */
static void say_left_out(struct buffer *note, const struct layout *layout, uint64_t total)
{
    char least[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    if (layout->left_out > 0)
        buffer_printf(note, "not drawn: frames of less than %s: %s, %s of it",
                      units_bytes(least, (int64_t)layout->narrowest, UNIT_AUTO),
                      units_bytes(size, (int64_t)layout->left_out, UNIT_AUTO),
                      page_share(share, (int64_t)layout->left_out, (int64_t)total));
    if (layout->too_deep > 0)
        buffer_printf(note, "%s rows below the last (more with --size): %s, %s of it",
                      layout->left_out > 0 ? "; " : "not drawn:",
                      units_bytes(size, (int64_t)layout->too_deep, UNIT_AUTO),
                      page_share(share, (int64_t)layout->too_deep, (int64_t)total));
}

static bool put_titles(FILE *script, const struct plot_flame *plot, const struct layout *layout,
                       struct error *err)
{
    const struct flame *flame = plot->flame;
    char moment[PLOT_MOMENT_SIZE], bytes[UNITS_TEXT_SIZE], text[512];
    struct buffer note = BUFFER_INIT;
    snprintf(text, sizeof(text),
             "device %u: call stacks of the %s live %s; coloured by the category that holds most",
             flame->timeline->device, units_bytes(bytes, (int64_t)flame->total, UNIT_AUTO),
             plot_moment(moment, &plot->subject));
    say_left_out(&note, layout, flame->total);
    bool ok = !note.failed;
    if (ok)
        plot_put_words(script, plot->look, margins, text, note.size > 0 ? note.bytes : "");
    buffer_release(&note);
    return ok || error_set(err, STATUS_LIMIT, "out of memory");
}

bool plot_flame_write(const struct plot_flame *plot, FILE *const files[], struct error *err)
{
    struct layout layout = lay_out(plot);
    FILE *script = files[FLAME_SCRIPT];
    const char *name;
    double unit = plot_unit((double)plot->flame->total, &name);
    if (!put_titles(script, plot, &layout, err))
        return false;
    plot_put_margins(script, plot->look, margins);
    fprintf(script, "x_unit = %.9g\nx_label = '%s'\nx_top = %.9g\ny_rows = %.9g\n", unit, name,
            plot->flame->total > 0 ? (double)plot->flame->total / unit : 1, layout.graph_rows);
    put_legend(script, plot);
    fputs("# from\tto\trow\tcolour\n", files[FLAME_FRAMES]);
    fputs("# where\trow\ttext\tcolour\n", files[FLAME_LABELS]);
    return write_frames(plot, &layout, files, err);
}
