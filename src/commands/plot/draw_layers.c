#include "commands/plot/kinds.h"
#include "render/plot/layers.h"

#define RANKS_ANY 2 /* what sharding would give is not drawn */

static bool write(const struct plot_job *job, struct layer_panels *panels, struct error *err)
{
    bool ok = plot_layers_write(&job->options->look, panels, job->files, err);
    plot_job_templates(job);
    layer_panels_release(panels);
    return ok;
}

static bool draw_trace(const struct plot_job *job, struct input *input, struct error *err)
{
    const struct layers_options options = {.top = 1, .ranks = RANKS_ANY};
    struct layer_panels panels;
    struct layer_trace *trace = layer_trace_load_input(input, err);
    if (!trace)
        return false;
    struct layers_report *report = layers_report_build(trace, &options, err);
    bool ok = report && layer_panels_of_trace(&panels, report, PLOT_PANEL_COLUMNS, err) &&
              write(job, &panels, err);
    layers_report_destroy(report);
    layer_trace_destroy(trace);
    return ok;
}

static bool draw_operators(const struct plot_job *job, struct input *input, struct error *err)
{
    struct layer_panels panels;
    struct operator_curves *curves = operator_curves_load_input(input, err);
    bool ok = curves && layer_panels_of_operators(&panels, curves, PLOT_PANEL_COLUMNS, err) &&
              write(job, &panels, err);
    operator_curves_destroy(curves);
    return ok;
}

bool plot_draw_layers(struct plot_job *job, struct error *err)
{
    struct input input;
    enum file_kind file;
    if (!plot_job_open(job, &input, &file, err))
        return false;
    return file == KIND_OPERATOR_CURVES ? draw_operators(job, &input, err)
                                        : draw_trace(job, &input, err);
}
