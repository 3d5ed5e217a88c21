#include "analysis/carried.h"

#include <string.h>

#include "base/hash.h"

void size_tallies_init(struct size_tallies *tallies, struct budget *budget)
{
    *tallies = (struct size_tallies){.seed = hash_seed(), .budget = budget};
}

void size_tallies_release(struct size_tallies *tallies)
{
    vec_free(tallies->slots, tallies->capacity, sizeof(*tallies->slots), tallies->budget);
    *tallies = (struct size_tallies){0};
}

static struct size_tally *find_slot(struct size_tally *slots, size_t count, uint64_t seed,
                                    uint64_t size)
{
    size_t at = (size_t)hash_word(size, seed) & (count - 1);
    while (slots[at].used && slots[at].size != size)
        at = (at + 1) & (count - 1);
    return &slots[at];
}

static bool tallies_grow(struct size_tallies *tallies, struct error *err)
{
    size_t count = tallies->slot_count ? tallies->slot_count * 2 : 64, capacity = 0;
    struct size_tally *slots = NULL;
    if (!vec_grow((void **)&slots, &capacity, count, sizeof(*slots), tallies->budget, err))
        return false;
    memset(slots, 0, count * sizeof(*slots));
    for (size_t i = 0; i < tallies->slot_count; i++)
        if (tallies->slots[i].used)
            *find_slot(slots, count, tallies->seed, tallies->slots[i].size) = tallies->slots[i];
    vec_free(tallies->slots, tallies->capacity, sizeof(*slots), tallies->budget);
    tallies->slots = slots;
    tallies->slot_count = count;
    tallies->capacity = capacity;
    return true;
}

struct size_tally *size_tallies_at(struct size_tallies *tallies, uint64_t size, struct error *err)
{
    if (tallies->used * 2 >= tallies->slot_count && !tallies_grow(tallies, err))
        return NULL;
    struct size_tally *tally = find_slot(tallies->slots, tallies->slot_count, tallies->seed, size);
    if (!tally->used) {
        *tally = (struct size_tally){.size = size, .last_run = NO_RUN, .used = true};
        tallies->used++;
    }
    return tally;
}

void size_tally_gradient(struct size_tally *tally, uint32_t run)
{
    if (tally->last_run != run) {
        tally->last_run = run;
        tally->run_gradients = 0;
    }
    tally->run_gradients++;
    if (tally->run_gradients > tally->gradients)
        tally->gradients = tally->run_gradients;
}

bool size_tally_is_parameter(const struct size_tally *tally)
{
    return tally->gradients > 0 && tally->persistent == tally->gradients;
}

/* The item at which the program let go of it: what the phase of its end is judged by. */
static uint32_t end_of(const struct carried *carried)
{
    return carried->free_requested != EVENT_NEVER ? carried->free_requested
                                                  : carried->free_completed;
}

/* Phase of the end; PHASE_UNKNOWN for what is never freed, or freed before any evidence. */
static enum phase end_phase(const struct phases *phases, const struct carried *carried)
{
    uint32_t run = phases_run_of(phases, end_of(carried));
    return run == NO_RUN ? PHASE_UNKNOWN : (enum phase)phases->runs[run].phase;
}

/* A step that the trace begins in frees its own temporaries too. */
static bool ends_in_whole_step(const struct phases *phases, const struct carried *carried)
{
    return end_phase(phases, carried) == PHASE_OPTIMIZER &&
           phases_run_of(phases, end_of(carried)) > 0;
}

static enum reason reason_of_stack(const struct phases *phases, const struct carried *carried,
                                       const struct stack_facts *facts)
{
    bool ends_at_once = phases_run_of(phases, end_of(carried)) == 0;
    enum phase phase = end_phase(phases, carried);
    if (facts->is_workspace)
        return REASON_WORKSPACE;
    if (facts->communicates)
        return REASON_COMMUNICATION;
    switch ((enum context)facts->context) {
    case CONTEXT_INIT:
        return REASON_MODEL_MADE;
    case CONTEXT_FORWARD:
    case CONTEXT_RECOMPUTE:
        return REASON_FORWARD_KEPT;
    case CONTEXT_BACKWARD:
        return ends_at_once && phase == PHASE_BACKWARD && !facts->accumulates_grad
                   ? REASON_BACKWARD_PASSED_ON
                   : REASON_BACKWARD_KEPT;
    case CONTEXT_OPTIMIZER:
        return ends_at_once && phase == PHASE_OPTIMIZER ? REASON_STEP_FREED
                                                        : REASON_STEP_KEPT;
    case CONTEXT_DATA:
    case CONTEXT_OTHER:
        return phase == PHASE_BACKWARD ? REASON_BACKWARD_FREES : REASON_NONE;
    case CONTEXT_ZERO_GRAD:
    case CONTEXT_NONE:
        break;
    }
    return REASON_NONE;
}

/* What needs no counting; REASON_NONE leaves it to the tallies. */
static bool assign_one(const struct timeline *timeline, struct site_table *sites,
                       const struct phases *phases, const struct carried *carried,
                       uint8_t *reason, struct error *err)
{
    *reason = REASON_NONE;
    uint32_t end = end_of(carried);
    if (end != EVENT_NEVER && timeline->trace->stack[end] != STACK_NONE) {
        const struct stack_facts *of_free =
            site_stack_facts(sites, timeline->trace->stack[end], err);
        if (!of_free)
            return false;
        if (of_free->context == CONTEXT_ZERO_GRAD) {
            *reason = REASON_ZERO_GRAD_FREED;
            return true;
        }
    }
    if (carried->stack != STACK_NONE) {
        const struct stack_facts *facts = site_stack_facts(sites, carried->stack, err);
        if (!facts)
            return false;
        *reason = (uint8_t)reason_of_stack(phases, carried, facts);
    } else if (end_phase(phases, carried) == PHASE_BACKWARD && phases_run_of(phases, end) == 0) {
        *reason = REASON_BACKWARD_FREES;
    }
    return true;
}

static bool is_persistent(const struct carried *carried)
{
    return carried->free_requested == EVENT_NEVER && carried->free_completed == EVENT_NEVER;
}

static bool count_one(const struct phases *phases, const struct carried *carried,
                      struct size_tallies *tallies, struct error *err)
{
    struct size_tally *tally = size_tallies_at(tallies, carried->size, err);
    if (!tally)
        return false;
    if (is_persistent(carried))
        tally->persistent++;
    else if (carried->stack == STACK_NONE && ends_in_whole_step(phases, carried))
        tally->replaced++;
    return true;
}

static enum reason reason_of_tally(const struct phases *phases, const struct carried *carried,
                                       const struct size_tally *tally)
{
    if (is_persistent(carried))
        return size_tally_is_parameter(tally) ? REASON_GRADIENT_SIZES : REASON_NONE;
    bool is_state = carried->stack == STACK_NONE && ends_in_whole_step(phases, carried) &&
                    tally->made_in_step >= tally->replaced && tally->persistent >= tally->gradients;
    return is_state ? REASON_STEP_REPLACED : REASON_NONE;
}

bool carried_assign(const struct timeline *timeline, struct site_table *sites,
                    const struct phases *phases, struct size_tallies *tallies,
                    struct categories *categories, struct error *err)
{
    for (size_t i = 0; i < timeline->carried_count; i++) {
        const struct carried *carried = &timeline->carried[i];
        uint8_t *reason = &categories->why_carried[i];
        if (!assign_one(timeline, sites, phases, carried, reason, err) ||
            (*reason == REASON_NONE && !count_one(phases, carried, tallies, err)))
            return false;
    }
    for (size_t i = 0; i < timeline->carried_count; i++) {
        const struct carried *carried = &timeline->carried[i];
        uint8_t *reason = &categories->why_carried[i];
        if (*reason == REASON_NONE) {
            const struct size_tally *tally = size_tallies_at(tallies, carried->size, err);
            if (!tally)
                return false;
            *reason = (uint8_t)reason_of_tally(phases, carried, tally);
        }
        categories->of_carried[i] = (uint8_t)reason_category((enum reason)*reason);
    }
    return true;
}
