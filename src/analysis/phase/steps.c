#include "analysis/phase/steps.h"

#include "analysis/phase/repeats.h"
#include "analysis/phase/rollouts.h"
#include "analysis/phase/step_groups.h"
#include "analysis/phase/steps_internal.h"
#include "base/bisect.h"
#include "model/curve_cursor.h"

#define FEW_STEPS 3 /* complete steps, as many as an analysis of growth needs */

static const char *const source_names[] = {
    [STEPS_NONE] = "none",
    [STEPS_PROFILER] = "profiler_step",
    [STEPS_ANNOTATION] = "optimizer_annotation",
    [STEPS_OPTIMIZER] = "optimizer_phase",
    [STEPS_BACKWARD] = "backward_phase",
    [STEPS_FORWARD] = "forward_phase",
    [STEPS_REPEATS] = "repeated_sizes",
};

const char *steps_source_name(enum steps_source source)
{
    return source_names[source];
}

/* True if the recorder saw allocations that are no longer in the trace. */
static bool begins_cut(const struct timeline *timeline)
{
    if (timeline->trace->first_event > 0 || timeline->snapshot->events_lost)
        return true;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (timeline->preexisting[i].origin == ORIGIN_BLOCK &&
            timeline->preexisting[i].stack != STACK_NONE)
            return true;
    return false;
}

static uint32_t last_oom(const struct timeline *timeline)
{
    if (timeline->by_action[ACTION_OOM] == 0)
        return 0;
    size_t item = timeline->trace->count;
    while (item > 0 && timeline->trace->action[item - 1] != ACTION_OOM)
        item--;
    return item > 0 ? (uint32_t)item - 1 : 0;
}

/* Counts the stretches of optimizer steps that follow a forward pass. */
static size_t optimizer_passes(const struct phases *phases)
{
    size_t count = 0;
    bool forward = false;
    for (size_t run = 0; run < phases->count; run++) {
        forward = forward || phases->runs[run].phase == PHASE_FORWARD;
        if (phases->runs[run].phase == PHASE_OPTIMIZER && forward) {
            forward = false;
            count++;
        }
    }
    return count;
}

/* Makes marks of the runs of one phase. */
static bool add_marks_of_phase(struct steps_finder *finder, enum phase phase, struct error *err)
{
    const struct phases *phases = finder->phases;
    struct step_marks *marks = &finder->marks;
    for (size_t run = 0; run < phases->count; run++) {
        if (phases->runs[run].phase != (uint32_t)phase)
            continue;
        finder->steps->have_several_calls |= phases->runs[run].joins_next;
        if (!vec_reserve(marks->items, marks->capacity, marks->count + 1, marks->budget, err))
            return false;
        marks->items[marks->count++] =
            (struct step_mark){.begin = phases->runs[run].first,
                               .end = phases_run_end(finder->phases, run, finder->item_count),
                               .has_start = true,
                               .has_end = true,
                               .joins_next = phases->runs[run].joins_next};
    }
    return true;
}

static bool find_optimizer_steps(struct step_marks *marks, const struct timeline *timeline,
                                 struct error *err)
{
    struct step_marks zero_grads;
    if (!step_marks_find(marks, timeline, "Optimizer.step#", false, err) ||
        !step_marks_find(&zero_grads, timeline, "Optimizer.zero_grad#", false, err))
        return false;
    step_marks_find_closures(marks, &zero_grads);
    step_marks_release(&zero_grads);
    return true;
}

/* Takes the marks of phases, unless they are few and repeated sizes show more steps. */
static bool add_steps_of_phases(struct steps_finder *finder, struct error *err)
{
    struct steps *steps = finder->steps;
    if (finder->marks.count > 0 && !steps_of_marks(finder, steps->source, err))
        return false;
    size_t complete = steps_complete(steps);
    if (complete >= FEW_STEPS)
        return true;
    step_marks_release(&finder->marks);
    finder->marks.budget = steps->budget;
    if (!repeats_find(&finder->marks, finder->timeline, err))
        return false;
    if (finder->marks.count <= complete)
        return true;
    steps->count = 0;
    steps->turns_end = false;
    steps->source = STEPS_REPEATS;
    return steps_of_marks(finder, STEPS_REPEATS, err);
}

/* True if the optimizer allocates nothing but its states, in the first step. Then backward passes
 * must show the steps that follow. */
static bool optimizer_goes_quiet(const struct steps_finder *finder)
{
    const struct phases *phases = finder->phases;
    size_t most = 0, since = 0;
    bool is_new = true, was_optimizer = false;
    for (size_t run = 0; run < phases->count; run++) {
        uint32_t phase = phases->runs[run].phase;
        is_new = is_new || phase == PHASE_FORWARD;
        if (phase == PHASE_BACKWARD && is_new) {
            since++;
            is_new = false;
        }
        if (phase == PHASE_OPTIMIZER) {
            most = since > most ? since : most;
            since = 0;
            was_optimizer = true;
        }
    }
    return was_optimizer && since >= FEW_STEPS && since > 2 * most;
}

static bool find(struct steps_finder *finder, struct error *err)
{
    static const struct {
        enum steps_source source;
        enum phase phase;
    } by_phase[] = {
        {STEPS_OPTIMIZER, PHASE_OPTIMIZER},
        {STEPS_BACKWARD, PHASE_BACKWARD},
        {STEPS_FORWARD, PHASE_FORWARD},
    };
    struct step_marks *marks = &finder->marks;
    if (!step_marks_find(marks, finder->timeline, "ProfilerStep#", true, err) ||
        !steps_of_profiler(finder, err))
        return false;
    finder->steps->source = STEPS_PROFILER;
    if (finder->steps->count > 0)
        return true;
    step_marks_release(marks);
    if (!find_optimizer_steps(marks, finder->timeline, err))
        return false;
    finder->steps->source = STEPS_ANNOTATION;
    if (marks->count * 2 < optimizer_passes(finder->phases))
        step_marks_release(marks); /* most of them were lost */
    size_t first = marks->count == 0 && optimizer_goes_quiet(finder) ? 1 : 0;
    for (size_t i = first; i < sizeof(by_phase) / sizeof(by_phase[0]) && marks->count == 0; i++) {
        marks->budget = finder->steps->budget;
        finder->steps->source = by_phase[i].source;
        if (!add_marks_of_phase(finder, by_phase[i].phase, err))
            return false;
    }
    bool optimizer =
        finder->steps->source == STEPS_ANNOTATION || finder->steps->source == STEPS_OPTIMIZER;
    if (optimizer && (!step_groups_find(marks, finder->timeline, &finder->steps->turns_end, err) ||
                      !rollouts_find(marks, finder->timeline, finder->phases, err)))
        return false;
    return finder->steps->source == STEPS_ANNOTATION ? steps_of_marks(finder, STEPS_ANNOTATION, err)
                                                     : add_steps_of_phases(finder, err);
}

static void measure(struct steps *steps, const struct timeline *timeline)
{
    struct curve_cursor cursor = curve_cursor_begin(timeline);
    for (size_t i = 0; i < steps->count; i++) {
        struct step *step = &steps->items[i];
        while (cursor.item <= step->first)
            curve_cursor_step(&cursor);
        int64_t peak = cursor.active;
        uint32_t peak_item = step->first;
        while (cursor.item <= step->last) {
            uint32_t item = (uint32_t)cursor.item;
            if (curve_cursor_step(&cursor) > peak) {
                peak = cursor.active;
                peak_item = item;
            }
        }
        step->peak_bytes = peak;
        step->peak_item = peak_item;
        step->end_bytes = cursor.active;
    }
}

bool steps_find(struct steps *steps, const struct timeline *timeline, const struct phases *phases,
                struct error *err)
{
    struct steps made = {.budget = timeline->snapshot->budget};
    struct steps_finder finder = {
        .timeline = timeline,
        .phases = phases,
        .item_count = (uint32_t)timeline->trace->count,
        .begins_cut = begins_cut(timeline),
        .ends_cut = timeline->trace->edge.skipped_after > 0,
        .oom = last_oom(timeline),
        .steps = &made,
    };
    for (size_t run = 0; run < phases->count; run++)
        finder.has_forward = finder.has_forward || phases->runs[run].phase == PHASE_FORWARD;
    bool ok =
        timeline->trace->count == 0 || !trace_has_lifetimes(timeline->trace) || find(&finder, err);
    step_marks_release(&finder.marks);
    if (!ok) {
        steps_release(&made);
        return false;
    }
    if (made.count == 0)
        made.source = STEPS_NONE;
    measure(&made, timeline);
    *steps = made;
    return true;
}

void steps_release(struct steps *steps)
{
    vec_free(steps->items, steps->capacity, sizeof(*steps->items), steps->budget);
    *steps = (struct steps){0};
}

size_t steps_of(const struct steps *steps, uint32_t item)
{
    const struct step *items = steps->items;
    size_t at = items ? bisect_less(&items->last, sizeof(*items), steps->count, item) : 0;
    return at < steps->count && items[at].first <= item ? at : NO_STEP;
}

size_t steps_complete(const struct steps *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < steps->count; i++)
        count += steps->items[i].complete;
    return count;
}
