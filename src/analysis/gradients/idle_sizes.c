#include "analysis/gradients/idle_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"

/* Cycles that make the idle gradients of one size: .grad of a parameter is made once, unlike that
 * of the input of each step. */
#define MOST_MADE 2

static int compare_tallies(const void *a, const void *b)
{
    const struct idle_size *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static bool add(struct idle_sizes *sizes, struct idle_size tally, struct error *err)
{
    return tally.size < IDLE_LEAST_SIZE ||
           vec_push(sizes->items, sizes->count, sizes->capacity, sizes->budget, err, tally);
}

/* Adds up the tallies of equal sizes. */
static void merge(struct idle_sizes *sizes)
{
    size_t kept = 0;
    if (sizes->count > 0)
        qsort(sizes->items, sizes->count, sizeof(*sizes->items), compare_tallies);
    for (size_t i = 0; i < sizes->count; i++) {
        const struct idle_size tally = sizes->items[i];
        if (kept == 0 || sizes->items[kept - 1].size != tally.size) {
            sizes->items[kept++] = tally;
            continue;
        }
        struct idle_size *sum = &sizes->items[kept - 1];
        if (tally.idle > 0 && (sum->made == 0 || tally.from != sum->from)) {
            sum->made++;
            sum->from = tally.from;
        }
        sum->idle += tally.idle;
        sum->renewed += tally.renewed;
        sum->trained += tally.trained;
        sum->summed += tally.summed;
    }
    sizes->count = kept;
}

static const struct cycle *cycle_before_last(const struct idle_sizes *sizes)
{
    return &sizes->cycles->items[sizes->cycles->count - 2];
}

static const struct cycle *last_cycle(const struct idle_sizes *sizes)
{
    return &sizes->cycles->items[sizes->cycles->count - 1];
}

static bool lives_through(const struct idle_sizes *sizes, size_t from, uint32_t end)
{
    return from + IDLE_LEAST_CYCLES <= sizes->cycles->count && end >= sizes->stays;
}

/* True if a block was made by the backward pass before the last one, and freed before the last one
 * ends. */
static bool is_renewed(const struct idle_sizes *sizes, const struct lifetime *lifetime,
                       uint32_t end)
{
    const struct cycle *before = cycle_before_last(sizes);
    return lifetime->alloc >= before->backward && lifetime->alloc < before->end &&
           end >= before->end && end < last_cycle(sizes)->end;
}

static bool is_summed(const struct idle_sizes *sizes, const struct lifetime *lifetime, uint32_t end)
{
    const struct cycle *last = last_cycle(sizes);
    return lifetime->alloc >= last->backward && lifetime->alloc < last->end && end < last->end;
}

static bool tally_lifetime(struct idle_sizes *sizes, size_t index, struct error *err)
{
    const struct lifetime *lifetime = &sizes->timeline->lifetimes[index];
    uint32_t end = lifetime_end(lifetime);
    uint8_t category = sizes->categories->of_lifetime[index];
    struct idle_size tally = {.size = trace_size(sizes->timeline->trace, lifetime->alloc)};
    tally.summed = is_summed(sizes, lifetime, end);
    if (category == CATEGORY_GRADIENT) {
        const struct stack_facts *facts =
            site_stack_facts(sizes->sites, sizes->timeline->trace->stack[lifetime->alloc], err);
        if (!facts)
            return false;
        if (facts->by_hook)
            return !tally.summed || add(sizes, tally, err);
        size_t from = cycles_from(sizes->cycles, lifetime->alloc);
        tally.idle = tally.made = lives_through(sizes, from, end);
        tally.from = tally.idle ? from : 0;
        tally.renewed = is_renewed(sizes, lifetime, end);
    } else if (category == CATEGORY_OPTIMIZER_STATE && end >= sizes->stays &&
               !state_runs_add(&sizes->states, sizes->timeline, sizes->phases, index, err)) {
        return false;
    }
    if (tally.idle && tally.size >= IDLE_LEAST_SIZE) {
        sizes->idle->of_lifetime[index] = 1;
        sizes->last_idle = lifetime->alloc > sizes->last_idle ? lifetime->alloc : sizes->last_idle;
    }
    bool counts = tally.summed || tally.idle || tally.renewed;
    return !counts || add(sizes, tally, err);
}

static bool tally_preexisting(struct idle_sizes *sizes, size_t index, struct error *err)
{
    const struct preexisting *preexisting = &sizes->timeline->preexisting[index];
    uint8_t category = sizes->categories->of_preexisting[index];
    bool stays = preexisting->in_active && preexisting_end(preexisting) >= sizes->stays;
    struct idle_size tally = {.size = preexisting->size};
    tally.idle = tally.made =
        category == CATEGORY_GRADIENT && stays && lives_through(sizes, 0, EVENT_NEVER);
    if (tally.idle && tally.size >= IDLE_LEAST_SIZE)
        sizes->idle->of_preexisting[index] = 1;
    return !tally.idle || add(sizes, tally, err);
}

/* Adds the parameters of each optimizer, if the stacks show how many states it keeps for each. */
static bool tally_trained(struct idle_sizes *sizes, struct error *err)
{
    struct state_run run;
    state_runs_sort(&sizes->states);
    for (size_t at = 0; state_runs_at(&sizes->states, at, &run); at += run.count) {
        size_t each = state_run_each(&run);
        for (size_t i = 0, same; each > 0 && i < run.count; i += same) {
            same = state_run_same(&run, i);
            struct idle_size tally = {.size = run.states[i].size,
                                      .trained = (same + each - 1) / each};
            if (!add(sizes, tally, err))
                return false;
        }
    }
    return true;
}

bool idle_sizes_find(struct idle_sizes *sizes, struct error *err)
{
    const struct timeline *timeline = sizes->timeline;
    struct idle_gradients *idle = sizes->idle;
    sizes->stays = last_cycle(sizes)->end;
    if (!vec_reserve(idle->of_lifetime, idle->lifetime_capacity, timeline->lifetime_count + 1,
                     sizes->budget, err) ||
        !vec_reserve(idle->of_preexisting, idle->preexisting_capacity,
                     timeline->preexisting_count + 1, sizes->budget, err))
        return false;
    memset(idle->of_lifetime, 0, timeline->lifetime_count + 1);
    memset(idle->of_preexisting, 0, timeline->preexisting_count + 1);
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (!tally_lifetime(sizes, i, err))
            return false;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (!tally_preexisting(sizes, i, err))
            return false;
    if (!tally_trained(sizes, err))
        return false;
    merge(sizes);
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

struct idle_sums idle_sizes_sum(const struct idle_sizes *sizes)
{
    struct idle_sums sums = {0};
    for (size_t i = 0; i < sizes->count; i++) {
        const struct idle_size *tally = &sizes->items[i];
        uint64_t trained = least(tally->trained, tally->renewed);
        uint64_t others = least(tally->trained - trained, tally->idle);
        sums.idle += tally->idle * tally->size;
        sums.renewed += tally->renewed * tally->size;
        sums.summed += (tally->summed >= tally->idle ? tally->idle : 0) * tally->size;
        if (tally->size < STATE_LEAST_SIZE)
            continue;
        sums.large_idle += tally->idle * tally->size;
        sums.large_renewed += tally->renewed * tally->size;
        sums.trained += trained * tally->size;
        sums.untrained += tally->made <= MOST_MADE ? (tally->idle - others) * tally->size : 0;
    }
    return sums;
}

void idle_sizes_release(struct idle_sizes *sizes)
{
    state_runs_release(&sizes->states);
    vec_free(sizes->items, sizes->capacity, sizeof(*sizes->items), sizes->budget);
}
