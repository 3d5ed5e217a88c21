#include "analysis/gradients/idle_gradients.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/gradients/discarded_gradients.h"
#include "analysis/gradients/earlier_models.h"
#include "analysis/gradients/repeated_model.h"
#include "analysis/gradients/state_runs.h"
#include "analysis/phase/births.h"

#define LEAST_CYCLES 2 /* cycles through which an idle gradient lives */
/* Cycles that make the idle gradients of one size: .grad of a parameter is made once, unlike that
 * of the input of each step. */
#define MOST_MADE 2

/* Allocations of one size. A copy of a model's parameters has as many as the model. */
struct tally {
    uint64_t size;
    uint64_t idle, renewed; /* numbers of gradients */
    size_t from;            /* of idle gradients: the cycle that made them, or the last of these */
    size_t made;            /* the number of cycles that made them */
    uint64_t trained;       /* number of parameters for which an optimizer keeps states */
    uint64_t summed;        /* number that are made and freed again within the last backward pass */
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    const struct categories *categories;
    const struct cycles *cycles;
    struct state_runs states;
    struct tally *tallies; /* ordered by size */
    size_t count, capacity;
    uint32_t stays;     /* what is live at this item was not freed by a step */
    uint32_t last_idle; /* the item that made the latest idle gradient; 0 if it existed before the
                           trace */
    struct idle_gradients *idle;
    struct budget *budget;
};

static int compare_tallies(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static bool add(struct finder *finder, struct tally tally, struct error *err)
{
    return tally.size < IDLE_LEAST_SIZE ||
           vec_push(finder->tallies, finder->count, finder->capacity, finder->budget, err, tally);
}

/* Adds up the tallies of equal sizes. */
static void merge(struct finder *finder)
{
    size_t kept = 0;
    if (finder->count > 0)
        qsort(finder->tallies, finder->count, sizeof(*finder->tallies), compare_tallies);
    for (size_t i = 0; i < finder->count; i++) {
        const struct tally tally = finder->tallies[i];
        if (kept == 0 || finder->tallies[kept - 1].size != tally.size) {
            finder->tallies[kept++] = tally;
            continue;
        }
        struct tally *sum = &finder->tallies[kept - 1];
        if (tally.idle > 0 && (sum->made == 0 || tally.from != sum->from)) {
            sum->made++;
            sum->from = tally.from;
        }
        sum->idle += tally.idle;
        sum->renewed += tally.renewed;
        sum->trained += tally.trained;
        sum->summed += tally.summed;
    }
    finder->count = kept;
}

static const struct cycle *cycle_before_last(const struct finder *finder)
{
    return &finder->cycles->items[finder->cycles->count - 2];
}

static const struct cycle *last_cycle(const struct finder *finder)
{
    return &finder->cycles->items[finder->cycles->count - 1];
}

static bool lives_through(const struct finder *finder, size_t from, uint32_t end)
{
    return from + LEAST_CYCLES <= finder->cycles->count && end >= finder->stays;
}

/* True if a block was made by the backward pass before the last one, and freed before the last one
 * ends. */
static bool is_renewed(const struct finder *finder, const struct lifetime *lifetime, uint32_t end)
{
    const struct cycle *before = cycle_before_last(finder);
    return lifetime->alloc >= before->backward && lifetime->alloc < before->end &&
           end >= before->end && end < last_cycle(finder)->end;
}

static bool is_summed(const struct finder *finder, const struct lifetime *lifetime, uint32_t end)
{
    const struct cycle *last = last_cycle(finder);
    return lifetime->alloc >= last->backward && lifetime->alloc < last->end && end < last->end;
}

static bool tally_lifetime(struct finder *finder, size_t index, struct error *err)
{
    const struct lifetime *lifetime = &finder->timeline->lifetimes[index];
    uint32_t end = lifetime_end(lifetime);
    uint8_t category = finder->categories->of_lifetime[index];
    struct tally tally = {.size = trace_size(finder->timeline->trace, lifetime->alloc)};
    tally.summed = is_summed(finder, lifetime, end);
    if (category == CATEGORY_GRADIENT) {
        const struct stack_facts *facts =
            site_stack_facts(finder->sites, finder->timeline->trace->stack[lifetime->alloc], err);
        if (!facts)
            return false;
        if (facts->by_hook)
            return !tally.summed || add(finder, tally, err);
        size_t from = cycles_from(finder->cycles, lifetime->alloc);
        tally.idle = tally.made = lives_through(finder, from, end);
        tally.from = tally.idle ? from : 0;
        tally.renewed = is_renewed(finder, lifetime, end);
    } else if (category == CATEGORY_OPTIMIZER_STATE && end >= finder->stays &&
               !state_runs_add(&finder->states, finder->timeline, finder->phases, index, err)) {
        return false;
    }
    if (tally.idle && tally.size >= IDLE_LEAST_SIZE) {
        finder->idle->of_lifetime[index] = 1;
        finder->last_idle =
            lifetime->alloc > finder->last_idle ? lifetime->alloc : finder->last_idle;
    }
    bool counts = tally.summed || tally.idle || tally.renewed;
    return !counts || add(finder, tally, err);
}

static bool tally_preexisting(struct finder *finder, size_t index, struct error *err)
{
    const struct preexisting *preexisting = &finder->timeline->preexisting[index];
    uint8_t category = finder->categories->of_preexisting[index];
    bool stays = preexisting->in_active && preexisting_end(preexisting) >= finder->stays;
    struct tally tally = {.size = preexisting->size};
    tally.idle = tally.made =
        category == CATEGORY_GRADIENT && stays && lives_through(finder, 0, EVENT_NEVER);
    if (tally.idle && tally.size >= IDLE_LEAST_SIZE)
        finder->idle->of_preexisting[index] = 1;
    return !tally.idle || add(finder, tally, err);
}

/* Adds the parameters of each optimizer, if the stacks show how many states it keeps for each. */
static bool tally_trained(struct finder *finder, struct error *err)
{
    struct state_run run;
    state_runs_sort(&finder->states);
    for (size_t at = 0; state_runs_at(&finder->states, at, &run); at += run.count) {
        size_t each = state_run_each(&run);
        for (size_t i = 0, same; each > 0 && i < run.count; i += same) {
            same = state_run_same(&run, i);
            struct tally tally = {.size = run.states[i].size, .trained = (same + each - 1) / each};
            if (!add(finder, tally, err))
                return false;
        }
    }
    return true;
}

static bool collect(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    struct idle_gradients *idle = finder->idle;
    if (!vec_reserve(idle->of_lifetime, idle->lifetime_capacity, timeline->lifetime_count + 1,
                     finder->budget, err) ||
        !vec_reserve(idle->of_preexisting, idle->preexisting_capacity,
                     timeline->preexisting_count + 1, finder->budget, err))
        return false;
    memset(idle->of_lifetime, 0, timeline->lifetime_count + 1);
    memset(idle->of_preexisting, 0, timeline->preexisting_count + 1);
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (!tally_lifetime(finder, i, err))
            return false;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (!tally_preexisting(finder, i, err))
            return false;
    if (!tally_trained(finder, err))
        return false;
    merge(finder);
    return true;
}

/* Sums over all sizes, in bytes. */
struct sums {
    uint64_t idle, renewed;
    uint64_t trained;   /* renewed gradients for which an optimizer keeps states */
    uint64_t untrained; /* idle gradients for which no optimizer keeps states */
    uint64_t summed;    /* idle gradients to which the last backward pass adds */
    /* Of idle and renewed: those that are large enough for states that tell (STATE_LEAST_SIZE). */
    uint64_t large_idle, large_renewed;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct sums sum_up(const struct finder *finder)
{
    struct sums sums = {0};
    for (size_t i = 0; i < finder->count; i++) {
        const struct tally *tally = &finder->tallies[i];
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

static bool is_large_part(uint64_t part, uint64_t of)
{
    return part >= of / 10 * 9;
}

/* The item that made the model that is trained now, after the last idle gradient; EVENT_NEVER if
 * that model is older, or was not seen. */
static uint32_t present_model(const struct finder *finder, uint64_t renewed)
{
    const struct timeline *timeline = finder->timeline;
    uint64_t made = 0;
    uint32_t first = EVENT_NEVER;
    for (size_t i = births_from(timeline, finder->last_idle); i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (finder->categories->of_lifetime[i] != CATEGORY_PARAMETER ||
            lifetime_end(lifetime) < finder->stays)
            continue;
        first = first == EVENT_NEVER ? lifetime->alloc : first;
        made += trace_size(timeline->trace, lifetime->alloc);
    }
    return finder->last_idle > 0 && made >= renewed / 2 ? first : EVENT_NEVER;
}

static bool absent_before(const struct idle_gradients *idle, const struct timeline *timeline,
                          struct absences *absences, struct error *err)
{
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        const struct absence absence = {0, preexisting->free_completed, preexisting->size};
        if (idle->of_preexisting[i] && !absences_add(absences, absence, err))
            return false;
    }
    return true;
}

bool idle_gradients_absent(const struct idle_gradients *idle, const struct timeline *timeline,
                           struct absences *absences, struct error *err)
{
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (idle->of_lifetime[i] && !absences_add(absences, absence_of_lifetime(timeline, i), err))
            return false;
    return absent_before(idle, timeline, absences, err);
}

static bool measure(struct finder *finder, uint32_t present, uint64_t renewed, struct error *err)
{
    struct absences absences = {.budget = finder->budget};
    struct earlier_models earlier = {.timeline = finder->timeline,
                                     .categories = finder->categories,
                                     .cycles = finder->cycles,
                                     .stays = finder->stays,
                                     .present = present,
                                     .least_bytes = renewed / 2};
    bool ok = finder->idle->reason == IDLE_EARLIER_MODEL
                  ? earlier_models_absent(&earlier, finder->idle, &absences, err) &&
                        absent_before(finder->idle, finder->timeline, &absences, err)
                  : idle_gradients_absent(finder->idle, finder->timeline, &absences, err);
    ok = ok && absences_save(&absences, finder->timeline, &finder->idle->save_bytes, err);
    absences_release(&absences);
    return ok;
}

static bool judge(struct finder *finder, struct error *err)
{
    struct sums sums = sum_up(finder);
    uint32_t present = present_model(finder, sums.renewed);
    for (size_t i = 0; i < finder->count; i++)
        finder->idle->count += finder->tallies[i].idle;
    finder->idle->bytes = (int64_t)sums.idle;
    if (sums.large_idle > 0 && is_large_part(sums.untrained, sums.large_idle) &&
        is_large_part(sums.summed, sums.idle) && is_large_part(sums.trained, sums.large_renewed))
        finder->idle->reason = IDLE_UNTRAINED;
    else if (present != EVENT_NEVER)
        finder->idle->reason = IDLE_EARLIER_MODEL;
    return finder->idle->reason == IDLE_UNKNOWN || measure(finder, present, sums.renewed, err);
}

/* Looks for gradients of a model that another one has just replaced. */
static bool find_repeated(struct finder *finder, bool *any, struct error *err)
{
    struct idle_gradients *idle = finder->idle;
    struct repeated_model repeated;
    if (!repeated_model_find(&repeated, idle->of_lifetime, finder->timeline, finder->categories,
                             last_cycle(finder), err))
        return false;
    *any = repeated.count > 0;
    if (!*any)
        return true;
    idle->count = repeated.count;
    idle->bytes = (int64_t)repeated.bytes;
    idle->reason = IDLE_EARLIER_MODEL;
    return measure(finder, repeated.present, repeated.made_bytes, err);
}

/* Looks for gradients that are idle for a while only, or that the trace shows too late for more
 * cycles. */
static bool find_others(struct finder *finder, bool *any, struct error *err)
{
    struct idle_gradients *idle = finder->idle;
    struct discarded_gradients discarded;
    memset(idle->of_lifetime, 0, finder->timeline->lifetime_count + 1);
    memset(idle->of_preexisting, 0, finder->timeline->preexisting_count + 1);
    if (!find_repeated(finder, any, err))
        return false;
    if (*any)
        return true;
    if (!discarded_gradients_find(&discarded, idle->of_lifetime, finder->timeline, finder->sites,
                                  finder->phases, finder->categories, err))
        return false;
    *any = discarded.count > 0;
    if (!*any)
        return true;
    idle->count = discarded.count;
    idle->bytes = discarded.bytes;
    idle->reason = IDLE_DISCARDED;
    return measure(finder, 0, 0, err);
}

bool idle_gradients_find(struct idle_gradients *idle, const struct timeline *timeline,
                         struct site_table *sites, const struct phases *phases,
                         const struct categories *categories, const struct cycles *cycles,
                         struct error *err)
{
    struct idle_gradients made = {.budget = timeline->snapshot->budget};
    struct finder finder = {.timeline = timeline,
                            .sites = sites,
                            .phases = phases,
                            .states = {.budget = made.budget},
                            .categories = categories,
                            .cycles = cycles,
                            .idle = &made,
                            .budget = made.budget};
    *idle = (struct idle_gradients){0};
    if (cycles->count < LEAST_CYCLES)
        return true;
    finder.stays = last_cycle(&finder)->end;
    bool ok = collect(&finder, err);
    struct sums sums = sum_up(&finder);
    bool any = ok && sums.idle > 0 && sums.renewed > 0;
    ok = ok && (any ? judge(&finder, err) : find_others(&finder, &any, err));
    state_runs_release(&finder.states);
    vec_free(finder.tallies, finder.capacity, sizeof(*finder.tallies), finder.budget);
    if (!ok || !any)
        idle_gradients_release(&made);
    else
        *idle = made;
    return ok;
}

void idle_gradients_release(struct idle_gradients *idle)
{
    vec_free(idle->of_lifetime, idle->lifetime_capacity, sizeof(*idle->of_lifetime), idle->budget);
    vec_free(idle->of_preexisting, idle->preexisting_capacity, sizeof(*idle->of_preexisting),
             idle->budget);
    *idle = (struct idle_gradients){0};
}
