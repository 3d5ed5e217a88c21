#include "analysis/report/uneven_steps.h"

#include <stdlib.h>

#include "analysis/phase/births.h"

#define LEAST_OTHERS 3 /* steps that the one with the peak is compared with */
#define ABOUT        4 /* numbers of allocations may differ by 1 in this many: workspaces vary */
#define LEAST_TIMES  1.15

static int compare_peaks(const void *a, const void *b)
{
    const struct step *const *x = a, *const *y = b;
    return ((*x)->peak_bytes > (*y)->peak_bytes) - ((*x)->peak_bytes < (*y)->peak_bytes);
}

struct made {
    size_t count;
    double bytes;
};

static struct made made_in(const struct timeline *timeline, const struct step *step)
{
    struct made made = {0};
    for (size_t i = births_from(timeline, step->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc <= step->last; i++) {
        made.bytes += (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        made.count++;
    }
    return made;
}

static bool about_equal(size_t a, size_t b)
{
    size_t difference = a > b ? a - b : b - a;
    return difference <= (a < b ? a : b) / ABOUT;
}

static void compare(const struct timeline *timeline, const struct step *highest,
                    const struct step *usual, struct uneven_steps *uneven)
{
    struct made here = made_in(timeline, highest), there = made_in(timeline, usual);
    double times = there.bytes > 0 ? here.bytes / there.bytes : 0;
    *uneven = (struct uneven_steps){
        .found = about_equal(here.count, there.count) &&
                 times * (double)there.count >= LEAST_TIMES * (double)here.count,
        .step = highest->number,
        .usual_step = usual->number,
        .usual_bytes = usual->peak_bytes,
        .times = times,
    };
}

bool uneven_steps_find(struct uneven_steps *uneven, const struct timeline *timeline,
                       const struct steps *steps, struct error *err)
{
    int64_t item = timeline->active.peak_event;
    size_t at = item < 0 ? NO_STEP : steps_of(steps, (uint32_t)item), count = 0;
    *uneven = (struct uneven_steps){0};
    if (at == NO_STEP || at == 0 || steps->count < LEAST_OTHERS + 2)
        return true;
    const struct step **others = calloc(steps->count, sizeof(const struct step *));
    if (!others)
        return error_out_of_memory(err);
    for (size_t i = 1; i < steps->count; i++)
        if (i != at && steps->items[i].complete)
            others[count++] = &steps->items[i];
    if (count >= LEAST_OTHERS) {
        qsort(others, count, sizeof(const struct step *), compare_peaks);
        compare(timeline, &steps->items[at], others[count / 2], uneven);
    }
    free(others);
    return true;
}
