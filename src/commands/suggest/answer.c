#include "commands/suggest/answer.h"

#include "commands/cli/complain.h"
#include "solve/problem/layer_times.h"

static struct suggest_subject subject_of(const struct suggest_run *run)
{
    return (struct suggest_subject){
        .trace = run->trace,
        .problem = run->problem,
        .forward = run->snapshot ? &run->snapshot->chain : NULL,
        .device = run->snapshot ? run->snapshot->device : 0,
        .no_code = run->options->no_code,
    };
}

static bool printed(bool ok, struct error *err)
{
    return ok || error_out_of_memory(err);
}

static bool parse_times(const struct suggest_run *run, struct layer_times *times, struct error *err)
{
    const struct buffer *text = run->times_text;
    return layer_times_parse(times, run->options->times, text->size > 0 ? text->bytes : "",
                             text->size, run->budget, err);
}

bool suggest_set_times(const struct suggest_run *run, struct problem *problem, struct error *err)
{
    struct layer_times times;
    if (!run->options->times)
        return true;
    if (!parse_times(run, &times, err))
        return false;
    bool ok = problem_set_times(problem, run->trace, &times, err);
    layer_times_release(&times);
    return ok;
}

/* Divides the times of run->problem among the leaves. */
static bool divide_times(const struct suggest_run *run, struct problem *leaves, struct error *err)
{
    struct layer_times times;
    if (!run->options->times)
        return true;
    if (!parse_times(run, &times, err))
        return false;
    problem_divide_times(leaves, run->problem, run->trace, &times);
    layer_times_release(&times);
    return true;
}

/* Finds what the step would reserve with a placement. */
static bool replay_placement(const struct suggest_run *run, const struct placement *placement,
                             struct replan *replan, struct error *err)
{
    struct chain_segment *segments = NULL;
    size_t capacity = 0, count = placement->count;
    *replan = (struct replan){0};
    if (count == 0)
        return true;
    if (!vec_reserve(segments, capacity, count, run->budget, err))
        return false;
    for (size_t k = 0; k < count; k++)
        segments[k] = (struct chain_segment){.first = placement->segments[k].first,
                                             .end = placement->segments[k].end,
                                             .keep = run->problem->kept_operators,
                                             .keep_count = placement->segments[k].option};
    const struct capture *capture = &run->snapshot->capture;
    bool ok = replan_make(capture_highest(capture), capture->sites, &run->snapshot->chain, segments,
                          count, replan, err);
    vec_free(segments, capacity, sizeof(*segments), run->budget);
    return ok;
}

/* `leaves`: the problem cut wherever FairScale may cut. */
static bool answer_sum(struct suggest_run *run, const struct problem *leaves, struct error *err)
{
    const struct suggest_options *options = run->options;
    struct suggest_subject subject = subject_of(run);
    struct fairscale_advice advice;
    struct replan replans[2];
    bool ok = fairscale_advise(run->trace, run->problem, leaves, options->checkpoints,
                               options->skipped_layers, &advice, run->budget, err);
    if (!ok)
        return false;
    if (run->snapshot) {
        ok = replay_placement(run, &advice.parts, &replans[0], err) &&
             replay_placement(run, &advice.best, &replans[1], err);
        subject.replans = replans;
    }
    ok = ok && printed(options->format == SUGGEST_JSON
                           ? suggest_fairscale_json(run->page.out, &subject, &advice)
                           : suggest_fairscale_text(&run->page, &subject, &advice),
                       err);
    fairscale_advice_release(&advice, run->budget);
    return ok;
}

static bool answer_checkpoints(struct suggest_run *run, struct error *err)
{
    const struct cuts everywhere = {.kind = CUT_LEAVES};
    struct problem leaves;
    if (run->snapshot)
        return answer_sum(run, run->problem, err);
    if (!problem_create(&leaves, run->trace, &everywhere, SIZE_MAX, run->budget, err))
        return false;
    bool ok = divide_times(run, &leaves, err) && answer_sum(run, &leaves, err);
    problem_release(&leaves, run->budget);
    return ok;
}

static int64_t bytes_of(const struct suggest_budget *budget, const struct problem *problem)
{
    if (budget->share > 0)
        return (int64_t)((double)peak_without(&problem->chain) * budget->share);
    return budget->bytes < CHAIN_MOST ? budget->bytes : CHAIN_MOST;
}

static bool print_plans(struct suggest_run *run, const struct budget_plan *plans, struct error *err)
{
    struct suggest_subject subject = subject_of(run);
    struct replan replans[SUGGEST_MOST_BUDGETS];
    const struct placement none = {0};
    for (size_t k = 0; run->snapshot && k < run->options->budget_count; k++)
        if (!replay_placement(run, plans[k].feasible ? &plans[k].segments : &none, &replans[k],
                              err))
            return false;
    subject.replans = run->snapshot ? replans : NULL;
    size_t count = run->options->budget_count;
    for (size_t k = 0; k < count; k++)
        run->fits &= plans[k].feasible;
    return printed(run->options->format == SUGGEST_JSON
                       ? suggest_plans_json(run->page.out, &subject, plans, count)
                       : suggest_plans_text(&run->page, &subject, plans, count),
                   err);
}

/* Reports if another back end or another number of slots was used than requested. */
static void tell_limits(const struct suggest_run *run, const struct rotor_report *report)
{
    if (report->device_error.status != STATUS_OK)
        complain("%s; using the CPU instead", report->device_error.text);
    size_t asked = run->options->plan.rotor.slots;
    if (asked > 0 && report->limit == ROTOR_LIMIT_TIME)
        complain("--slots %zu would take minutes; using %zu, the largest faster value", asked,
                 report->slots);
    if (asked > 0 && report->limit == ROTOR_LIMIT_MEMORY)
        complain("--slots %zu needs more memory than --max-memory allows; using %zu, the largest "
                 "value that fits",
                 asked, report->slots);
}

/* Nested checkpoints are planned only where every run of layers can be wrapped. */
static bool check_model(const struct suggest_run *run, struct error *err)
{
    bool rotor = run->options->model_given && !run->options->plan.any_model &&
                 run->options->plan.model == PLAN_ROTOR;
    if (rotor && run->problem->recorded)
        return error_set(err, STATUS_USAGE,
                         "--model rotor does not apply to layers of memsnap's recorder, whose "
                         "graph it does not know; use --model peak");
    if (rotor && run->problem->one_level)
        return error_set(err, STATUS_USAGE,
                         "--model rotor cannot leave modules out of a plan; use --model peak");
    return true;
}

static bool answer_budgets(struct suggest_run *run, struct error *err)
{
    struct plan_options options = run->options->plan;
    struct budget_plan plans[SUGGEST_MOST_BUDGETS];
    int64_t budgets[SUGGEST_MOST_BUDGETS];
    struct rotor_report report;
    size_t count = run->options->budget_count, layers = run->problem->chain.layers;
    if (!check_model(run, err))
        return false;
    options.verify =
        run->options->verify < 0 ? layers <= SUGGEST_VERIFIED_LAYERS : run->options->verify > 0;
    for (size_t k = 0; k < count; k++)
        budgets[k] = bytes_of(&run->options->budgets[k], run->problem);
    if (!advise_budgets(run->problem, budgets, count, &options, plans, &report, run->budget, err))
        return false;
    tell_limits(run, &report);
    bool ok = print_plans(run, plans, err);
    for (size_t k = 0; k < count; k++)
        budget_plan_release(&plans[k], run->budget);
    return ok;
}

static bool print_front(struct suggest_run *run, const struct front_advice *front)
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

static bool answer_front(struct suggest_run *run, struct error *err)
{
    struct front_advice front;
    if (!advise_front(run->problem, ADVICE_KNEES, run->options->plan.rotor.threads, &front,
                      run->budget, err))
        return false;
    bool ok =
        run->options->format != SUGGEST_TEXT ||
        advise_nested(run->problem, run->options->plan.rotor.threads, &front, run->budget, err);
    ok = ok && printed(print_front(run, &front), err);
    front_advice_release(&front, run->budget);
    return ok;
}

bool suggest_answer(struct suggest_run *run, struct error *err)
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
