/* The last result of a loop of plain code, such as the scores of an evaluation. Its variable keeps
 * it through the forward passes that follow, so that it looks like a batch made for them. The other
 * results of its line, which are as large, are freed in the loop. */
#include <string.h>

#include "analysis/category/classifier.h"
#include "analysis/code/operators.h"

#define LEAST_FREED 3 /* results that are freed in the loop */

/* The results of one line of code, by their allocation stack. */
struct line_results {
    uint32_t freed, batches;
    uint64_t size; /* of the last block that is freed */
};

/* True for what an operator computes in plain code. Other code may make batches: copies from the
 * host, and numbers at random. Python frames alone do not name the operator. */
static bool is_computed(const struct classifier *classifier, size_t index)
{
    struct error err; /* cannot fail, because the stack was looked up for the category */
    const struct trace *trace = classifier->timeline->trace;
    stack_id stack = trace->stack[classifier->timeline->lifetimes[index].alloc];
    const struct stack_facts *facts =
        stack == STACK_NONE ? NULL : site_stack_facts(classifier->sites, stack, &err);
    if (!facts || facts->context != CONTEXT_OTHER || facts->to_device)
        return false;
    struct text op = symbols_text(site_table_symbols(classifier->sites), facts->site.op);
    return operator_computes(op) && !text_equals(op, "aten::_to_copy");
}

static bool seems_batch(const struct classifier *classifier, const struct categories *categories,
                        size_t index)
{
    return reason_of(categories->why_lifetime[index]) == REASON_BEFORE_FORWARD &&
           is_computed(classifier, index);
}

static void count(const struct classifier *classifier, const struct categories *categories,
                  struct line_results *lines)
{
    const struct timeline *timeline = classifier->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        struct line_results *line = &lines[timeline->trace->stack[item]];
        enum reason reason = reason_of(categories->why_lifetime[i]);
        line->batches += reason == REASON_BEFORE_FORWARD;
        if (reason != REASON_PLAIN_FREED)
            continue;
        line->freed++;
        line->size = trace_size(timeline->trace, item);
    }
}

bool classify_last_results(const struct classifier *classifier, struct categories *categories,
                           struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    struct budget *budget = timeline->snapshot->budget;
    struct line_results *lines = NULL;
    size_t capacity = 0, stacks = symbols_stack_count(site_table_symbols(classifier->sites));
    size_t first = 0;
    if (classifier->first_backward_run == NO_RUN)
        return true; /* a server makes batches, and computes its answers in other lines */
    while (first < timeline->lifetime_count && !seems_batch(classifier, categories, first))
        first++;
    if (first == timeline->lifetime_count)
        return true;
    if (!vec_reserve(lines, capacity, stacks, budget, err))
        return false;
    memset(lines, 0, stacks * sizeof(*lines));
    count(classifier, categories, lines);
    for (size_t i = first; i < timeline->lifetime_count; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        const struct line_results *line = &lines[timeline->trace->stack[item]];
        if (line->freed < LEAST_FREED || line->freed < line->batches ||
            trace_size(timeline->trace, item) != line->size ||
            !seems_batch(classifier, categories, i))
            continue;
        categories->of_lifetime[i] = CATEGORY_TEMPORARY;
        categories->why_lifetime[i] = reason_byte(REASON_PLAIN_FREED, DOUBT_INFERRED);
    }
    vec_free(lines, capacity, sizeof(*lines), budget);
    return true;
}
