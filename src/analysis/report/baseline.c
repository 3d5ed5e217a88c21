#include "analysis/report/baseline.h"

#include <stdlib.h>

#define REASON_BYTES 256

static int compare_rows(const void *a, const void *b)
{
    const struct baseline_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->category != y->category)
        return x->category < y->category ? -1 : 1;
    return (x->reason > y->reason) - (x->reason < y->reason);
}

bool baseline_rows_make(const struct timeline *timeline, const struct categories *categories,
                        struct baseline_row **rows, size_t *count, struct error *err)
{
    size_t cells = (size_t)CATEGORY_LIMIT * REASON_BYTES, used = 0;
    struct baseline_row *made = calloc(cells, sizeof(*made));
    if (!made)
        return error_set(err, STATUS_LIMIT, "out of memory (%zu bytes)", cells * sizeof(*made));
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        uint8_t category = categories->of_preexisting[i], reason = categories->why_preexisting[i];
        if (!timeline->preexisting[i].in_active)
            continue;
        struct baseline_row *row = &made[(size_t)category * REASON_BYTES + reason];
        row->category = category;
        row->reason = reason;
        row->bytes += (int64_t)timeline->preexisting[i].size;
        row->count++;
    }
    int64_t unexplained = timeline->trace->edge.active_offset;
    for (size_t i = 0; i < cells; i++)
        if (made[i].count > 0)
            made[used++] = made[i];
    if (unexplained != 0) /* there is room: no allocation has this category */
        made[used++] = (struct baseline_row){.category = CATEGORY_COUNT, .bytes = unexplained};
    if (used > 0)
        qsort(made, used, sizeof(*made), compare_rows);
    *rows = made;
    *count = used;
    return true;
}
