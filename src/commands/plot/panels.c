#include "commands/plot/panels.h"

#define RANKS_ANY 2 /* any value: the savings of sharding are not drawn */

static bool open_layers(struct plot_panels *made, struct input *input, size_t columns,
                        struct error *err)
{
    const struct layers_options options = {.top = 1, .ranks = RANKS_ANY};
    made->trace = layer_trace_load_input(input, err);
    if (!made->trace)
        return false;
    struct layers_report *report = layers_report_build(made->trace, &options, err);
    bool ok = report && layer_panels_of_trace(&made->panels, report, columns, err);
    layers_report_destroy(report);
    return ok;
}

bool plot_panels_open(struct plot_panels *made, struct input *input, enum file_kind file,
                      size_t columns, struct error *err)
{
    *made = (struct plot_panels){0};
    if (file != KIND_OPERATOR_CURVES)
        return open_layers(made, input, columns, err);
    made->curves = operator_curves_load_input(input, err);
    return made->curves && layer_panels_of_operators(&made->panels, made->curves, columns, err);
}

void plot_panels_close(struct plot_panels *made)
{
    layer_panels_release(&made->panels);
    layer_trace_destroy(made->trace);
    operator_curves_destroy(made->curves);
}
