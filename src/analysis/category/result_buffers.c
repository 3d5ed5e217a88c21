/* Buffers for the results of several forward passes without gradients: an image that is put
 * together from tiles, the scores of a sliding window, an array with a row for each batch. Plain
 * code makes such a buffer without contents before the passes, like a batch, but a batch would have
 * contents, and would usually be used by a single pass. Where the operator is not known, the sizes
 * of the results tell: each is smaller than the buffer, and all of them together fill it. The
 * passes must have another input, because data that they read in parts looks the same. */
#include <string.h>

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

/* 1 + the runs in which a stack makes its first and its last block; 0: it makes none. */
struct line {
    uint32_t first, last;
};

struct finder {
    const struct classifier *classifier;
    struct categories *categories;
    uint32_t untrained, last_pass; /* runs: after the last that trains; the last backward pass */
    struct line *lines;            /* by stack */
    size_t capacity;
};

static bool list_lines(struct finder *finder, struct error *err)
{
    const struct classifier *classifier = finder->classifier;
    const struct timeline *timeline = classifier->timeline;
    size_t stacks = symbols_stack_count(site_table_symbols(classifier->sites));
    if (!vec_reserve(finder->lines, finder->capacity, stacks + 1, timeline->snapshot->budget, err))
        return false;
    memset(finder->lines, 0, stacks * sizeof(*finder->lines));
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t run = classifier->phases->of_lifetime[i].birth + 1;
        struct line *line = &finder->lines[timeline->trace->stack[timeline->lifetimes[i].alloc]];
        line->first = line->last == 0 ? run : line->first;
        line->last = run;
    }
    return true;
}

/* True if the line that makes a block belongs to an evaluation: the program trains before the first
 * one, and not after the last one. */
static bool is_of_evaluation(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->classifier->timeline;
    stack_id stack = timeline->trace->stack[timeline->lifetimes[index].alloc];
    const struct line *line = &finder->lines[stack];
    return stack != STACK_NONE && line->last > finder->last_pass + 1 &&
           line->first > finder->classifier->first_backward_run + 1;
}

/* The end of the runs in the lifetime of a block that lie before any training, if they have several
 * forward passes; else 0. A buffer that lives while the program trains holds batches instead:
 * rollouts fill it for the passes that train after them. But a variable may hold a buffer of an
 * evaluation until the next one. */
static uint32_t end_of_passes(const struct finder *finder, size_t index)
{
    const struct phases *phases = finder->classifier->phases;
    struct lifetime_runs life = phases->of_lifetime[index];
    uint32_t last = life.end < phases->count ? life.end : (uint32_t)phases->count - 1;
    uint32_t passes = 0, last_forward = 0, run = life.birth + 1;
    for (; run <= last && run - life.birth <= MOST_RUNS; run++) {
        if (is_training(&phases->runs[run])) {
            /* the forward pass of this backward pass is the last one */
            bool is_backward = phases->runs[run].phase == PHASE_BACKWARD && passes > 0;
            passes -= is_backward;
            return passes < LEAST_PASSES || !is_of_evaluation(finder, index) ? 0
                   : is_backward                                             ? last_forward
                                                                             : run;
        }
        last_forward = phases->runs[run].phase == PHASE_FORWARD ? run : last_forward;
        passes += phases->runs[run].phase == PHASE_FORWARD &&
                  phases->runs[run].evidence <= PHASE_BY_ANNOTATION;
        if (passes >= LEAST_PASSES && run >= finder->untrained)
            return life.end;
    }
    return passes >= LEAST_PASSES && run > last ? life.end : 0;
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

/* Up to run `end`. `n`: the number of the block among those that outlive their run. */
static struct results results_of(const struct classifier *classifier,
                                 const struct categories *categories, size_t n, uint32_t end)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    struct results results = {0};
    for (size_t k = n + 1; k < phases->outliving_count && k - n <= MOST_BLOCKS; k++) {
        size_t i = phases->outliving[k];
        uint32_t run = phases->of_lifetime[i].birth;
        if (run >= end)
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

/* True if the results of the passes that a block sees up to run `end` fill it. `inputs_end`: the
 * last run that sees an input from before the block. */
static bool is_filled(const struct finder *finder, size_t n, uint32_t end, uint32_t inputs_end)
{
    const struct classifier *classifier = finder->classifier;
    const struct timeline *timeline = classifier->timeline;
    size_t index = classifier->phases->outliving[n];
    uint32_t birth = classifier->phases->of_lifetime[index].birth;
    uint64_t size = trace_size(timeline->trace, timeline->lifetimes[index].alloc);
    struct results results = results_of(classifier, finder->categories, n, end);
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

static bool is_buffer(const struct finder *finder, size_t n, uint32_t inputs_end)
{
    const struct classifier *classifier = finder->classifier;
    size_t i = classifier->phases->outliving[n];
    enum reason reason = reason_of(finder->categories->why_lifetime[i]);
    if (reason != REASON_NONE && reason != REASON_BEFORE_FORWARD && reason != REASON_FIRST_BATCH)
        return false;
    uint32_t end = end_of_passes(finder, i);
    return end > 0 && (is_empty(classifier, i) ||
                       (may_be_empty(classifier, i) && is_filled(finder, n, end, inputs_end)));
}

bool classify_result_buffers(const struct classifier *classifier, struct categories *categories,
                             struct error *err)
{
    const struct phases *phases = classifier->phases;
    struct finder finder = {.classifier = classifier,
                            .categories = categories,
                            .untrained = end_of_training(phases),
                            .last_pass = (uint32_t)phases->count};
    uint32_t inputs_end = 0;
    while (finder.last_pass > 0 && classifier_phase(classifier, finder.last_pass) != PHASE_BACKWARD)
        finder.last_pass--;
    if (!list_lines(&finder, err))
        return false;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        if (is_buffer(&finder, n, inputs_end)) {
            categories->of_lifetime[i] = CATEGORY_ACTIVATION;
            categories->why_lifetime[i] = reason_byte(REASON_AFTER_FORWARD, DOUBT_NONE);
        } else {
            uint32_t end = end_as_input(classifier, categories, i);
            inputs_end = end > inputs_end ? end : inputs_end;
        }
    }
    vec_free(finder.lines, finder.capacity, sizeof(*finder.lines),
             classifier->timeline->snapshot->budget);
    return true;
}
