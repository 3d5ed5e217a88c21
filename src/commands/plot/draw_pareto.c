#include "commands/plot/kinds.h"
#include "commands/suggest/snapshot.h"
#include "render/plot/pareto.h"

static bool draw(const struct plot_job *job, const struct problem *problem, struct budget *budget,
                 struct error *err)
{
    struct front_advice advice;
    const struct plot_look *look = &job->options->look;
    if (!advise_front(problem, ADVICE_KNEES, 0, &advice, budget, err))
        return false;
    plot_pareto_write(&(struct plot_pareto){look, problem, &advice}, job->files);
    plot_job_templates(job);
    front_advice_release(&advice, budget);
    return true;
}

static bool draw_trace(const struct plot_job *job, struct input *input, struct error *err)
{
    struct problem problem;
    struct layer_trace *trace = layer_trace_load_input(input, err);
    if (!trace)
        return false;
    bool ok =
        problem_create(&problem, trace, &job->options->cuts, FRONT_MOST_LAYERS, trace->budget, err);
    if (ok) {
        ok = draw(job, &problem, trace->budget, err);
        problem_release(&problem, trace->budget);
    }
    layer_trace_destroy(trace);
    return ok;
}

static bool draw_snapshot(const struct plot_job *job, struct input *input, struct error *err)
{
    struct suggest_snapshot snapshot;
    if (!suggest_snapshot_open(&snapshot, input, &job->options->capture, &job->options->cuts,
                               FRONT_MOST_LAYERS, err))
        return false;
    bool ok = draw(job, &snapshot.problem.problem, snapshot.capture.snapshot->budget, err);
    suggest_snapshot_close(&snapshot);
    return ok;
}

bool plot_draw_pareto(struct plot_job *job, struct error *err)
{
    struct input input;
    enum file_kind file;
    if (!plot_job_open(job, &input, &file, err))
        return false;
    return file == KIND_LAYER_TRACE ? draw_trace(job, &input, err)
                                    : draw_snapshot(job, &input, err);
}
