#include "analysis/phase/steps.h"

#include "analysis/phase/repeats.h"
#include "analysis/phase/step_groups.h"
#include "analysis/phase/step_marks.h"
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

/* The inputs from which steps are found. */
struct finder {
    const struct timeline *timeline;
    const struct phases *phases;
    uint32_t item_count;
    bool has_forward;        /* some run is a forward pass */
    bool begins_cut;         /* the ring buffer or a range dropped events before the first item */
    bool ends_cut;           /* a range dropped events after the last */
    uint32_t oom;            /* the last out-of-memory event; 0 if none */
    struct step_marks marks; /* of the events that end a step: optimizer steps or passes */
    struct steps *steps;     /* the result */
};

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

/* True if a forward pass overlaps items [begin, end). */
static bool forward_within(const struct finder *finder, uint32_t begin, uint32_t end)
{
    if (begin >= end)
        return false;
    const struct phases *phases = finder->phases;
    for (size_t run = phases_run_of(phases, begin);
         run < phases->count && phases->runs[run].first < end; run++)
        if (phases->runs[run].phase == PHASE_FORWARD)
            return true;
    return false;
}

/* The item until which the passes before the end of a mark may lie. */
static uint32_t end_of_passes(const struct step_mark *mark)
{
    return mark->has_closure ? mark->end : mark->begin;
}

static bool add_step(struct finder *finder, struct step step, struct error *err)
{
    struct steps *steps = finder->steps;
    if (!vec_grow((void **)&steps->items, &steps->capacity, steps->count + 1, sizeof(step),
                  steps->budget, err))
        return false;
    steps->items[steps->count++] = step;
    return true;
}

/* Adds one step for each mark. */
static bool add_profiler_steps(struct finder *finder, struct error *err)
{
    for (size_t i = 0; i < finder->marks.count; i++) {
        const struct step_mark *mark = &finder->marks.items[i];
        bool begins = mark->has_start && (mark->begin > 0 || !finder->begins_cut);
        bool ends = mark->has_end || i + 1 < finder->marks.count;
        ends = ends && (mark->end < finder->item_count || !finder->ends_cut);
        if (mark->begin < mark->end && !add_step(finder,
                                                 (struct step){.number = mark->number,
                                                               .first = mark->begin,
                                                               .last = mark->end - 1,
                                                               .complete = begins && ends},
                                                 err))
            return false;
    }
    return true;
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
static bool add_marks_of_phase(struct finder *finder, enum phase phase, struct error *err)
{
    const struct phases *phases = finder->phases;
    struct step_marks *marks = &finder->marks;
    for (size_t run = 0; run < phases->count; run++) {
        if (phases->runs[run].phase != (uint32_t)phase)
            continue;
        if (!vec_reserve(marks->items, marks->capacity, marks->count + 1, marks->budget, err))
            return false;
        marks->items[marks->count++] =
            (struct step_mark){.begin = phases->runs[run].first,
                               .end = phases_run_end(finder->phases, run, finder->item_count),
                               .has_start = true,
                               .has_end = true};
    }
    return true;
}

/* Adds a step that ends with each mark, if a forward pass separates it from the next mark and they
 * do not belong to one iteration. */
static bool add_steps_of_marks(struct finder *finder, enum steps_source source, struct error *err)
{
    uint32_t first = 0;
    bool parted = source == STEPS_FORWARD || source == STEPS_REPEATS || !finder->has_forward;
    bool is_cut = false; /* the last iteration lacks some of its marks */
    for (size_t i = 0; i < finder->marks.count; i++) {
        const struct step_mark *mark = &finder->marks.items[i];
        bool is_last = i + 1 == finder->marks.count;
        is_cut = mark->joins_next;
        if (is_cut ||
            (!is_last && !parted && !forward_within(finder, mark->end, end_of_passes(&mark[1]))))
            continue;
        bool begins = finder->steps->count > 0 ||
                      (!finder->begins_cut && (parted || forward_within(finder, 0, mark->end)));
        bool ends = mark->has_end && (mark->end < finder->item_count ||
                                      (!finder->ends_cut && finder->oom <= mark->begin));
        if (mark->end > first && !add_step(finder,
                                           (struct step){.number = (int64_t)finder->steps->count,
                                                         .first = first,
                                                         .last = mark->end - 1,
                                                         .complete = begins && ends},
                                           err))
            return false;
        first = mark->end > first ? mark->end : first;
    }
    finder->steps->one_optimizer_step = (source == STEPS_ANNOTATION || source == STEPS_OPTIMIZER) &&
                                        finder->steps->count == finder->marks.count;
    bool begun = source == STEPS_REPEATS
                     ? first < finder->item_count
                     : source != STEPS_FORWARD && forward_within(finder, first, finder->item_count);
    return !(begun || (is_cut && first < finder->item_count)) ||
           add_step(finder,
                    (struct step){.number = (int64_t)finder->steps->count,
                                  .first = first,
                                  .last = finder->item_count - 1},
                    err);
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
static bool add_steps_of_phases(struct finder *finder, struct error *err)
{
    struct steps *steps = finder->steps;
    if (finder->marks.count > 0 && !add_steps_of_marks(finder, steps->source, err))
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
    steps->source = STEPS_REPEATS;
    return add_steps_of_marks(finder, STEPS_REPEATS, err);
}

/* True if the optimizer allocates nothing but its states, in the first step. Then backward passes
 * must show the steps that follow. */
static bool optimizer_goes_quiet(const struct finder *finder)
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

static bool find(struct finder *finder, struct error *err)
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
        !add_profiler_steps(finder, err))
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
    if (optimizer && !step_groups_find(marks, finder->timeline, err))
        return false;
    return finder->steps->source == STEPS_ANNOTATION
               ? add_steps_of_marks(finder, STEPS_ANNOTATION, err)
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
    struct finder finder = {
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
