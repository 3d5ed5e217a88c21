#include "commands/summary/gathered.h"

#include <stdlib.h>
#include <string.h>

#include "render/summary/summary.h"

static void release_item(struct gathered *item)
{
    summary_destroy(item->summary);
    free(item->bin);
}

void gathered_release(struct gathered_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        release_item(&list->items[i]);
    free(list->items);
    *list = (struct gathered_list){0};
}

bool gathered_add(struct gathered_list *list, struct gathered item, struct error *err)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 1;
        struct gathered *grown = reallocarray(list->items, capacity, sizeof(*grown));
        if (!grown) {
            release_item(&item);
            return error_out_of_memory(err);
        }
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

static bool copy_bin(struct gathered *item, struct text bin, struct error *err)
{
    item->bin = malloc(bin.size + 1);
    if (!item->bin)
        return error_out_of_memory(err);
    memcpy(item->bin, bin.bytes, bin.size);
    item->bin_size = bin.size;
    return true;
}

bool gathered_pack(struct gathered *item, struct error *err)
{
    struct buffer bin = BUFFER_INIT;
    bool ok = summary_pack(&bin, item->summary, err) &&
              copy_bin(item, (struct text){bin.bytes, bin.size}, err);
    buffer_release(&bin);
    return ok;
}

/* Replaces the summary by one that has only its rank and path. */
static bool strip(struct gathered *item, struct error *err)
{
    const struct summary *full = item->summary;
    struct summary *bare = summary_create(SIZE_MAX, err);
    if (bare)
        bare->path = summary_text(bare, full->path, strlen(full->path), err);
    if (!bare || !bare->path) {
        summary_destroy(bare);
        return false;
    }
    bare->rank = full->rank;
    summary_destroy(item->summary);
    item->summary = bare;
    return true;
}

bool gathered_take(struct gathered_list *list, struct summary *summary, struct text bin,
                   struct gathered_parts parts, struct error *err)
{
    struct gathered item = {.summary = summary};
    bool ok = !parts.bins || ((bin.bytes ? copy_bin(&item, bin, err) : gathered_pack(&item, err)) &&
                              strip(&item, err));
    if (!ok) {
        release_item(&item);
        return false;
    }
    if (!parts.curves)
        summary_forget_curves(item.summary);
    else if (parts.columns > 0)
        summary_shrink_curves(item.summary, parts.columns);
    if (parts.texts && !summary_reduce(&item.summary, parts.texts, err)) {
        release_item(&item);
        return false;
    }
    return gathered_add(list, item, err);
}
