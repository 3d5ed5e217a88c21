#include "analysis/curves/bands.h"

#include <math.h>
#include <stdlib.h>

#define ENOUGH 0.98 /* of the area */

struct candidate {
    double area;
    struct band band;
};

/* The `most` candidates of the largest area: a heap whose root is the smallest of them. */
struct choice {
    struct candidate *heap;
    size_t count, most;
    double total_area;
    size_t seen;
};

/* Orders candidates by area. Of two with the same area the older one is larger, which makes the
 * choice unique. */
static bool smaller(const struct candidate *a, const struct candidate *b)
{
    if (a->area != b->area)
        return a->area < b->area;
    if (a->band.in_trace != b->band.in_trace)
        return a->band.in_trace;
    return a->band.index > b->band.index;
}

static void swap(struct candidate *a, struct candidate *b)
{
    struct candidate c = *a;
    *a = *b;
    *b = c;
}

static void sift_up(struct choice *choice, size_t at)
{
    for (size_t parent; at > 0 && (parent = (at - 1) / 2, true) &&
                        smaller(&choice->heap[at], &choice->heap[parent]);
         at = parent)
        swap(&choice->heap[at], &choice->heap[parent]);
}

static void sift_down(struct choice *choice)
{
    size_t at = 0;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < choice->count; child++)
            if (smaller(&choice->heap[child], &choice->heap[least]))
                least = child;
        if (least == at)
            return;
        swap(&choice->heap[at], &choice->heap[least]);
        at = least;
    }
}

static void offer(struct choice *choice, const struct band *band)
{
    if (band->begin >= band->end || band->size == 0)
        return;
    struct candidate candidate = {(double)band->size * (double)(band->end - band->begin), *band};
    choice->total_area += candidate.area;
    choice->seen++;
    if (choice->count < choice->most) {
        choice->heap[choice->count] = candidate;
        sift_up(choice, choice->count++);
    } else if (smaller(&choice->heap[0], &candidate)) {
        choice->heap[0] = candidate;
        sift_down(choice);
    }
}

static void offer_all(struct choice *choice, const struct timeline *timeline,
                      const struct sampling *sampling)
{
    const struct trace *trace = timeline->trace;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        if (preexisting->in_active)
            offer(choice,
                  &(struct band){false, (uint32_t)i, (uint32_t)sampling->unknown,
                                 (uint32_t)sampling_column(sampling, preexisting->free_completed),
                                 preexisting->size, preexisting->stack});
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        offer(choice, &(struct band){
                          true, (uint32_t)i, (uint32_t)sampling_column(sampling, lifetime->alloc),
                          (uint32_t)sampling_column(sampling, lifetime->free_completed),
                          trace_size(trace, lifetime->alloc), trace->stack[lifetime->alloc]});
    }
}

static int by_area(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return smaller(x, y) ? 1 : smaller(y, x) ? -1 : 0;
}

static int by_place(const void *a, const void *b)
{
    const struct band *x = a, *y = b;
    if (x->in_trace != y->in_trace)
        return x->in_trace ? 1 : -1;
    if (!x->in_trace && x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void take(struct bands *bands, struct choice *choice, size_t usual)
{
    if (choice->count > 0)
        qsort(choice->heap, choice->count, sizeof(choice->heap[0]), by_area);
    for (size_t i = 0; i < choice->count; i++) {
        if (i >= usual && bands->area >= ENOUGH * choice->total_area)
            break;
        bands->items[bands->count++] = choice->heap[i].band;
        bands->area += choice->heap[i].area;
    }
    bands->total_area = choice->total_area;
    bands->left_out = choice->seen - bands->count;
    if (bands->count > 0)
        qsort(bands->items, bands->count, sizeof(bands->items[0]), by_place);
}

bool bands_choose(struct bands *bands, const struct timeline *timeline,
                  const struct sampling *sampling, size_t wanted, struct error *err)
{
    size_t most = wanted == 0 ? BANDS_ENOUGH : wanted < BANDS_MOST ? wanted : BANDS_MOST;
    struct choice choice = {.heap = calloc(most, sizeof(*choice.heap)), .most = most};
    struct bands made = {.items = calloc(most, sizeof(*made.items))};
    bool ok = choice.heap && made.items;
    if (ok) {
        offer_all(&choice, timeline, sampling);
        take(&made, &choice, wanted > 0 ? most : BANDS_USUAL);
        *bands = made;
    } else {
        free(made.items);
        error_out_of_memory(err);
    }
    free(choice.heap);
    return ok;
}

void bands_release(struct bands *bands)
{
    free(bands->items);
    *bands = (struct bands){0};
}

/* Stacks the bands and stores their runs; returns the number of runs, or `most` + 1 if there are
 * more. `tops` has a zero for every column. Heights are doubles, since a contradictory trace may
 * stack up more than 64 bits. */
static size_t stack_up(const struct bands *bands, double *tops, double tolerance, size_t most,
                       struct band_run *runs, size_t *first)
{
    size_t count = 0;
    for (size_t b = 0; b < bands->count; b++) {
        const struct band *band = &bands->items[b];
        double last = 0;
        first[b] = count;
        for (uint32_t c = band->begin; c < band->end; c++) {
            if (c == band->begin || fabs(tops[c] - last) > tolerance) {
                if (count == most)
                    return most + 1;
                last = tops[c];
                runs[count++] = (struct band_run){c, last};
            }
            tops[c] += (double)band->size;
        }
    }
    first[bands->count] = count;
    return count;
}

bool band_shapes_make(struct band_shapes *shapes, const struct bands *bands,
                      const struct sampling *sampling, double tolerance, size_t most, bool *fits,
                      struct error *err)
{
    struct band_shapes made = {.first = calloc(bands->count + 1, sizeof(*made.first)),
                               .runs = calloc(most + 1, sizeof(*made.runs))};
    double *tops = calloc(sampling->count, sizeof(*tops));
    bool ok = made.first && made.runs && tops;
    if (!ok)
        error_out_of_memory(err);
    else
        made.run_count = stack_up(bands, tops, tolerance, most, made.runs, made.first);
    free(tops);
    if (ok)
        *fits = made.run_count <= most;
    if (!ok || !*fits) {
        band_shapes_release(&made);
        return ok;
    }
    *shapes = made;
    return true;
}

void band_shapes_release(struct band_shapes *shapes)
{
    free(shapes->runs);
    free(shapes->first);
    *shapes = (struct band_shapes){0};
}
