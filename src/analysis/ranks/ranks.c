#include "analysis/ranks/ranks.h"

#include <stdlib.h>

#include "analysis/ranks/internal.h"
#include "base/bisect.h"

#define HOST INT64_C(-1)

typedef int64_t rank_figure(const struct rank_row *row);

static int64_t rank_reserved(const struct rank_row *row)
{
    return row->device->reserved_peak_bytes;
}

/* `count` is at least 1. `values` is scratch for `count` items. */
static void spread_of(const struct ranks *ranks, const size_t *rows, size_t count,
                      rank_figure *figure, int64_t *values, struct rank_spread *spread)
{
    *spread = (struct rank_spread){.min_row = rows[0], .max_row = rows[0]};
    for (size_t i = 0; i < count; i++) {
        values[i] = figure(&ranks->rows[rows[i]]);
        if (values[i] < figure(&ranks->rows[spread->min_row]))
            spread->min_row = rows[i];
        if (values[i] > figure(&ranks->rows[spread->max_row]))
            spread->max_row = rows[i];
    }
    qsort(values, count, sizeof(*values), compare_signed);
    spread->min_bytes = values[0];
    spread->median_bytes = values[(count - 1) / 2];
    spread->max_bytes = values[count - 1];
}

static bool measure(struct ranks *ranks, struct error *err)
{
    int64_t *values = calloc(ranks->row_count + 1, sizeof(*values));
    size_t *all = calloc(ranks->row_count + 1, sizeof(*all));
    bool ok = values && all;
    for (size_t i = 0; ok && i < ranks->row_count; i++)
        all[i] = i;
    if (ok && ranks->row_count > 0) {
        spread_of(ranks, all, ranks->row_count, rank_peak, values, &ranks->peak);
        spread_of(ranks, all, ranks->row_count, rank_reserved, values, &ranks->reserved);
    }
    for (size_t i = 0; ok && i < ranks->group_count; i++) {
        struct rank_group *group = &ranks->groups[i];
        spread_of(ranks, group->rows, group->count, rank_peak, values, &group->peak);
        spread_of(ranks, group->rows, group->count, rank_reserved, values, &group->reserved);
    }
    free(values);
    free(all);
    return ok || error_out_of_memory(err);
}

static int in_order(const void *a, const void *b)
{
    const struct rank_row *x = a, *y = b;
    int order = summary_compare(x->summary, y->summary);
    if (order != 0)
        return order;
    if (x->device->device != y->device->device)
        return x->device->device < y->device->device ? -1 : 1;
    return (x->device->peak_bytes > y->device->peak_bytes) -
           (x->device->peak_bytes < y->device->peak_bytes);
}

/* Other devices of a process often have events but no memory. */
static bool is_empty(const struct summary_device *device)
{
    return device->peak_bytes == 0 && device->reserved_peak_bytes == 0;
}

static bool list_rows(struct ranks *ranks, struct summary *const *summaries, size_t count,
                      struct error *err)
{
    size_t all = 0, hosts = 0, empty = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < summaries[i]->device_count; d++, all++) {
            const struct summary_device *device = &summaries[i]->devices[d];
            hosts += device->device == HOST;
            empty += device->device != HOST && is_empty(device);
        }
    ranks->rows = calloc(all + 1, sizeof(*ranks->rows));
    if (!ranks->rows)
        return error_out_of_memory(err);
    bool leave_out = hosts + empty < all;
    ranks->host_rows = leave_out ? hosts : 0;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < summaries[i]->device_count; d++) {
            const struct summary_device *device = &summaries[i]->devices[d];
            if (!leave_out || (device->device != HOST && !is_empty(device)))
                ranks->rows[ranks->row_count++] = (struct rank_row){summaries[i], device, 0};
        }
    if (ranks->row_count > 0)
        qsort(ranks->rows, ranks->row_count, sizeof(*ranks->rows), in_order);
    return true;
}

bool ranks_make(struct ranks *ranks, struct summary *const *summaries, size_t count,
                struct error *err)
{
    struct ranks made = {0};
    struct site_keys keys = {0};
    bool ok = list_rows(&made, summaries, count, err) && site_keys_make(&keys, &made, err) &&
              ranks_group(&made, &keys, err) && measure(&made, err) &&
              ranks_find_outliers(&made, &keys, err);
    site_keys_release(&keys);
    if (ok)
        *ranks = made;
    else
        ranks_release(&made);
    return ok;
}

void ranks_release(struct ranks *ranks)
{
    free(ranks->rows);
    free(ranks->groups);
    free(ranks->outliers);
    free(ranks->members);
    *ranks = (struct ranks){0};
}
