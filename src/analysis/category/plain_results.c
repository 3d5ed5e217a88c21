/* Results of forward passes that plain code computes, copies, and keeps. */
#include "analysis/category/traced_reason.h"

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"
#include "base/text.h"

/* True for operators that draw random numbers, and so need no results of a pass. */
static bool is_drawn(const struct classifier *classifier, const struct evidence *evidence)
{
    struct text op = symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op);
    return operator_makes_storage(op) || text_starts(op, "aten::rand");
}

/* True if the batch for the forward pass in run `pass` is made after an allocation, which is then
 * not that batch. A batch may have several parts, each made by a line of its own. */
static bool precedes_batch(const struct classifier *classifier, const struct evidence *evidence,
                           uint32_t pass)
{
    const struct timeline *timeline = classifier->timeline;
    uint32_t begin = classifier->phases->runs[pass].first;
    if (plain_line_of(&classifier->batches, evidence->birth_stack))
        return false;
    for (size_t i = evidence->index + 1;
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < begin &&
         i - evidence->index <= MOST_BEFORE_BATCH;
         i++)
        if (plain_makes_batch(classifier, timeline->trace->stack[timeline->lifetimes[i].alloc]))
            return true;
    return false;
}

static const struct last_line *last_like(const struct classifier *classifier,
                                         const struct evidence *evidence)
{
    return plain_line_of(&classifier->results, evidence->birth_stack);
}

/* True if an allocation takes over the variable of the one of its size that the same line made
 * before: then that one is still live. */
static bool takes_over(const struct classifier *classifier, const struct last_lines *lines,
                       const struct evidence *evidence)
{
    const struct last_line *last = plain_line_of(lines, evidence->birth_stack);
    return last && last->size == evidence_size(classifier, evidence) &&
           last->end > classifier->timeline->lifetimes[evidence->index].alloc;
}

static bool is_like_batch(const struct classifier *classifier, const struct evidence *evidence)
{
    return takes_over(classifier, &classifier->batches, evidence);
}

#define MOST_SINCE_RESULT 64 /* allocations between a result and what is made from it */

/* True if a result of the forward pass in run `before` is freed as soon as an allocation is made,
 * which is then computed from it. */
static bool uses_up_result(const struct classifier *classifier, const struct evidence *evidence,
                           uint32_t before)
{
    const struct timeline *timeline = classifier->timeline;
    size_t index = evidence->index;
    uint32_t birth = timeline->lifetimes[index].alloc;
    uint32_t next =
        index + 1 < timeline->lifetime_count ? timeline->lifetimes[index + 1].alloc : EVENT_NEVER;
    for (size_t i = index; i-- > 0 && index - i <= MOST_SINCE_RESULT &&
                           classifier->phases->of_lifetime[i].birth >= before;) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (classifier->phases->of_lifetime[i].birth == before && end > birth && end < next)
            return true;
    }
    return false;
}

/* True if only its place after the forward pass in run `before` tells that an allocation is a
 * result, and it may be the batch that the pass in run `after` needs. Plain code that runs a model
 * goes on computing from results, as a world model does that imagines further steps. */
static bool may_be_batch(const struct classifier *classifier, const struct evidence *evidence,
                         uint32_t before, uint32_t after)
{
    return evidence->birth->site.op == STRING_EMPTY && plain_collects(classifier, evidence) &&
           !last_like(classifier, evidence) && !plain_runs_model(classifier, evidence) &&
           !uses_up_result(classifier, evidence, before) &&
           !plain_has_input(classifier, evidence, after);
}

/* False if an allocation may be the batch for the forward pass in run `after`, because the program
 * trains in that pass and the operator is not known. What takes the place of an earlier result is
 * none, and neither is what a model computes and outlives the batch of that pass. */
static bool is_no_batch(const struct classifier *classifier, const struct evidence *evidence,
                        uint32_t after)
{
    return !classifier->phases->runs[after].is_saved || !plain_collects(classifier, evidence) ||
           takes_over(classifier, &classifier->results, evidence) ||
           (plain_runs_model(classifier, evidence) &&
            plain_outlives_batch(classifier, evidence, after));
}

bool plain_is_kept_result(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t before, after;
    return evidence->birth->context == CONTEXT_OTHER &&
           step_near(classifier, evidence->birth_run, -1, &before) == PHASE_FORWARD &&
           !classifier->phases->runs[before].is_saved && classifier->batch_run <= before &&
           !is_drawn(classifier, evidence) && !is_like_batch(classifier, evidence) &&
           step_near(classifier, evidence->birth_run, 1, &after) == PHASE_FORWARD &&
           !may_be_batch(classifier, evidence, before, after) &&
           is_no_batch(classifier, evidence, after) &&
           (evidence->end_run == NO_RUN || evidence->end_run > after + 1 ||
            last_like(classifier, evidence) ||
            (evidence->end_run > after && precedes_batch(classifier, evidence, after)));
}

bool plain_is_collected_result(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t step, next, later;
    enum phase before = step_near(classifier, evidence->birth_run, -1, &step);
    /* The labels may be converted for the metric, too. */
    uint32_t batch = classifier->shows_copies ? classifier->copied_run : classifier->batch_run;
    if (evidence->birth->context != CONTEXT_OTHER ||
        (before != PHASE_BACKWARD && before != PHASE_OPTIMIZER) || batch > step ||
        step_near(classifier, evidence->birth_run, 1, &next) != PHASE_FORWARD)
        return false;
    const struct phase_run *runs = classifier->phases->runs;
    uint32_t limit = runs_kept(classifier, evidence, next);
    for (later = next + 1; later < limit && (runs[later].phase != PHASE_FORWARD ||
                                             runs[later].pass == runs[next].pass);)
        later++;
    return (later < limit || last_like(classifier, evidence)) && !is_drawn(classifier, evidence) &&
           !classifier_has_gradient_size(classifier, evidence_size(classifier, evidence), true) &&
           precedes_batch(classifier, evidence, next);
}

bool plain_is_last_result(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct last_line *last = last_like(classifier, evidence);
    uint32_t before;
    return last && last->size <= evidence_size(classifier, evidence) &&
           evidence->birth->context == CONTEXT_OTHER &&
           step_near(classifier, evidence->birth_run, -1, &before) == PHASE_FORWARD &&
           !classifier->phases->runs[before].is_saved;
}

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
