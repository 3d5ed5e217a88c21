/* Reasons for allocations that plain code makes between the phases of a step. */
#include "analysis/category/traced_reason.h"

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"
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

/* True if a backward pass left gradients of the size. With `or_used`, also if a backward pass made
 * blocks of the size and used them up, which may have been gradients. */
static bool has_gradient_size(const struct classifier *classifier, uint64_t size, bool or_used)
{
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    return tally && (tally->gradients.most > 0 || (or_used && tally->accumulated.most > 0));
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
        return evidence->end_run >= step && (has_gradient_size(classifier, size, true) ||
                                             has_gradient_size(classifier, half, true));
    /* more passes add to it before the step, in which the trace may end */
    bool is_open =
        evidence->end_run == NO_RUN && classifier_has_twin(classifier, size, CATEGORY_GRADIENT);
    bool goes_on = next == PHASE_FORWARD && is_freed_after_step(classifier, evidence);
    return (goes_on || (is_open && next <= PHASE_FORWARD)) &&
           (has_gradient_size(classifier, size, false) ||
            has_gradient_size(classifier, half, false));
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
           !has_gradient_size(classifier, evidence_size(classifier, evidence), true) &&
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

/* True for operators that draw random numbers, and so need no results of a pass. */
static bool is_drawn(const struct classifier *classifier, const struct evidence *evidence)
{
    struct text op = symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op);
    return operator_makes_storage(op) || text_starts(op, "aten::rand");
}

#define MOST_BEFORE_BATCH 64 /* allocations between a result and the next batch */

/* True if the batch for the forward pass in run `pass` is made after an allocation, which is then
 * not that batch. */
static bool precedes_batch(const struct classifier *classifier, const struct evidence *evidence,
                           uint32_t pass)
{
    const struct timeline *timeline = classifier->timeline;
    const struct symbols *symbols = site_table_symbols(classifier->sites);
    uint32_t begin = classifier->phases->runs[pass].first;
    for (size_t i = evidence->index + 1;
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < begin &&
         i - evidence->index <= MOST_BEFORE_BATCH;
         i++) {
        struct error err; /* out of memory is found again when that allocation is classified */
        const struct stack_facts *facts = site_stack_facts(
            classifier->sites, timeline->trace->stack[timeline->lifetimes[i].alloc], &err);
        if (facts && (facts->context == CONTEXT_DATA ||
                      (facts->context == CONTEXT_OTHER && op_makes_input(symbols, facts->site.op))))
            return true;
    }
    return false;
}

/* The last result that plain code kept with the stack of an allocation, or NULL. */
static const struct kept_result *last_like(const struct classifier *classifier,
                                           const struct evidence *evidence)
{
    for (size_t i = 0; i < RESULTS_MOST && i < classifier->result_stacks; i++)
        if (classifier->results[i].stack == evidence->birth_stack)
            return &classifier->results[i];
    return NULL;
}

void plain_note_result(struct classifier *classifier, const struct evidence *evidence)
{
    if (evidence->birth_stack == STACK_NONE)
        return;
    const struct kept_result *last = last_like(classifier, evidence);
    size_t at = last ? (size_t)(last - classifier->results) : classifier->result_stacks++;
    classifier->results[at % RESULTS_MOST] =
        (struct kept_result){evidence->birth_stack, evidence_size(classifier, evidence)};
}

/* True if plain code makes an allocation from the results of a forward pass that no backward pass
 * uses. It must be kept over the next forward pass, or have the stack of an earlier kept result,
 * because the last result of a list may be freed sooner. What plain code makes from a new batch
 * goes into the next pass instead. A sum or a concatenation of all results so far lives until the
 * next one is made, right after that pass, and is made before the next batch. */
static bool is_kept_result(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t before, after;
    return evidence->birth->context == CONTEXT_OTHER &&
           step_near(classifier, evidence->birth_run, -1, &before) == PHASE_FORWARD &&
           !classifier->phases->runs[before].is_saved && classifier->batch_run <= before &&
           !is_drawn(classifier, evidence) &&
           step_near(classifier, evidence->birth_run, 1, &after) == PHASE_FORWARD &&
           !(classifier->phases->runs[after].is_saved && plain_collects(classifier, evidence)) &&
           (evidence->end_run == NO_RUN || evidence->end_run > after + 1 ||
            last_like(classifier, evidence) ||
            (evidence->end_run > after && precedes_batch(classifier, evidence, after)));
}

/* True for the last of such results, which the program reads and drops before another pass. */
static bool is_last_result(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct kept_result *last = last_like(classifier, evidence);
    uint32_t before;
    return last && last->size <= evidence_size(classifier, evidence) &&
           evidence->birth->context == CONTEXT_OTHER &&
           step_near(classifier, evidence->birth_run, -1, &before) == PHASE_FORWARD &&
           !classifier->phases->runs[before].is_saved;
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

#define MOST_SINCE_RESULT 64 /* allocations between a result and its copy */

/* True if an allocation copies the result of a forward pass that no backward pass uses, perhaps to
 * another type: the result, which has as many elements, is freed before the next pass. So
 * generation copies the scores of each token. A batch takes the place of nothing. */
bool plain_replaces_result(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    struct text op = symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op);
    uint64_t size = evidence_size(classifier, evidence);
    uint32_t birth = timeline->lifetimes[evidence->index].alloc, before, after;
    if (evidence->birth->context != CONTEXT_OTHER || !text_equals(op, "aten::_to_copy") ||
        step_near(classifier, evidence->birth_run, -1, &before) != PHASE_FORWARD ||
        phases->runs[before].is_saved)
        return false;
    bool is_last = step_near(classifier, evidence->birth_run, 1, &after) != PHASE_FORWARD;
    uint32_t next = is_last ? EVENT_NEVER : phases->runs[after].first;
    for (size_t i = evidence->index; i-- > 0 && evidence->index - i <= MOST_SINCE_RESULT &&
                                     timeline->lifetimes[i].alloc >= phases->runs[before].first;) {
        uint64_t result = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (phases->of_lifetime[i].birth == before && end > birth && end < next &&
            (result == size || result == size / 2 || result / 2 == size))
            return true;
    }
    return false;
}

/* The same for a result that the program keeps, after a pass that keeps nothing. */
static bool is_converted_result(const struct classifier *classifier,
                                const struct evidence *evidence)
{
    struct text op = symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op);
    return text_equals(op, "aten::_to_copy") && classifier->shows_copies &&
           !evidence->birth->to_device && is_kept_result(classifier, evidence);
}

/* True for allocations that are copied to the device or generated there. */
static bool is_made_as_input(const struct classifier *classifier, const struct evidence *evidence)
{
    return evidence->birth->context == CONTEXT_DATA ||
           (op_makes_input(site_table_symbols(classifier->sites), evidence->birth->site.op) &&
            !is_converted_between(classifier, evidence) &&
            !is_converted_result(classifier, evidence));
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
    bool is_batch =
        goes_in && by_operator && step_near(classifier, birth, -1, &near) != PHASE_BACKWARD;
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
    if (goes_in && !by_operator && is_kept_result(classifier, evidence))
        return REASON_AFTER_FORWARD;
    if (goes_in && !trains && prepares_batch(classifier, evidence))
        return REASON_BEFORE_FORWARD;
    if (goes_in && trains && evidence->birth->context == CONTEXT_OTHER &&
        (end != NO_RUN ||
         classifier_has_twin(classifier, evidence_size(classifier, evidence), CATEGORY_INPUT)))
        return REASON_BEFORE_FORWARD;
    if (end == birth)
        return is_last_result(classifier, evidence) ? REASON_AFTER_FORWARD : REASON_PLAIN_FREED;
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
