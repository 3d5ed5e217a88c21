#include "model/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "model/ahead.h"

/* The budget goes with the snapshot, so nothing is given back to it piece by piece. */
static void release(void *data, struct budget *budget)
{
    vec_free(data, 0, 1, budget);
}

static void release_trace(struct trace *t, struct budget *budget)
{
    release(t->addr.low, budget);
    release(t->addr.base, budget);
    release(t->addr.wide, budget);
    release(t->size.low, budget);
    release(t->size.wide, budget);
    release(t->time.low, budget);
    release(t->time.base, budget);
    release(t->time.wide, budget);
    release(t->extra.runs, budget);
    release(t->stack, budget);
    release(t->action, budget);
    release(t->order, budget);
    ahead_destroy(t->ahead);
    release(t->edge.held, budget);
    release(t->edge.notes, budget);
    release(t->edge.later_frees, budget);
    release(t->edge.end_live, budget);
}

void snapshot_destroy(struct snapshot *snapshot)
{
    if (!snapshot)
        return;
    struct budget *budget = snapshot->budget;
    for (size_t i = 0; i < snapshot->trace_count; i++)
        release_trace(&snapshot->traces[i], budget);
    release_trace(&snapshot->host, budget);
    release(snapshot->traces, budget);
    release(snapshot->segments, budget);
    release(snapshot->blocks, budget);
    release(snapshot->annotations, budget);
    release(snapshot->annotation_index.places, budget);
    release(snapshot->annotation_index.lowest, budget);
    release(snapshot->settings, budget);
    release(snapshot->extras, budget);
    release(snapshot->launches, budget);
    release(snapshot->unknown_keys, budget);
    symbols_destroy(snapshot->symbols);
    free(budget);
    free(snapshot);
}

size_t trace_item(const struct trace *trace, uint64_t event)
{
    size_t item = (size_t)(event - trace->first_event);
    if (!trace->order)
        return item;
    for (item = 0; item + 1 < trace->count && trace->order[item] != event;)
        item++;
    return item;
}

bool snapshot_setting(const struct snapshot *snapshot, const char *key, struct text *value)
{
    /* As in a dict, the last of equal keys counts. */
    for (size_t i = snapshot->setting_count; i-- > 0;) {
        if (text_equals(symbols_text(snapshot->symbols, snapshot->settings[i].key), key)) {
            *value = symbols_text(snapshot->symbols, snapshot->settings[i].value);
            return true;
        }
    }
    return false;
}

uint8_t snapshot_action(const struct snapshot *snapshot, const char *name)
{
    for (size_t code = 0; code < snapshot->action_code_count; code++)
        if (strcmp(symbols_text(snapshot->symbols, snapshot->action_names[code]).bytes, name) == 0)
            return (uint8_t)code;
    return ACTION_NEVER;
}

bool snapshot_devices(const struct snapshot *snapshot, uint32_t **devices, size_t *count,
                      struct error *err)
{
    size_t most = snapshot->trace_count + snapshot->segment_count + 1, n = 0;
    uint32_t *list = calloc(most, sizeof(*list));
    if (!list)
        return error_out_of_memory(err);
    for (size_t i = 0; i < snapshot->trace_count; i++) {
        if (snapshot->traces[i].file_events)
            list[n++] = snapshot->traces[i].device;
    }
    for (size_t i = 0; i < snapshot->segment_count; i++)
        list[n++] = snapshot->segments[i].device;
    if (snapshot->host.file_events)
        list[n++] = DEVICE_HOST;
    qsort(list, n, sizeof(*list), compare_32);
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++) {
        if (distinct == 0 || list[distinct - 1] != list[i])
            list[distinct++] = list[i];
    }
    *devices = list;
    *count = distinct;
    return true;
}
