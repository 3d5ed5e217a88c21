/* Batches that plain code makes are known by the lines that make them, and by how long they live.
 */
#include "analysis/category/traced_reason.h"

#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"

const struct last_line *plain_line_of(const struct last_lines *lines, stack_id stack)
{
    for (size_t i = 0; i < LINES_MOST && i < lines->count; i++)
        if (lines->items[i].stack == stack)
            return &lines->items[i];
    return NULL;
}

bool plain_makes_batch(const struct classifier *classifier, stack_id stack)
{
    const struct symbols *symbols = site_table_symbols(classifier->sites);
    struct error err; /* out of memory is found again when that allocation is classified */
    const struct stack_facts *facts = site_stack_facts(classifier->sites, stack, &err);
    if (!facts)
        return false;
    if (facts->context == CONTEXT_DATA)
        return true;
    return facts->context == CONTEXT_OTHER &&
           (op_makes_input(symbols, facts->site.op) || plain_line_of(&classifier->batches, stack));
}

/* A line may also make temporaries as large as what its variable keeps. */
static void note(const struct classifier *classifier, struct last_lines *lines,
                 const struct evidence *evidence)
{
    uint32_t end = lifetime_end(&classifier->timeline->lifetimes[evidence->index]);
    uint64_t size = evidence_size(classifier, evidence);
    if (evidence->birth_stack == STACK_NONE)
        return;
    const struct last_line *last = plain_line_of(lines, evidence->birth_stack);
    if (last && last->size == size && last->end > end)
        return;
    size_t at = last ? (size_t)(last - lines->items) : lines->count++;
    lines->items[at % LINES_MOST] = (struct last_line){evidence->birth_stack, size, end};
}

/* True if what a line made as a batch, to all appearance, makes it a line of batches. After a
 * forward pass it may yet be a result, if an operator computed it. */
static bool is_line_of_batches(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t before;
    return evidence->birth->site.op == STRING_EMPTY ||
           plain_line_of(&classifier->batches, evidence->birth_stack) ||
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
        plain_line_of(&classifier->batches, evidence->birth_stack))
        classifier->batch_run = evidence->birth_run;
    note(classifier, &classifier->batches, evidence);
}

#define LEAST_OF_RESULT                                                                            \
    1024 /* a batch is not less than 1/1024 of a result, unlike factors of it                      \
          */

/* True if an allocation of the run of `evidence` may be the batch for the forward pass in run
 * `pass`: its line makes batches, or it is freed right after the pass. */
static bool may_be_batch(const struct classifier *classifier, const struct evidence *evidence,
                         size_t index, uint32_t pass)
{
    const struct trace *trace = classifier->timeline->trace;
    struct lifetime_runs runs = classifier->phases->of_lifetime[index];
    uint32_t item = classifier->timeline->lifetimes[index].alloc;
    if (runs.birth != evidence->birth_run || runs.end < pass)
        return false;
    return plain_makes_batch(classifier, trace->stack[item]) ||
           (runs.end <= pass + 1 &&
            trace_size(trace, item) >= evidence_size(classifier, evidence) / LEAST_OF_RESULT);
}

bool plain_has_input(const struct classifier *classifier, const struct evidence *evidence,
                     uint32_t pass)
{
    const struct phases *phases = classifier->phases;
    const struct live_inputs *inputs = &classifier->inputs;
    size_t count = classifier->timeline->lifetime_count;
    uint32_t ends = inputs->run == evidence->birth_run  ? inputs->earlier_end
                    : inputs->end > inputs->earlier_end ? inputs->end
                                                        : inputs->earlier_end;
    if (phases->runs[inputs->run].pass != phases->runs[evidence->birth_run].pass)
        ends = 0;
    if (classifier->first_backward_run == NO_RUN || ends > phases->runs[pass].first)
        return true;
    for (size_t i = 1; i <= MOST_BEFORE_BATCH; i++) {
        if (evidence->index + i < count &&
            may_be_batch(classifier, evidence, evidence->index + i, pass))
            return true;
        if (i <= evidence->index && may_be_batch(classifier, evidence, evidence->index - i, pass))
            return true;
    }
    return false;
}

void plain_note_input(struct classifier *classifier, const struct evidence *evidence,
                      enum reason reason)
{
    struct live_inputs *inputs = &classifier->inputs;
    uint32_t end = lifetime_end(&classifier->timeline->lifetimes[evidence->index]);
    if ((reason != REASON_BATCH && reason != REASON_BEFORE_FORWARD) || end == EVENT_NEVER)
        return;
    if (inputs->run != evidence->birth_run) {
        const struct phase_run *runs = classifier->phases->runs;
        bool trained = runs[inputs->run].pass != runs[evidence->birth_run].pass;
        uint32_t earlier = inputs->end > inputs->earlier_end ? inputs->end : inputs->earlier_end;
        *inputs = (struct live_inputs){evidence->birth_run, 0, trained ? 0 : earlier};
    }
    inputs->end = end > inputs->end ? end : inputs->end;
}
