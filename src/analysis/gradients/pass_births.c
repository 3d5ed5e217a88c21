#include "analysis/gradients/pass_births.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"

static int compare(const void *a, const void *b)
{
    const struct pass_birth *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

void pass_births_sort(struct pass_births *births)
{
    if (births->count > 0)
        qsort(births->items, births->count, sizeof(*births->items), compare);
}

bool pass_births_find(struct pass_births *births, const struct timeline *timeline, uint32_t first,
                      uint32_t end, struct error *err)
{
    *births = (struct pass_births){.budget = timeline->snapshot->budget};
    for (size_t i = births_from(timeline, first); i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (lifetime->alloc >= end)
            break;
        struct pass_birth birth = {trace_size(timeline->trace, lifetime->alloc), lifetime->alloc,
                                   lifetime->free_completed};
        if (!vec_push(births->items, births->count, births->capacity, births->budget, err, birth))
            return false;
    }
    pass_births_sort(births);
    return true;
}

void pass_births_release(struct pass_births *births)
{
    vec_free(births->items, births->capacity, sizeof(*births->items), births->budget);
    *births = (struct pass_births){0};
}

struct range {
    size_t first, end;
};

static struct range with_size(const struct pass_births *births, uint64_t size)
{
    if (births->count == 0)
        return (struct range){0};
    return (struct range){
        bisect_less_64(&births->items->size, sizeof(*births->items), births->count, size),
        bisect_less_64(&births->items->size, sizeof(*births->items), births->count, size + 1)};
}

bool pass_births_any(const struct pass_births *births, uint64_t size, uint32_t item)
{
    struct range range = with_size(births, size);
    return range.first < range.end && births->items[range.first].item < item;
}

const struct pass_birth *pass_births_again(const struct pass_births *earlier,
                                           const struct pass_births *later, uint64_t size,
                                           uint32_t item)
{
    struct range before = with_size(earlier, size), after = with_size(later, size);
    size_t count = before.end - before.first;
    if (count == 0 || count != after.end - after.first)
        return NULL;
    const struct pass_birth *first = &earlier->items[before.first];
    return &later->items[after.first + bisect_less(&first->item, sizeof(*first), count, item)];
}
