#include "analysis/growth/private_growth.h"

#include <stdlib.h>

#include "model/layout_segments.h"
#include "model/live.h"
#include "model/sums.h"

/* An allocation in a private pool. */
struct resident {
    uint64_t size, pool[2];
    uint16_t step; /* of its allocation */
};

struct search {
    const struct survivors *survivors;
    const struct timeline *timeline;
    struct reserved_pieces pieces; /* if known */
    struct resident *residents;
    size_t count, capacity;
    struct private_growth sum;
};

/* Adds an allocation. PyTorch numbers the pools of captures in the first member of the pool's id,
 * and those that a program makes in the second. */
static bool add(struct search *search, struct resident resident, struct error *err)
{
    struct private_growth *sum = &search->sum;
    int64_t bytes = (int64_t)resident.size;
    sum_add_capped(&sum->grown_bytes, bytes);
    if (resident.pool[0] == 0 && resident.pool[1] == 0)
        return true;
    sum_add_capped(&sum->bytes, bytes);
    if (resident.pool[0] != 0)
        sum_add_capped(&sum->made_bytes, bytes);
    const struct resident *first = search->residents;
    if (search->count > 0 &&
        (first->pool[0] != resident.pool[0] || first->pool[1] != resident.pool[1]))
        sum->has_many_pools = true;
    return vec_push(search->residents, search->count, search->capacity, search->pieces.budget, err,
                    resident);
}

/* Adds a group if it is in a private pool. The segment shows the pool; if it is not known, the
 * event does. */
static bool add_group(struct search *search, uint32_t group, int64_t item, struct error *err)
{
    const struct survivors *survivors = search->survivors;
    const struct timeline *timeline = search->timeline;
    for (uint32_t at = survivors->begins[group]; at < survivors->begins[group + 1]; at++) {
        const struct live *live = &survivors->items[survivors->order[at]];
        if (!live->in_trace || (int64_t)timeline->lifetimes[live->index].free_completed <= item)
            continue;
        const struct reserved_piece *piece = reserved_piece_at(&search->pieces, live->addr);
        const struct event_extra *extra = live_extra(timeline, live);
        struct resident resident = {.size = live->size,
                                    .step = survivors->lives[survivors->order[at]].first};
        for (int part = 0; part < 2; part++)
            resident.pool[part] = piece ? piece->pool[part] : extra ? extra->pool[part] : 0;
        if (!add(search, resident, err))
            return false;
    }
    return true;
}

static int by_size(const void *a, const void *b)
{
    const struct resident *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

/* True if most bytes are of sizes that no other step allocated. */
static bool sizes_differ(struct search *search)
{
    struct resident *residents = search->residents;
    int64_t once = 0;
    if (search->count > 0)
        qsort(residents, search->count, sizeof(*residents), by_size);
    for (size_t i = 0, next = 0; i < search->count; i = next) {
        int64_t bytes = 0;
        while (next < search->count && residents[next].size == residents[i].size)
            sum_add_capped(&bytes, (int64_t)residents[next++].size);
        if (residents[i].step == residents[next - 1].step)
            sum_add_capped(&once, bytes);
    }
    return once > search->sum.bytes / 2;
}

static enum private_kind kind_of(struct search *search)
{
    const struct private_growth *sum = &search->sum;
    if (sum->bytes == 0 || sum->bytes < sum->grown_bytes / 2)
        return PRIVATE_NONE;
    if (sum->made_bytes < sum->bytes / 2)
        return PRIVATE_OWN;
    return sizes_differ(search) ? PRIVATE_SHAPES : PRIVATE_CAPTURES;
}

bool private_growth_find(const struct survivors *survivors, const struct timeline *timeline,
                         const uint32_t *groups, size_t count, int64_t item,
                         struct private_growth *found, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct search search = {
        .survivors = survivors, .timeline = timeline, .pieces = {.budget = budget}};
    bool ok = !trace_has_end(timeline->trace) ||
              reserved_pieces_make(timeline, item, &search.pieces, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_group(&search, groups[i], item, err);
    if (ok) {
        search.sum.kind = kind_of(&search);
        *found = search.sum;
    }
    vec_free(search.residents, search.capacity, sizeof(*search.residents), budget);
    reserved_pieces_release(&search.pieces);
    return ok;
}
