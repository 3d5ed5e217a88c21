#include "analysis/chain/gradient_sizes.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"

static uint64_t size_of(const struct timeline *timeline, size_t lifetime)
{
    return trace_size(timeline->trace, timeline->lifetimes[lifetime].alloc);
}

bool gradient_sizes_find(struct gradient_sizes *sizes, const struct timeline *timeline,
                         const struct pass *pass, struct budget *budget, struct error *err)
{
    size_t first = births_from(timeline, pass->backward), end = births_from(timeline, pass->end);
    *sizes = (struct gradient_sizes){.backward = pass->backward, .budget = budget};
    if (pass->unfinished || first == end)
        return true;
    if (!vec_reserve(sizes->items, sizes->capacity, end - first, budget, err))
        return false;
    for (size_t k = first; k < end; k++)
        sizes->items[sizes->count++] = size_of(timeline, k);
    qsort(sizes->items, sizes->count, sizeof(*sizes->items), compare_64);
    return true;
}

void gradient_sizes_release(struct gradient_sizes *sizes)
{
    vec_free(sizes->items, sizes->capacity, sizeof(*sizes->items), sizes->budget);
    *sizes = (struct gradient_sizes){0};
}

bool gradient_sizes_lack(const struct gradient_sizes *sizes, const struct timeline *timeline,
                         size_t lifetime)
{
    if (sizes->count == 0 || lifetime_end(&timeline->lifetimes[lifetime]) >= sizes->backward)
        return false;
    uint64_t size = size_of(timeline, lifetime);
    size_t at = bisect_less_64(sizes->items, sizeof(*sizes->items), sizes->count, size);
    return at == sizes->count || sizes->items[at] != size;
}
