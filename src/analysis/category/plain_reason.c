/* Reasons for allocations that plain code makes between the phases of a step. */
#include "analysis/category/traced_reason.h"

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"
#include "base/text.h"

bool goes_into_forward(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t next = evidence->birth_run + 1;
    while (classifier_phase(classifier, next) == PHASE_OTHER ||
           classifier_phase(classifier, next) == PHASE_DATA) {
        if (next - evidence->birth_run > MOST_PLAIN_RUNS)
            return false;
        next++;
    }
    return classifier_phase(classifier, next) == PHASE_FORWARD &&
           (evidence->end_run == NO_RUN || evidence->end_run >= next);
}

bool classifier_has_twin(const struct classifier *classifier, uint64_t size, enum category category)
{
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    for (int phase = 0; tally && phase < PHASE_COUNT; phase++)
        if (tally->twin[phase] == 1 + category)
            return true;
    return false;
}

/* True if an allocation is freed in an optimizer step or right after it, and lives over passes
 * before that. */
static bool is_freed_after_step(const struct classifier *classifier,
                                const struct evidence *evidence)
{
    uint32_t run = evidence->end_run, step;
    if (classifier_phase(classifier, run) == PHASE_OPTIMIZER)
        return run > evidence->birth_run;
    return classifier_phase(classifier, run) <= PHASE_DATA &&
           step_near(classifier, run, -1, &step) == PHASE_OPTIMIZER && step > evidence->birth_run;
}

/* True if an allocation is made after a backward pass, lives into the optimizer step, and has the
 * size of a gradient in the same type or in one twice as wide. */
static bool is_main_gradient(const struct classifier *classifier, const struct evidence *evidence)
{
    uint64_t size = evidence_size(classifier, evidence), half = size % 2 == 0 ? size / 2 : 0;
    uint32_t pass, step;
    if (step_near(classifier, evidence->birth_run, -1, &pass) != PHASE_BACKWARD ||
        classifier->phases->runs[pass].is_recorded || has_stepped_since(classifier, evidence, pass))
        return false;
    enum phase next = step_near(classifier, evidence->birth_run, 1, &step);
    if (next == PHASE_OPTIMIZER)
        return evidence->end_run >= step && (classifier_has_gradient_size(classifier, size, true) ||
                                             classifier_has_gradient_size(classifier, half, true));
    /* more passes add to it before the step, in which the trace may end */
    bool is_open =
        evidence->end_run == NO_RUN && classifier_has_twin(classifier, size, CATEGORY_GRADIENT);
    bool goes_on = next == PHASE_FORWARD && is_freed_after_step(classifier, evidence);
    return (goes_on || (is_open && next <= PHASE_FORWARD)) &&
           (classifier_has_gradient_size(classifier, size, false) ||
            classifier_has_gradient_size(classifier, half, false));
}

/* True if the backward pass frees an allocation as a saved tensor, which plain code made between
 * two parts of a forward pass or after a pass that autograd records. Without C++ frames, it is
 * enough that the backward pass frees it. A graph that the backward pass retains frees it later. */
static bool is_saved_between(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t near;
    bool in_pass = classifier_phase(classifier, evidence->end_run) == PHASE_BACKWARD;
    bool is_freed = in_pass ? !evidence->end || evidence->end->releases_saved
                            : evidence->end && evidence->end->releases_graph;
    if (!is_freed)
        return false;
    enum phase before = step_near(classifier, evidence->birth_run, -1, &near);
    return before == PHASE_FORWARD ||
           (before == PHASE_BACKWARD && classifier->phases->runs[near].is_recorded);
}

/* True if plain code made an allocation for the loss: between a forward pass and a later part of it
 * that only lifetimes show. */
static bool is_in_loss(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t birth = evidence->birth_run, next = birth + 1;
    return birth > 0 && evidence->end_run >= next &&
           classifier_phase(classifier, birth - 1) == PHASE_FORWARD &&
           classifier_phase(classifier, next) == PHASE_FORWARD &&
           classifier->phases->runs[next].evidence == PHASE_BY_LIFETIMES;
}

/* True if other code makes an allocation between two parts of one forward pass, the first of which
 * keeps results for the backward pass. Then it is part of the computation and no batch. */
static bool is_between_parts(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t before, after;
    return step_near(classifier, evidence->birth_run, -1, &before) == PHASE_FORWARD &&
           step_near(classifier, evidence->birth_run, 1, &after) == PHASE_FORWARD &&
           classifier->phases->runs[before].pass == classifier->phases->runs[after].pass &&
           classifier->phases->runs[before].is_saved;
}

bool is_batch_after_update(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct phase_run *run = &classifier->phases->runs[evidence->birth_run];
    return run->evidence == PHASE_BY_LIFETIMES && evidence->end_run != NO_RUN &&
           op_makes_input(site_table_symbols(classifier->sites), evidence->birth->site.op) &&
           !classifier_has_gradient_size(classifier, evidence_size(classifier, evidence), true) &&
           goes_into_forward(classifier, evidence);
}

/* True if an allocation converts a result of a model to another type, between two parts of a
 * forward pass that keeps it, and is not a copy of a batch to the device. C++ frames tell the two
 * apart, unless they were filtered out. Without them, what the backward pass frees is a result. */
static bool is_converted_between(const struct classifier *classifier,
                                 const struct evidence *evidence)
{
    struct text op = symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op);
    return text_equals(op, "aten::_to_copy") && !evidence->birth->to_device &&
           is_between_parts(classifier, evidence) &&
           (classifier->shows_copies || is_saved_between(classifier, evidence));
}

/* True if an allocation takes the place of a copy to the device, made right before it: a batch of
 * bytes becomes one of floats. */
static bool converts_batch(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    size_t index = evidence->index;
    if (index == 0 || classifier->phases->of_lifetime[index - 1].birth != evidence->birth_run)
        return false;
    const struct lifetime *copy = &timeline->lifetimes[index - 1];
    uint32_t next =
        index + 1 < timeline->lifetime_count ? timeline->lifetimes[index + 1].alloc : EVENT_NEVER;
    struct error err; /* cannot fail, because that allocation was classified before */
    const struct stack_facts *facts =
        site_stack_facts(classifier->sites, timeline->trace->stack[copy->alloc], &err);
    return facts && facts->context == CONTEXT_OTHER && facts->to_device &&
           lifetime_end(copy) > timeline->lifetimes[index].alloc && lifetime_end(copy) < next;
}

#define MOST_WIDER 8 /* elements of a byte become doubles */

/* True if plain code has copied a batch to the device since the last forward pass, and computes an
 * allocation that goes into the next one and is not much larger: it prepares the batch. Generation
 * also copies numbers of beams and puts caches together. */
static bool prepares_batch(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t before;
    return evidence->birth->context == CONTEXT_OTHER && evidence->end_run != NO_RUN &&
           !plain_collects(classifier, evidence) &&
           step_near(classifier, evidence->birth_run, -1, &before) == PHASE_FORWARD &&
           classifier->copied_run > before &&
           (double)evidence_size(classifier, evidence) <= classifier->copied_bytes * MOST_WIDER;
}

/* The same for a result that the program keeps, after a pass that keeps nothing. */
static bool is_converted_result(const struct classifier *classifier,
                                const struct evidence *evidence)
{
    struct text op = symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op);
    return text_equals(op, "aten::_to_copy") && classifier->shows_copies &&
           !evidence->birth->to_device && plain_is_kept_result(classifier, evidence);
}

/* The same after the last pass of the trace, if the program keeps the result up to the end: a loss
 * may be computed of it in another type. What was copied to the device since then is a batch. */
static bool is_converted_at_end(const struct classifier *classifier,
                                const struct evidence *evidence)
{
    struct text op = symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op);
    uint32_t before, after;
    return text_equals(op, "aten::_to_copy") && classifier->shows_copies &&
           !evidence->birth->to_device && evidence->end_run == NO_RUN &&
           step_near(classifier, evidence->birth_run, -1, &before) == PHASE_FORWARD &&
           step_near(classifier, evidence->birth_run, 1, &after) == PHASE_UNKNOWN &&
           classifier->batch_run <= before;
}

/* True for allocations that are copied to the device or generated there. */
static bool is_made_as_input(const struct classifier *classifier, const struct evidence *evidence)
{
    return evidence->birth->context == CONTEXT_DATA ||
           (op_makes_input(site_table_symbols(classifier->sites), evidence->birth->site.op) &&
            (!is_converted_between(classifier, evidence) || converts_batch(classifier, evidence)) &&
            !is_converted_result(classifier, evidence) &&
            !is_converted_at_end(classifier, evidence));
}

enum reason plain_reason(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t birth = evidence->birth_run, end = evidence->end_run;
    bool is_copied_result = plain_replaces_result(classifier, evidence);
    bool by_operator = !is_copied_result && is_made_as_input(classifier, evidence);
    if (!classifier->phases->any_step)
        return by_operator && classifier->has_model ? REASON_COPIED : REASON_NONE;
    /* Data that exists from the start and stays may be the whole data set instead of a batch. */
    uint32_t end_item = lifetime_end(&classifier->timeline->lifetimes[evidence->index]);
    bool is_over = !classifier_stays(classifier, end_item) || birth > classifier->first_step_run;
    bool goes_in = is_over && goes_into_forward(classifier, evidence);
    uint32_t near;
    /* After a backward pass, a gradient may be converted, but is on the device already. */
    bool is_batch =
        goes_in && by_operator &&
        (step_near(classifier, birth, -1, &near) != PHASE_BACKWARD || evidence->birth->to_device);
    if (is_batch) /* also if zero_grad() frees it, since a sparse gradient keeps the indices */
        return REASON_BATCH;
    if (is_copied_result && (goes_in || end == NO_RUN))
        return REASON_AFTER_FORWARD;
    if (evidence->end && evidence->end->context == CONTEXT_ZERO_GRAD)
        return REASON_ZERO_GRAD_FREED;
    if (is_main_gradient(classifier, evidence) || is_flat_gradient(classifier, evidence))
        return REASON_MAIN_GRADIENT;
    if (end != birth && is_flat_weight(classifier, evidence))
        return REASON_WEIGHT_VECTOR;
    if (goes_in && by_operator)
        return REASON_BATCH;
    if (!by_operator && is_saved_between(classifier, evidence))
        return REASON_BACKWARD_FREES;
    bool trains = classifier->first_backward_run != NO_RUN;
    if (goes_in && trains &&
        (is_in_loss(classifier, evidence) || is_between_parts(classifier, evidence)))
        return REASON_AFTER_FORWARD;
    if (goes_in && !by_operator &&
        (plain_is_kept_result(classifier, evidence) ||
         (trains && plain_is_collected_result(classifier, evidence))))
        return REASON_AFTER_FORWARD;
    if (!by_operator && end != birth && plain_is_model_result(classifier, evidence))
        return REASON_AFTER_FORWARD;
    if (goes_in && !trains && prepares_batch(classifier, evidence))
        return REASON_BEFORE_FORWARD;
    if (goes_in && trains && evidence->birth->context == CONTEXT_OTHER &&
        (end != NO_RUN ||
         classifier_has_twin(classifier, evidence_size(classifier, evidence), CATEGORY_INPUT)))
        return REASON_BEFORE_FORWARD;
    if (end == birth)
        return plain_is_last_result(classifier, evidence) ? REASON_AFTER_FORWARD
                                                          : REASON_PLAIN_FREED;
    if (classifier_phase(classifier, end) == PHASE_BACKWARD)
        return REASON_BACKWARD_FREES;
    bool is_loss = birth > 0 && classifier_phase(classifier, birth - 1) == PHASE_FORWARD &&
                   classifier_phase(classifier, birth + 1) == PHASE_BACKWARD;
    if (is_loss)
        return REASON_LOSS;
    bool is_result =
        birth > 0 && classifier_phase(classifier, birth - 1) == PHASE_FORWARD && !by_operator;
    bool by_python = evidence->birth->site.any_python_frame != NO_FRAME;
    if (is_result && (evidence->birth->in_operator || by_python))
        return REASON_AFTER_FORWARD;
    bool unseen = evidence->birth_stack == STACK_NONE && !classifier->phases->has_stacks;
    if (goes_in && unseen)
        return REASON_BEFORE_FORWARD;
    return REASON_NONE;
}
