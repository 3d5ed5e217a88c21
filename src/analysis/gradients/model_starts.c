#include "analysis/gradients/model_starts.h"

#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/budget.h"

/* Parameters that are made between the same two cycles. */
struct group {
    uint32_t first; /* item */
    size_t cycle;   /* the number of cycles before it */
    uint64_t bytes;
};

static bool close(struct model_starts *starts, const struct group *group, uint64_t least_bytes,
                  struct error *err)
{
    return group->cycle == 0 || group->bytes < least_bytes ||
           vec_push(starts->items, starts->count, starts->capacity, starts->budget, err,
                    group->first);
}

bool model_starts_find(struct model_starts *starts, const struct timeline *timeline,
                       const struct categories *categories, const struct cycles *cycles,
                       uint32_t stays, uint64_t least_bytes, struct error *err)
{
    struct group group = {0};
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (categories->of_lifetime[i] != CATEGORY_PARAMETER || lifetime_end(lifetime) < stays)
            continue;
        size_t cycle = cycles_from(cycles, lifetime->alloc);
        if (cycle != group.cycle) {
            if (!close(starts, &group, least_bytes, err))
                return false;
            group = (struct group){lifetime->alloc, cycle, 0};
        }
        group.bytes += trace_size(timeline->trace, lifetime->alloc);
    }
    return close(starts, &group, least_bytes, err);
}

uint32_t model_starts_after(const struct model_starts *starts, uint32_t item, uint32_t otherwise)
{
    size_t at = bisect_less(starts->items, sizeof(*starts->items), starts->count, item + 1);
    return at < starts->count && starts->items[at] < otherwise ? starts->items[at] : otherwise;
}

void model_starts_release(struct model_starts *starts)
{
    vec_free(starts->items, starts->capacity, sizeof(*starts->items), starts->budget);
    starts->items = NULL;
    starts->count = starts->capacity = 0;
}
