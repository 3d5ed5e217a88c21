#include "analysis/oom/rest.h"

#include "analysis/oom/earlier.h"
#include "analysis/phase/births.h"
#include "model/allocator_rules.h"

struct finder {
    const struct timeline *timeline;
    const struct phases *phases;
    const struct steps *steps;
    const struct categories *categories;
};

/* The request that failed, as it is looked for in another step. */
struct wanted {
    const struct oom_row *row;
    bool any_size;
};

static bool is_same_request(const struct finder *finder, size_t lifetime,
                            const struct wanted *wanted)
{
    const struct oom_row *row = wanted->row;
    const struct trace *trace = finder->timeline->trace;
    uint32_t item = finder->timeline->lifetimes[lifetime].alloc;
    uint64_t block = allocator_round(&finder->timeline->snapshot->rules, trace_size(trace, item));
    return trace->stack[item] == row->stack && (wanted->any_size || block == row->requested_bytes);
}

/* How often the step had made the request by the item `end`; stops at number `most`, whose item is
 * *item. */
static size_t count_requests(const struct finder *finder, const struct wanted *wanted,
                             uint32_t first, uint32_t end, size_t most, uint32_t *item)
{
    const struct timeline *timeline = finder->timeline;
    size_t count = 0;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end && count < most; i++) {
        if (!is_same_request(finder, i, wanted))
            continue;
        *item = timeline->lifetimes[i].alloc;
        count++;
    }
    return count;
}

/* The backward passes of a step: [begin, end), with what lies between them; empty: it has none. */
struct backward {
    uint32_t begin, end; /* items */
};

static struct backward backward_of(const struct finder *finder, const struct step *step)
{
    const struct phases *phases = finder->phases;
    struct backward backward = {0};
    for (size_t run = 0; run < phases->count && phases->runs[run].first <= step->last; run++) {
        if (phases->runs[run].phase != PHASE_BACKWARD || phases->runs[run].first < step->first)
            continue;
        backward.begin = backward.end ? backward.begin : phases->runs[run].first;
        backward.end = phases_run_end(phases, run, finder->timeline->trace->count);
    }
    return backward;
}

static int64_t gradients_at(const struct finder *finder, uint32_t item)
{
    const struct timeline *timeline = finder->timeline;
    int64_t bytes = 0;
    for (size_t i = 0; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < item; i++)
        if (finder->categories->of_lifetime[i] == CATEGORY_GRADIENT &&
            timeline->lifetimes[i].free_completed >= item)
            bytes += (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    return bytes;
}

static bool is_activation(enum category category)
{
    return category == CATEGORY_ACTIVATION;
}

/* The activations that a step has made and still holds before `item`. */
static double held_by(const struct finder *finder, const struct step *step, uint32_t item)
{
    return oom_held(finder->timeline, finder->categories, step->first, item, is_activation);
}

static bool may_be_result(const struct finder *finder, size_t lifetime)
{
    enum category category = (enum category)finder->categories->of_lifetime[lifetime];
    return category == CATEGORY_ACTIVATION || category == CATEGORY_TEMPORARY ||
           category == CATEGORY_AUTOGRAD_DETAIL;
}

/* What variables still hold at the request of what the earlier step made after its own one, up to
 * its backward pass: the code that is about to run sets them again. */
static int64_t set_again(const struct finder *finder, uint32_t item, uint32_t begin, uint32_t now)
{
    const struct timeline *timeline = finder->timeline;
    int64_t bytes = 0;
    for (size_t i = births_from(timeline, item);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < begin; i++)
        if (timeline->lifetimes[i].free_completed >= now && may_be_result(finder, i))
            bytes += (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    return bytes;
}

/* The same of the earlier step, whose curve shows it: what it freed from its request up to its
 * backward pass of what was made before the step. */
static int64_t was_set_again(const struct finder *finder, uint32_t first, uint32_t item,
                             uint32_t begin)
{
    const struct timeline *timeline = finder->timeline;
    int64_t bytes = 0;
    for (size_t i = 0; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < first; i++)
        if (timeline->lifetimes[i].free_completed >= item &&
            timeline->lifetimes[i].free_completed < begin && may_be_result(finder, i))
            bytes += (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    return bytes;
}

#define MOST_TIMES  16  /* a batch that is larger by more says little */
#define LEAST_OTHER 0.1 /* part by which the batches of two steps must differ to count */

/* True if a request has the same size whatever the batch: of a workspace, or of a copy of a weight.
 * Any other request of the same size shows that the batches are alike. */
static bool ignores_batch(const struct finder *finder, uint32_t item)
{
    enum category category =
        (enum category)finder->categories->of_lifetime[births_from(finder->timeline, item)];
    return category == CATEGORY_WORKSPACE || category == CATEGORY_CAST_CACHE;
}

/* How many times as large as the batch of the earlier step that of this step is; 1 if they are
 * alike. */
static double times(double now, double like)
{
    double times = like > 0 ? now / like : 1;
    return times > 1 + LEAST_OTHER || (times > 0 && times < 1 - LEAST_OTHER) ? times : 1;
}

/* Finds the request in the step `like`, up to the end of its backward pass. If it was made there in
 * another size only, the batches differ: *any_size. False if it was not made. */
static bool find_request(const struct finder *finder, const struct oom_row *row,
                         const struct step *now, const struct step *like, uint32_t end,
                         bool *any_size, uint32_t *item)
{
    struct wanted wanted = {.row = row};
    for (int i = 0; i < 2; i++) {
        *any_size = wanted.any_size = i == 1;
        size_t number =
            1 + count_requests(finder, &wanted, now->first, (uint32_t)row->item, SIZE_MAX, item);
        if (count_requests(finder, &wanted, like->first, end, number, item) == number)
            return true;
    }
    return false;
}

/* How many times as large as in the earlier step what the pass keeps is; 0: not known. */
static double scale_of(const struct finder *finder, const struct step *now, uint32_t now_item,
                       const struct step *like, uint32_t item, bool any_size)
{
    double held = held_by(finder, now, now_item), held_then = held_by(finder, like, item);
    if (any_size)
        return held_then > 0 && held <= held_then * MOST_TIMES ? held / held_then : 0;
    return ignores_batch(finder, item) ? times(held, held_then) : 1;
}

/* What has the same size whatever the batch. */
static bool is_constant(enum category category)
{
    return category == CATEGORY_GRADIENT || category == CATEGORY_WORKSPACE ||
           category == CATEGORY_CAST_CACHE;
}

/* The first item from `from` on that makes a gradient of a weight; `end` if there is none. */
static uint32_t first_gradient(const struct finder *finder, uint32_t from, uint32_t end)
{
    const struct timeline *timeline = finder->timeline;
    size_t i = births_from(timeline, from);
    while (i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end &&
           finder->categories->of_lifetime[i] != CATEGORY_GRADIENT)
        i++;
    bool any = i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end;
    return any ? timeline->lifetimes[i].alloc : end;
}

/* How much memory rises from the request to [begin, end) if the batch is `scale` times as large:
 * the gradients of the weights, which the backward pass makes one after the other, stay as they
 * are. They may move the peak to the beginning of the pass. */
static int64_t scaled_rise(const struct finder *finder, uint32_t item, uint32_t begin, uint32_t end,
                           double scale)
{
    uint32_t at = begin;
    double whole = (double)oom_rise_to(finder->timeline, item, begin, end, &at);
    double constant = oom_held(finder->timeline, finder->categories, item, at + 1, is_constant);
    double late = scale * (whole - constant) + constant;
    double early =
        scale * (double)oom_rise(finder->timeline, item, begin, first_gradient(finder, begin, end));
    return (int64_t)(late > early ? late : early);
}

static void find(const struct finder *finder, struct oom_row *row)
{
    const struct steps *steps = finder->steps;
    size_t step = steps_of(steps, (uint32_t)row->item);
    if (row->stack == STACK_NONE || step == NO_STEP || step == 0 ||
        !steps->items[step - 1].complete)
        return;
    const struct step *now = &steps->items[step], *like = &steps->items[step - 1];
    uint32_t now_item = (uint32_t)row->item, item = 0;
    struct backward backward = backward_of(finder, like);
    bool any_size = false;
    if (!find_request(finder, row, now, like, backward.end, &any_size, &item))
        return;
    double scale = scale_of(finder, now, now_item, like, item, any_size);
    if (scale == 0)
        return;
    int64_t more = gradients_at(finder, now_item) - gradients_at(finder, item);
    uint32_t begin = item > backward.begin ? item : backward.begin;
    int64_t forward = scaled_rise(finder, item, item, begin, scale);
    int64_t again = set_again(finder, item, backward.begin, now_item) -
                    was_set_again(finder, like->first, item, backward.begin);
    int64_t rest = scaled_rise(finder, item, begin, backward.end, scale) - (more > 0 ? more : 0) -
                   (again > 0 ? again : 0);
    row->step_bytes = row->at.active_bytes + (forward > rest ? forward : rest);
    row->like_step = like->number;
    row->like_times = scale;
}

/* True for the forward pass of a program that trains. */
static bool is_in_forward(const struct finder *finder, const struct oom_row *row)
{
    uint32_t run = phases_run_of(finder->phases, (uint32_t)row->item);
    return run < finder->phases->count && finder->phases->runs[run].phase == PHASE_FORWARD &&
           phases_have(finder->phases, PHASE_BACKWARD);
}

void oom_rest_add(struct ooms *ooms, const struct timeline *timeline, const struct phases *phases,
                  const struct steps *steps, const struct categories *categories)
{
    const struct finder finder = {timeline, phases, steps, categories};
    for (size_t i = 0; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        find(&finder, row);
        row->rest_is_unknown = row->step_bytes == 0 && is_in_forward(&finder, row);
    }
}
