/* Buffers for the results of several forward passes without gradients: an image that is put
 * together from tiles, the scores of a sliding window, an array with a row for each batch. Plain
 * code makes such a buffer without contents before the passes, like a batch, but a batch would have
 * contents, and would usually be used by a single pass. */
#include "analysis/category/classifier.h"
#include "analysis/category/traced_reason.h"
#include "analysis/phase/births.h"
#include "base/text.h"

#define LEAST_PASSES 2
#define MOST_RUNS    1024 /* of the lifetime of a buffer that are looked at */

static bool is_training(const struct phase_run *run)
{
    return run->phase == PHASE_BACKWARD || run->phase == PHASE_OPTIMIZER ||
           (run->phase == PHASE_FORWARD && run->is_saved);
}

/* The run after the last one that trains; 0 if none does. */
static uint32_t end_of_training(const struct phases *phases)
{
    uint32_t run = (uint32_t)phases->count;
    while (run > 0 && !is_training(&phases->runs[run - 1]))
        run--;
    return run;
}

/* True if a lifetime covers several forward passes, none of which a backward pass follows. A
 * buffer that lives while the program trains holds batches instead: rollouts fill it for the passes
 * that train after them. */
static bool sees_passes(const struct phases *phases, const struct lifetime_runs *life,
                        uint32_t untrained)
{
    uint32_t last = life->end < phases->count ? life->end : (uint32_t)phases->count - 1;
    uint32_t passes = 0;
    for (uint32_t run = life->birth + 1; run <= last; run++) {
        if (run - life->birth > MOST_RUNS || is_training(&phases->runs[run]))
            return false;
        passes += phases->runs[run].phase == PHASE_FORWARD &&
                  phases->runs[run].evidence <= PHASE_BY_ANNOTATION;
        if (passes >= LEAST_PASSES && run >= untrained)
            return true;
    }
    return passes >= LEAST_PASSES;
}

/* True if plain code makes a block without contents. */
static bool is_empty(const struct classifier *classifier, stack_id stack)
{
    static const char *const names[] = {"aten::zeros",        "aten::new_zeros", "aten::zeros_like",
                                        "aten::empty",        "aten::new_empty", "aten::empty_like",
                                        "aten::empty_strided"};
    struct error err; /* cannot fail: the stack was looked up before */
    const struct stack_facts *facts = site_stack_facts(classifier->sites, stack, &err);
    return facts_are_of_plain_code(facts) &&
           text_is_one_of(symbols_text(site_table_symbols(classifier->sites), facts->site.op),
                          names, sizeof(names) / sizeof(names[0]));
}

void classify_result_buffers(const struct classifier *classifier, struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    uint32_t untrained = end_of_training(phases);
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        enum reason reason = reason_of(categories->why_lifetime[i]);
        if ((reason != REASON_NONE && reason != REASON_BEFORE_FORWARD) ||
            !is_empty(classifier, timeline->trace->stack[timeline->lifetimes[i].alloc]) ||
            !sees_passes(phases, &phases->of_lifetime[i], untrained))
            continue;
        categories->of_lifetime[i] = CATEGORY_ACTIVATION;
        categories->why_lifetime[i] = reason_byte(REASON_AFTER_FORWARD, DOUBT_NONE);
    }
}
