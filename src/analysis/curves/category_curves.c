#include "analysis/curves/category_curves.h"

#include <stdlib.h>

/* Adds the changes at the first column and after the last; sum_up() makes sums of them. */
static void add_change(struct category_curves *curves, uint8_t category, uint64_t size,
                       size_t begin, size_t end)
{
    double *row = curves->bytes + category * curves->columns;
    if (begin >= end)
        return;
    row[begin] += (double)size;
    if (end < curves->columns)
        row[end] -= (double)size;
}

static void add_changes(struct category_curves *curves, const struct timeline *timeline,
                        const uint8_t *of_lifetime, const uint8_t *of_preexisting,
                        const struct sampling *sampling)
{
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        if (preexisting->in_active)
            add_change(curves, of_preexisting[i], preexisting->size, sampling->unknown,
                       sampling_column(sampling, preexisting->free_completed));
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        add_change(curves, of_lifetime[i], trace_size(timeline->trace, lifetime->alloc),
                   sampling_column(sampling, lifetime->alloc),
                   sampling_column(sampling, lifetime->free_completed));
    }
}

static void sum_up(struct category_curves *curves, const struct sampling *sampling)
{
    double *rest = curves->bytes + (size_t)CATEGORY_COUNT * curves->columns;
    for (size_t c = 0; c < curves->columns; c++)
        rest[c] = (double)sampling->active[c];
    for (size_t category = 0; category < CATEGORY_LIMIT; category++) {
        double *row = curves->bytes + category * curves->columns, sum = 0;
        if (category == CATEGORY_COUNT)
            continue;
        for (size_t c = 0; c < curves->columns; c++) {
            sum += row[c];
            row[c] = sum;
            rest[c] -= sum;
        }
    }
    for (size_t c = 0; c < curves->columns; c++)
        if (rest[c] < 0)
            rest[c] = 0;
}

bool category_curves_make(struct category_curves *curves, const struct timeline *timeline,
                          const struct categories *categories, const struct sampling *sampling,
                          struct error *err)
{
    return group_curves_make(curves, timeline, categories->of_lifetime, categories->of_preexisting,
                             sampling, err);
}

void group_curves_subtract(struct category_curves *curves, size_t group, uint64_t size,
                           size_t begin, size_t end)
{
    double *row = curves->bytes + group * curves->columns;
    for (size_t c = begin; c < end; c++)
        row[c] = row[c] > (double)size ? row[c] - (double)size : 0;
}

bool group_curves_make(struct category_curves *curves, const struct timeline *timeline,
                       const uint8_t *of_lifetime, const uint8_t *of_preexisting,
                       const struct sampling *sampling, struct error *err)
{
    struct category_curves made = {.columns = sampling->count};
    made.bytes = calloc(CATEGORY_LIMIT * made.columns, sizeof(*made.bytes));
    if (!made.bytes)
        return error_out_of_memory(err);
    add_changes(&made, timeline, of_lifetime, of_preexisting, sampling);
    sum_up(&made, sampling);
    *curves = made;
    return true;
}

void category_curves_release(struct category_curves *curves)
{
    free(curves->bytes);
    *curves = (struct category_curves){0};
}
