#include "analysis/gradients/repeated_model.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/budget.h"

struct sizes {
    uint64_t *items; /* ascending, once sorted */
    size_t count, capacity;
    uint64_t bytes;
    struct budget *budget;
};

static bool add(struct sizes *sizes, uint64_t size, struct error *err)
{
    sizes->bytes += size;
    return vec_push(sizes->items, sizes->count, sizes->capacity, sizes->budget, err, size);
}

static void sort(struct sizes *sizes)
{
    if (sizes->count > 0)
        qsort(sizes->items, sizes->count, sizeof(*sizes->items), compare_64);
}

static void release(struct sizes *sizes)
{
    vec_free(sizes->items, sizes->capacity, sizeof(*sizes->items), sizes->budget);
}

/* The bytes of sizes that both have. */
static uint64_t in_both(const struct sizes *a, const struct sizes *b)
{
    uint64_t bytes = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->items[i] == b->items[k]) {
            bytes += a->items[i++];
            k++;
        } else if (a->items[i] < b->items[k]) {
            i++;
        } else {
            k++;
        }
    }
    return bytes;
}

static bool is_most(uint64_t part, uint64_t of)
{
    return part > 0 && part >= of / 10 * 9;
}

/* Sizes of what is still allocated when the last cycle ends. */
struct stays {
    struct sizes old;     /* gradients that are older than the cycle */
    struct sizes made;    /* parameters made after the optimizer step that begins it, and before its
                             forward pass */
    struct sizes renewed; /* gradients that its backward pass made */
};

static bool collect(struct stays *stays, struct repeated_model *repeated, uint8_t *of_lifetime,
                    const struct timeline *timeline, const struct categories *categories,
                    const struct cycle *last, struct error *err)
{
    for (size_t i = 0; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < last->end;
         i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        uint8_t category = categories->of_lifetime[i];
        struct sizes *sizes = NULL;
        if (size < IDLE_LEAST_SIZE || lifetime_end(lifetime) < last->end)
            continue;
        if (category == CATEGORY_GRADIENT && lifetime->alloc < last->used) {
            of_lifetime[i] = 1;
            sizes = &stays->old;
        } else if (category == CATEGORY_GRADIENT && lifetime->alloc >= last->backward) {
            sizes = &stays->renewed;
        } else if (category == CATEGORY_PARAMETER && lifetime->alloc >= last->used &&
                   lifetime->alloc < last->forward) {
            repeated->present = stays->made.count == 0 ? lifetime->alloc : repeated->present;
            sizes = &stays->made;
        }
        if (sizes && !add(sizes, size, err))
            return false;
    }
    return true;
}

bool repeated_model_find(struct repeated_model *repeated, uint8_t *of_lifetime,
                         const struct timeline *timeline, const struct categories *categories,
                         const struct cycle *last, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct stays stays = {{.budget = budget}, {.budget = budget}, {.budget = budget}};
    struct repeated_model found = {0};
    bool ok = collect(&stays, &found, of_lifetime, timeline, categories, last, err);
    sort(&stays.old);
    sort(&stays.made);
    sort(&stays.renewed);
    bool is_like = is_most(in_both(&stays.old, &stays.made), stays.old.bytes) &&
                   is_most(in_both(&stays.made, &stays.renewed), stays.made.bytes);
    if (is_like) {
        found.count = stays.old.count;
        found.bytes = stays.old.bytes;
        found.made_bytes = stays.made.bytes;
    } else {
        memset(of_lifetime, 0, timeline->lifetime_count + 1);
    }
    *repeated = found;
    release(&stays.old);
    release(&stays.made);
    release(&stays.renewed);
    return ok;
}
