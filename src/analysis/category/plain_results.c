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

/* The last of the noted lines with a stack, or NULL. */
static const struct last_line *line_of(const struct last_lines *lines, stack_id stack)
{
    for (size_t i = 0; i < LINES_MOST && i < lines->count; i++)
        if (lines->items[i].stack == stack)
            return &lines->items[i];
    return NULL;
}

/* True if a stack makes batches: by its operator, or, if that is not known, because its line has
 * made one before. */
static bool makes_batch(const struct classifier *classifier, stack_id stack)
{
    const struct symbols *symbols = site_table_symbols(classifier->sites);
    struct error err; /* out of memory is found again when that allocation is classified */
    const struct stack_facts *facts = site_stack_facts(classifier->sites, stack, &err);
    if (!facts)
        return false;
    if (facts->context == CONTEXT_DATA)
        return true;
    return facts->context == CONTEXT_OTHER &&
           (op_makes_input(symbols, facts->site.op) || line_of(&classifier->batches, stack));
}

#define MOST_BEFORE_BATCH 64 /* allocations between a result and the next batch */

/* True if the batch for the forward pass in run `pass` is made after an allocation, which is then
 * not that batch. A batch may have several parts, each made by a line of its own. */
static bool precedes_batch(const struct classifier *classifier, const struct evidence *evidence,
                           uint32_t pass)
{
    const struct timeline *timeline = classifier->timeline;
    uint32_t begin = classifier->phases->runs[pass].first;
    if (line_of(&classifier->batches, evidence->birth_stack))
        return false;
    for (size_t i = evidence->index + 1;
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < begin &&
         i - evidence->index <= MOST_BEFORE_BATCH;
         i++)
        if (makes_batch(classifier, timeline->trace->stack[timeline->lifetimes[i].alloc]))
            return true;
    return false;
}

static const struct last_line *last_like(const struct classifier *classifier,
                                         const struct evidence *evidence)
{
    return line_of(&classifier->results, evidence->birth_stack);
}

/* True if an allocation takes over the variable of the one of its size that the same line made
 * before: then that one is still live. */
static bool takes_over(const struct classifier *classifier, const struct last_lines *lines,
                       const struct evidence *evidence)
{
    const struct last_line *last = line_of(lines, evidence->birth_stack);
    return last && last->size == evidence_size(classifier, evidence) &&
           last->end > classifier->timeline->lifetimes[evidence->index].alloc;
}

static bool is_like_batch(const struct classifier *classifier, const struct evidence *evidence)
{
    return takes_over(classifier, &classifier->batches, evidence);
}

static void note(const struct classifier *classifier, struct last_lines *lines,
                 const struct evidence *evidence)
{
    if (evidence->birth_stack == STACK_NONE)
        return;
    const struct last_line *last = line_of(lines, evidence->birth_stack);
    size_t at = last ? (size_t)(last - lines->items) : lines->count++;
    lines->items[at % LINES_MOST] =
        (struct last_line){evidence->birth_stack, evidence_size(classifier, evidence),
                           lifetime_end(&classifier->timeline->lifetimes[evidence->index])};
}

/* True if what a line made as a batch, to all appearance, makes it a line of batches. After a
 * forward pass it may yet be a result, if an operator computed it. */
static bool is_line_of_batches(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t before;
    return evidence->birth->site.op == STRING_EMPTY ||
           line_of(&classifier->batches, evidence->birth_stack) ||
           step_near(classifier, evidence->birth_run, -1, &before) != PHASE_FORWARD;
}

void plain_note_line(struct classifier *classifier, const struct evidence *evidence,
                     enum reason reason)
{
    if (reason == REASON_AFTER_FORWARD)
        note(classifier, &classifier->results, evidence);
    if (reason != REASON_BEFORE_FORWARD || !is_line_of_batches(classifier, evidence))
        return;
    if (evidence->birth->site.op == STRING_EMPTY &&
        line_of(&classifier->batches, evidence->birth_stack))
        classifier->batch_run = evidence->birth_run;
    note(classifier, &classifier->batches, evidence);
}

bool plain_is_kept_result(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t before, after;
    return evidence->birth->context == CONTEXT_OTHER &&
           step_near(classifier, evidence->birth_run, -1, &before) == PHASE_FORWARD &&
           !classifier->phases->runs[before].is_saved && classifier->batch_run <= before &&
           !is_drawn(classifier, evidence) && !is_like_batch(classifier, evidence) &&
           step_near(classifier, evidence->birth_run, 1, &after) == PHASE_FORWARD &&
           (takes_over(classifier, &classifier->results, evidence) ||
            !(classifier->phases->runs[after].is_saved && plain_collects(classifier, evidence))) &&
           (evidence->end_run == NO_RUN || evidence->end_run > after + 1 ||
            last_like(classifier, evidence) ||
            (evidence->end_run > after && precedes_batch(classifier, evidence, after)));
}

bool classifier_has_gradient_size(const struct classifier *classifier, uint64_t size, bool or_used)
{
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    return tally && (tally->gradients.most > 0 || (or_used && tally->accumulated.most > 0));
}

#define MOST_RUNS_KEPT 256 /* runs that are searched for the pass after the next one */

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
    uint32_t limit = (uint32_t)classifier->phases->count;
    limit = evidence->end_run < limit ? evidence->end_run : limit;
    if (limit > next + MOST_RUNS_KEPT)
        limit = next + MOST_RUNS_KEPT;
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

#define MOST_SINCE_RESULT 64 /* allocations between a result and its copy */

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
