#include "analysis/growth/gradient_cycles.h"

#include "analysis/phase/births.h"
#include "analysis/phase/step_marks.h"
#include "base/bisect.h"

/* The end of the last annotated optimizer step that ends before `item`; 0 if there is none. */
static uint32_t annotated_end(const struct step_marks *marks, size_t *next, uint32_t item)
{
    while (*next < marks->count && marks->items[*next].end <= item)
        (*next)++;
    return *next > 0 ? marks->items[*next - 1].end : 0;
}

/* Extends the forward pass of `cycle` by a run, up to the run's last allocation. Without stacks,
 * what zero_grad() frees right before the backward pass looks like part of the run. */
static void extend_forward(struct cycle *cycle, const struct timeline *timeline, uint32_t begin,
                           uint32_t end, bool is_new)
{
    size_t births = births_from(timeline, end);
    uint32_t last = births > 0 ? timeline->lifetimes[births - 1].alloc : 0;
    if (is_new)
        cycle->forward = begin;
    if (births > 0 && last >= begin)
        cycle->forward_end = last + 1;
    else if (is_new)
        cycle->forward_end = end;
}

/* Extends the backward passes of `cycle` by a run that ends at `end`. */
static void extend_backward(struct cycle *cycle, uint32_t end, bool forward_again)
{
    if (cycle->pass_end == cycle->end && !forward_again)
        cycle->pass_end = end;
    cycle->end = end;
}

/* True if an optimizer step is certain. One that only lifetimes suggest may be anything between two
 * backward passes whose gradients accumulate. */
static bool is_sure_step(const struct phase_run *run)
{
    return run->phase == PHASE_OPTIMIZER &&
           (run->evidence == PHASE_BY_STACK || run->evidence == PHASE_BY_ANNOTATION);
}

static bool add_cycle(struct cycles *cycles, const struct timeline *timeline, struct cycle cycle,
                      struct error *err)
{
    size_t first = births_from(timeline, cycle.forward);
    size_t count = births_from(timeline, cycle.forward_end) - first;
    cycle.forward_most =
        count > 0 ? timeline->lifetimes[first + (count - 1) / 2].alloc + 1 : cycle.forward_end;
    return vec_push(cycles->items, cycles->count, cycles->capacity, cycles->budget, err, cycle);
}

static bool find(struct cycles *cycles, const struct timeline *timeline,
                 const struct phases *phases, const struct step_marks *steps, struct error *err)
{
    struct cycle open = {.first = true};
    bool in_forward = false,
         waits = true;          /* waits: there was no forward pass since the optimizer step */
    bool forward_again = false; /* there was a forward pass since the last backward pass */
    size_t next = 0;
    uint32_t taken = 0; /* annotated steps that end at or before this item are done */
    for (size_t run = 0; run < phases->count; run++) {
        uint32_t begin = phases->runs[run].first;
        uint32_t end = phases_run_end(phases, run, timeline->trace->count);
        uint32_t annotated = annotated_end(steps, &next, begin);
        enum phase phase = (enum phase)phases->runs[run].phase;
        bool stepped = annotated > taken && (!in_forward || annotated > open.forward_end);
        taken = annotated;
        bool is_step = is_sure_step(&phases->runs[run]);
        if (stepped || is_step) {
            open = (struct cycle){.used = is_step ? end : annotated};
            waits = true;
            in_forward = false;
        }
        if (phase == PHASE_FORWARD && (waits || in_forward)) {
            extend_forward(&open, timeline, begin, end, !in_forward);
            waits = false;
            in_forward = true;
        } else if (phase == PHASE_BACKWARD && in_forward) {
            open.backward = begin;
            open.end = open.pass_end = end;
            in_forward = false;
            if (!add_cycle(cycles, timeline, open, err))
                return false;
        } else if (phase == PHASE_BACKWARD && !waits && cycles->count > 0) {
            extend_backward(&cycles->items[cycles->count - 1], end, forward_again);
        } else if (phase == PHASE_BACKWARD) {
            waits = false; /* the trace begins in this cycle, so its gradients may be meant to
                              accumulate */
        }
        forward_again = phase == PHASE_FORWARD || (forward_again && phase != PHASE_BACKWARD);
    }
    return true;
}

bool cycles_find(struct cycles *cycles, const struct timeline *timeline,
                 const struct phases *phases, struct error *err)
{
    struct cycles made = {.budget = timeline->snapshot->budget};
    struct step_marks steps = {0};
    bool ok = step_marks_find(&steps, timeline, "Optimizer.step#", false, err) &&
              find(&made, timeline, phases, &steps, err);
    step_marks_release(&steps);
    if (!ok) {
        cycles_release(&made);
        return false;
    }
    *cycles = made;
    return true;
}

void cycles_release(struct cycles *cycles)
{
    vec_free(cycles->items, cycles->capacity, sizeof(*cycles->items), cycles->budget);
    *cycles = (struct cycles){0};
}

size_t cycles_from(const struct cycles *cycles, uint32_t item)
{
    const struct cycle *items = cycles->items;
    return items ? bisect_until(&items->used, sizeof(*items), cycles->count, item) : 0;
}

size_t cycles_until(const struct cycles *cycles, uint32_t item)
{
    const struct cycle *items = cycles->items;
    return items ? bisect_until(&items->forward_most, sizeof(*items), cycles->count, item) : 0;
}
