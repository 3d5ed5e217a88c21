#include "analysis/trend/trend.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const struct trend_point *x = *(const struct trend_point *const *)a;
    const struct trend_point *y = *(const struct trend_point *const *)b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

bool trend_judge_at(const struct trend *trend, size_t at, size_t most, struct trend_jump *jump,
                    struct error *err)
{
    struct trend_jump found = {.newest = &trend->points[at]};
    const struct trend_point **earlier = calloc(at + 1, sizeof(*earlier));
    if (!earlier)
        return error_out_of_memory(err);
    for (size_t i = at; i-- > 0 && (most == 0 || found.compared < most);)
        if (trend->points[i].is_known)
            earlier[found.compared++] = &trend->points[i];
    if (found.newest->is_known && found.compared >= TREND_RUNS_LEAST) {
        qsort(earlier, found.compared, sizeof(*earlier), by_value);
        found.usual = earlier[(found.compared - 1) / 2];
    }
    free(earlier);
    *jump = found;
    return true;
}

bool trend_judge(const struct trend *trend, size_t most, struct trend_jump *jump, struct error *err)
{
    if (trend->count > 0)
        return trend_judge_at(trend, trend->count - 1, most, jump, err);
    *jump = (struct trend_jump){0};
    return true;
}

static int64_t bytes_of(const struct trend_shares *shares, struct text name)
{
    size_t low = 0, high = shares->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = text_compare(shares->items[middle].name, name);
        if (order == 0)
            return shares->items[middle].bytes;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

size_t trend_grown(const struct trend_shares *before, const struct trend_shares *after,
                   struct trend_share *grown, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < after->count; i++) {
        struct trend_share share = after->items[i];
        if (__builtin_sub_overflow(share.bytes, bytes_of(before, share.name), &share.bytes) ||
            share.bytes <= 0)
            continue;
        size_t at = count;
        while (at > 0 && grown[at - 1].bytes < share.bytes)
            at--;
        if (at == most)
            continue;
        if (count < most)
            count++;
        memmove(&grown[at + 1], &grown[at], (count - at - 1) * sizeof(*grown));
        grown[at] = share;
    }
    return count;
}
