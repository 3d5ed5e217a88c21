#include <stdlib.h>
#include <unistd.h>

#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "commands/cli/small_file.h"
#include "commands/sandbox/device_process.h"
#include "commands/suggest/answer.h"
#include "solve/problem/layer_times.h"

#define MOST_TRIED_ROWS 20000 /* rows of traces for which two granularities are tried */

/* The largest number of pieces that the requested models can handle. */
static size_t most_layers(const struct suggest_options *options)
{
    bool nested = options->question == SUGGEST_BUDGETS &&
                  !(options->model_given && options->plan.model == PLAN_PEAK);
    return nested ? ROTOR_MOST_LAYERS : FRONT_MOST_LAYERS;
}

/* Checkpoints within checkpoints are planned only where any run of layers may be one. */
static bool asks_for_nested(const struct suggest_options *options)
{
    return options->model_given && !options->plan.any_model && options->plan.model == PLAN_ROTOR;
}

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

static void tell_times(const struct suggest_run *run)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (run->options->verbose)
        complain("reading took %.2f s, the model %.2f s, the solver and the report %.2f s",
                 seconds_between(&run->begun, &run->read),
                 seconds_between(&run->read, &run->modelled),
                 seconds_between(&run->modelled, &end));
}

static bool answer_problem(struct suggest_run *run, struct problem *problem, const char *what,
                           struct error *err)
{
    if (!problem_restrict(problem, run->trace, &run->options->restriction, what, err) ||
        !suggest_set_times(run, problem, err))
        return false;
    clock_gettime(CLOCK_MONOTONIC, &run->modelled);
    return suggest_answer(run, err);
}

/* The least total peak of a problem whose layers are `what`; of activations, if totals are not
 * known.
 */
static bool find_least(const struct suggest_run *run, struct problem *problem, const char *what,
                       int64_t *least, struct error *err)
{
    const struct plan_options options = {.model = PLAN_PEAK};
    const int64_t budget = ADVICE_LEAST;
    struct budget_plan plan;
    struct rotor_report report;
    if (!problem_restrict(problem, run->trace, &run->options->restriction, what, err) ||
        !advise_budgets(problem, &budget, 1, &options, &plan, &report, run->budget, err))
        return false;
    *least = plan.total_bytes > 0 ? plan.total_bytes : plan.peak_bytes;
    budget_plan_release(&plan, run->budget);
    return true;
}

/* Stages that hold blocks are cut at these if that makes a plan with less memory. It does not if
 * what they hold are parts of a block, which several tensors cross. */
static bool prefer_inner(struct suggest_run *run, struct problem *problem, struct error *err)
{
    struct cuts cuts = run->options->cuts;
    struct problem inner;
    int64_t outer_least, inner_least;
    if (cuts.kind != CUT_BLOCKS || !problem->recorded || run->trace->count > MOST_TRIED_ROWS)
        return true;
    cuts.inner = true;
    if (!problem_create(&inner, run->trace, &cuts, most_layers(run->options), run->budget, err))
        return false;
    bool ok = true, better = false;
    if (inner.chain.layers > problem->chain.layers) {
        ok = find_least(run, problem, "module", &outer_least, err) &&
             find_least(run, &inner, "module", &inner_least, err);
        better = ok && inner_least < outer_least - outer_least / 20;
    }
    if (better) {
        struct problem outer = *problem;
        *problem = inner;
        inner = outer;
    }
    problem_release(&inner, run->budget);
    return ok;
}

static bool answer_trace(struct suggest_run *run, struct input *input, struct error *err)
{
    struct problem problem;
    struct layer_trace *trace = layer_trace_load_input(input, err);
    if (!trace)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &run->read);
    run->trace = trace;
    run->budget = trace->budget;
    run->problem = &problem;
    bool ok = problem_create(&problem, trace, &run->options->cuts, most_layers(run->options),
                             run->budget, err);
    if (ok) {
        ok = prefer_inner(run, &problem, err) && answer_problem(run, &problem, "module", err);
        problem_release(&problem, run->budget);
    }
    layer_trace_destroy(trace);
    return ok;
}

#define MOST_DEEPER 3 /* levels */

/* A model without loops, such as a tree of modules, is cut at deeper lines if that makes a plan
 * with less memory. */
static bool prefer_deeper(struct suggest_run *run, struct suggest_snapshot *snapshot, bool by_calls,
                          struct error *err)
{
    int64_t least, inner_least;
    if (run->options->cuts.kind != CUT_BLOCKS || !snapshot->chain.by_depth ||
        !snapshot->problem.problem.by_calls)
        return true;
    if (!find_least(run, &snapshot->problem.problem, "line", &least, err))
        return false;
    for (size_t inner = 1; inner <= MOST_DEEPER; inner++) {
        struct suggest_snapshot deeper;
        if (!suggest_snapshot_deepen(snapshot, &run->options->cuts, most_layers(run->options),
                                     by_calls, inner, &deeper, err))
            return false;
        run->trace = &deeper.problem.trace;
        bool ok = !deeper.problem.problem.by_calls ||
                  find_least(run, &deeper.problem.problem, "line", &inner_least, err);
        if (ok && deeper.problem.problem.by_calls && inner_least < least - least / 20) {
            struct suggest_snapshot outer = *snapshot;
            *snapshot = deeper;
            deeper = outer;
            least = inner_least;
        }
        run->trace = &snapshot->problem.trace;
        suggest_snapshot_drop(&deeper);
        if (!ok)
            return false;
    }
    return true;
}

static bool answer_snapshot(struct suggest_run *run, struct input *input, struct error *err)
{
    struct suggest_snapshot snapshot;
    bool by_calls = !asks_for_nested(run->options);
    if (!suggest_snapshot_open(&snapshot, input, &run->options->capture, &run->options->cuts,
                               most_layers(run->options), by_calls, err))
        return false;
    clock_gettime(CLOCK_MONOTONIC, &run->read); /* the chain is found while it is read */
    run->snapshot = &snapshot;
    run->trace = &snapshot.problem.trace;
    run->problem = &snapshot.problem.problem;
    run->budget = snapshot.capture.snapshot->budget;
    bool ok = prefer_deeper(run, &snapshot, by_calls, err) &&
              answer_problem(run, &snapshot.problem.problem, "line", err);
    suggest_snapshot_close(&snapshot);
    return ok;
}

/* Reports an error of the only input. */
static bool answer_file(const struct suggest_options *options, const struct buffer *times_text,
                        struct inputs *inputs, const struct page *page, bool *fits,
                        struct error *err)
{
    int fd;
    struct input input;
    if (!inputs_take(inputs, 0, &fd, err) ||
        !input_from_fd(&input, fd, options->capture.max_memory, err))
        return false;
    struct suggest_run run = {
        .options = options, .times_text = times_text, .page = *page, .fits = true};
    enum file_kind kind = sniff_kind(&input.source);
    bool is_snapshot = kind_has_stacks(kind), ok;
    if (!is_snapshot && kind != KIND_LAYER_TRACE)
        return suggest_refuse_kind(&input, kind, err);
    if (!is_snapshot && options->snapshot_option) {
        input_discard(&input);
        return error_set(err, STATUS_USAGE, "--%s applies only to allocator snapshots",
                         options->snapshot_option);
    }
    clock_gettime(CLOCK_MONOTONIC, &run.begun);
    ok = is_snapshot ? answer_snapshot(&run, &input, err) : answer_trace(&run, &input, err);
    if (ok)
        tell_times(&run);
    *fits = run.fits;
    return ok;
}

/* Device drivers run in another process, since they do not work in the sandbox. */
static void start_devices(const struct suggest_options *options)
{
    bool nested = options->plan.any_model || options->plan.model == PLAN_ROTOR;
    if (options->question == SUGGEST_BUDGETS && nested &&
        options->plan.rotor.backend != &backend_cpu)
        device_process_start();
}

static enum status answer_into(const struct suggest_options *options,
                               const struct buffer *times_text, struct inputs *inputs)
{
    struct output output;
    struct error err;
    bool fits = false;
    enum status status = files_open(&output, options->output, inputs);
    if (status != STATUS_OK)
        return status;
    struct page page = page_for(output.stream, options->unit);
    bool ok = answer_file(options, times_text, inputs, &page, &fits, &err);
    status = files_close(&output, ok, inputs->paths[0], &err);
    return status == STATUS_OK && !fits ? STATUS_CHECK_FAILED : status;
}

static enum status suggest(void *self, struct inputs *inputs)
{
    const struct suggest_options *options = self;
    struct buffer times_text = BUFFER_INIT;
    struct error err;
    start_devices(options);
    bool ok = !options->times ||
              small_file_read(options->times, LAYER_TIMES_MOST, "layer times", &times_text, &err);
    enum status status = ok ? answer_into(options, &times_text, inputs) : complain_failure(&err);
    buffer_release(&times_text);
    return status;
}

static bool is_planned(enum file_kind kind)
{
    return kind == KIND_SNAPSHOT || kind == KIND_PROFILE || kind == KIND_LAYER_TRACE;
}

static enum status run(int argc, char **argv)
{
    struct suggest_options options = {.plan.any_model = true,
                                      .verify = -1,
                                      .capture.device = ALL_DEVICES,
                                      .files = {.what.kinds = is_planned, .most = 1}};
    struct error err;
    options.capture.max_memory = budget_default_limit();
    enum status status;
    if (!options_read(&command_suggest, argc, argv, suggest_option, &options, &status))
        return status;
    if (!suggest_options_complete(&options, &err))
        return complain_usage("suggest: %s", err.text);
    if (argc - optind > 1 && !options.files.has_rank)
        return complain_usage("suggest: expected one file");
    return files_run(argv + optind, argc - optind, &options.files, suggest, &options);
}

const struct command command_suggest = {
    .name = "suggest",
    .summary = "propose where to put activation checkpoints",
    .arguments = "[OPTION]... [FILE]",
    .about = "Finds where activation checkpoints save the most memory for the least extra\n"
             "compute, and prints the Python code for it. FILE is an allocator snapshot with\n"
             "Python stacks of a training step, or a layer trace of memsnap's recorder or of\n"
             "FairScale's LayerwiseMemoryTracker, compressed with gzip or not; - is standard\n"
             "input. Sizes are those of activations, which checkpoints can change.\n",
    .examples = "  memsnap suggest trace.json                    print the choices\n"
                "  memsnap suggest --budget 8GiB trace.json      least recomputation that fits\n"
                "  memsnap suggest --budget 60% snapshot.pickle  the same for a snapshot\n"
                "  memsnap suggest --budgets 80%,60%,40% trace.json\n"
                "  memsnap suggest --checkpoints 4 trace.json    verify FairScale's answer\n",
    .options = suggest_option_specs,
    .words = suggest_option_words,
    .run = run,
};
