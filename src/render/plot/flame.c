#include "render/plot/flame_internal.h"

#include "base/units.h"
#include "model/device.h"
#include "render/core/page.h"
#include "render/plot/legend.h"
#include "render/plot/svg_titles.h"

#define FRAMES_MOST 20000 /* keeps an SVG below 4 MB */
#define ROW_MOST    46.0  /* pixels */
#define ROW_LEAST   13.0

static unsigned graph_width(const struct plot_look *look)
{
    return look->width - plot_flame_margins.left - plot_flame_margins.right;
}

static unsigned graph_height(const struct plot_look *look)
{
    return look->height - plot_flame_margins.top - plot_flame_margins.bottom;
}

/* Number of frames at least `narrowest` bytes wide, and the depth of the deepest. */
static size_t count_frames(const struct flame *flame, uint64_t narrowest, size_t *deepest)
{
    struct flame_visitor visitor;
    const struct flame_node *parent;
    size_t count = 0;
    *deepest = 0;
    flame_visitor_begin(&visitor, flame);
    while (flame_visitor_next(&visitor)) {
        if (plot_flame_found(&visitor, &parent)->total < narrowest)
            continue;
        count++;
        *deepest = visitor.depth > *deepest ? visitor.depth : *deepest;
    }
    return count;
}

static void sum_left_out(const struct flame *flame, struct flame_layout *layout)
{
    struct flame_visitor visitor;
    const struct flame_node *parent;
    flame_visitor_begin(&visitor, flame);
    while (flame_visitor_next(&visitor)) {
        const struct flame_node *node = plot_flame_found(&visitor, &parent);
        bool hangs = visitor.depth == 1 || parent->total >= layout->narrowest;
        if (!hangs || visitor.depth > layout->rows)
            continue; /* counted above it */
        if (node->total < layout->narrowest)
            layout->left_out += node->total;
        else if (visitor.depth == layout->rows)
            layout->too_deep += node->total;
    }
}

static struct flame_layout lay_out(const struct plot_flame *plot)
{
    const struct flame *flame = plot->flame;
    struct flame_layout layout = {0};
    size_t deepest;
    double height = graph_height(plot->look);
    layout.pixel = flame->total > 0 ? (double)flame->total / graph_width(plot->look) : 1;
    layout.narrowest = (uint64_t)(layout.pixel / 2) + 1;
    while (count_frames(flame, layout.narrowest, &deepest) > FRAMES_MOST)
        layout.narrowest *= 2;
    size_t rows;
    layout.told = layout.narrowest;
    while (count_frames(flame, layout.told, &rows) > SVG_TITLES_MOST)
        layout.told *= 2;
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

static void put_legend(FILE *script, const struct plot_flame *plot)
{
    const struct device_report *report = plot->snapshot->report;
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

/* Says how much is not drawn; adds nothing if everything is. */
static void say_left_out(struct buffer *note, const struct flame_layout *layout, uint64_t total)
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

static bool put_titles(FILE *script, const struct plot_flame *plot,
                       const struct flame_layout *layout, struct error *err)
{
    const struct flame *flame = plot->flame;
    char moment[PLOT_MOMENT_SIZE], bytes[UNITS_TEXT_SIZE], text[512];
    struct buffer note = BUFFER_INIT;
    snprintf(text, sizeof(text),
             "%s: call stacks of the %s live %s; coloured by the category that holds most",
             DEVICE_WORDS(flame->timeline->device),
             units_bytes(bytes, (int64_t)flame->total, UNIT_AUTO),
             plot_moment(moment, plot->snapshot));
    say_left_out(&note, layout, flame->total);
    bool ok = !note.failed;
    if (ok)
        plot_put_words(script, plot->look, plot_flame_margins, text,
                       note.size > 0 ? note.bytes : "");
    buffer_release(&note);
    return ok || error_out_of_memory(err);
}

static bool write_all(const struct plot_flame *plot, FILE *const files[], struct error *err)
{
    struct flame_layout layout = lay_out(plot);
    FILE *script = files[FLAME_SCRIPT];
    const char *name;
    double unit = plot_unit((double)plot->flame->total, &name);
    if (!put_titles(script, plot, &layout, err))
        return false;
    plot_put_margins(script, plot->look, plot_flame_margins);
    fprintf(script, "x_unit = %.9g\nx_label = '%s'\nx_top = %.9g\ny_rows = %.9g\n", unit, name,
            plot->flame->total > 0 ? (double)plot->flame->total / unit : 1, layout.graph_rows);
    put_legend(script, plot);
    fputs("# from\tto\trow\tcolour\n", files[FLAME_FRAMES]);
    fputs("# where\trow\ttext\tcolour\n", files[FLAME_LABELS]);
    return plot_flame_frames(plot, &layout, files, err);
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    const struct report_options *at = &job->request->report;
    const struct flame_options options = {.with_categories = true, .at = at->at};
    if (!plot_snapshot_report(snapshot, at, 1, err))
        return false;
    struct flame *flame = flame_build(snapshot->timeline, snapshot->sites, &options, err);
    if (!flame)
        return false;
    struct plot_flame plot = {
        .snapshot = snapshot, .flame = flame, .look = &job->request->look, .notes = job->notes};
    bool ok = write_all(&plot, job->files, err);
    flame_destroy(flame);
    return ok;
}

const struct plot_kind plot_kind_flame = {
    .name = "flame",
    .summary = "call stacks of the memory live at the peak, or --at",
    .files = {"plot.gp", "frames.tsv", "labels.tsv"},
    .templates = {"page.gp", "flame.gp"},
    .of_snapshot = draw,
};
