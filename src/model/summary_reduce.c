#include "model/summary_reduce.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/symbols.h"

struct summary_texts {
    pthread_mutex_t lock;
    struct symbols *symbols;
    struct budget budget;
};

struct summary_texts *summary_texts_create(size_t max_memory, struct error *err)
{
    struct summary_texts *texts = calloc(1, sizeof(*texts));
    if (!texts) {
        error_out_of_memory(err);
        return NULL;
    }
    texts->budget = (struct budget){.limit = max_memory};
    texts->symbols = symbols_create(&texts->budget, err);
    if (!texts->symbols) {
        free(texts);
        return NULL;
    }
    pthread_mutex_init(&texts->lock, NULL);
    return texts;
}

void summary_texts_destroy(struct summary_texts *texts)
{
    if (!texts)
        return;
    symbols_destroy(texts->symbols);
    pthread_mutex_destroy(&texts->lock);
    free(texts);
}

/* Replaces a text by the shared one. */
static bool share(struct symbols *symbols, const char **text, struct error *err)
{
    string_id id;
    if (!symbols_string(symbols, *text, strlen(*text), &id, err))
        return false;
    *text = symbols_text(symbols, id).bytes;
    return true;
}

static bool share_members(struct symbols *symbols, const struct summary_member *members, void *row,
                          struct error *err)
{
    for (; members->key; members++)
        if (members->kind == SUMMARY_TEXT &&
            !share(symbols, (const char **)(void *)((char *)row + members->offset), err))
            return false;
    return true;
}

/* A copy of the items, which the summary owns; at least one. */
static void *copy_items(struct summary *summary, const void *items, size_t count, size_t size,
                        struct error *err)
{
    void *copy = summary_items(summary, count, size, err);
    return copy && count > 0 ? memcpy(copy, items, count * size) : copy;
}

static bool reduce_device(struct summary *summary, struct summary_device *device,
                          struct symbols *symbols, struct error *err)
{
    device->findings = NULL;
    device->step_list = NULL;
    device->finding_count = device->step_list_count = 0;
    device->categories = copy_items(summary, device->categories, device->category_count,
                                    sizeof(*device->categories), err);
    device->sites = device->categories ? copy_items(summary, device->sites, device->site_count,
                                                    sizeof(*device->sites), err)
                                       : NULL;
    bool ok = device->sites && share_members(symbols, summary_device_members, device, err);
    for (size_t i = 0; ok && i < device->category_count; i++)
        ok = share_members(symbols, summary_category_members, &device->categories[i], err);
    for (size_t i = 0; ok && i < device->site_count; i++) {
        device->sites[i].stack = "";
        ok = share_members(symbols, summary_site_members, &device->sites[i], err);
    }
    return ok;
}

static bool fill(struct summary *reduced, const struct summary *full, struct symbols *symbols,
                 struct error *err)
{
    reduced->rank = full->rank;
    reduced->rank_from = full->rank_from;
    reduced->path = full->path;
    reduced->encoding = full->encoding;
    reduced->input_bytes = full->input_bytes;
    reduced->devices =
        copy_items(reduced, full->devices, full->device_count, sizeof(*reduced->devices), err);
    bool ok = reduced->devices && share_members(symbols, summary_members, reduced, err);
    for (size_t i = 0; ok && i < full->device_count; i++)
        ok = reduce_device(reduced, &reduced->devices[i], symbols, err);
    return ok;
}

/* The curves change hands last, so that each has one owner. */
static void move_curves(struct summary *reduced, struct summary *full)
{
    reduced->device_count = full->device_count;
    for (size_t i = 0; i < full->device_count; i++) {
        struct summary_curve *curve = &full->devices[i].curve;
        size_t bytes = 3 * curve->columns * sizeof(*curve->high);
        if (!curve->high)
            continue;
        budget_give(&full->budget, bytes);
        reduced->budget.used += bytes;
        *curve = (struct summary_curve){.by_time = curve->by_time};
    }
}

bool summary_reduce(struct summary **summary, struct summary_texts *texts, struct error *err)
{
    struct summary *full = *summary, *reduced = summary_create(SIZE_MAX, err);
    if (!reduced)
        return false;
    pthread_mutex_lock(&texts->lock);
    bool ok = fill(reduced, full, texts->symbols, err);
    pthread_mutex_unlock(&texts->lock);
    if (!ok) {
        summary_destroy(reduced);
        return false;
    }
    move_curves(reduced, full);
    summary_destroy(full);
    *summary = reduced;
    return true;
}
