#include "analysis/live_sums.h"

#include <stdlib.h>

#include "analysis/paths.h"

/* What one allocation adds to its line of code. */
struct part {
    frame_id frame;
    int64_t bytes;
    size_t live; /* item of the set */
};

bool live_is_activation(const struct live_set *set, const struct phases *phases,
                        const struct live *live, const struct live_source *source)
{
    (void)phases, (void)source;
    return live_category(set, live) == CATEGORY_ACTIVATION;
}

bool live_is_cast(const struct live_set *set, const struct phases *phases, const struct live *live,
                  const struct live_source *source)
{
    struct text op = symbols_text(site_table_symbols(set->sites), source->site.op);
    return live_is_activation(set, phases, live, source) && text_equals(op, "aten::_to_copy");
}

bool live_is_optimizer_temporary(const struct live_set *set, const struct phases *phases,
                                 const struct live *live, const struct live_source *source)
{
    (void)source;
    if (!live->in_trace || live_category(set, live) != CATEGORY_TEMPORARY)
        return false;
    uint32_t run = phases_run_of(phases, set->timeline->lifetimes[live->index].alloc);
    return run != NO_RUN && phases->runs[run].phase == PHASE_OPTIMIZER;
}

/* By frame, the largest first among equals. */
static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->live > y->live) - (x->live < y->live);
}

static bool label_top(const struct live_set *set, struct part *parts, size_t count,
                      struct live_sum *sum, struct error *err)
{
    size_t top = count;
    qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 0, end; i < count; i = end) {
        int64_t bytes = 0;
        for (end = i; end < count && parts[end].frame == parts[i].frame; end++)
            bytes += parts[end].bytes;
        if (bytes > sum->top_bytes) {
            sum->top_bytes = bytes;
            top = i;
        }
    }
    struct live_source source;
    if (top == count)
        return true;
    if (!live_source_of(set, &set->items[parts[top].live], &source, err))
        return false;
    live_source_label(set, &source, NULL, true, &sum->top_label);
    return !sum->top_label.failed || error_set(err, STATUS_LIMIT, "out of memory");
}

bool live_sum(const struct live_set *set, const struct phases *phases, live_test *counts,
              struct live_sum *sum, struct error *err)
{
    struct live_sum made = {0};
    size_t used = 0;
    struct part *parts = calloc(set->count + 1, sizeof(*parts));
    bool ok = parts || error_set(err, STATUS_LIMIT, "out of memory while summing up");
    for (size_t i = 0; ok && i < set->count; i++) {
        struct live_source source;
        ok = live_source_of(set, &set->items[i], &source, err);
        if (!ok || !counts(set, phases, &set->items[i], &source))
            continue;
        int64_t bytes = (int64_t)set->items[i].size;
        made.bytes += bytes;
        made.count++;
        frame_id frame;
        if (site_frame(set->sites, source.shown, &source.site, &frame))
            parts[used++] = (struct part){frame, bytes, i};
    }
    ok = ok && (used == 0 || label_top(set, parts, used, &made, err));
    free(parts);
    if (!ok) {
        live_sum_release(&made);
        return false;
    }
    *sum = made;
    return true;
}

void live_sum_release(struct live_sum *sum)
{
    buffer_release(&sum->top_label);
    *sum = (struct live_sum){0};
}
