#include "analysis/phase/recorded.h"

#include "analysis/phase/births.h"

#define MOST_FREED 4 /* times what a recorded pass frees, at least, is what it leaves alone */

/* Bytes by what a backward run does to allocations that were made before it. */
struct pass_sums {
    double freed;
    double left; /* the change from the run before it, until all are added up */
};

static void count_updates(struct phases *phases)
{
    uint32_t updates = 0;
    for (size_t run = 0; run < phases->count; run++) {
        phases->runs[run].updates = updates;
        phases->runs[run].is_saved = false;
        updates += phases->runs[run].phase == PHASE_OPTIMIZER &&
                   phases->runs[run].evidence < PHASE_BY_LIFETIMES;
    }
}

/* True if a backward run frees it at `item` after use: once autograd has made something for a node.
 * What autograd's thread frees before that belongs to a pass that is over: the thread holds the
 * last graph until it gets the next one. The first allocation is the gradient of the loss itself.
 */
static bool is_used(const struct phases *phases, const struct timeline *timeline, uint32_t run,
                    uint32_t item)
{
    size_t second = births_from(timeline, phases->runs[run].first) + 1;
    return second < timeline->lifetime_count && timeline->lifetimes[second].alloc < item;
}

static void sum_lifetimes(struct phases *phases, const struct timeline *timeline,
                          struct pass_sums *sums)
{
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t born = phases_run_of(phases, lifetime->alloc);
        uint32_t end = phases_run_of(phases, lifetime_end(lifetime));
        if (end == NO_RUN || end <= born || phases->runs[end].phase != PHASE_BACKWARD ||
            phases->runs[end].updates != phases->runs[born].updates ||
            !is_used(phases, timeline, end, lifetime_end(lifetime)))
            continue;
        double size = (double)trace_size(timeline->trace, lifetime->alloc);
        phases->runs[born].is_saved = true;
        sums[end].freed += size;
        sums[born + 1].left += size;
        sums[end].left -= size;
    }
}

bool phases_mark_recorded(struct phases *phases, const struct timeline *timeline, struct error *err)
{
    struct pass_sums *sums = NULL;
    size_t capacity = 0;
    if (!vec_reserve(sums, capacity, phases->count + 1, phases->budget, err))
        return false;
    for (size_t run = 0; run <= phases->count; run++)
        sums[run] = (struct pass_sums){0};
    count_updates(phases);
    sum_lifetimes(phases, timeline, sums);
    double left = 0;
    for (size_t run = 0; run < phases->count; run++) {
        left += sums[run].left;
        phases->runs[run].is_recorded =
            phases->runs[run].phase == PHASE_BACKWARD && left > MOST_FREED * sums[run].freed;
    }
    vec_free(sums, capacity, sizeof(*sums), phases->budget);
    return true;
}
