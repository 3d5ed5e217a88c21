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
    char step[STEP_TEXT], kept[UNITS_TEXT_SIZE], here[UNITS_TEXT_SIZE], behind[200] = "";
    page_bytes(page, here, chain->peak_category_bytes);
    step_text(step, chain->has_peak_step, chain->peak_step);
    if (!is_another_matter(chain))
        snprintf(behind, sizeof(behind),
                 " The peak, in %s, holds %s of activations: give budgets as shares (60%%), not as "
                 "sizes.",
                 step, here);
    step_text(step, chain->has_step, chain->step);
    suggest_title(page, "These are the layers of %s%s, which keeps %s.%s",
                  chain->has_step ? "" : "a pass in ", step,
                  page_bytes(page, kept, chain->activation_bytes), behind);
}

void suggest_head_text(const struct page *page, const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    if (!chain)
        return;
    bool other_matter = is_another_matter(chain);
    if (other_matter)
        say_other_matter(page, chain);
    if (chain->unfinished)
        suggest_title(page, "The pass ran out of memory before its backward: the layers behind are "
                            "missing, and so is what a backward takes.");
    else if (!chain->at_peak)
        say_other_step(page, chain);
    if (other_matter || !suggest_is_whole(subject))
        fputc('\n', page->out);
}
