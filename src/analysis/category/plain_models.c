/* Results of a model that plain code computes without calling a module: an evaluation by methods of
 * the model other than forward(), or by the script itself.
 *
 * No run of a forward pass shows such an evaluation. Lines that modules run elsewhere do, and
 * matrix products, since a batch is rarely made by one. Where it is, as spectra and turned images
 * are, the program makes it anew for each step, or makes batches of it. */
#include "analysis/category/traced_reason.h"

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"
#include "base/text.h"

static bool is_of_model(struct text op)
{
    static const char *const names[] = {
        "aten::mm",          "aten::addmm",        "aten::_addmm_activation", "aten::bmm",
        "aten::baddbmm",     "aten::mv",           "aten::_scaled_mm",        "aten::_sparse_mm",
        "aten::convolution", "aten::_convolution", "aten::cudnn_convolution"};
    return text_is_one_of(op, names, sizeof(names) / sizeof(names[0]));
}

/* NULL if memory is short, which is found again when that allocation is classified. */
static const struct stack_facts *facts_at(const struct classifier *classifier, size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    struct error err;
    return site_stack_facts(classifier->sites,
                            timeline->trace->stack[timeline->lifetimes[index].alloc], &err);
}

bool plain_is_of_module(const struct classifier *classifier, const struct evidence *evidence)
{
    return site_is_of_module(classifier->sites, evidence->birth_stack, &evidence->birth->site);
}

void plain_note_model(struct classifier *classifier, const struct evidence *evidence)
{
    struct text op = symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op);
    if (evidence->birth->context == CONTEXT_OTHER &&
        (is_of_model(op) || plain_is_of_module(classifier, evidence)))
        classifier->model_run = evidence->birth_run;
}

bool plain_runs_model(const struct classifier *classifier, const struct evidence *evidence)
{
    return classifier->first_backward_run != NO_RUN &&
           classifier->model_run == evidence->birth_run &&
           !operator_makes_storage(
               symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op));
}

/* The stack that makes the last batch for the forward pass in run `pass`, after an allocation of
 * the same run of plain code; STACK_NONE if there is none, or if the batch may be part of what was
 * made before. If the program copies data to the device there, the batch is a copy. */
static stack_id last_batch(const struct classifier *classifier, const struct evidence *evidence,
                           uint32_t pass)
{
    const struct timeline *timeline = classifier->timeline;
    bool is_copied = classifier->copied_run == evidence->birth_run;
    stack_id last = STACK_NONE;
    size_t begin = births_from(timeline, classifier->phases->runs[pass].first);
    for (size_t i = begin; i-- > evidence->index + 1 && begin - i <= MOST_BEFORE_BATCH;) {
        const struct stack_facts *facts = facts_at(classifier, i);
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        if (!facts_are_of_plain_code(facts) || classifier->phases->of_lifetime[i].end < pass)
            continue;
        if (op_picks_rows(symbols_text(site_table_symbols(classifier->sites), facts->site.op)))
            return STACK_NONE;
        if (last == STACK_NONE && (facts->to_device || facts->context == CONTEXT_DATA ||
                                   (!is_copied && plain_makes_batch(classifier, stack))))
            last = stack;
    }
    return last;
}

/* True if a stack makes one of the last allocations before the forward pass in run `pass`, of those
 * from number `from` on. */
static bool makes_before(const struct classifier *classifier, stack_id stack, uint32_t pass,
                         size_t from)
{
    const struct timeline *timeline = classifier->timeline;
    size_t begin = births_from(timeline, classifier->phases->runs[pass].first);
    for (size_t i = begin; i-- > from && begin - i <= MOST_BEFORE_BATCH;)
        if (timeline->trace->stack[timeline->lifetimes[i].alloc] == stack)
            return true;
    return false;
}

bool plain_outlives_batch(const struct classifier *classifier, const struct evidence *evidence,
                          uint32_t pass)
{
    const struct phase_run *runs = classifier->phases->runs;
    stack_id batch = last_batch(classifier, evidence, pass);
    uint32_t limit = runs_kept(classifier, evidence, pass);
    for (uint32_t run = pass + 1; batch != STACK_NONE && run < limit; run++)
        if (runs[run].phase == PHASE_FORWARD && runs[run].pass != runs[pass].pass &&
            makes_before(classifier, batch, run,
                         births_from(classifier->timeline, runs[pass].first)))
            return true;
    return false;
}

bool plain_is_model_result(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t before, after;
    enum phase phase = step_near(classifier, evidence->birth_run, -1, &before);
    if (evidence->birth->context != CONTEXT_OTHER ||
        (phase != PHASE_BACKWARD && phase != PHASE_OPTIMIZER) ||
        !plain_runs_model(classifier, evidence) ||
        classifier_has_gradient_size(classifier, evidence_size(classifier, evidence), false))
        return false;
    bool is_like_result = plain_line_of(&classifier->results, evidence->birth_stack);
    if (step_near(classifier, evidence->birth_run, 1, &after) != PHASE_FORWARD)
        return is_like_result && evidence->end_run == NO_RUN;
    return is_like_result || plain_outlives_batch(classifier, evidence, after);
}
