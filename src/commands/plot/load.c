#include "commands/plot/load.h"

#include "commands/cli/capture.h"
#include "commands/plot/kinds.h"
#include "commands/plot/panels.h"
#include "commands/plot/run.h"
#include "commands/suggest/snapshot.h"
#include "model/fit.h"
#include "model/shard_file.h"
#include "render/plot/script.h"
#include "render/plot/snapshot.h"
#include "solve/advice/advice.h"

#define PANEL_COLUMNS 800 /* two panels stand side by side */

static bool draw_snapshot(const struct plot_load *load, struct input *input,
                          const struct plot_kind *kind, const struct plot_job *job,
                          struct error *err)
{
    struct capture capture;
    if (!capture_open_input(&capture, input, &load->options->capture, load->progress, err))
        return false;
    struct plot_snapshot snapshot = {.timeline = capture_highest(&capture),
                                     .sites = capture.sites,
                                     .symbols = capture.snapshot->symbols};
    bool ok = snapshot.timeline
                  ? kind->of_snapshot(job, &snapshot, err)
                  : error_set(err, STATUS_BAD_INPUT, "nothing to plot: the file has no device");
    plot_snapshot_release(&snapshot);
    capture_close(&capture);
    return ok;
}

static bool draw_panels(struct input *input, enum file_kind file, const struct plot_kind *kind,
                        const struct plot_job *job, struct error *err)
{
    struct plot_panels made;
    bool ok = plot_panels_open(&made, input, file, PANEL_COLUMNS, err) &&
              kind->of_layers(job, &made.panels, err);
    plot_panels_close(&made);
    return ok;
}

static bool draw_model_of_layers(const struct plot_load *load, struct input *input,
                                 const struct plot_kind *kind, const struct plot_job *job,
                                 struct error *err)
{
    struct problem problem;
    struct layer_trace *trace = layer_trace_load_input(input, err);
    if (!trace)
        return false;
    bool ok = problem_create(&problem, trace, &load->options->cuts, FRONT_MOST_LAYERS,
                             trace->budget, err);
    if (ok) {
        ok = kind->of_model(job, &problem, trace->budget, err);
        problem_release(&problem, trace->budget);
    }
    layer_trace_destroy(trace);
    return ok;
}

static bool draw_model_of_snapshot(const struct plot_load *load, struct input *input,
                                   const struct plot_kind *kind, const struct plot_job *job,
                                   struct error *err)
{
    struct suggest_snapshot snapshot;
    const struct plot_options *options = load->options;
    if (!suggest_snapshot_open(&snapshot, input, &options->capture, &options->cuts,
                               FRONT_MOST_LAYERS, true, err))
        return false;
    bool ok =
        kind->of_model(job, &snapshot.problem.problem, snapshot.capture.snapshot->budget, err);
    suggest_snapshot_close(&snapshot);
    return ok;
}

static bool draw_fit(struct input *input, const struct plot_kind *kind, const struct plot_job *job,
                     struct error *err)
{
    struct fit *fit = fit_load_input(input, err);
    bool ok = fit && kind->of_fit(job, fit, err);
    fit_destroy(fit);
    return ok;
}

static bool draw_shard(struct input *input, const struct plot_kind *kind,
                       const struct plot_job *job, struct error *err)
{
    struct shard_file *file = shard_file_load(input, err);
    bool ok = file && kind->of_shard(job, file, err);
    shard_file_destroy(file);
    return ok;
}

static bool draw_one(struct plot_load *load, const struct plot_kind *kind,
                     const struct plot_job *job, struct error *err)
{
    struct input input;
    enum file_kind file;
    if (!plot_load_open(load, kind, &input, &file, err))
        return false;
    if (kind->of_snapshot)
        return draw_snapshot(load, &input, kind, job, err);
    if (kind->of_fit)
        return draw_fit(&input, kind, job, err);
    if (kind->of_shard)
        return draw_shard(&input, kind, job, err);
    if (kind->of_layers)
        return draw_panels(&input, file, kind, job, err);
    return file == KIND_LAYER_TRACE ? draw_model_of_layers(load, &input, kind, job, err)
                                    : draw_model_of_snapshot(load, &input, kind, job, err);
}

bool plot_load_draw(struct plot_load *load, const struct plot_kind *kind,
                    const struct plot_job *job, struct error *err)
{
    const char *const *templates = plot_kind_templates(kind, job->request->look.format);
    bool (*draw)(struct plot_load *, const struct plot_kind *, const struct plot_job *,
                 struct error *) = kind->of_ranks     ? plot_load_ranks
                                   : kind->of_several ? plot_load_several
                                   : kind->of_run     ? plot_load_run
                                   : kind->of_steps   ? plot_load_steps
                                   : kind->of_trend   ? plot_load_trend
                                                      : draw_one;
    if (!draw(load, kind, job, err))
        return false;
    for (size_t i = 0; i < PLOT_TEMPLATES_MOST && !kind->places_templates && templates[i]; i++)
        plot_put_template(job->files[0], i);
    return true;
}
