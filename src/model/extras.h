/* Stores each distinct event_extra once. A trace has few of them, in long runs. */
#ifndef MEMSNAP_MODEL_EXTRAS_H
#define MEMSNAP_MODEL_EXTRAS_H

#include "base/idtable.h"
#include "decode/core/rows.h"

struct extras {
    struct event_extra *items; /* in order of first appearance; grown by vec_grow */
    size_t count, capacity;
    uint32_t last; /* id of the previous event's extra */
    struct idtable table;
    struct budget *budget; /* not owned */
};

static inline bool extra_equal(const struct event_extra *a, const struct event_extra *b)
{
    return a->stream == b->stream && a->pool[0] == b->pool[0] && a->pool[1] == b->pool[1] &&
           a->compile_context == b->compile_context && a->user_metadata == b->user_metadata &&
           a->category == b->category && a->forward_stack == b->forward_stack;
}

/* Sets `last`. STATUS_LIMIT when over budget. */
bool extras_intern(struct extras *extras, const struct event_extra *extra, struct error *err);
/* Frees the table, not the items. */
void extras_release_table(struct extras *extras);

#endif
