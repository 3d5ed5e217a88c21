#include "commands/cli/watch.h"
#include "commands/diff/job.h"

struct layer_file {
    struct layer_trace *trace;
    struct layers_report *report;
};

static bool read_side(const struct diff_job *job, struct input *input, size_t limit,
                      struct layer_file *file, struct error *err)
{
    const struct layers_options options = {.top = 1,
                                           .ranks = 2}; /* affects only parts that are not used */
    if (!input_restrict(input, limit, err)) {
        input_discard(input);
        return false;
    }
    file->trace = layer_trace_load_input(input, err);
    if (file->trace)
        file->report = layers_report_build(file->trace, &options, err);
    watch_input_done(job->watch);
    return file->report;
}

static bool print(const struct diff_job *job, const struct layers_diff_report *report,
                  struct error *err)
{
    bool ok;
    switch (job->settings->format) {
    case DIFF_CSV:
        return layers_diff_csv(job->page->out, report, err);
    case DIFF_JSON:
        ok = layers_diff_json(job->page->out, report);
        break;
    default:
        ok = layers_diff_text(job->page, report);
        break;
    }
    return ok || error_out_of_memory(err);
}

static bool report(const struct diff_job *job, const struct layer_file files[2], struct error *err)
{
    const struct layers_report *a = files[0].report, *b = files[1].report;
    struct layers_diff diff;
    if (!layers_diff_make(&diff, a, b, job->settings->unit, files[1].trace->budget, err))
        return false;
    struct layers_diff_report report = {
        .diff = &diff,
        .limit = diff_limit_check(job->settings, a->allocated.bytes, b->allocated.bytes),
        .top = job->settings->top,
    };
    for (int side = 0; side < 2; side++) {
        const struct layer_trace *trace = files[side].trace;
        report.inputs[side] = (struct input_line){.path = job->paths[side],
                                                  .bytes = trace->input_bytes,
                                                  .encoding = trace->encoding,
                                                  .protocol = trace->protocol,
                                                  .compression = trace->compression,
                                                  .lead = side ? "B: " : "A: "};
    }
    *job->exceeded = report.limit.exceeded;
    watch_hide(job->watch, true);
    bool ok = print(job, &report, err);
    layers_diff_release(&diff);
    return ok;
}

bool diff_layers(const struct diff_job *job, struct input inputs[2], unsigned *blame,
                 struct error *err)
{
    struct layer_file files[2] = {{0}};
    size_t limit = job->settings->capture.max_memory;
    *blame = 0;
    bool ok = read_side(job, &inputs[0], limit, &files[0], err);
    if (ok) {
        *blame = 1;
        ok = read_side(job, &inputs[1], limit - files[0].trace->budget->used, &files[1], err);
    } else {
        input_discard(&inputs[1]);
    }
    if (ok) {
        *blame = DIFF_NEITHER;
        ok = report(job, files, err);
    }
    for (int side = 0; side < 2; side++) {
        layers_report_destroy(files[side].report);
        layer_trace_destroy(files[side].trace);
    }
    return ok;
}
