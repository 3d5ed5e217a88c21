#include <inttypes.h>

#include "render/core/table.h"
#include "render/suggest/parts.h"

static bool modules_text(const struct page *page, const struct suggest_subject *subject,
                         const struct fairscale_advice *advice)
{
    struct buffer names = BUFFER_INIT;
    for (size_t k = 0; k < advice->answer.count; k++) {
        struct text name = layer_name(subject->trace, advice->modules[advice->answer.cuts[k]]);
        buffer_puts(&names, k > 0 ? ", " : "Segments begin at ");
        suggest_add_name(&names, name);
    }
    if (advice->answer.count > 0 && !names.failed) {
        fprintf(page->out, "%*s", SUGGEST_INDENT, "");
        page_paragraph(page, SUGGEST_INDENT, SUGGEST_INDENT, names.bytes);
    }
    bool ok = !names.failed;
    buffer_release(&names);
    return ok;
}

static void total_text(const struct page *page, const struct problem *problem, int64_t total)
{
    char text[UNITS_TEXT_SIZE], without[UNITS_TEXT_SIZE];
    suggest_say(page,
                "With parameters, gradients and everything else, the step then peaks at %s; "
                "without checkpoints at %s.",
                page_bytes(page, text, total),
                page_bytes(page, without, problem->no_checkpoint_total_bytes));
}

#define CLOSE 100 /* predictions of chains are about that exact */

/* A pass of another step may need more than the step then does. */
static void other_steps_text(const struct page *page, const struct replan *replan)
{
    char bytes[UNITS_TEXT_SIZE], event[UNITS_TEXT_SIZE];
    struct buffer at = BUFFER_INIT;
    suggest_add_name(&at, replan->trace_at);
    if (!at.failed)
        suggest_say(page,
                    "The whole trace then peaks at %s, %s %s (event %s), %s 'memsnap analyze --at "
                    "%" PRIu64 "' tells what is live there%s.",
                    page_bytes(page, bytes, (int64_t)replan->trace_total),
                    replan->trace_backward ? "in the backward pass of" : "at", at.bytes,
                    units_count(event, replan->trace_event),
                    replan->trace_changed
                        ? "in another step."
                        : "in a pass that this plan is not made from. If it runs modules of the "
                          "plan, their checkpoints lower that peak as well.",
                    replan->trace_event, replan->trace_changed ? " without the plan" : "");
    buffer_release(&at);
}

/* True if the whole trace was replayed with the plan, and surely needs more than `bytes`. */
static bool is_well_above(const struct replan *replan, uint64_t bytes)
{
    return replan->is_whole && replan->trace_total > bytes + bytes / CLOSE;
}

/* Code outside of the step may need more than the step then does. */
static void elsewhere_text(const struct page *page, const struct forward_chain *chain,
                           const struct replan *replan)
{
    const struct chain_elsewhere *unused = &chain->unused, *elsewhere = &chain->elsewhere;
    char bytes[UNITS_TEXT_SIZE], event[UNITS_TEXT_SIZE];
    struct buffer at = BUFFER_INIT, unused_at = BUFFER_INIT;
    suggest_add_name(&at, elsewhere->at);
    suggest_add_name(&unused_at, unused->at);
    /* another pass may need still more; if the trace cannot be replayed, that is not known */
    bool other_is_higher = is_well_above(replan, elsewhere->bytes);
    if (elsewhere->bytes > replan->with_total && !at.failed && !other_is_higher)
        suggest_say(page,
                    "%s peaks at %s, at %s (event %s), which this plan does not change. 'memsnap "
                    "analyze --at %" PRIu64 "' tells what is live there.",
                    replan->is_whole ? "The whole trace then" : "Other code of the trace",
                    page_bytes(page, bytes, (int64_t)elsewhere->bytes), at.bytes,
                    units_count(event, elsewhere->event), elsewhere->event);
    if (unused->bytes > replan->with_total && !unused_at.failed && unused->has_backward)
        suggest_say(page,
                    "A pass that the plan is not made from peaks at %s, at %s (event %s). "
                    "Checkpoints lower that peak as well if it runs the same modules, but by how "
                    "much is not known. 'memsnap analyze --at %" PRIu64 "' tells what is live "
                    "there.",
                    page_bytes(page, bytes, (int64_t)unused->bytes), unused_at.bytes,
                    units_count(event, unused->event), unused->event);
    else if (unused->bytes > replan->with_total && !unused_at.failed)
        suggest_say(page,
                    "A forward pass without a backward pass peaks at %s, at %s. Checkpoints lower "
                    "that peak as well if it runs the same modules, but by how much is not known. "
                    "If it is an evaluation, run it under torch.no_grad(): then it keeps no "
                    "activations.",
                    page_bytes(page, bytes, (int64_t)unused->bytes), unused_at.bytes);
    buffer_release(&at);
    buffer_release(&unused_at);
    if (is_well_above(replan, replan->with_total) && is_well_above(replan, elsewhere->bytes) &&
        replan->trace_total > unused->bytes)
        other_steps_text(page, replan);
}

#define NEAR 20 /* one 20th more is no other figure */

/* The program may hold some of what the checkpoints should free. */
static void worst_text(const struct page *page, const struct replan *replan)
{
    char bytes[UNITS_TEXT_SIZE], more[UNITS_TEXT_SIZE];
    uint64_t difference = replan->worst_total - replan->with_total;
    if (difference < replan->with_total / NEAR)
        return;
    suggest_say(page,
                "That may be up to %s more, %s: until its forward pass is over, the program holds "
                "results of layers that no backward pass needs. If it holds activations of the "
                "same functions as well, such as attention weights in a list, these checkpoints do "
                "not free them. A snapshot does not show that; a layer trace of "
                "memsnap_record.py does.",
                page_bytes(page, more, (int64_t)difference),
                page_bytes(page, bytes, (int64_t)replan->worst_total));
}

/* The Python code turns the cache of transformers' models off. */
static void cache_text(const struct page *page, const struct suggest_subject *subject)
{
    char bytes[UNITS_TEXT_SIZE];
    if (subject->forward->cache_bytes == 0 || !subject->problem->by_calls)
        return;
    suggest_say(page,
                "These figures include a cache of keys and values, which the forward pass makes "
                "and leaves: %s. The Python code turns it off (config.use_cache), since a layer "
                "that runs again would add to it again. What the program holds of the cache, such "
                "as copies in another dtype, is then gone, too, and the peak is lower than this. "
                "For exact figures, turn it off before recording.",
                page_bytes(page, bytes, subject->forward->cache_bytes));
}

/* Layers that share a checkpoint may turn out to be no chain when the code runs. */
static void alone_text(const struct page *page, const struct replan *replan)
{
    char bytes[UNITS_TEXT_SIZE];
    uint64_t alone = replan->alone_total, together = replan->with_total;
    if (alone < together + together / CLOSE && alone + together / NEAR > together)
        return;
    suggest_say(page,
                "If layers that share a checkpoint do not all get the same arguments besides the "
                "result of the layer before, as where masks differ from layer to layer, each gets "
                "a checkpoint of its own, and the step peaks at %s. A snapshot does not show that; "
                "the Python code says so when it first runs.%s",
                page_bytes(page, bytes, (int64_t)alone),
                alone < together ? " With one_by_one=True, each always gets its own." : "");
}

/* Another pass of the step has the peak, and may run modules of the plan. */
static void other_pass_text(const struct page *page, const struct replan *replan)
{
    char bytes[UNITS_TEXT_SIZE];
    if (replan->own_total + replan->own_total / NEAR < replan->with_total)
        suggest_say(
            page,
            "That is the peak of another pass of the step, as it was recorded. If that pass "
            "calls modules of this plan, as the discriminator's pass of a GAN may, their "
            "checkpoints lower that peak too, to no less than %s.",
            page_bytes(page, bytes, (int64_t)replan->own_total));
}

static void replayed_text(const struct page *page, const struct replan *replan)
{
    char with[UNITS_TEXT_SIZE], most[UNITS_TEXT_SIZE], without[UNITS_TEXT_SIZE];
    char blocks[UNITS_TEXT_SIZE], blocks_without[UNITS_TEXT_SIZE];
    bool is_range = replan->with_bytes < replan->with_most_bytes;
    page_bytes(page, most, (int64_t)replan->with_most_bytes);
    suggest_say(page,
                "Replayed through PyTorch's allocator, %s then reserves about %s%s%s%s; without "
                "checkpoints %s. torch.cuda.max_memory_allocated() then returns %s; without "
                "checkpoints %s.%s",
                replan->is_whole ? "the whole trace" : "the step alone",
                page_bytes(page, with, (int64_t)replan->with_bytes), is_range ? ", or up to " : "",
                is_range ? most : "", is_range ? ", depending on the exact order of frees" : "",
                page_bytes(page, without, (int64_t)replan->without_bytes),
                page_bytes(page, blocks, (int64_t)replan->with_blocks),
                page_bytes(page, blocks_without, (int64_t)replan->without_blocks),
                replan->is_whole ? ""
                                 : " What earlier steps leave reserved may come on top: the whole "
                                   "trace cannot be replayed.");
}

/* What the step reserves with the placement of that index. `peak`: of activations, with what layers
 * need while they run. */
static void reserved_text(const struct page *page, const struct suggest_subject *subject,
                          size_t index, const struct placement *placement, int64_t peak)
{
    char with[UNITS_TEXT_SIZE], without[UNITS_TEXT_SIZE];
    if (!subject->replans || placement->count == 0)
        return;
    const struct replan *replan = &subject->replans[index];
    bool is_bound = replan->has_totals && replan->with_total < (uint64_t)peak;
    if (replan->has_totals)
        suggest_say(page,
                    "With parameters, gradients and everything else, the step then peaks at %s; "
                    "without checkpoints at %s.%s",
                    page_bytes(page, with, (int64_t)replan->with_total),
                    page_bytes(page, without, (int64_t)replan->without_total),
                    is_bound ? " The figures of layers above are upper bounds: they do not peak "
                               "at the same time."
                             : "");
    if (replan->has_totals)
        worst_text(page, replan);
    if (replan->has_totals && subject->problem->by_calls)
        alone_text(page, replan);
    if (replan->has_totals)
        cache_text(page, subject);
    if (replan->has_totals)
        other_pass_text(page, replan);
    if (replan->has_totals)
        elsewhere_text(page, subject->forward, replan);
    if (replan->is_known)
        replayed_text(page, replan);
    else
        suggest_say(page, "How much memory the step then reserves is not known: %s.", replan->why);
}

/* Says before the figures that apply() cannot make all of the plan. */
static void by_hand_text(const struct page *page, const struct suggest_subject *subject,
                         const struct placement *placement)
{
    if (subject->forward && !subject->problem->by_calls && placement->count > 0)
        suggest_say(page,
                    "The layers of this plan are lines of code, not calls of modules: its "
                    "checkpoints are written by hand, and the figures below are those of a program "
                    "that has all of them. memsnap_record.apply() finds only lines that call a "
                    "module.");
}

bool suggest_fairscale_text(const struct page *page, const struct suggest_subject *subject,
                            const struct fairscale_advice *advice)
{
    const struct problem *problem = subject->problem;
    char sum[UNITS_TEXT_SIZE], real[UNITS_TEXT_SIZE], best[UNITS_TEXT_SIZE];
    char without[UNITS_TEXT_SIZE], extra[SUGGEST_COST], best_extra[SUGGEST_COST];
    page_bytes(page, sum, advice->answer.max_memory);
    page_bytes(page, real, advice->outcome.peak_bytes);
    page_bytes(page, best, advice->best_outcome.peak_bytes);
    page_bytes(page, without, advice->without_bytes);
    suggest_cost(best_extra, problem, advice->best_outcome.extra_time);
    suggest_cost(extra, problem, advice->outcome.extra_time);

    suggest_head_text(page, subject);
    if (suggest_is_compiled(subject))
        return suggest_compiled_text(page, subject);
    suggest_title(page, "FairScale's placement of %zu checkpoint%s among %zu module%s: %s",
                  advice->checkpoints, advice->checkpoints == 1 ? "" : "s", advice->module_count,
                  advice->module_count == 1 ? "" : "s", sum);
    if (!modules_text(page, subject, advice))
        return false;
    suggest_say(page,
                "This is FairScale's measure, the largest sum of activations of a segment. With a "
                "checkpoint for every segment, the real peak is %s, %s; without checkpoints it is "
                "%s.",
                real, extra, without);
    if (advice->inside > 0)
        suggest_say(page,
                    "%zu of the %zu cuts %s inside a block, where more than one tensor may cross: "
                    "%s cannot be wrapped as %s.",
                    advice->inside, advice->answer.count, advice->inside == 1 ? "is" : "are",
                    advice->inside == 1 ? "it" : "they",
                    advice->inside == 1 ? "it is" : "they are");
    reserved_text(page, subject, 0, &advice->parts, advice->outcome.peak_bytes);
    fputc('\n', page->out);
    suggest_title(page, "The least real peak with as many segments: %s, %s", best, best_extra);
    if (advice->outcome.peak_bytes < advice->best_outcome.peak_bytes)
        suggest_say(page,
                    "FairScale's placement has a lower real peak, but its segments contain layers "
                    "that are not known to form a chain, so that no code can be printed for them. "
                    "The code below makes each of the following checkpoints.");
    if (problem->has_totals)
        total_text(page, problem, problem->before_bytes + advice->best_outcome.total_bytes);
    by_hand_text(page, subject, &advice->best);
    reserved_text(page, subject, 1, &advice->best, advice->best_outcome.peak_bytes);
    if (!suggest_placement_text(page, subject, &advice->best))
        return false;
    fputc('\n', page->out);
    return suggest_basis_text(page, subject);
}

static void infeasible_text(const struct page *page, const struct suggest_subject *subject,
                            const struct budget_plan *plan)
{
    char budget[UNITS_TEXT_SIZE], least[UNITS_TEXT_SIZE], exact[UNITS_TEXT_SIZE];
    char without[UNITS_TEXT_SIZE];
    suggest_title(page, "Budget %s: nothing fits", page_bytes(page, budget, plan->budget_bytes));
    suggest_say(page,
                "The lowest peak that %s reaches is %s (%s bytes); without checkpoints it is "
                "%s.",
                plan->model == PLAN_PEAK ? "one level of checkpoints" : "any plan found",
                page_bytes(page, least, plan->least_budget_bytes),
                units_count(exact, (uint64_t)plan->least_budget_bytes),
                page_bytes(page, without, suggest_peak_without(subject->problem)));
    suggest_say(page, plan->model == PLAN_PEAK && !subject->problem->one_level
                          ? "--model rotor, with checkpoints within checkpoints, may reach less."
                          : "Other options: a smaller batch, a finer --granularity, or sharding.");
}

static void method_text(const struct page *page, const struct budget_plan *plan)
{
    char slot[UNITS_TEXT_SIZE], slack[UNITS_TEXT_SIZE];
    page_bytes(page, slack, plan->budget_bytes - plan->peak_bytes);
    const char *checked = plan->verified ? ", checked by replay" : "";
    if (plan->model == PLAN_PEAK) {
        suggest_say(page, "One level of checkpoints, in exact bytes%s; %s of the budget stay free.",
                    checked, slack);
        return;
    }
    suggest_say(page,
                plan->exact
                    ? "Checkpoints within checkpoints, in slots of %s that divide every size%s; "
                      "%s of the budget stay free. Computed by %s."
                    : "Checkpoints within checkpoints, sizes rounded up to slots of %s, then "
                      "replayed in exact bytes%s; %s of the budget stay free. Computed by %s.",
                page_bytes(page, slot, plan->slot_bytes), checked, slack, plan->backend->name);
}

static bool plan_text(const struct page *page, const struct suggest_subject *subject,
                      const struct budget_plan *plan, size_t index)
{
    char budget[UNITS_TEXT_SIZE], peak[UNITS_TEXT_SIZE], extra[SUGGEST_COST];
    char exact[UNITS_TEXT_SIZE], without[UNITS_TEXT_SIZE], whose[SUGGEST_WHOSE];
    if (!plan->feasible) {
        infeasible_text(page, subject, plan);
        return true;
    }
    page_bytes(page, budget, plan->budget_bytes);
    suggest_cost(extra, subject->problem, plan->extra_time);
    suggest_title(page, "Budget %s: %speaks at %s, %s", budget, suggest_whose(whose, subject),
                  page_bytes(page, peak, plan->peak_bytes), extra);
    suggest_say(page, "The peak is %s bytes exactly; without checkpoints it is %s.",
                units_count(exact, (uint64_t)plan->peak_bytes),
                page_bytes(page, without, suggest_peak_without(subject->problem)));
    if (subject->problem->has_totals)
        total_text(page, subject->problem, plan->total_bytes);
    if (plan->segments.count == 0 && !suggest_is_whole(subject))
        suggest_say(page, "This step needs no checkpoints for that budget; the step with the peak "
                          "may need more memory.");
    else if (plan->segments.count == 0 && plan->is_least)
        suggest_say(page, "No checkpoint around these layers lowers the peak. What is made outside "
                          "of their modules is kept in any case.");
    else if (plan->segments.count == 0)
        suggest_say(page, "It fits: no checkpoints are needed.");
    else
        method_text(page, plan);
    by_hand_text(page, subject, &plan->segments);
    reserved_text(page, subject, index, &plan->segments, plan->peak_bytes);
    return suggest_placement_text(page, subject, &plan->segments);
}

bool suggest_plans_text(const struct page *page, const struct suggest_subject *subject,
                        const struct budget_plan *plans, size_t count)
{
    suggest_head_text(page, subject);
    if (suggest_is_compiled(subject))
        return suggest_compiled_text(page, subject);
    for (size_t k = 0; k < count; k++) {
        if (!plan_text(page, subject, &plans[k], k))
            return false;
        fputc('\n', page->out);
    }
    return suggest_basis_text(page, subject);
}
