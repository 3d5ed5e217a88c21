#include "analysis/gradients/earlier_models.h"

#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/budget.h"

/* When models are made after the first one. */
struct starts {
    uint32_t *items; /* the first parameter of each model, ascending */
    size_t count, capacity;
    struct budget *budget;
};

/* Parameters that are made between the same two cycles. */
struct group {
    uint32_t first; /* item */
    size_t cycle;   /* the number of cycles before it */
    uint64_t bytes;
};

static bool close(struct starts *starts, const struct group *group, uint64_t least_bytes,
                  struct error *err)
{
    return group->cycle == 0 || group->bytes < least_bytes ||
           vec_push(starts->items, starts->count, starts->capacity, starts->budget, err,
                    group->first);
}

/* Parameters made between the same two training cycles belong to one model. Those of fewer bytes
 * than `least_bytes`, and those that are freed before `stays`, do not count, nor do those made
 * before the first cycle. */
static bool find_starts(const struct earlier_models *earlier, struct starts *starts,
                        struct error *err)
{
    const struct timeline *timeline = earlier->timeline;
    struct group group = {0};
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (earlier->categories->of_lifetime[i] != CATEGORY_PARAMETER ||
            lifetime_end(lifetime) < earlier->stays)
            continue;
        size_t cycle = cycles_from(earlier->cycles, lifetime->alloc);
        if (cycle != group.cycle) {
            if (!close(starts, &group, earlier->least_bytes, err))
                return false;
            group = (struct group){lifetime->alloc, cycle, 0};
        }
        group.bytes += trace_size(timeline->trace, lifetime->alloc);
    }
    return close(starts, &group, earlier->least_bytes, err);
}

/* The first one after `item`; `otherwise` if there is none, or if it is later. */
static uint32_t start_after(const struct starts *starts, uint32_t item, uint32_t otherwise)
{
    size_t at = bisect_less(starts->items, sizeof(*starts->items), starts->count, item + 1);
    return at < starts->count && starts->items[at] < otherwise ? starts->items[at] : otherwise;
}

/* The states belong to the same model as the first idle gradient after them. */
static bool add(const struct earlier_models *earlier, const struct starts *starts,
                struct idle_gradients *idle, struct absences *absences, struct error *err)
{
    const struct timeline *timeline = earlier->timeline;
    /* the item that makes the model after that of the last idle gradient */
    uint32_t next = earlier->present;
    for (size_t i = births_from(timeline, earlier->present); i-- > 0;) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        int64_t size = (int64_t)trace_size(timeline->trace, lifetime->alloc);
        uint8_t category = earlier->categories->of_lifetime[i];
        if (lifetime_end(lifetime) < earlier->stays)
            continue;
        bool is_state = category == CATEGORY_OPTIMIZER_STATE;
        idle->parameter_bytes += category == CATEGORY_PARAMETER ? size : 0;
        idle->state_bytes += is_state ? size : 0;
        if (idle->of_lifetime[i]) {
            uint32_t start = start_after(starts, lifetime->alloc, earlier->present);
            idle->earlier_models += idle->earlier_models == 0 || start != next;
            next = start;
        }
        struct absence absence = {next, lifetime->free_completed, (uint64_t)size};
        if ((is_state || idle->of_lifetime[i]) && !absences_add(absences, absence, err))
            return false;
    }
    return true;
}

bool earlier_models_absent(const struct earlier_models *earlier, struct idle_gradients *idle,
                           struct absences *absences, struct error *err)
{
    struct starts starts = {.budget = idle->budget};
    bool ok = find_starts(earlier, &starts, err) && add(earlier, &starts, idle, absences, err);
    vec_free(starts.items, starts.capacity, sizeof(*starts.items), starts.budget);
    return ok;
}
