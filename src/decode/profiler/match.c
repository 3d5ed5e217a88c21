/* Traces of 2021 name no addresses: a free ends the latest allocation of its device and size. */
#include "decode/profiler/profile.h"

#define STEP      UINT64_C(512) /* between the addresses that are made up */
#define NONE      UINT32_MAX
#define HASH_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The live allocations of one size. */
struct size_list {
    int64_t bytes;
    uint32_t device;
    uint32_t latest; /* memory event, or NONE */
};

struct matcher {
    struct profile *profile;
    struct size_list *lists;
    size_t count, capacity;
    struct idtable index;
    uint32_t *before; /* by memory event: the previous live allocation of its size */
    size_t before_capacity;
    uint64_t next_addr;
};

static bool is_list(const void *items, uint32_t id, const void *wanted)
{
    const struct size_list *list = &((const struct size_list *)items)[id], *other = wanted;
    return list->bytes == other->bytes && list->device == other->device;
}

static bool find_list(struct matcher *matcher, struct size_list wanted, struct size_list **list,
                      struct error *err)
{
    struct budget *budget = matcher->profile->budget;
    uint32_t tag = (uint32_t)((((uint64_t)wanted.bytes ^ wanted.device) * HASH_STEP) >> 32), id;
    if (!idtable_find(&matcher->index, tag, is_list, matcher->lists, &wanted, &id)) {
        id = (uint32_t)matcher->count;
        if (!vec_push(matcher->lists, matcher->count, matcher->capacity, budget, err, wanted) ||
            !idtable_add(&matcher->index, tag, id, budget, err))
            return false;
    }
    *list = &matcher->lists[id];
    return true;
}

static uint64_t make_address(struct matcher *matcher, int64_t bytes)
{
    uint64_t addr = matcher->next_addr;
    uint64_t size = (uint64_t)(bytes < 0 ? -bytes : bytes);
    matcher->next_addr += (size + STEP) / STEP * STEP;
    return addr;
}

static bool match_event(struct matcher *matcher, uint32_t event, struct error *err)
{
    struct profile_memory *memory = &matcher->profile->memory[event];
    struct size_list *list;
    if (memory->bytes == 0)
        return true;
    struct size_list wanted = {memory->bytes < 0 ? -memory->bytes : memory->bytes, memory->device,
                               NONE};
    if (!find_list(matcher, wanted, &list, err))
        return false;
    if (memory->bytes < 0 && list->latest != NONE) {
        memory->addr = matcher->profile->memory[list->latest].addr;
        list->latest = matcher->before[list->latest];
        return true;
    }
    memory->addr = make_address(matcher, memory->bytes);
    if (memory->bytes > 0) {
        matcher->before[event] = list->latest;
        list->latest = event;
    }
    return true;
}

bool profile_match(struct profile *profile, struct error *err)
{
    struct matcher matcher = {.profile = profile, .next_addr = STEP};
    bool ok = vec_reserve(matcher.before, matcher.before_capacity, profile->memory_count,
                          profile->budget, err);
    for (size_t i = 0; ok && i < profile->memory_count; i++)
        ok = match_event(&matcher, (uint32_t)i, err);
    vec_free(matcher.lists, matcher.capacity, sizeof(*matcher.lists), profile->budget);
    vec_free(matcher.before, matcher.before_capacity, sizeof(*matcher.before), profile->budget);
    idtable_release(&matcher.index, profile->budget);
    return ok;
}
