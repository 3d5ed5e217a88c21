#include "commands/plot/kinds.h"

#include <strings.h>

#include "base/buffer.h"
#include "render/plot/categories.h"
#include "render/plot/compare.h"
#include "render/plot/flame.h"
#include "render/plot/layers.h"
#include "render/plot/pareto.h"
#include "render/plot/phases.h"
#include "render/plot/report.h"
#include "render/plot/segments.h"
#include "render/plot/sites.h"
#include "render/plot/timeline.h"

const struct plot_kind plot_kinds[] = {
    {
        .name = "timeline",
        .summary = "memory over time: a band an allocation",
        .files = {PLOT_TIMELINE_FILES},
        .templates = {"page.gp", "frame.gp", "timeline.gp"},
        .in_text = {"text.gp", "text-time.gp"},
        .draw = plot_draw_timeline,
    },
    {
        .name = "categories",
        .summary = "memory over time: an area a category",
        .files = {PLOT_CATEGORIES_FILES},
        .templates = {"page.gp", "frame.gp", "categories.gp"},
        .in_text = {"text.gp", "text-categories.gp"},
        .draw = plot_draw_categories,
    },
    {
        .name = "segments",
        .summary = "what is where in reserved memory, in the snapshot or --at",
        .files = {PLOT_SEGMENTS_FILES},
        .templates = {"page.gp", "segments.gp"},
        .draw = plot_draw_segments,
    },
    {
        .name = "sites",
        .summary = "who holds what is live at the peak, or --at: a bar a call site",
        .files = {PLOT_SITES_FILES},
        .templates = {"page.gp", "bars.gp"},
        .in_text = {"text-bars.gp"},
        .draw = plot_draw_sites,
    },
    {
        .name = "flame",
        .summary = "call stacks of what is live at the peak, or --at",
        .files = {PLOT_FLAME_FILES},
        .templates = {"page.gp", "flame.gp"},
        .draw = plot_draw_flame,
    },
    {
        .name = "phases",
        .summary = "the peak of each forward, backward, optimizer step; what stays",
        .files = {PLOT_PHASES_FILES},
        .templates = {"page.gp", "phases.gp"},
        .draw = plot_draw_phases,
    },
    {
        .name = "report",
        .summary = "a page of all: what to do, memory over time, who holds it, holes",
        .files = {PLOT_REPORT_FILES},
        .templates = {PLOT_REPORT_TEMPLATES},
        .height = PLOT_REPORT_HEIGHT,
        .draw = plot_draw_report,
    },
    {
        .name = "layers",
        .summary = "a layer trace: allocated, reserved, activations, ... by row",
        .input = PLOT_OF_LAYERS,
        .files = {PLOT_LAYERS_FILES},
        .templates = {"layers.gp"},
        .in_text = {"text-layers.gp"},
        .draw = plot_draw_layers,
    },
    {
        .name = "pareto",
        .summary = "memory against compute: what checkpoints can do (memsnap suggest)",
        .input = PLOT_OF_MODEL,
        .files = {PLOT_PARETO_FILES},
        .templates = {"page.gp", "pareto.gp"},
        .in_text = {"text-pareto.gp"},
        .draw = plot_draw_pareto,
    },
    {
        .name = "compare",
        .summary = "two to eight files on one axis: in use and reserved",
        .input = PLOT_OF_SEVERAL,
        .files = {PLOT_COMPARE_FILES},
        .templates = {"page.gp", "compare.gp"},
        .in_text = {"text-compare.gp"},
        .draw = plot_draw_compare,
    },
    {.name = NULL},
};

static bool is_drawn(const struct plot_kind *kind, enum file_kind file)
{
    static const bool drawn[][KIND_OPERATOR_CURVES + 1] = {
        [PLOT_OF_SNAPSHOT] = {[KIND_SNAPSHOT] = true},
        [PLOT_OF_LAYERS] = {[KIND_LAYER_TRACE] = true, [KIND_OPERATOR_CURVES] = true},
        [PLOT_OF_MODEL] = {[KIND_SNAPSHOT] = true, [KIND_LAYER_TRACE] = true},
        [PLOT_OF_SEVERAL] =
            {[KIND_SNAPSHOT] = true, [KIND_LAYER_TRACE] = true, [KIND_OPERATOR_CURVES] = true},
    };
    return drawn[kind->input][file];
}

const struct plot_kind *plot_kind_for(enum file_kind file)
{
    const struct plot_kind *kind = plot_kinds;
    while (file != KIND_UNKNOWN && kind->name && !is_drawn(kind, file))
        kind++;
    return kind->name ? kind : plot_kinds;
}

const struct plot_kind *plot_kind_for_several(void)
{
    const struct plot_kind *kind = plot_kinds;
    while (kind->name && kind->input != PLOT_OF_SEVERAL)
        kind++;
    return kind->name ? kind : plot_kinds;
}

const char *const *plot_kind_templates(const struct plot_kind *kind, enum plot_format format)
{
    return format == PLOT_DUMB ? kind->in_text : kind->templates;
}

/* An unknown kind of file is told best by who reads it. */
bool plot_kind_check(const struct plot_kind *kind, enum file_kind file, struct error *err)
{
    struct buffer names = BUFFER_INIT;
    if (file == KIND_UNKNOWN || is_drawn(kind, file))
        return true;
    for (const struct plot_kind *row = plot_kinds; row->name; row++)
        if (is_drawn(row, file))
            buffer_printf(&names, "%s%s", names.size > 0 ? ", " : "", row->name);
    error_set(err, STATUS_USAGE, "--kind %s does not draw %s; these do: %s", kind->name,
              kind_name(file), names.size == 0 || names.failed ? "none" : names.bytes);
    buffer_release(&names);
    return false;
}

bool plot_kind_find(const char *name, const struct plot_kind **kind, struct error *err)
{
    struct buffer names = BUFFER_INIT;
    for (const struct plot_kind *row = plot_kinds; row->name; row++) {
        if (strcasecmp(row->name, name) == 0) {
            *kind = row;
            buffer_release(&names);
            return true;
        }
        const char *separator = row == plot_kinds ? "" : row[1].name ? ", " : " and ";
        buffer_printf(&names, "%s%s", separator, row->name);
    }
    error_set(err, STATUS_USAGE, "unknown kind '%.60s'; there are %s", name,
              names.failed ? "others" : names.bytes);
    buffer_release(&names);
    return false;
}

void plot_kinds_words(void)
{
    for (const struct plot_kind *row = plot_kinds; row->name; row++)
        printf("%s%s", row == plot_kinds ? "" : " ", row->name);
}

void plot_kinds_help(void)
{
    printf("\nKinds:\n");
    for (const struct plot_kind *row = plot_kinds; row->name; row++)
        printf("  %-12s%s\n", row->name, row->summary);
}
