#include "model/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

#define MEMBER(row_, kind_, key_, member_)                                                         \
    {                                                                                              \
        key_, SUMMARY_##kind_, offsetof(row_, member_), false                                      \
    }
#define NEW_MEMBER(row_, kind_, key_, member_)                                                     \
    {                                                                                              \
        key_, SUMMARY_##kind_, offsetof(row_, member_), true                                       \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, SUMMARY_INTEGER, 0, false                                                            \
    }

const struct summary_member summary_members[] = {
    MEMBER(struct summary, INTEGER, "rank", rank),
    MEMBER(struct summary, TEXT, "path", path),
    MEMBER(struct summary, TEXT, "encoding", encoding),
    MEMBER(struct summary, COUNT, "input_bytes", input_bytes),
    NEW_MEMBER(struct summary, TEXT, "rank_from", rank_from),
    END,
};

const struct summary_member summary_device_members[] = {
    MEMBER(struct summary_device, INTEGER, "device", device),
    MEMBER(struct summary_device, FLAG, "knows_peak", knows_peak),
    MEMBER(struct summary_device, COUNT, "events", events),
    MEMBER(struct summary_device, COUNT, "steps", steps),
    MEMBER(struct summary_device, COUNT, "ooms", ooms),
    MEMBER(struct summary_device, INTEGER, "start_bytes", start_bytes),
    MEMBER(struct summary_device, INTEGER, "peak_bytes", peak_bytes),
    MEMBER(struct summary_device, INTEGER, "end_bytes", end_bytes),
    MEMBER(struct summary_device, INTEGER, "allocated_peak_bytes", allocated_peak_bytes),
    MEMBER(struct summary_device, INTEGER, "reserved_peak_bytes", reserved_peak_bytes),
    MEMBER(struct summary_device, INTEGER, "reserved_at_peak_bytes", reserved_at_peak_bytes),
    MEMBER(struct summary_device, INTEGER, "unused_bytes", unused_bytes),
    MEMBER(struct summary_device, INTEGER, "growth_bytes", growth_bytes),
    MEMBER(struct summary_device, INTEGER, "peak_event", peak_event),
    MEMBER(struct summary_device, INTEGER, "peak_us", peak_us),
    MEMBER(struct summary_device, INTEGER, "duration_us", duration_us),
    MEMBER(struct summary_device, TEXT, "phase", phase),
    MEMBER(struct summary_device, TEXT, "oom", oom),
    MEMBER(struct summary_device, FLAG, "by_time", curve.by_time),
    NEW_MEMBER(struct summary_device, TEXT, "steps_from", steps_from),
    END,
};

const struct summary_member summary_category_members[] = {
    MEMBER(struct summary_category, TEXT, "name", name),
    MEMBER(struct summary_category, INTEGER, "bytes", bytes),
    MEMBER(struct summary_category, COUNT, "count", count),
    END,
};

const struct summary_member summary_site_members[] = {
    MEMBER(struct summary_site, TEXT, "site", site),
    MEMBER(struct summary_site, TEXT, "op", op),
    MEMBER(struct summary_site, TEXT, "category", category),
    MEMBER(struct summary_site, TEXT, "stack", stack),
    MEMBER(struct summary_site, INTEGER, "bytes", bytes),
    MEMBER(struct summary_site, COUNT, "count", count),
    END,
};

const struct summary_member summary_finding_members[] = {
    MEMBER(struct summary_finding, TEXT, "kind", kind),
    MEMBER(struct summary_finding, TEXT, "what", what),
    MEMBER(struct summary_finding, TEXT, "next", next),
    MEMBER(struct summary_finding, INTEGER, "save_bytes", save_bytes),
    END,
};

const struct summary_member summary_step_members[] = {
    MEMBER(struct summary_step, INTEGER, "number", number),
    MEMBER(struct summary_step, INTEGER, "event", event),
    MEMBER(struct summary_step, INTEGER, "us", us),
    MEMBER(struct summary_step, INTEGER, "peak_bytes", peak_bytes),
    MEMBER(struct summary_step, INTEGER, "end_bytes", end_bytes),
    MEMBER(struct summary_step, FLAG, "complete", complete),
    END,
};

const struct summary_array_type summary_arrays[SUMMARY_ARRAYS] = {
    [SUMMARY_CATEGORIES] = {"categories", summary_category_members, sizeof(struct summary_category),
                            offsetof(struct summary_device, categories),
                            offsetof(struct summary_device, category_count), false},
    [SUMMARY_SITE_LIST] = {"sites", summary_site_members, sizeof(struct summary_site),
                           offsetof(struct summary_device, sites),
                           offsetof(struct summary_device, site_count), false},
    [SUMMARY_FINDINGS] = {"findings", summary_finding_members, sizeof(struct summary_finding),
                          offsetof(struct summary_device, findings),
                          offsetof(struct summary_device, finding_count), false},
    [SUMMARY_STEP_LIST] = {"step_list", summary_step_members, sizeof(struct summary_step),
                           offsetof(struct summary_device, step_list),
                           offsetof(struct summary_device, step_list_count), true},
};

struct summary *summary_create(size_t max_memory, struct error *err)
{
    struct summary *summary = calloc(1, sizeof(*summary));
    if (!summary) {
        error_out_of_memory(err);
        return NULL;
    }
    *summary = (struct summary){.rank = SUMMARY_UNKNOWN,
                                .rank_from = "",
                                .path = "",
                                .encoding = "",
                                .budget = {.limit = max_memory}};
    arena_init(&summary->arena, &summary->budget);
    return summary;
}

void summary_destroy(struct summary *summary)
{
    if (!summary)
        return;
    summary_forget_curves(summary);
    arena_release(&summary->arena);
    free(summary);
}

void *summary_items(struct summary *summary, size_t count, size_t size, struct error *err)
{
    size_t bytes;
    if (__builtin_mul_overflow(count ? count : 1, size, &bytes)) {
        error_out_of_memory(err);
        return NULL;
    }
    void *items = arena_alloc(&summary->arena, bytes, err);
    return items ? memset(items, 0, bytes) : NULL;
}

const char *summary_text(struct summary *summary, const char *bytes, size_t size, struct error *err)
{
    char *copy = arena_alloc(&summary->arena, size + 1, err);
    if (!copy)
        return NULL;
    if (size > 0)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

bool summary_curve_make(struct summary *summary, struct summary_device *device, size_t columns,
                        struct error *err)
{
    struct summary_curve *curve = &device->curve;
    size_t bytes = 3 * columns * sizeof(*curve->high);
    if (!budget_take(&summary->budget, bytes, err))
        return false;
    curve->high = calloc(3 * columns + 1, sizeof(*curve->high));
    if (!curve->high) {
        budget_give(&summary->budget, bytes);
        return error_out_of_memory(err);
    }
    curve->columns = columns;
    curve->low = curve->high + columns;
    curve->reserved = curve->low + columns;
    return true;
}

void summary_forget_curves(struct summary *summary)
{
    for (size_t i = 0; i < summary->device_count; i++) {
        struct summary_curve *curve = &summary->devices[i].curve;
        if (!curve->high)
            continue;
        budget_give(&summary->budget, 3 * curve->columns * sizeof(*curve->high));
        free(curve->high);
        *curve = (struct summary_curve){.by_time = curve->by_time};
    }
}

/* Column `to` takes the place of columns `from` up to `end`, none of which is before it. */
static void merge_columns(struct summary_curve *curve, size_t to, size_t from, size_t end)
{
    int64_t high = curve->high[from], low = curve->low[from], reserved = curve->reserved[from];
    for (size_t c = from + 1; c < end; c++) {
        high = curve->high[c] > high ? curve->high[c] : high;
        low = curve->low[c] < low ? curve->low[c] : low;
        reserved = curve->reserved[c] > reserved ? curve->reserved[c] : reserved;
    }
    curve->high[to] = high;
    curve->low[to] = low;
    curve->reserved[to] = reserved;
}

void summary_shrink_curves(struct summary *summary, size_t columns)
{
    for (size_t i = 0; i < summary->device_count; i++) {
        struct summary_curve *curve = &summary->devices[i].curve;
        size_t before = curve->columns, bytes = columns * sizeof(*curve->high);
        if (before <= columns)
            continue;
        for (size_t c = 0; c < columns; c++)
            merge_columns(curve, c, c * before / columns, (c + 1) * before / columns);
        memmove(curve->high + columns, curve->low, bytes);
        memmove(curve->high + 2 * columns, curve->reserved, bytes);
        int64_t *kept = realloc(curve->high, 3 * bytes);
        if (kept)
            curve->high = kept;
        curve->columns = columns;
        curve->low = curve->high + columns;
        curve->reserved = curve->low + columns;
        budget_give(&summary->budget, 3 * (before - columns) * sizeof(*curve->high));
    }
}

void summary_measure_steps(const struct summary_device *device,
                           struct summary_step_figures *figures)
{
    int64_t peaks[SUMMARY_STEPS], ends[SUMMARY_STEPS];
    size_t listed =
        device->step_list_count < SUMMARY_STEPS ? device->step_list_count : SUMMARY_STEPS;
    *figures = (struct summary_step_figures){0};
    for (size_t i = 0; i < listed; i++)
        figures->complete += device->step_list[i].complete;
    for (size_t i = 0; i < listed; i++) {
        const struct summary_step *step = &device->step_list[i];
        if (figures->complete > 0 && !step->complete)
            continue;
        peaks[figures->count] = step->peak_bytes;
        ends[figures->count++] = step->end_bytes;
    }
    if (figures->count == 0)
        return;
    qsort(peaks, figures->count, sizeof(*peaks), compare_signed);
    qsort(ends, figures->count, sizeof(*ends), compare_signed);
    figures->median_peak_bytes = peaks[(figures->count - 1) / 2];
    figures->median_end_bytes = ends[(figures->count - 1) / 2];
}

int summary_compare(const struct summary *a, const struct summary *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return strcmp(a->path, b->path);
}
