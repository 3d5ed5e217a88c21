#include <stddef.h>

#include "base/hash.h"
#include "model/device.h"
#include "model/loader_state.h"

/* Hashed as bytes: there may be padding only at the end. */
#define EXTRA_BYTES (offsetof(struct event_extra, operation) + sizeof(string_id))
_Static_assert(EXTRA_BYTES == 48, "no padding between the members, and none left out");

static bool is_extra(const void *items, uint32_t id, const void *wanted)
{
    return extra_equal((const struct event_extra *)items + id, wanted);
}

bool extras_intern(struct extras *extras, const struct event_extra *extra, struct error *err)
{
    uint32_t tag = (uint32_t)hash_bytes(extra, EXTRA_BYTES, hash_seed());
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

#define MAX_TRACE_EVENTS ((size_t)UINT32_MAX - 1)

/* The number of events for which the shortest column has room. */
static size_t room_of(const struct columns *c)
{
    const size_t rooms[] = {c->addr, c->size, c->time, c->stack, c->action};
    size_t room = MAX_TRACE_EVENTS;
    for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++)
        room = rooms[i] < room ? rooms[i] : room;
    return room;
}

static bool grow_columns(struct trace *t, struct columns *c, struct budget *budget,
                         struct error *err)
{
    size_t block = t->count / COLUMN_BLOCK, need = t->count + 1;
    return vec_reserve(t->addr.low, c->addr, need, budget, err) &&
           vec_reserve(t->addr.base, c->addr_bases, block + 1, budget, err) &&
           vec_reserve(t->size.low, c->size, need, budget, err) &&
           vec_reserve(t->time.low, c->time, need, budget, err) &&
           vec_reserve(t->time.base, c->time_bases, block + 1, budget, err) &&
           vec_reserve(t->stack, c->stack, need, budget, err) &&
           vec_reserve(t->action, c->action, need, budget, err);
}

/* The same while a thread reads the columns. It is offered every block at once: if it had more to
 * do at a time, the thread that reads the file might have to wait for a processor too long. */
static bool grow_shared_columns(struct trace *t, struct columns *c, struct budget *budget,
                                struct error *err)
{
    size_t block = t->count / COLUMN_BLOCK;
    bool moves = t->count >= room_of(c) || block >= c->addr_bases || block >= c->time_bases;
    if (moves)
        ahead_pause(c->ahead);
    bool ok = grow_columns(t, c, budget, err);
    ahead_offer(c->ahead, t);
    return ok;
}

/* Starts such a thread for the first trace that is long enough. */
static void begin_ahead(struct loader *loader, const struct trace *t, struct columns *c)
{
    if (!loader->ahead || t->count < AHEAD_AFTER || c->cutter)
        return;
    loader->ahead = false;
    c->ahead = ahead_start(loader->budget);
}

/* Makes room for another COLUMN_BLOCK of events, the first of which is `row`. */
static bool begin_block(struct loader *loader, uint32_t device, const struct event_row *row,
                        struct error *err)
{
    struct trace *t = loader_trace_of(loader, device);
    struct columns *c = loader_columns_of(loader, device);
    size_t block = t->count / COLUMN_BLOCK;
    if (t->count >= MAX_TRACE_EVENTS)
        return error_set(err, STATUS_LIMIT, "%s has more than %zu events", DEVICE_WORDS(device),
                         MAX_TRACE_EVENTS);
    begin_ahead(loader, t, c);
    if (!(c->ahead ? grow_shared_columns : grow_columns)(t, c, loader->budget, err))
        return false;
    if (t->count % COLUMN_BLOCK == 0) {
        t->addr.base[block] = c->addr_base = column_address_base(row->addr);
        t->time.base[block] = c->time_base = column_time_base((uint64_t)row->time_us);
    }
    size_t room = room_of(c), end = (block + 1) * COLUMN_BLOCK;
    c->room = room < end ? room : end;
    return true;
}

static bool add_wide(struct loader *loader, const struct columns *c, const struct trace *t,
                     struct wide_value **wide, size_t *count, size_t *capacity, uint64_t value,
                     struct error *err)
{
    size_t item = t->count - 1;
    bool moves = c->ahead && *count >= *capacity;
    if (moves)
        ahead_pause(c->ahead);
    bool ok = vec_grow((void **)wide, capacity, *count + 1, sizeof(**wide), loader->budget, err);
    if (moves) {
        struct trace complete = *t; /* without the item that is being added */
        complete.count = item;
        ahead_offer(c->ahead, &complete);
    }
    if (!ok)
        return false;
    (*wide)[(*count)++] = (struct wide_value){value, (uint32_t)item};
    return true;
}

/* The rare parts of an event, for the last one appended: wide values, a new run of extras. */
static bool append_odd(struct loader *loader, struct trace *t, struct columns *c,
                       const struct event_row *row, struct error *err)
{
    size_t item = t->count - 1;
    uint64_t time = (uint64_t)row->time_us;
    if (column_address_low(row->addr, c->addr_base) >= COLUMN_WIDE) {
        t->addr.low[item] = COLUMN_WIDE;
        if (!add_wide(loader, c, t, &t->addr.wide, &t->addr.wide_count, &c->wide_addrs, row->addr,
                      err))
            return false;
    }
    if (row->size >= COLUMN_WIDE) {
        t->size.low[item] = COLUMN_WIDE;
        if (!add_wide(loader, c, t, &t->size.wide, &t->size.wide_count, &c->wide_sizes, row->size,
                      err))
            return false;
    }
    if (time - c->time_base >= COLUMN_WIDE) {
        t->time.low[item] = COLUMN_WIDE;
        if (!add_wide(loader, c, t, &t->time.wide, &t->time.wide_count, &c->wide_times, time, err))
            return false;
    }
    if (loader->extras.last == c->last_extra)
        return true;
    if (!vec_reserve(t->extra.runs, c->extra_runs, t->extra.count + 1, loader->budget, err))
        return false;
    c->last_extra = loader->extras.last;
    t->extra.runs[t->extra.count++] = (struct extra_run){(uint32_t)item, c->last_extra};
    return true;
}

bool loader_append(struct loader *loader, uint32_t device, const struct event_row *row,
                   uint8_t action, struct error *err)
{
    struct trace *t = loader_trace_of(loader, device);
    struct columns *c = loader_columns_of(loader, device);
    size_t i = t->count;
    if (i >= c->room && !begin_block(loader, device, row, err))
        return false;
    t->addr.low[i] = (uint32_t)column_address_low(row->addr, c->addr_base);
    t->size.low[i] = (uint32_t)row->size;
    t->time.low[i] = (uint32_t)((uint64_t)row->time_us - c->time_base);
    t->stack[i] = row->stack;
    t->action[i] = action;
    t->count = i + 1;
    return append_odd(loader, t, c, row, err);
}
