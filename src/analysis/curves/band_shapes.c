#include <math.h>
#include <stdlib.h>

#include "analysis/curves/bands.h"

/* Stacks the bands and notes their runs; returns how many there are, or
 * `most` + 1 for more. `tops` is zero for every column. Heights are doubles: a trace that
 * contradicts itself may stack more than 64 bits. */
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
        error_set(err, STATUS_LIMIT, "out of memory");
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
