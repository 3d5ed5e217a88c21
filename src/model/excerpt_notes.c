#include <stdlib.h>

#include "base/bisect.h"
#include "model/excerpt.h"

/* True if one of the curves counts the allocation just before the range. */
static bool is_live(const struct excerpt *excerpt, const struct note *note)
{
    const struct timeline *timeline = excerpt->timeline;
    if (note->in_trace) {
        const struct lifetime *lifetime = &timeline->lifetimes[note->index];
        return lifetime->alloc < excerpt->first && (lifetime->free_requested >= excerpt->first ||
                                                    lifetime->free_completed >= excerpt->first);
    }
    const struct preexisting *preexisting = &timeline->preexisting[note->index];
    return (preexisting->in_allocated && preexisting->free_requested >= excerpt->first) ||
           (preexisting->in_active && preexisting->free_completed >= excerpt->first);
}

bool excerpt_notes(const struct excerpt *excerpt, uint32_t **items, size_t *count,
                   struct error *err)
{
    const struct timeline *timeline = excerpt->timeline;
    uint32_t *found = calloc(timeline->note_count + 1, sizeof(*found));
    size_t n = 0;
    if (!found)
        return error_out_of_memory(err);
    for (size_t i = 0; i < timeline->note_count; i++) {
        const struct note *note = &timeline->notes[i];
        uint64_t item = note->event - timeline->trace->first_event;
        if (item < excerpt->first && is_live(excerpt, note))
            found[n++] = (uint32_t)item;
    }
    qsort(found, n, sizeof(*found), compare_32);
    *items = found;
    *count = n;
    return true;
}
