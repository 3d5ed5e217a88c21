#include <string.h>

#include "analysis/layers/panels.h"
#include "base/units.h"
#include "render/core/escape.h"
#include "render/core/fit.h"
#include "render/plot/kind.h"

#define LOW        200  /* pixels of a row of panels: without words at the axes */
#define HEADROOM   1.3  /* above the highest column: its label */
#define NAME_MOST  60   /* characters of a module's name in a label, */
#define NAME_LEAST 12   /* however little room there is */
#define SIZE_TEXT  22   /* "1.83 GiB  , backward" */
#define LETTER     5.8  /* pixels that one takes, about */
#define PANEL_PART 0.43 /* part of the picture's width */
#define NAME_BYTES 2000 /* longer names are cut */

enum { LAYERS_SCRIPT, LAYERS_PANELS };

static const struct {
    const char *title, *axis, *missing;
} measures[LAYER_PANELS] = {
    [PANEL_ALLOCATED] = {"allocated", "rows", "allocated memory"},
    [PANEL_ACTIVE] = {"active", "rows", NULL},
    [PANEL_RESERVED] = {"reserved", "rows", "reserved memory"},
    [PANEL_ACTIVATIONS] = {"made by each module: activations, and gradients in backward", "rows",
                           "activations"},
    [PANEL_CUMUL_ACTIVATIONS] = {"activations of the forward pass, summed up", "rows", NULL},
    [PANEL_ALL_GATHERED] = {"all-gathered by FSDP since the row before", "rows",
                            "all-gathered parameters (no FSDP)"},
    [PANEL_CUMUL_ALL_GATHERED] = {"all-gathered parameters held by FSDP", "rows", NULL},
    [PANEL_PARAMS] = {"parameters by module", "modules", "parameters"},
};

static bool is_shown(const struct layer_panels *panels, size_t kind)
{
    return panels->panels[kind].peak_bytes > 0;
}

/* These share a scale, so that they can be compared. */
static bool is_whole(size_t kind)
{
    return kind == PANEL_ALLOCATED || kind == PANEL_ACTIVE || kind == PANEL_RESERVED;
}

static int64_t highest(const struct layer_panels *panels, size_t kind)
{
    int64_t most = panels->panels[kind].peak_bytes;
    for (size_t other = 0; other < LAYER_PANELS; other++)
        if (is_whole(kind) && is_whole(other) && panels->panels[other].peak_bytes > most)
            most = panels->panels[other].peak_bytes;
    return most;
}

/* The name without the components that wrappers of FSDP and of checkpoints add, which begin with _.
 */
static void add_name(struct buffer *out, struct text name, size_t letters)
{
    struct buffer plain = BUFFER_INIT, escaped = BUFFER_INIT;
    for (size_t at = 0, end; at < name.size; at = end + 1) {
        const char *dot = memchr(name.bytes + at, '.', name.size - at);
        end = dot ? (size_t)(dot - name.bytes) : name.size;
        if (name.bytes[at] == '_')
            continue;
        buffer_puts(&plain, plain.size > 0 ? "." : "");
        buffer_add(&plain, name.bytes + at, end - at);
    }
    if (plain.size > 0)
        escape_plot(&escaped, plain.bytes, plain.size, NAME_BYTES);
    if (escaped.size > 0)
        text_fit(out, escaped.bytes, escaped.size, letters, CUT_MIDDLE);
    out->failed |= plain.failed || escaped.failed;
    buffer_release(&plain);
    buffer_release(&escaped);
}

/* "1.83 GiB layer4.2.conv3, forward", and its position. */
static bool put_peak(FILE *script, const struct plot_look *look, const struct layer_panels *panels,
                     size_t kind, size_t number, double unit, struct error *err)
{
    const struct layer_panel *panel = &panels->panels[kind];
    double where = ((double)panel->peak_item + 0.5) / (double)panel->items;
    double pixels = (where > 0.5 ? where : 1 - where) * PANEL_PART * look->width;
    double letters = pixels / LETTER - SIZE_TEXT;
    if (look->format == PLOT_DUMB)
        letters = look->width / PLOT_CELL_WIDTH - SIZE_TEXT;
    char size[UNITS_TEXT_SIZE];
    struct buffer name = BUFFER_INIT;
    add_name(&name, symbols_text(panels->symbols, panel->peak_name),
             letters < NAME_LEAST  ? NAME_LEAST
             : letters > NAME_MOST ? NAME_MOST
                                   : (size_t)letters);
    if (name.failed) {
        buffer_release(&name);
        return error_out_of_memory(err);
    }
    fprintf(script, "peak_text[%zu] = '%s  %s", number,
            units_bytes(size, panel->peak_bytes, UNIT_AUTO), name.size > 0 ? name.bytes : "");
    if (panels->modules > 0 && kind != PANEL_PARAMS)
        fputs(panel->peak_pass == PASS_FORWARD ? ", forward" : ", backward", script);
    fprintf(script, "'; peak_x[%zu] = %.9g; peak_y[%zu] = %.7g\n", number,
            (double)panel->peak_item + 0.5, number, (double)panel->peak_bytes / unit);
    buffer_release(&name);
    return true;
}

/* The steps of one pass; parts outside the pass are left out. */
static void write_steps(FILE *out, const struct layer_panel *panel, enum layer_pass pass,
                        double unit)
{
    const int64_t *bytes = panel->bytes[pass];
    bool drawn = false, begun = false;
    for (size_t c = 0; c < panel->columns; c++) {
        if (bytes[c] < 0) {
            drawn = false;
            continue;
        }
        if (!drawn && begun)
            fputc('\n', out);
        for (size_t side = 0; side < 2; side++)
            fprintf(out, "%zu\t%.7g\n", layer_column_first(panel, c + side),
                    (double)bytes[c] / unit);
        drawn = begun = true;
    }
    fputs(begun ? "\n\n" : "0\t0\n\n\n", out); /* ends what gnuplot calls an index */
}

/* "126 modules, 252 rows of the trace in the order they ran; not in the trace: parameters" */
static void put_subtitle(FILE *script, const struct layer_panels *panels)
{
    char modules[UNITS_TEXT_SIZE], items[UNITS_TEXT_SIZE];
    units_count(items, panels->items);
    if (panels->modules > 0)
        fprintf(script, "plot_subtitle = '%s modules, %s rows in the order in which they ran",
                units_count(modules, panels->modules), items);
    else
        fprintf(script, "plot_subtitle = '%s operators, in the order in which they ran", items);
    bool first = true;
    for (size_t kind = 0; kind < LAYER_PANELS; kind++) {
        bool asked = measures[kind].missing && (panels->modules > 0 || is_whole(kind));
        if (!asked || is_shown(panels, kind))
            continue;
        fprintf(script, "%s%s", first ? "; not in the trace: " : ", ", measures[kind].missing);
        first = false;
    }
    const struct layer_panel *panel = &panels->panels[PANEL_ALLOCATED];
    if (panel->items > panel->columns)
        fprintf(script, "; the most of %zu in a column",
                (panel->items + panel->columns - 1) / panel->columns);
    fputs("'\n", script);
}

static void put_arrays(FILE *script, size_t panels, unsigned height)
{
    static const char *const names[] = {"panel_title", "axis_label", "axis_last", "axis_top",
                                        "peak_text",   "peak_x",     "peak_y"};
    fprintf(script, "panels = %zu\nlow = %d\n", panels, height < LOW * ((panels + 1) / 2));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        fprintf(script, "array %s[%zu]\n", names[i], panels + 1);
}

/* Panels without data are left out, and the subtitle says so. */
static bool draw(const struct plot_job *job, const struct layer_panels *panels, struct error *err)
{
    const struct plot_look *look = &job->request->look;
    FILE *script = job->files[LAYERS_SCRIPT], *out = job->files[LAYERS_PANELS];
    size_t count = 0, number = 0;
    for (size_t kind = 0; kind < LAYER_PANELS; kind++)
        count += is_shown(panels, kind);
    if (count == 0)
        return error_set(err, STATUS_BAD_INPUT, "nothing to plot: the trace has no sizes in it");
    put_subtitle(script, panels);
    fprintf(script, "passes = %d\n", panels->passes);
    put_arrays(script, count, look->height);
    fputs("# item\tmemory; a block for forward and one for backward, for each panel\n", out);
    for (size_t kind = 0; kind < LAYER_PANELS; kind++) {
        const struct layer_panel *panel = &panels->panels[kind];
        const char *name, *axis = panels->modules > 0 ? measures[kind].axis : "operators";
        if (!is_shown(panels, kind))
            continue;
        int64_t most = highest(panels, kind);
        double unit = plot_unit((double)most, &name);
        number++;
        fprintf(script, "panel_title[%zu] = '%s, %s'; axis_label[%zu] = '%s'\n", number,
                measures[kind].title, name, number, axis);
        fprintf(script, "axis_last[%zu] = %zu; axis_top[%zu] = %.7g\n", number, panel->items,
                number, (double)most / unit * HEADROOM);
        if (!put_peak(script, look, panels, kind, number, unit, err))
            return false;
        for (enum layer_pass pass = 0; pass < LAYER_PASSES; pass++)
            write_steps(out, panel, pass, unit);
    }
    return true;
}

const struct plot_kind plot_kind_layers = {
    .name = "layers",
    .summary = "a layer trace: allocated, reserved, activations, ... by row",
    .files = {"plot.gp", "panels.tsv"},
    .templates = {"layers.gp"},
    .in_text = {"text-layers.gp"},
    .of_layers = draw,
};
