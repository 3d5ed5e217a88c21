#include "decode/profiler/profile.h"

#include <stdlib.h>
#include <string.h>

#define THREADS_MOST UINT16_MAX

void profile_init(struct profile *profile, struct symbols *symbols, struct budget *budget)
{
    *profile = (struct profile){.symbols = symbols, .budget = budget};
    ranges_init(&profile->ranges, budget);
    profile->facts = (struct profile_facts){.is_profile = true, .rank = -1, .world_size = -1};
}

void profile_release(struct profile *profile)
{
    struct budget *budget = profile->budget;
    ranges_release(&profile->ranges);
    vec_free(profile->memory, profile->memory_capacity, sizeof(*profile->memory), budget);
    vec_free(profile->kernels, profile->kernel_capacity, sizeof(*profile->kernels), budget);
    vec_free(profile->launches, profile->launch_capacity, sizeof(*profile->launches), budget);
    vec_free(profile->threads, profile->thread_capacity, sizeof(*profile->threads), budget);
    vec_free(profile->annotations, profile->annotation_capacity, sizeof(*profile->annotations),
             budget);
    idtable_release(&profile->thread_index, budget);
}

static bool is_thread(const void *items, uint32_t id, const void *wanted)
{
    return ((const string_id *)items)[id] == *(const string_id *)wanted;
}

bool profile_thread(struct profile *profile, struct text key, uint16_t *thread, struct error *err)
{
    string_id name;
    uint32_t id;
    if (!symbols_string(profile->symbols, key.bytes, key.size, &name, err))
        return false;
    if (!idtable_find(&profile->thread_index, name, is_thread, profile->threads, &name, &id)) {
        id = (uint32_t)profile->thread_count;
        if (id == THREADS_MOST)
            return error_set(err, STATUS_LIMIT, "more than %d threads", THREADS_MOST);
        if (!vec_push(profile->threads, profile->thread_count, profile->thread_capacity,
                      profile->budget, err, name) ||
            !idtable_add(&profile->thread_index, name, id, profile->budget, err))
            return false;
    }
    *thread = (uint16_t)id;
    return true;
}

static bool is_earlier(const void *self, uint32_t a, uint32_t b)
{
    const struct profile_memory *memory = self;
    return memory[a].time_ns < memory[b].time_ns;
}

static bool is_sorted(const struct profile *profile)
{
    for (size_t i = 1; i < profile->memory_count; i++)
        if (profile->memory[i].time_ns < profile->memory[i - 1].time_ns)
            return false;
    return true;
}

/* Moves the events to the places that a sorted list of their indices says, cycle by cycle. */
static void move_memory(struct profile_memory *memory, uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct profile_memory first = memory[i];
        size_t to = i;
        if (order[i] == i)
            continue;
        while (order[to] != i) {
            size_t from = order[to];
            memory[to] = memory[from];
            order[to] = (uint32_t)to;
            to = from;
        }
        memory[to] = first;
        order[to] = (uint32_t)to;
    }
}

static bool sort_memory(struct profile *profile, struct error *err)
{
    uint32_t *order = NULL;
    size_t capacity = 0, count = profile->memory_count;
    if (is_sorted(profile))
        return true;
    if (!vec_reserve(order, capacity, count, profile->budget, err))
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    bool ok = profile_sort(order, count, is_earlier, profile->memory, profile->budget, err);
    if (ok)
        move_memory(profile->memory, order, count);
    vec_free(order, capacity, sizeof(*order), profile->budget);
    return ok;
}

static bool list_annotations(struct profile *profile, struct error *err)
{
    for (size_t i = 0; i < profile->thread_count; i++) {
        struct range_cursor cursor = range_cursor_begin(&profile->ranges, i);
        for (; cursor.more; range_cursor_step(&cursor))
            if (cursor.range.label.kind == RANGE_ANNOTATION &&
                !vec_push(profile->annotations, profile->annotation_count,
                          profile->annotation_capacity, profile->budget, err, cursor.range))
                return false;
    }
    return true;
}

bool profile_prepare(struct profile *profile, struct error *err)
{
    if (profile->memory_count == 0)
        return error_set(err, STATUS_BAD_INPUT,
                         "the profile has no [memory] events: record it with "
                         "torch.profiler.profile(profile_memory=True)");
    return sort_memory(profile, err) && ranges_finish(&profile->ranges, err) &&
           list_annotations(profile, err) &&
           (!profile->facts.no_addresses || profile_match(profile, err)) &&
           profile_stacks(profile, err);
}
