#include <stdlib.h>
#include <unistd.h>

#include "commands/complain.h"
#include "commands/device_process.h"
#include "commands/files.h"
#include "commands/options.h"
#include "commands/small_file.h"
#include "commands/suggest_options.h"
#include "commands/suggest_snapshot.h"
#include "model/layer_trace.h"
#include "render/suggest.h"
#include "solve/layer_times.h"

/* One trace and the question about it. */
struct run {
    const struct suggest_options *options;
    const struct buffer *times_text; /* of --times */
    const struct layer_trace *trace;
    const struct problem *problem;
    const struct suggest_snapshot *snapshot; /* NULL: it is a layer trace's */
    struct budget *budget;                   /* the file's */
    struct page page;
    bool fits; /* every budget has a plan */
};

static struct suggest_subject subject_of(const struct run *run)
{
    return (struct suggest_subject){
        .trace = run->trace,
        .problem = run->problem,
        .forward = run->snapshot ? &run->snapshot->chain : NULL,
        .device = run->snapshot ? run->snapshot->device : 0,
    };
}

static bool printed(bool ok, struct error *err)
{
    return ok || error_set(err, STATUS_LIMIT, "out of memory");
}

/* Gives a problem the times of --times, if there are any. */
static bool set_times(const struct run *run, struct problem *problem, struct error *err)
{
    const struct buffer *text = run->times_text;
    struct layer_times times;
    if (!run->options->times)
        return true;
    if (!layer_times_parse(&times, run->options->times, text->size > 0 ? text->bytes : "",
                           text->size, run->budget, err))
        return false;
    bool ok = problem_set_times(problem, run->trace, &times, err);
    layer_times_release(&times);
    return ok;
}

/* `leaves`: the problem cut wherever FairScale may cut. */
static bool answer_sum(struct run *run, const struct problem *leaves, struct error *err)
{
    const struct suggest_options *options = run->options;
    struct suggest_subject subject = subject_of(run);
    struct fairscale_advice advice;
    bool ok = fairscale_advise(run->trace, run->problem, leaves, options->checkpoints,
                               options->skipped_layers, &advice, run->budget, err);
    if (ok) {
        ok = printed(options->format == SUGGEST_JSON
                         ? suggest_fairscale_json(run->page.out, &subject, &advice)
                         : suggest_fairscale_text(&run->page, &subject, &advice),
                     err);
        fairscale_advice_release(&advice, run->budget);
    }
    return ok;
}

static bool answer_checkpoints(struct run *run, struct error *err)
{
    const struct cuts everywhere = {.kind = CUT_LEAVES};
    struct problem leaves;
    if (run->snapshot)
        return answer_sum(run, run->problem, err);
    if (!problem_create(&leaves, run->trace, &everywhere, SIZE_MAX, run->budget, err))
        return false;
    bool ok = set_times(run, &leaves, err) && answer_sum(run, &leaves, err);
    problem_release(&leaves, run->budget);
    return ok;
}

static int64_t bytes_of(const struct suggest_budget *budget, const struct problem *problem)
{
    if (budget->share > 0)
        return (int64_t)((double)peak_without(&problem->chain) * budget->share);
    return budget->bytes < CHAIN_MOST ? budget->bytes : CHAIN_MOST;
}

static bool print_plans(struct run *run, const struct budget_plan *plans, struct error *err)
{
    struct suggest_subject subject = subject_of(run);
    size_t count = run->options->budget_count;
    for (size_t k = 0; k < count; k++)
        run->fits &= plans[k].feasible;
    return printed(run->options->format == SUGGEST_JSON
                       ? suggest_plans_json(run->page.out, &subject, plans, count)
                       : suggest_plans_text(&run->page, &subject, plans, count),
                   err);
}

static bool answer_budgets(struct run *run, struct error *err)
{
    struct plan_options options = run->options->plan;
    struct budget_plan plans[SUGGEST_MOST_BUDGETS];
    int64_t budgets[SUGGEST_MOST_BUDGETS];
    struct error device_error;
    size_t count = run->options->budget_count, layers = run->problem->chain.layers;
    options.verify =
        run->options->verify < 0 ? layers <= SUGGEST_VERIFIED_LAYERS : run->options->verify > 0;
    for (size_t k = 0; k < count; k++)
        budgets[k] = bytes_of(&run->options->budgets[k], run->problem);
    if (!advise_budgets(run->problem, budgets, count, &options, plans, &device_error, run->budget,
                        err))
        return false;
    if (device_error.status != STATUS_OK)
        complain("%s; the CPU computed instead", device_error.text);
    bool ok = print_plans(run, plans, err);
    for (size_t k = 0; k < count; k++)
        budget_plan_release(&plans[k], run->budget);
    return ok;
}

static bool print_front(struct run *run, const struct front_advice *front)
{
    struct suggest_subject subject = subject_of(run);
    switch (run->options->format) {
    case SUGGEST_JSON:
        return suggest_front_json(run->page.out, &subject, front);
    case SUGGEST_CSV:
        suggest_front_csv(run->page.out, &subject, front);
        return true;
    default:
        return suggest_front_text(&run->page, &subject, front);
    }
}

static bool answer_front(struct run *run, struct error *err)
{
    struct front_advice front;
    if (!advise_front(run->problem, ADVICE_KNEES, &front, run->budget, err))
        return false;
    bool ok = printed(print_front(run, &front), err);
    front_advice_release(&front, run->budget);
    return ok;
}

static bool answer(struct run *run, struct error *err)
{
    switch (run->options->question) {
    case SUGGEST_CHECKPOINTS:
        return answer_checkpoints(run, err);
    case SUGGEST_BUDGETS:
        return answer_budgets(run, err);
    default:
        return answer_front(run, err);
    }
}

/* What the tables of the models asked for can hold. */
static size_t most_layers(const struct suggest_options *options)
{
    bool nested = options->question == SUGGEST_BUDGETS &&
                  !(options->model_given && options->plan.model == PLAN_PEAK);
    return nested ? ROTOR_MOST_LAYERS : FRONT_MOST_LAYERS;
}

static bool answer_trace(struct run *run, struct input *input, struct error *err)
{
    struct problem problem;
    struct layer_trace *trace = layer_trace_load_input(input, err);
    if (!trace)
        return false;
    run->trace = trace;
    run->budget = trace->budget;
    run->problem = &problem;
    bool ok = problem_create(&problem, trace, &run->options->cuts, most_layers(run->options),
                             run->budget, err);
    if (ok) {
        ok = set_times(run, &problem, err) && answer(run, err);
        problem_release(&problem, run->budget);
    }
    layer_trace_destroy(trace);
    return ok;
}

static bool answer_snapshot(struct run *run, struct input *input, struct error *err)
{
    struct suggest_snapshot snapshot;
    if (!suggest_snapshot_open(&snapshot, input, &run->options->capture, &run->options->cuts,
                               most_layers(run->options), err))
        return false;
    run->snapshot = &snapshot;
    run->trace = &snapshot.problem.trace;
    run->problem = &snapshot.problem.problem;
    run->budget = snapshot.capture.snapshot->budget;
    bool ok = set_times(run, &snapshot.problem.problem, err) && answer(run, err);
    suggest_snapshot_close(&snapshot);
    return ok;
}

/* What is to be told about the first input: there is one. */
static bool answer_file(const struct suggest_options *options, const struct buffer *times_text,
                        struct inputs *inputs, const struct page *page, bool *fits,
                        struct error *err)
{
    int fd;
    struct input input;
    if (!inputs_take(inputs, 0, &fd, err) ||
        !input_from_fd(&input, fd, options->capture.max_memory, err))
        return false;
    struct run run = {.options = options, .times_text = times_text, .page = *page, .fits = true};
    bool is_snapshot = sniff_kind(&input.source) == KIND_SNAPSHOT, ok;
    if (!is_snapshot && options->snapshot_option) {
        input_discard(&input);
        return error_set(err, STATUS_USAGE, "--%s is only for allocator snapshots",
                         options->snapshot_option);
    }
    ok = is_snapshot ? answer_snapshot(&run, &input, err) : answer_trace(&run, &input, err);
    *fits = run.fits;
    return ok;
}

/* Drivers of devices are a matter of another process, for none works in the sandbox. */
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
              small_file_open(options->times, LAYER_TIMES_MOST, "layer times", &times_text, &err);
    enum status status = ok ? answer_into(options, &times_text, inputs) : complain_failure(&err);
    buffer_release(&times_text);
    return status;
}

static enum status run(int argc, char **argv)
{
    struct suggest_options options = {
        .plan.any_model = true, .verify = -1, .any_backend = true, .capture.device = ALL_DEVICES};
    struct error err;
    options.capture.max_memory = budget_default_limit();
    enum status status;
    if (!options_read(&command_suggest, argc, argv, suggest_option, &options, &status))
        return status;
    if (!suggest_options_complete(&options, &err))
        return complain_usage("suggest: %s", err.text);
    if (argc - optind > 1)
        return complain_usage("suggest: one trace at a time");
    return files_run(argv + optind, argc - optind, suggest, &options);
}

const struct command command_suggest = {
    .name = "suggest",
    .summary = "where to put activation checkpoints",
    .arguments = "[OPTION]... [FILE]",
    .about = "Finds where activation checkpoints save the most memory for the least compute,\n"
             "and prints the Python that puts them there. FILE is an allocator snapshot with\n"
             "Python stacks of a training step, or a layer trace, as FairScale's\n"
             "LayerwiseMemoryTracker.save_traces() writes it, compressed with gzip or not;\n"
             "- is standard input. Sizes are those of activations: what checkpoints can\n"
             "change.\n",
    .examples = "  memsnap suggest trace.json                    what there is to choose from\n"
                "  memsnap suggest --budget 8GiB trace.json      least recomputation that fits\n"
                "  memsnap suggest --budget 60% snapshot.pickle  the same for a snapshot's step\n"
                "  memsnap suggest --budgets 80%,60%,40% trace.json\n"
                "  memsnap suggest --checkpoints 4 trace.json    FairScale's answer, checked\n",
    .options = suggest_option_specs,
    .words =
        (const struct option_words[]){
            {"model", "sum peak rotor", NULL},
            {"granularity", "leaf", NULL},
            {"format", "text json csv", NULL},
            {"units", WORDS_UNITS, NULL},
            {"backend", "auto cpu cuda opencl", NULL},
            {NULL, NULL, NULL},
        },
    .run = run,
};
