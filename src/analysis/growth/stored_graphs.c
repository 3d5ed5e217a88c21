#include "analysis/growth/stored_graphs.h"

#include <string.h>

#include "analysis/growth/dropped_last.h"
#include "analysis/phase/births.h"
#include "base/budget.h"

#define LEAST_TENSORS 8 /* of a graph */
#define LEAST_STACKS  4 /* different stacks that made them */
/* At least one of so many stacks of activations of the forward pass. */
#define FEWEST_STAY 4

/* Flags of a stack: it makes activations in this pass, some of which stay; and others that it made,
 * at any time, outlived their run and were freed later. */
enum fate { FATE_MADE = 1, FATE_STAYS = 2, FATE_FREED = 4 };

/* The activations of one forward pass that no backward pass freed. */
struct pass_sums {
    size_t tensors, stacks_made, stacks_staying; /* tensors: that stay */
};

struct finder {
    const struct timeline *timeline;
    const struct categories *categories;
    const struct phases *phases;
    const struct failures *failures;
    const uint8_t *is_untouched;
    const uint32_t *next_run;
    uint8_t *fates; /* by stack */
    size_t capacity;
};

static stack_id stack_of(const struct finder *finder, size_t index)
{
    return finder->timeline->trace->stack[finder->timeline->lifetimes[index].alloc];
}

/* True if a request failed before the backward pass that follows was over, or before the end of the
 * trace if none follows. */
static bool fails_before_backward(const struct finder *finder, size_t index)
{
    uint32_t backward = finder->next_run[finder->phases->of_lifetime[index].birth];
    return failures_between(finder->failures, finder->timeline->lifetimes[index].alloc,
                            backward == NO_RUN ? EVENT_NEVER
                                               : phases_run_end(finder->phases, backward,
                                                                finder->timeline->trace->count));
}

static bool stays(const struct finder *finder, size_t index)
{
    const struct lifetime *lifetime = &finder->timeline->lifetimes[index];
    return finder->is_untouched[index] && lifetime_end(lifetime) == EVENT_NEVER &&
           !(finder->fates[stack_of(finder, index)] & FATE_FREED) &&
           dropped_last_may_hold(finder->categories, index) &&
           !fails_before_backward(finder, index);
}

static bool is_freed_by_backward(const struct finder *finder, size_t index)
{
    uint32_t end = finder->phases->of_lifetime[index].end;
    return end != NO_RUN && finder->phases->runs[end].phase == PHASE_BACKWARD;
}

static void add(struct finder *finder, struct pass_sums *sums, size_t index)
{
    uint8_t *fate = &finder->fates[stack_of(finder, index)];
    enum category category = (enum category)finder->categories->of_lifetime[index];
    bool is_result = stays(finder, index);
    if ((category != CATEGORY_ACTIVATION && category != CATEGORY_TEMPORARY && !is_result) ||
        is_freed_by_backward(finder, index))
        return;
    sums->stacks_made += !(*fate & FATE_MADE);
    sums->stacks_staying += is_result && !(*fate & FATE_STAYS);
    sums->tensors += is_result;
    *fate |= FATE_MADE | (is_result ? FATE_STAYS : 0);
}

/* The forward run in which a lifetime was made, or after which the code that made it ran, as that
 * of a loss; else the run itself. */
static uint32_t pass_of(const struct finder *finder, size_t index)
{
    const struct phase_run *runs = finder->phases->runs;
    uint32_t run = finder->phases->of_lifetime[index].birth;
    bool is_after =
        run > 0 && runs[run].phase == PHASE_OTHER && runs[run - 1].phase == PHASE_FORWARD;
    return is_after ? run - 1 : run;
}

/* Flags the tensors of the lifetimes [from, to), which one pass made, if a graph keeps them. */
static bool mark_pass(struct finder *finder, size_t from, size_t to, uint8_t *is_dropped,
                      uint8_t *is_early)
{
    struct pass_sums sums = {0};
    for (size_t i = from; i < to; i++)
        add(finder, &sums, i);
    for (size_t i = from; i < to; i++)
        finder->fates[stack_of(finder, i)] &= FATE_FREED;
    if (sums.tensors < LEAST_TENSORS || sums.stacks_staying < LEAST_STACKS ||
        sums.stacks_staying < sums.stacks_made / FEWEST_STAY)
        return false;
    for (size_t i = from; i < to; i++)
        if (stays(finder, i))
            is_dropped[i] = is_early[i] = true;
    return true;
}

static void note_freed(struct finder *finder)
{
    for (size_t n = 0; n < finder->phases->outliving_count; n++) {
        size_t i = finder->phases->outliving[n];
        if (lifetime_end(&finder->timeline->lifetimes[i]) != EVENT_NEVER)
            finder->fates[stack_of(finder, i)] |= FATE_FREED;
    }
}

bool stored_graphs_mark(uint8_t *is_dropped, uint8_t *is_early, bool *any,
                        const uint8_t *is_untouched, const uint32_t *next_run,
                        const struct timeline *timeline, const struct categories *categories,
                        const struct phases *phases, const struct failures *failures,
                        struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct finder finder = {.timeline = timeline,
                            .categories = categories,
                            .phases = phases,
                            .failures = failures,
                            .is_untouched = is_untouched,
                            .next_run = next_run};
    size_t stacks = symbols_stack_count(timeline->snapshot->symbols) + 1;
    if (!vec_reserve(finder.fates, finder.capacity, stacks, budget, err))
        return false;
    memset(finder.fates, 0, stacks);
    note_freed(&finder);
    for (size_t i = 0, next; i < timeline->lifetime_count; i = next) {
        uint32_t pass = pass_of(&finder, i);
        bool any_stays = false;
        for (next = i; next < timeline->lifetime_count && pass_of(&finder, next) == pass;)
            any_stays |= stays(&finder, next++);
        if (any_stays && phases->runs[pass].phase == PHASE_FORWARD)
            *any |= mark_pass(&finder, i, next, is_dropped, is_early);
    }
    vec_free(finder.fates, finder.capacity, sizeof(*finder.fates), budget);
    return true;
}
