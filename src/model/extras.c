#include "model/extras.h"

#include "base/hash.h"

_Static_assert(sizeof(struct event_extra) == 40, "hashed as bytes: there may be no padding");

static bool is_extra(const void *items, uint32_t id, const void *wanted)
{
    return extra_equal((const struct event_extra *)items + id, wanted);
}

bool extras_intern(struct extras *extras, const struct event_extra *extra, struct error *err)
{
    uint32_t tag = (uint32_t)hash_bytes(extra, sizeof(*extra), hash_seed());
    uint32_t id;
    if (idtable_find(&extras->table, tag, is_extra, extras->items, extra, &id)) {
        extras->last = id;
        return true;
    }
    if (extras->count >= IDTABLE_MAX_ID)
        return error_set(err, STATUS_LIMIT, "too many different kinds of events");
    id = (uint32_t)extras->count;
    if (!vec_push(extras->items, extras->count, extras->capacity, extras->budget, err, *extra) ||
        !idtable_add(&extras->table, tag, id, extras->budget, err))
        return false;
    extras->last = id;
    return true;
}

void extras_release_table(struct extras *extras)
{
    idtable_release(&extras->table, extras->budget);
}
