#include "analysis/oom/pass.h"

#include "analysis/oom/earlier.h"
#include "analysis/phase/births.h"
#include "model/allocator_rules.h"
#include "model/sums.h"

#define LEAST_KEPT  16  /* tensors that a pass keeps, with autograd or in a cache */
#define MOST_TIMES  8   /* passes that differ by more say little about each other */
#define LIKE_ENOUGH 1.3 /* what two passes hold may differ by so much from their requests */

struct finder {
    const struct timeline *timeline;
    const struct steps *steps;
    const struct categories *categories;
    const struct ooms *ooms;
};

/* The earlier pass that is most like the one that failed. */
struct like {
    size_t step;
    uint32_t item;
    double times; /* the size of the failed request, divided by that of this one */
};

/* How often a step had made requests of the stack before `end`. */
static size_t count_requests(const struct timeline *timeline, stack_id stack, uint32_t first,
                             uint32_t end)
{
    size_t count = 0;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++)
        count += timeline->trace->stack[timeline->lifetimes[i].alloc] == stack;
    return count;
}

static double distance(double times)
{
    return times > 1 ? times : 1 / times;
}

/* True for a step that shows all that it needs: no request failed in it. */
static bool is_whole(const struct finder *finder, const struct step *step)
{
    const struct ooms *ooms = finder->ooms;
    for (size_t i = 0; i < ooms->count; i++)
        if (ooms->items[i].item >= (int64_t)step->first &&
            ooms->items[i].item <= (int64_t)step->last)
            return false;
    return step->complete;
}

/* Finds, among the steps before `now`, the request number `number` that is closest in size. */
static struct like find_like(const struct finder *finder, size_t now, size_t number,
                             const struct oom_row *row)
{
    const struct timeline *timeline = finder->timeline;
    const struct steps *steps = finder->steps;
    struct like like = {.step = NO_STEP};
    size_t step = 0, count = 0;
    for (size_t i = births_from(timeline, steps->items[0].first); i < timeline->lifetime_count;
         i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        if (item >= steps->items[now].first)
            break;
        for (; item > steps->items[step].last; step++)
            count = 0;
        if (timeline->trace->stack[item] != row->stack || item < steps->items[step].first ||
            ++count != number || !is_whole(finder, &steps->items[step]))
            continue;
        uint64_t block =
            allocator_round(&timeline->snapshot->rules, trace_size(timeline->trace, item));
        double times = block > 0 ? (double)row->requested_bytes / (double)block : 0;
        if (times > 0 && (like.step == NO_STEP || distance(times) <= distance(like.times)))
            like = (struct like){step, item, times};
    }
    return like;
}

static bool depends_on_batch(enum category category)
{
    return category != CATEGORY_PARAMETER && category != CATEGORY_WORKSPACE &&
           category != CATEGORY_CAST_CACHE;
}

/* What a step has made and still holds before `item`, and what depends on its batch. */
static double held_by(const struct finder *finder, const struct step *step, uint32_t item)
{
    return oom_held(finder->timeline, finder->categories, step->first, item, depends_on_batch);
}

static void find(const struct finder *finder, struct oom_row *row)
{
    const struct timeline *timeline = finder->timeline;
    const struct steps *steps = finder->steps;
    uint32_t item = (uint32_t)row->item;
    size_t now = steps_of(steps, item);
    if (row->stack == STACK_NONE || now == NO_STEP || now == 0)
        return;
    const struct step *step = &steps->items[now];
    size_t number = 1 + count_requests(timeline, row->stack, step->first, item);
    struct like like = find_like(finder, now, number, row);
    if (like.step == NO_STEP || distance(like.times) > MOST_TIMES)
        return;
    const struct step *earlier = &steps->items[like.step];
    double held = held_by(finder, step, item);
    double expected = like.times * held_by(finder, earlier, like.item);
    if (held > LIKE_ENOUGH * expected || expected > LIKE_ENOUGH * held)
        return;
    double rest = like.times * (double)oom_rise(timeline, like.item, like.item, earlier->last + 1);
    if (rest + (double)row->at.active_bytes >= (double)LARGEST_SUM)
        return;
    row->step_bytes = row->at.active_bytes + (int64_t)rest;
    row->like_step = earlier->number;
    row->like_times = like.times;
}

/* The forward pass that made the request, which for logits may be the one before: the loss that is
 * computed from them may be outside the model. */
static uint32_t pass_of(const struct phases *phases, const struct oom_row *row)
{
    uint32_t run = phases_run_of(phases, (uint32_t)row->item);
    if (row->of_logits && run > 0 && run < phases->count && phases->runs[run].phase == PHASE_OTHER)
        run--;
    return run < phases->count && phases->runs[run].phase == PHASE_FORWARD ? run : NO_RUN;
}

/* True if the request is of a forward pass that has kept a result in layer after layer. Those that
 * follow will do so, too. */
static bool keeps_more(const struct finder *finder, const struct phases *phases,
                       const struct oom_row *row)
{
    const struct timeline *timeline = finder->timeline;
    uint32_t item = (uint32_t)row->item, run = pass_of(phases, row);
    size_t kept = 0;
    if (run == NO_RUN)
        return false;
    for (size_t i = births_from(timeline, phases->runs[run].first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < item; i++)
        kept += timeline->lifetimes[i].free_completed > item &&
                depends_on_batch((enum category)finder->categories->of_lifetime[i]);
    return kept >= LEAST_KEPT;
}

void oom_pass_add(struct ooms *ooms, const struct timeline *timeline, const struct phases *phases,
                  const struct steps *steps, const struct categories *categories)
{
    const struct finder finder = {timeline, steps, categories, ooms};
    for (size_t i = 0; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        if (row->step_bytes == 0 && row->attempt_bytes == 0 && steps->source == STEPS_FORWARD)
            find(&finder, row);
        row->rest_is_unknown |=
            row->step_bytes == 0 && row->attempt_bytes == 0 && keeps_more(&finder, phases, row);
    }
}
