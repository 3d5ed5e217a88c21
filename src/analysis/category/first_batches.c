/* Batches of the first iteration that stay, for example because a graph that is never dropped holds
 * them. Only the line of code tells them from weights.
 *
 * If only Python frames are known and nothing trains, only the line tells batches from results of
 * the previous pass. A line that ran before the first pass does not need results. Of a line whose
 * other blocks are batches, the last block is one, too. */
#include <string.h>

#include "analysis/category/classifier.h"

static bool is_weak(enum reason reason)
{
    return reason == REASON_INFERENCE || reason == REASON_PERSISTENT || reason == REASON_PREPARED ||
           reason == REASON_PERSISTENT_DATA || reason == REASON_MODEL_COPY;
}

static bool is_batch(enum reason reason)
{
    return reason == REASON_BATCH || reason == REASON_BEFORE_FORWARD;
}

/* True if plain code made a block before the first pass, in a trace that begins with the program.
 */
static bool runs_before(const struct classifier *classifier, const struct categories *categories,
                        size_t index)
{
    struct error err; /* cannot fail, because the stack was looked up for the category */
    stack_id stack =
        classifier->timeline->trace->stack[classifier->timeline->lifetimes[index].alloc];
    const struct stack_facts *facts = site_stack_facts(classifier->sites, stack, &err);
    enum reason reason = reason_of(categories->why_lifetime[index]);
    return stack != STACK_NONE && facts && facts->context == CONTEXT_OTHER && !facts->in_operator &&
           (reason == REASON_NONE || is_weak(reason));
}

static void find_lines_before(const struct classifier *classifier, struct categories *categories,
                              size_t first, bool *runs)
{
    const struct timeline *timeline = classifier->timeline;
    bool again = false;
    for (size_t i = 0; i < first; i++)
        if (runs_before(classifier, categories, i))
            runs[timeline->trace->stack[timeline->lifetimes[i].alloc]] = true;
    for (size_t i = first; i < timeline->lifetime_count; i++) {
        if (reason_of(categories->why_lifetime[i]) != REASON_AFTER_FORWARD ||
            !runs[timeline->trace->stack[timeline->lifetimes[i].alloc]])
            continue;
        categories->of_lifetime[i] = CATEGORY_INPUT;
        categories->why_lifetime[i] = reason_byte(REASON_BEFORE_FORWARD, DOUBT_INFERRED);
        again = true;
    }
    for (size_t i = 0; again && i < first; i++) {
        if (reason_of(categories->why_lifetime[i]) != REASON_NONE ||
            !runs[timeline->trace->stack[timeline->lifetimes[i].alloc]])
            continue;
        categories->of_lifetime[i] = CATEGORY_INPUT;
        categories->why_lifetime[i] = REASON_FIRST_BATCH;
    }
}

/* Without a step of the optimizer between two passes, as when gradients accumulate, the code there
 * may look like one. What it makes is a batch if its line makes batches. */
static bool is_weak_step(uint8_t why)
{
    return reason_of(why) == REASON_STEP_KEPT && why != reason_byte(REASON_STEP_KEPT, DOUBT_NONE);
}

/* The number of blocks that one line of the program makes, as its Python stack shows. */
struct line_blocks {
    uint32_t batches, results; /* results: blocks that may be of the pass before */
};

#define MOST_RESULTS 4 /* at most 1/4 of the blocks of a line that makes batches */

/* True if only its place after a pass tells that a block is a result, and only Python frames are
 * known. */
static bool may_be_result(const struct classifier *classifier, const struct categories *categories,
                          size_t index)
{
    struct error err; /* cannot fail, because the stack was looked up for the category */
    if (reason_of(categories->why_lifetime[index]) != REASON_AFTER_FORWARD)
        return false;
    stack_id stack =
        classifier->timeline->trace->stack[classifier->timeline->lifetimes[index].alloc];
    const struct stack_facts *facts =
        stack == STACK_NONE ? NULL : site_stack_facts(classifier->sites, stack, &err);
    return facts && facts->context == CONTEXT_OTHER && !facts->in_operator;
}

/* The last batch of a loop is freed by no next one, so it looks like a result that the program
 * keeps. Its line makes batches otherwise. */
static bool classify_last_batches(const struct classifier *classifier,
                                  struct categories *categories, size_t first, struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    const stack_id *stack_of = timeline->trace->stack;
    struct budget *budget = timeline->snapshot->budget;
    struct line_blocks *lines = NULL;
    size_t capacity = 0, stacks = symbols_stack_count(site_table_symbols(classifier->sites));
    bool any = false;
    for (size_t i = first; !any && i < timeline->lifetime_count; i++)
        any = may_be_result(classifier, categories, i);
    if (!any)
        return true;
    if (!vec_reserve(lines, capacity, stacks, budget, err))
        return false;
    memset(lines, 0, stacks * sizeof(*lines));
    for (size_t i = first; i < timeline->lifetime_count; i++) {
        struct line_blocks *line = &lines[stack_of[timeline->lifetimes[i].alloc]];
        line->batches += is_batch(reason_of(categories->why_lifetime[i]));
        line->results += may_be_result(classifier, categories, i);
    }
    for (size_t i = first; i < timeline->lifetime_count; i++) {
        const struct line_blocks *line = &lines[stack_of[timeline->lifetimes[i].alloc]];
        if (line->results * (MOST_RESULTS - 1) > line->batches ||
            !may_be_result(classifier, categories, i))
            continue;
        categories->of_lifetime[i] = CATEGORY_INPUT;
        categories->why_lifetime[i] = reason_byte(REASON_BEFORE_FORWARD, DOUBT_INFERRED);
    }
    vec_free(lines, capacity, sizeof(*lines), budget);
    return true;
}

bool classify_first_batches(const struct classifier *classifier, struct categories *categories,
                            struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    struct budget *budget = timeline->snapshot->budget;
    size_t capacity = 0, first = 0;
    bool *makes_batches = NULL, any_weak_step = false;
    while (first < timeline->lifetime_count &&
           phases_run_of(classifier->phases, timeline->lifetimes[first].alloc) <
               classifier->first_step_run)
        first++;
    if (first == 0 || first == timeline->lifetime_count)
        return true;
    size_t stacks = symbols_stack_count(site_table_symbols(classifier->sites));
    if (!vec_reserve(makes_batches, capacity, stacks, budget, err))
        return false;
    memset(makes_batches, 0, stacks * sizeof(*makes_batches));
    const struct phases *phases = classifier->phases;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        if (i < first)
            continue;
        if (is_batch(reason_of(categories->why_lifetime[i])))
            makes_batches[timeline->trace->stack[timeline->lifetimes[i].alloc]] = true;
        else
            any_weak_step = any_weak_step || is_weak_step(categories->why_lifetime[i]);
    }
    makes_batches[STACK_NONE] = false;
    for (size_t i = first; any_weak_step && i < timeline->lifetime_count; i++)
        if (is_weak_step(categories->why_lifetime[i]) &&
            makes_batches[timeline->trace->stack[timeline->lifetimes[i].alloc]]) {
            categories->of_lifetime[i] = CATEGORY_INPUT;
            categories->why_lifetime[i] = reason_byte(REASON_BATCH, DOUBT_INFERRED);
        }
    for (size_t i = 0; i < first; i++)
        if (is_weak(reason_of(categories->why_lifetime[i])) &&
            makes_batches[timeline->trace->stack[timeline->lifetimes[i].alloc]]) {
            categories->of_lifetime[i] = CATEGORY_INPUT;
            categories->why_lifetime[i] = REASON_FIRST_BATCH;
        }
    bool ok = classify_last_batches(classifier, categories, first, err);
    memset(makes_batches, 0, stacks * sizeof(*makes_batches));
    if (ok && classifier->first_backward_run == NO_RUN && classifier->has_model)
        find_lines_before(classifier, categories, first, makes_batches);
    vec_free(makes_batches, capacity, sizeof(*makes_batches), budget);
    return ok;
}
