#include "analysis/findings/uneven_steps.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"

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

/* The sizes of all that a step allocates, ascending, or NULL. */
static uint64_t *sizes_in(const struct timeline *timeline, const struct step *step, size_t count)
{
    uint64_t *sizes = calloc(count + 1, sizeof(*sizes));
    size_t first = births_from(timeline, step->first);
    for (size_t i = 0; sizes && i < count; i++)
        sizes[i] = trace_size(timeline->trace, timeline->lifetimes[first + i].alloc);
    if (sizes)
        qsort(sizes, count, sizeof(*sizes), compare_64);
    return sizes;
}

/* Sets `bytes` to what a step allocates in blocks of sizes that the other one has none of. */
static bool bytes_of_new_sizes(const struct timeline *timeline, const struct step *step,
                               size_t count, const struct step *other, size_t other_count,
                               double *bytes, struct error *err)
{
    uint64_t *known = sizes_in(timeline, other, other_count);
    size_t first = births_from(timeline, step->first);
    if (!known)
        return error_out_of_memory(err);
    *bytes = 0;
    for (size_t i = first; i < first + count; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (!bsearch(&size, known, other_count, sizeof(size), compare_64))
            *bytes += (double)size;
    }
    free(known);
    return true;
}

static bool about_equal(size_t a, size_t b)
{
    size_t difference = a > b ? a - b : b - a;
    return difference <= (a < b ? a : b) / ABOUT;
}

/* A step with larger tensors allocates its surplus in sizes of its own. One that computes more of
 * the same, as while more layers are trained, does not. */
static bool compare(const struct timeline *timeline, const struct step *highest,
                    const struct step *usual, struct uneven_steps *uneven, struct error *err)
{
    struct made here = made_in(timeline, highest), there = made_in(timeline, usual);
    double times = there.bytes > 0 ? here.bytes / there.bytes : 0, new_bytes = 0;
    if (!bytes_of_new_sizes(timeline, highest, here.count, usual, there.count, &new_bytes, err))
        return false;
    *uneven = (struct uneven_steps){
        .found = about_equal(here.count, there.count) && new_bytes >= here.bytes - there.bytes &&
                 times * (double)there.count >= LEAST_TIMES * (double)here.count,
        .step = highest->number,
        .usual_step = usual->number,
        .usual_bytes = usual->peak_bytes,
        .times = times,
    };
    return true;
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
    bool ok = true;
    if (count >= LEAST_OTHERS) {
        qsort(others, count, sizeof(const struct step *), compare_peaks);
        ok = compare(timeline, &steps->items[at], others[count / 2], uneven, err);
    }
    free(others);
    return ok;
}
