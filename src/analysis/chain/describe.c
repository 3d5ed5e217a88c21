/* Fills in the members of a chain that describe its pass, other passes and the peak of the trace.
 */
#include "analysis/chain/build.h"

bool chain_find_passes(struct build *build, struct error *err)
{
    const struct timeline *timeline = build->timeline;
    return phases_build(&build->phases, timeline, build->sites, err) &&
           steps_find(&build->steps, timeline, &build->phases, err) &&
           categories_assign(timeline, build->sites, &build->phases, &build->categories, err) &&
           pass_find(&build->pass, &build->passes, timeline, &build->phases, &build->steps,
                     &build->categories, err) &&
           pass_lines_find(&build->lines, timeline, build->sites, &build->categories,
                           &build->passes, err);
}

void chain_describe_pass(struct build *build)
{
    struct forward_chain *chain = build->chain;
    const struct pass *pass = &build->pass;
    chain->first = pass->first;
    chain->backward = pass->backward;
    chain->end = pass->end;
    chain->first_event = build->timeline->trace->first_event + pass->first;
    chain->has_step = pass->step != NO_STEP;
    chain->step_first = pass->first;
    chain->step_end = pass->end;
    if (chain->has_step && build->steps.items[pass->step].first < pass->first)
        chain->step_first = build->steps.items[pass->step].first;
    if (chain->has_step && build->steps.items[pass->step].last >= pass->end)
        chain->step_end = build->steps.items[pass->step].last + 1;
    chain->step = chain->has_step ? build->steps.items[pass->step].number : 0;
    chain->at_peak = pass->at_peak;
    chain->unfinished = pass->unfinished;
    chain->stopped = pass->stopped;
}

#define ABOUT 50 /* one 50th more or less is about as much */

static bool is_about(int64_t a, int64_t b)
{
    return (a > b ? a - b : b - a) <= (a > b ? a : b) / ABOUT;
}

/* True if two passes of a model seem to make the same calls. Batches may differ in size; then the
 * passes keep as many activations. */
static bool makes_same_calls(const struct pass *a, const struct pass *b)
{
    return is_about((int64_t)a->kept_count, (int64_t)b->kept_count) ||
           is_about(a->kept_bytes, b->kept_bytes);
}

/* The steps that passes of the model are in, one after the other. */
struct compared {
    size_t step;
    bool is_like;       /* a pass of this step makes the same calls */
    bool any, was_like; /* there is a step before; the same of it */
    unsigned switches;  /* between like and unlike steps */
};

static void end_step(struct compared *compared, struct forward_chain *chain)
{
    if (compared->step == NO_STEP)
        return;
    compared->switches += compared->any && compared->is_like != compared->was_like;
    compared->any = true;
    compared->was_like = compared->is_like;
    chain->unlike_steps += !compared->is_like;
}

void chain_compare_steps(struct build *build)
{
    struct forward_chain *chain = build->chain;
    const struct pass *own = &build->pass;
    struct compared compared = {.step = NO_STEP};
    for (size_t i = 0; i < build->passes.count && !own->unfinished; i++) {
        const struct pass *pass = &build->passes.items[i];
        bool is_own = pass->step == own->step;
        if (pass->unfinished || pass->step == NO_STEP ||
            (!is_own && !pass_is_alike(&build->lines, own, pass)))
            continue;
        if (pass->step != compared.step) {
            end_step(&compared, chain);
            compared.step = pass->step;
            compared.is_like = false;
            chain->other_steps += !is_own;
        }
        compared.is_like = compared.is_like || is_own || makes_same_calls(own, pass);
    }
    end_step(&compared, chain);
    chain->unlike_apart = compared.switches == 1 && chain->unlike_steps < chain->other_steps;
}

bool chain_add_other_passes(struct build *build, struct error *err)
{
    struct forward_chain *chain = build->chain;
    const struct pass *own = &build->pass;
    for (size_t i = 0; i < build->passes.count; i++) {
        const struct pass *pass = &build->passes.items[i];
        struct chain_pass other = {pass->first, pass->end, pass_is_alike(&build->lines, own, pass)};
        if (own->step == NO_STEP || pass->step != own->step || pass->first == own->first)
            continue;
        if (!vec_push(chain->others, chain->other_count, chain->other_capacity, chain->budget, err,
                      other))
            return false;
    }
    return true;
}

void chain_describe_peak(struct build *build)
{
    struct forward_chain *chain = build->chain;
    const struct curve *active = &build->timeline->active;
    chain->peak_bytes = active->peak_bytes;
    if (active->peak_event < 0)
        return;
    uint32_t item = (uint32_t)active->peak_event, run = phases_run_of(&build->phases, item);
    size_t step = steps_of(&build->steps, item);
    chain->peak_phase = run == NO_RUN ? PHASE_UNKNOWN : (enum phase)build->phases.runs[run].phase;
    chain->has_peak_step = step != NO_STEP;
    chain->peak_step = chain->has_peak_step ? build->steps.items[step].number : 0;
}

void chain_release_cut(struct build *build)
{
    vec_free(build->runs, build->run_capacity, sizeof(uint32_t), build->timeline->snapshot->budget);
    build->runs = NULL;
    build->run_capacity = 0;
    module_calls_release(&build->calls);
    cut_release(&build->cut);
    call_tree_release(&build->tree);
}

void chain_release_build(struct build *build)
{
    chain_release_cut(build);
    pass_lines_release(&build->lines);
    categories_release(&build->categories);
    passes_release(&build->passes);
    steps_release(&build->steps);
    phases_release(&build->phases);
}
