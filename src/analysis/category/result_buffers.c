/* Buffers for the results of several forward passes without gradients: an image that is put
 * together from tiles, the scores of a sliding window, an array with a row for each batch. Plain
 * code makes such a buffer without contents before the passes, like a batch, but a batch would have
 * contents, and would usually be used by a single pass. Where the operator is not known, the sizes
 * of the results tell: each is smaller than the buffer, and all of them together fill it. The
 * passes must have another input, because data that they read in parts looks the same. */
#include "analysis/category/classifier.h"
#include "analysis/category/traced_reason.h"
#include "analysis/phase/births.h"
#include "base/text.h"

#define LEAST_PASSES 2
#define MOST_RUNS    1024 /* of the lifetime of a buffer that are looked at */
#define MOST_BLOCKS  4096 /* that outlive their runs in that time */
#define MOST_TIMES   16   /* as large as the buffer are the results, which overlap */
#define NARROWER     2    /* results in half precision may add up to a buffer of floats */

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

/* Cannot fail: the stack was looked up before. NULL if there is none. */
static const struct stack_facts *facts_at(const struct classifier *classifier, size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    struct error err;
    return site_stack_facts(classifier->sites,
                            timeline->trace->stack[timeline->lifetimes[index].alloc], &err);
}

/* True if plain code makes a block without contents. */
static bool is_empty(const struct classifier *classifier, size_t index)
{
    static const char *const names[] = {"aten::zeros",        "aten::new_zeros", "aten::zeros_like",
                                        "aten::empty",        "aten::new_empty", "aten::empty_like",
                                        "aten::empty_strided"};
    const struct stack_facts *facts = facts_at(classifier, index);
    return facts_are_of_plain_code(facts) &&
           text_is_one_of(symbols_text(site_table_symbols(classifier->sites), facts->site.op),
                          names, sizeof(names) / sizeof(names[0]));
}

/* True if Python frames show plain code, and no frame shows the operator. */
static bool may_be_empty(const struct classifier *classifier, size_t index)
{
    const struct stack_facts *facts = facts_at(classifier, index);
    return facts && facts->context == CONTEXT_OTHER && !facts->in_operator &&
           facts->site.op == STRING_EMPTY && facts->site.any_python_frame != NO_FRAME;
}

/* The results that forward passes leave while a block lives. */
struct results {
    double bytes;
    uint64_t largest;
    bool has_input; /* of later passes only */
};

/* `n`: the number of the block among those that outlive their run. */
static struct results results_of(const struct classifier *classifier,
                                 const struct categories *categories, size_t n)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    struct lifetime_runs life = phases->of_lifetime[phases->outliving[n]];
    struct results results = {0};
    for (size_t k = n + 1; k < phases->outliving_count && k - n <= MOST_BLOCKS; k++) {
        size_t i = phases->outliving[k];
        uint32_t run = phases->of_lifetime[i].birth;
        if (run >= life.end)
            break;
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        results.has_input = results.has_input ||
                            (results.bytes > 0 && categories->of_lifetime[i] == CATEGORY_INPUT);
        if (classifier_phase(classifier, run) != PHASE_FORWARD)
            continue;
        results.bytes += (double)size;
        results.largest = size > results.largest ? size : results.largest;
    }
    return results;
}

/* True if the results of the passes in the lifetime of a block fill it. `inputs_end`: the last run
 * that sees an input from before the block. */
static bool is_filled(const struct classifier *classifier, const struct categories *categories,
                      size_t n, uint32_t inputs_end)
{
    const struct timeline *timeline = classifier->timeline;
    size_t index = classifier->phases->outliving[n];
    uint32_t birth = classifier->phases->of_lifetime[index].birth;
    uint64_t size = trace_size(timeline->trace, timeline->lifetimes[index].alloc);
    struct results results = results_of(classifier, categories, n);
    return (results.has_input || inputs_end > birth) && results.largest < size &&
           results.bytes * NARROWER >= (double)size && results.bytes <= (double)size * MOST_TIMES;
}

/* The last run that sees a block as an input of passes; 0 if it is none. Of a block that the trace
 * does not free, more may be known than that it stays: its line makes batches. */
static uint32_t end_as_input(const struct classifier *classifier,
                             const struct categories *categories, size_t index)
{
    struct lifetime_runs life = classifier->phases->of_lifetime[index];
    enum reason reason = reason_of(categories->why_lifetime[index]);
    bool is_input = categories->of_lifetime[index] == CATEGORY_INPUT &&
                    (life.end != NO_RUN || reason == REASON_BEFORE_FORWARD);
    bool may_be_input = reason == REASON_NONE && life.birth > classifier->first_step_run &&
                        may_be_empty(classifier, index);
    return is_input || may_be_input ? life.end : 0;
}

void classify_result_buffers(const struct classifier *classifier, struct categories *categories)
{
    const struct phases *phases = classifier->phases;
    uint32_t untrained = end_of_training(phases), inputs_end = 0;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        enum reason reason = reason_of(categories->why_lifetime[i]);
        bool is_open = reason == REASON_NONE || reason == REASON_BEFORE_FORWARD ||
                       reason == REASON_FIRST_BATCH;
        if (is_open && sees_passes(phases, &phases->of_lifetime[i], untrained) &&
            (is_empty(classifier, i) ||
             (may_be_empty(classifier, i) && is_filled(classifier, categories, n, inputs_end)))) {
            categories->of_lifetime[i] = CATEGORY_ACTIVATION;
            categories->why_lifetime[i] = reason_byte(REASON_AFTER_FORWARD, DOUBT_NONE);
        } else {
            uint32_t end = end_as_input(classifier, categories, i);
            inputs_end = end > inputs_end ? end : inputs_end;
        }
    }
}
