#include "model/extras.h"

#include "base/hash.h"

_Static_assert(sizeof(struct event_extra) == 40, "hashed as bytes: there may be no padding");

bool extras_intern(struct extras *extras, const struct event_extra *extra, struct error *err)
{
    uint32_t tag = (uint32_t)hash_bytes(extra, sizeof(*extra), hash_seed());
    struct idprobe probe = idtable_probe(&extras->table, tag);
    uint32_t id;
    while (idtable_next(&extras->table, &probe, &id)) {
        if (extra_equal(&extras->items[id], extra)) {
            extras->last = id;
            return true;
        }
    }
    if (extras->count >= IDTABLE_MAX_ID)
        return error_set(err, STATUS_LIMIT, "too many different kinds of events");
    if (!idtable_reserve(&extras->table, extras->budget, err) ||
        !vec_grow((void **)&extras->items, &extras->capacity, extras->count + 1,
                  sizeof(*extras->items), extras->budget, err))
        return false;
    extras->last = (uint32_t)extras->count;
    extras->items[extras->count++] = *extra;
    idtable_insert(&extras->table, tag, extras->last);
    return true;
}

void extras_release_table(struct extras *extras)
{
    idtable_release(&extras->table, extras->budget);
}
