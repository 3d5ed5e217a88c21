/* The caveats before an answer when the layers of a snapshot are not what its peak consists of. */
#include <string.h>

#include "render/suggest/parts.h"

#define STEP_TEXT       40
#define NEGLIGIBLE_PART 100 /* a share below 1/100 counts as none */

static const char *step_text(char out[STEP_TEXT], bool has_step, int64_t step)
{
    if (!has_step)
        return strcpy(out, "no step");
    snprintf(out, STEP_TEXT, "step %lld", (long long)step);
    return out;
}

bool suggest_is_whole(const struct suggest_subject *subject)
{
    return !subject->forward || (subject->forward->at_peak && !subject->forward->unfinished);
}

const char *suggest_whose(char out[SUGGEST_WHOSE], const struct suggest_subject *subject)
{
    if (suggest_is_whole(subject))
        return strcpy(out, "");
    if (subject->forward->unfinished)
        return strcpy(out, "what there is of the pass ");
    if (!subject->forward->has_step)
        return strcpy(out, "that pass ");
    snprintf(out, SUGGEST_WHOSE, "step %lld ", (long long)subject->forward->step);
    return out;
}

/* The activations are too small for checkpoints to matter. */
static bool is_another_matter(const struct forward_chain *chain)
{
    return chain->peak_category_bytes < chain->peak_bytes / NEGLIGIBLE_PART;
}

static void say_other_matter(const struct page *page, const struct forward_chain *chain)
{
    static const char *const phases[PHASE_COUNT] = {
        [PHASE_UNKNOWN] = "",
        [PHASE_OTHER] = "",
        [PHASE_DATA] = "the data loading of ",
        [PHASE_FORWARD] = "the forward pass of ",
        [PHASE_BACKWARD] = "the backward pass of ",
        [PHASE_OPTIMIZER] = "the optimizer step of ",
    };
    char peak[UNITS_TEXT_SIZE], here[UNITS_TEXT_SIZE], step[STEP_TEXT];
    step_text(step, chain->has_peak_step, chain->peak_step);
    suggest_title(
        page,
        "Checkpoints do not lower this peak: of its %s, in %s%s, %s are activations. What "
        "follows is about the activations of a forward and backward pass alone.",
        page_bytes(page, peak, chain->peak_bytes),
        chain->has_peak_step ? phases[chain->peak_phase] : "", step,
        page_bytes(page, here, chain->peak_category_bytes));
}

static void say_other_step(const struct page *page, const struct forward_chain *chain)
{
    char step[STEP_TEXT], kept[UNITS_TEXT_SIZE], here[UNITS_TEXT_SIZE], after[200] = "";
    page_bytes(page, here, chain->peak_category_bytes);
    step_text(step, chain->has_peak_step, chain->peak_step);
    if (!is_another_matter(chain))
        snprintf(after, sizeof(after),
                 " The peak, in %s, holds %s of activations: give budgets as shares (60%%), not as "
                 "sizes.",
                 step, here);
    step_text(step, chain->has_step, chain->step);
    suggest_title(page, "These are the layers of %s%s, which keeps %s.%s",
                  chain->has_step ? "" : "a pass in ", step,
                  page_bytes(page, kept, chain->activation_bytes), after);
}

/* Says that an error ended the recorded step. */
static void say_failure(const struct page *page, const struct layer_trace *trace)
{
    struct buffer where = BUFFER_INIT;
    suggest_add_name(&where, symbols_text(trace->symbols, trace->facts.failed_in));
    suggest_title(
        page,
        "An error ended this step in the %s: the rest of the step is missing, so plans are "
        "for a part of the model, and no total is known. For a whole step, record with "
        "a smaller batch, in FakeTensorMode, or under memsnap dryrun.",
        where.failed ? "model" : where.bytes);
    buffer_release(&where);
    fputc('\n', page->out);
}

#define LEAST_UNLIKE  2 /* one step may differ because it is the first or the last of the trace */
#define PART_OF_STEPS 4 /* one 4th */

/* True if the calls of the model differ from step to step, as where it skips layers at random. */
static bool steps_differ(const struct forward_chain *chain)
{
    return !chain->unlike_apart && chain->unlike_steps >= LEAST_UNLIKE &&
           chain->unlike_steps >= chain->other_steps / PART_OF_STEPS;
}

static void say_steps_differ(const struct page *page, const struct forward_chain *chain)
{
    char unlike[UNITS_TEXT_SIZE], others[UNITS_TEXT_SIZE];
    suggest_title(page,
                  "The calls of this model differ from step to step: in %s of %s other steps it "
                  "keeps more or fewer activations, as if it skipped layers or ended early. A plan "
                  "is for the calls of the recorded step. Apply it with one_by_one=True, since "
                  "layers that follow on each other here may not in another step.",
                  units_count(unlike, chain->unlike_steps),
                  units_count(others, chain->other_steps));
}

void suggest_head_text(const struct page *page, const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    if (!chain && subject->problem->recorded && !subject->problem->has_totals)
        say_failure(page, subject->trace);
    if (!chain)
        return;
    bool other_matter = is_another_matter(chain);
    if (other_matter)
        say_other_matter(page, chain);
    if (chain->stopped)
        suggest_title(page, "Memory ran out in the backward pass of this step: what the rest of it "
                            "takes is missing.");
    else if (chain->unfinished)
        suggest_title(page,
                      "Memory ran out before the backward pass of this step: the later layers are "
                      "missing, and so is what the backward pass takes.");
    else if (!chain->at_peak)
        say_other_step(page, chain);
    bool differ = steps_differ(chain) && !suggest_is_compiled(subject);
    if (differ)
        say_steps_differ(page, chain);
    if (other_matter || differ || !suggest_is_whole(subject))
        fputc('\n', page->out);
    if (!other_matter && !suggest_is_compiled(subject))
        suggest_one_layer_text(page, subject);
}

/* FairScale records the outputs of modules, but not what autograd keeps, which may be more (what
 * operators save within a module, results of functions) or less (outputs that nothing saves). The
 * growth of allocated memory over the forward pass shows by how much. */
static void say_error(const struct page *page, const struct layer_trace *trace)
{
    const struct layer_row *first = NULL, *last = NULL;
    int64_t outputs = 0;
    char size[UNITS_TEXT_SIZE], growth[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < trace->count; i++) {
        const struct layer_row *row = &trace->rows[i];
        if (!row->is_forward)
            continue;
        first = first ? first : row;
        last = row;
        outputs += row->memory_activations;
    }
    int64_t grown = first ? last->allocated - (first->allocated - first->memory_diff) : 0;
    page_bytes(page, size, outputs);
    if (grown > 0 && last->allocated > 0)
        suggest_say(page,
                    "The trace has the outputs of modules (%s), not what autograd keeps. In the "
                    "forward pass allocated memory grew by %s, so these figures may err by %s.",
                    size, page_bytes(page, growth, grown),
                    page_share(share, grown > outputs ? grown - outputs : outputs - grown, grown));
    else
        suggest_say(page,
                    "The trace has the outputs of modules (%s), not what autograd keeps: on "
                    "common models these figures err by up to a third.",
                    size);
}

/* Says what the times of a profiler trace measure. */
static void say_source(const struct page *page, const struct layer_trace *trace)
{
    if (!(trace->facts.present >> FACT_TIME & 1))
        return;
    struct text time = symbols_text(trace->symbols, trace->facts.time);
    if (text_equals(time, LAYER_TIME_KERNELS))
        suggest_say(page, "Times are those of the kernels that the modules launched.");
    else if (text_equals(time, LAYER_TIME_HOST))
        suggest_say(page, "Times are the host's, since the trace has no kernels of these modules: "
                          "on a GPU the shares may differ.");
}

static void say_layers(const struct page *page, const struct problem *problem)
{
    char layers[UNITS_TEXT_SIZE], rows[UNITS_TEXT_SIZE], merged[UNITS_TEXT_SIZE];
    units_count(layers, problem->chain.layers);
    units_count(rows, problem->row_count);
    if (problem->merged > 0)
        suggest_say(page,
                    "The chain has %s layers, merged from %s because so many would take too long. "
                    "A coarser --granularity puts the cuts where you want them.",
                    layers, units_count(merged, problem->merged));
    else
        suggest_say(page,
                    "The chain has %s %s, made of %s %s of modules. It can be cut only between "
                    "layers (--granularity).",
                    layers, problem->chain.layers == 1 ? "layer" : "layers", rows,
                    problem->row_count == 1 ? "run" : "runs");
}

/* Where the times of forward and backward passes come from. */
static void say_times(const struct page *page, const struct suggest_subject *subject)
{
    const struct problem *problem = subject->problem;
    if (!problem->timed) {
        suggest_say(page,
                    "%s, so the extra compute is unknown. Plans recompute as few bytes of "
                    "activations as they can.",
                    problem->partly_timed ? "The trace has times of some modules only"
                                          : "The trace has no times");
        return;
    }
    if (!problem->backward_timed)
        suggest_say(page,
                    "Forward times are %s. %s backward pass is assumed to take twice as long.",
                    problem->times_given ? "those of --times" : "from the trace",
                    problem->partly_backward && !problem->times_given
                        ? "Backward times are known for some modules only, so the"
                        : "The");
    else if (problem->times_given)
        suggest_say(page, "Times are those of --times.");
    if (!problem->times_given)
        say_source(page, subject->trace);
}

static void say_revisited(const struct page *page, const struct problem *problem)
{
    if (problem->revisited == 0)
        return;
    bool one = problem->revisited == 1;
    if (problem->recorded)
        suggest_say(page, "%zu of the modules %s more than once, and %s in no plan.",
                    problem->revisited, one ? "runs" : "run", one ? "is" : "are");
    else
        suggest_say(page,
                    "%zu of the modules %s more than once: wrapping one checkpoints all of its "
                    "runs.",
                    problem->revisited, one ? "runs" : "run");
}

/* The parts of an answer in text that all models share: its segments and what it rests on. */
bool suggest_basis_text(const struct page *page, const struct suggest_subject *subject)
{
    const struct problem *problem = subject->problem;
    if (subject->forward)
        return suggest_basis_forward_text(page, subject);
    suggest_title(page, "Basis of these figures");
    say_layers(page, problem);
    say_times(page, subject);
    say_revisited(page, problem);
    if (!problem->recorded && !(subject->trace->present >> LAYER_SAVED_ACTIVATIONS & 1))
        say_error(page, subject->trace);
    suggest_say(
        page, problem->recorded
                  ? "The figures count the tensors that autograd keeps, and all other memory that "
                    "the recorder saw the passes allocate. Parameters, their gradients, the "
                    "optimizer's state and the model's input come on top."
                  : "The figures count activations and their gradients. Parameters, their "
                    "gradients, the optimizer's state, the model's input and the memory that "
                    "operators need while they run come on top.");
    return true;
}
