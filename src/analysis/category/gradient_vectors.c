/* Gradients that plain code joins in one vector and computes with, as where the gradients of
 * several losses are turned away from each other. A join of the gradients that one pass left is
 * known when it is made (flat_vectors.c). But a loss may not reach all weights, and zeros stand for
 * the missing gradients. Then the vector is as large as all weights together. What is as large, and
 * made after a backward pass and before the optimizer step, is such a vector, or one computed from
 * it. */
#include "analysis/category/traced_reason.h"
#include "analysis/phase/births.h"

#define LEAST_VECTOR 4096 /* bytes: smaller blocks may have the size by chance */

/* The bytes of all weights that have gradients, by the categories of blocks that stay. */
static double bytes_of_weights(const struct classifier *classifier,
                               const struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    double bytes = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        uint64_t size = timeline->preexisting[i].size;
        if (categories->of_preexisting[i] == CATEGORY_PARAMETER &&
            classifier_has_gradient_size(classifier, size, true))
            bytes += (double)size;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (categories->of_lifetime[i] == CATEGORY_PARAMETER &&
            classifier_stays(classifier, lifetime_end(&timeline->lifetimes[i])) &&
            classifier_has_gradient_size(classifier, size, true))
            bytes += (double)size;
    }
    return bytes;
}

/* True if nothing but its place tells what a block is. */
static bool is_open(const struct categories *categories, size_t index)
{
    switch (reason_of(categories->why_lifetime[index])) {
    case REASON_NONE:
    case REASON_BEFORE_FORWARD:
    case REASON_FORWARD_KEPT:
    case REASON_AFTER_FORWARD:
    case REASON_BACKWARD_FREES:
        return true;
    default:
        return false;
    }
}

/* True if what is made in a forward pass lives over the next backward pass: the passes of all
 * losses but the last one may look like parts of the forward pass. */
static bool outlives_step(const struct classifier *classifier, struct lifetime_runs life)
{
    const struct phases *phases = classifier->phases;
    uint32_t run = life.birth + 1;
    while (run < phases->count && run - life.birth <= MOST_PLAIN_RUNS &&
           phases->runs[run].phase != PHASE_BACKWARD)
        run++;
    return classifier_phase(classifier, run) == PHASE_BACKWARD && life.end > run;
}

/* True if a block is made in plain code or unknown code, after a backward pass and before the
 * optimizer step. */
static bool is_before_step(const struct classifier *classifier, size_t index)
{
    struct lifetime_runs life = classifier->phases->of_lifetime[index];
    struct evidence evidence = {.index = index, .birth_run = life.birth, .end_run = life.end};
    const struct trace *trace = classifier->timeline->trace;
    stack_id stack = trace->stack[classifier->timeline->lifetimes[index].alloc];
    struct error err; /* cannot fail, because the stack was looked up for the category */
    const struct stack_facts *facts =
        stack == STACK_NONE ? NULL : site_stack_facts(classifier->sites, stack, &err);
    uint32_t pass = life.birth;
    if (facts && facts->context != CONTEXT_OTHER)
        return false;
    if (classifier_phase(classifier, pass) == PHASE_FORWARD)
        return outlives_step(classifier, life);
    bool is_after = classifier_phase(classifier, pass) == PHASE_BACKWARD ||
                    step_near(classifier, life.birth, -1, &pass) == PHASE_BACKWARD;
    return is_after && !has_stepped_since(classifier, &evidence, pass);
}

void classify_gradient_vectors(const struct classifier *classifier, struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    if (classifier->first_backward_run == NO_RUN)
        return;
    double weights = bytes_of_weights(classifier, categories);
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (size < LEAST_VECTOR || (double)size != weights || !is_open(categories, i) ||
            classifier_has_early(classifier, size) || !is_before_step(classifier, i))
            continue;
        categories->of_lifetime[i] = CATEGORY_GRADIENT;
        categories->why_lifetime[i] = reason_byte(REASON_MAIN_GRADIENT, DOUBT_INFERRED);
    }
}
