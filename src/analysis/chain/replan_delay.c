/* Frees some tensors of the passes with checkpoints slightly later. What the allocator then
 * reserves shows how much depends on the order of frees, which the recording of a program without
 * checkpoints does not tell exactly. */
#include "analysis/chain/replan_internal.h"

struct delay {
    const struct program *program;
    struct program *made;
    uint32_t seed;
    uint32_t *slots; /* by slot of the program: its slot in `made` */
    size_t slots_capacity;
    uint32_t *births; /* by slot of the program: number of requests up to its own */
    size_t births_capacity;
    uint32_t *free; /* slots of `made` that are free again */
    size_t free_count, free_capacity;
    struct program_step *late; /* frees that come after the next request */
    size_t late_count, late_capacity;
    uint32_t requests;
};

static bool emit(struct delay *delay, struct program_step step, struct error *err)
{
    struct program *made = delay->made;
    return vec_push(made->steps, made->step_count, made->step_capacity, made->budget, err, step);
}

static bool free_slot(struct delay *delay, struct program_step step, struct error *err)
{
    return emit(delay, step, err) && vec_push(delay->free, delay->free_count, delay->free_capacity,
                                              delay->made->budget, err, step.slot);
}

static bool free_late(struct delay *delay, struct error *err)
{
    for (size_t i = 0; i < delay->late_count; i++)
        if (!free_slot(delay, delay->late[i], err))
            return false;
    delay->late_count = 0;
    return true;
}

/* True for about half of all frees, chosen by a hash, so that each run gives the same result. What
 * is freed before any other request, as a workspace is, stays as it is. */
static bool is_late(const struct delay *delay, const struct program_step *step)
{
    uint32_t hash = (step->item * 2654435761u) ^ (step->slot * 40503u) ^ (delay->seed * 668265263u);
    hash = (hash ^ hash >> 15) * 2246822519u;
    return delay->births[step->slot] < delay->requests && (hash >> 16 & 1);
}

static void take_slot(struct delay *delay, struct program_step *step)
{
    uint32_t slot = delay->free_count > 0 ? delay->free[--delay->free_count]
                                          : (uint32_t)delay->made->slot_count++;
    delay->slots[step->slot] = slot;
    delay->births[step->slot] = ++delay->requests;
    step->slot = slot;
}

static bool add_step(struct delay *delay, struct program_step step, bool in_pass, struct error *err)
{
    if (step.kind == STEP_MALLOC) {
        take_slot(delay, &step);
        return emit(delay, step, err) && free_late(delay, err);
    }
    if (!replan_is_free(&step)) /* has no slot */
        return free_late(delay, err) && emit(delay, step, err);
    uint32_t *slot = &delay->slots[step.slot];
    bool is_over = step.kind == STEP_FREE_COMPLETED;
    if (*slot == REPLAN_NONE)
        return true; /* it is free already */
    bool late = in_pass && is_over && is_late(delay, &step);
    step.slot = *slot;
    *slot = is_over ? REPLAN_NONE : *slot;
    if (late)
        return vec_push(delay->late, delay->late_count, delay->late_capacity, delay->made->budget,
                        err, step);
    return is_over ? free_slot(delay, step, err) : emit(delay, step, err);
}

static bool add_steps(struct delay *delay, const struct item_range *passes, size_t count,
                      struct error *err)
{
    const struct program *program = delay->program;
    size_t pass = 0;
    for (size_t i = 0; i < program->slot_count; i++)
        delay->slots[i] = REPLAN_NONE;
    for (size_t i = 0; i < program->step_count; i++) {
        struct program_step step = program->steps[i];
        bool is_start = i < program->start_count;
        while (!is_start && pass < count && passes[pass].to <= step.item)
            pass++;
        bool in_pass = !is_start && pass < count && passes[pass].from <= step.item;
        if (!add_step(delay, step, in_pass, err))
            return false;
    }
    return free_late(delay, err);
}

bool replan_delay(const struct program *program, const struct item_range *passes, size_t count,
                  uint32_t seed, struct program *delayed, struct error *err)
{
    struct budget *budget = program->budget;
    struct delay delay = {.program = program, .made = delayed, .seed = seed};
    *delayed = *program;
    delayed->steps = NULL;
    delayed->step_count = delayed->step_capacity = delayed->slot_count = 0;
    bool ok =
        vec_reserve(delay.slots, delay.slots_capacity, program->slot_count + 1, budget, err) &&
        vec_reserve(delay.births, delay.births_capacity, program->slot_count + 1, budget, err) &&
        vec_reserve(delayed->steps, delayed->step_capacity, program->step_count, budget, err);
    ok = ok && add_steps(&delay, passes, count, err);
    vec_free(delay.slots, delay.slots_capacity, sizeof(*delay.slots), budget);
    vec_free(delay.births, delay.births_capacity, sizeof(*delay.births), budget);
    vec_free(delay.free, delay.free_capacity, sizeof(*delay.free), budget);
    vec_free(delay.late, delay.late_capacity, sizeof(*delay.late), budget);
    if (!ok)
        replan_edit_release(delayed);
    return ok;
}
