/* Orders of the table of ranks. */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>

#include "render/ranks/rows.h"

static int64_t figure(const struct rank_row *row, enum ranks_order order)
{
    switch (order) {
    case RANKS_BY_RESERVED:
        return row->device->reserved_peak_bytes;
    case RANKS_BY_UNUSED:
        return row->device->unused_bytes;
    case RANKS_BY_GROWTH:
        return row->device->growth_bytes;
    default:
        return row->device->peak_bytes;
    }
}

static int highest_first(const void *a, const void *b, void *order)
{
    const struct rank_row *x = *(const struct rank_row *const *)a;
    const struct rank_row *y = *(const struct rank_row *const *)b;
    int64_t p = figure(x, *(const enum ranks_order *)order);
    int64_t q = figure(y, *(const enum ranks_order *)order);
    if (p != q)
        return p > q ? -1 : 1;
    return (x > y) - (x < y); /* rows of one array */
}

const struct rank_row **ranks_sorted(const struct ranks *ranks, enum ranks_order order)
{
    const struct rank_row **rows = calloc(ranks->row_count + 1, sizeof(const struct rank_row *));
    for (size_t i = 0; rows && i < ranks->row_count; i++)
        rows[i] = &ranks->rows[i];
    if (rows && order > RANKS_BY_RANK)
        qsort_r(rows, ranks->row_count, sizeof(const struct rank_row *), highest_first, &order);
    return rows;
}

const char *ranks_order_title(enum ranks_order order, bool all)
{
    static const struct {
        const char *all, *some;
    } titles[] = {
        [RANKS_BY_DEFAULT] = {"Ranks", "Ranks"},
        [RANKS_BY_RANK] = {"Ranks", "The first ranks"},
        [RANKS_BY_PEAK] = {"Ranks, the highest peak first", "Ranks with the highest peaks"},
        [RANKS_BY_RESERVED] = {"Ranks, the most reserved memory first",
                               "Ranks with the most reserved memory"},
        [RANKS_BY_UNUSED] = {"Ranks, the most unused memory first",
                             "Ranks with the most unused memory"},
        [RANKS_BY_GROWTH] = {"Ranks, the largest growth first", "Ranks with the largest growth"},
    };
    return all ? titles[order].all : titles[order].some;
}
