#include "analysis/phase/recorded.h"

#include "analysis/phase/births.h"

/* Bytes that a recorded pass does not free, as a multiple of those that it frees. */
#define MOST_FREED 4

/* The bytes of earlier allocations, by what a backward run does to them. */
struct pass_sums {
    double freed;
    double left;   /* while sums are made: the difference to the run before */
    double kept;   /* by number of the pass instead of the run: see sum_kept() */
    uint32_t used; /* the item of its second allocation; EVENT_NEVER if there is none */
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

/* The item from which on the frees of a backward run show use: from its second allocation, when
 * autograd has made something for a node. The first allocation is the gradient of the loss. What
 * autograd's thread frees earlier belongs to an earlier pass, because the thread holds the last
 * graph until it gets the next one. */
static uint32_t used_from(const struct phases *phases, const struct timeline *timeline, size_t run)
{
    if (phases->runs[run].phase != PHASE_BACKWARD)
        return EVENT_NEVER;
    size_t second = births_from(timeline, phases->runs[run].first) + 1;
    return second < timeline->lifetime_count ? timeline->lifetimes[second].alloc : EVENT_NEVER;
}

static void sum_lifetimes(struct phases *phases, const struct timeline *timeline,
                          struct pass_sums *sums)
{
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        uint32_t born = phases->of_lifetime[i].birth, end = phases->of_lifetime[i].end;
        if (end == NO_RUN || phases->runs[end].phase != PHASE_BACKWARD ||
            phases->runs[end].updates != phases->runs[born].updates ||
            lifetime_end(&timeline->lifetimes[i]) <= sums[end].used)
            continue;
        double size = (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        phases->runs[born].is_saved = true;
        sums[end].freed += size;
        sums[born + 1].left += size;
        sums[end].left -= size;
    }
}

/* Sets `kept` of every pass, by its number: what its forward runs made and no backward run frees,
 * less what backward runs free, with the weight that the comparison gives it. */
static void sum_kept(const struct phases *phases, const struct timeline *timeline,
                     struct pass_sums *sums)
{
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        uint32_t born = phases->of_lifetime[i].birth, end = phases->of_lifetime[i].end;
        if (phases->runs[born].phase != PHASE_FORWARD)
            continue;
        double size = (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        uint32_t pass = phases->runs[born].pass;
        if (end == NO_RUN || phases->runs[end].phase != PHASE_BACKWARD)
            sums[pass].kept += phases->runs[born].evidence < PHASE_BY_LIFETIMES ? size : 0;
        else
            sums[pass].kept -= MOST_FREED * size;
    }
}

bool phases_mark_recorded(struct phases *phases, const struct timeline *timeline, struct error *err)
{
    struct pass_sums *sums = NULL;
    size_t capacity = 0;
    if (!vec_reserve(sums, capacity, phases->count + 1, phases->budget, err))
        return false;
    for (size_t run = 0; run < phases->count; run++)
        sums[run] = (struct pass_sums){.used = used_from(phases, timeline, run)};
    sums[phases->count] = (struct pass_sums){0};
    count_updates(phases);
    sum_lifetimes(phases, timeline, sums);
    sum_kept(phases, timeline, sums);
    double left = 0;
    for (size_t run = 0; run < phases->count; run++) {
        left += sums[run].left;
        phases->runs[run].is_recorded =
            phases->runs[run].phase == PHASE_BACKWARD && left > MOST_FREED * sums[run].freed;
        phases->runs[run].keeps_graph =
            phases->runs[run].phase == PHASE_BACKWARD && sums[phases->runs[run].pass].kept > 0;
    }
    vec_free(sums, capacity, sizeof(*sums), phases->budget);
    return true;
}
