#include "analysis/phase/pattern.h"

#include "analysis/phase/births.h"
#include "analysis/phase/freed_gradients.h"
#include "analysis/phase/passes.h"
#include "analysis/phase/refine.h"

#define LEAST_BIRTHS   32 /* births in a program that only runs forward passes */
#define LEAST_RENEWALS 2  /* passes that show that a program makes its weights anew */
/* Part of those births that are freed, if stacks do not show forward passes. */
#define LEAST_FREED 0.9

/* The phase of an item within a pair of passes, and where that phase ends. */
static enum phase phase_in_passes(const struct passes *passes, uint32_t item, uint32_t *stop)
{
    *stop = item < passes->backward ? passes->backward
            : item < passes->end    ? passes->end
                                    : passes->updated;
    return item < passes->backward ? PHASE_FORWARD
           : item < passes->end    ? PHASE_BACKWARD
                                   : PHASE_OPTIMIZER;
}

/* Assigns items to the passes, except for annotated runs that are not phases of a step. */
static bool put_passes(struct pattern *pattern, struct phases *made, struct error *err)
{
    const struct phases *old = pattern->old;
    size_t items = pattern->timeline->trace->count, pass = 0;
    bool ok = true;
    for (size_t run = 0; ok && run < old->count; run++) {
        uint32_t at = old->runs[run].first, end = phases_run_end(old, run, items);
        enum phase phase = (enum phase)old->runs[run].phase;
        enum phase_evidence evidence = (enum phase_evidence)old->runs[run].evidence;
        bool plain = phase <= PHASE_OTHER;
        while (phase == PHASE_OPTIMIZER && pass < pattern->pass_count &&
               pattern->passes[pass].forward < at)
            pass++; /* a pass ends with the step */
        while (ok && at < end) {
            while (pass < pattern->pass_count && pattern->passes[pass].updated <= at)
                pass++;
            const struct passes *next = pass < pattern->pass_count ? &pattern->passes[pass] : NULL;
            uint32_t stop = end;
            if (!plain || !next || next->forward >= end) {
                ok = phases_append(made, at, phase, evidence, err);
            } else if (at < next->forward) {
                stop = next->forward;
                ok = phases_append(made, at, phase, evidence, err);
            } else {
                ok = phases_append(made, at, phase_in_passes(next, at, &stop), PHASE_BY_LIFETIMES,
                                   err);
            }
            at = stop < end ? stop : end;
        }
    }
    return ok;
}

/* Extends a backward pass up to an annotated optimizer step. */
static void prolong_backward(struct phases *phases)
{
    size_t kept = 0;
    for (size_t run = 0; run < phases->count; run++) {
        bool joins = run > 0 && run + 1 < phases->count && phases->runs[run].phase <= PHASE_OTHER &&
                     phases->runs[kept - 1].phase == PHASE_BACKWARD &&
                     phases->runs[run + 1].phase == PHASE_OPTIMIZER;
        if (!joins)
            phases->runs[kept++] = phases->runs[run];
    }
    phases->count = kept;
}

/* The item by which the permanent allocations have been made: the one with the largest product of
 * permanent bytes so far and number of items that follow. */
static uint32_t find_settling_item(const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    double bytes = 0, most = 0;
    uint32_t settled = 0, last = births_program_end(timeline);
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (preexisting_end(&timeline->preexisting[i]) >= last)
            bytes += (double)timeline->preexisting[i].size;
    most = bytes * (double)trace->count;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        if (lifetime_end(&timeline->lifetimes[i]) < last)
            continue;
        bytes += (double)trace_size(trace, item);
        if (bytes * (double)(trace->count - item) <= most)
            continue;
        most = bytes * (double)(trace->count - item);
        settled = item + 1;
    }
    return settled;
}

/* Without passes and annotations, takes the program for one that runs forward passes only, if it
 * runs a model at all. */
static bool guess_forward(struct phases *phases, const struct timeline *timeline, struct error *err)
{
    uint32_t first = find_settling_item(timeline);
    if (first >= timeline->trace->count ||
        timeline->lifetime_count - births_from(timeline, first) < LEAST_BIRTHS)
        return true;
    while (phases->count > 0 && phases->runs[phases->count - 1].first > first)
        phases->count--;
    return phases_append(phases, first, PHASE_FORWARD, PHASE_GUESSED, err);
}

static bool has_step(const struct phases *phases)
{
    for (size_t run = 0; run < phases->count; run++)
        if (phases->runs[run].phase > PHASE_DATA)
            return true;
    return false;
}

/* True if nearly all that is made after the permanent allocations is freed again, as results of a
 * computation are. Data that a program collects or keeps in reserve is not. */
static bool mostly_frees(const struct timeline *timeline)
{
    uint32_t first = find_settling_item(timeline);
    size_t begin = births_from(timeline, first), freed = 0;
    bool keeps_any = first > 0 || timeline->preexisting_count > 0;
    for (size_t i = begin; i < timeline->lifetime_count; i++)
        freed += lifetime_end(&timeline->lifetimes[i]) != EVENT_NEVER;
    return keeps_any && (double)freed >= (double)(timeline->lifetime_count - begin) * LEAST_FREED;
}

/* True if the file has categories of its own, or comes from a program without PyTorch. */
static bool needs_no_guess(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->extra_count; i++)
        if (snapshot->extras[i].category != STRING_EMPTY)
            return true;
    return snapshot->profile.is_heap;
}

bool phases_guess_forward(struct phases *phases, const struct timeline *timeline, struct error *err)
{
    if (needs_no_guess(timeline->snapshot) || has_step(phases) ||
        !trace_has_lifetimes(timeline->trace) || !mostly_frees(timeline))
        return true;
    return guess_forward(phases, timeline, err);
}

static bool find_all_passes(struct pattern *pattern, const struct timeline *timeline,
                            const struct phases *phases, const struct step_marks *steps,
                            bool are_renewed, struct error *err)
{
    if (!pattern_init(pattern, timeline, phases, steps, are_renewed, err) ||
        !passes_from_humps(pattern, err) || !passes_from_samples(pattern, err) ||
        !passes_from_anchors(pattern, err) || !passes_from_held_steps(pattern, err) ||
        !passes_from_roots(pattern, err))
        return false;
    passes_correct_turns(pattern);
    passes_turn_at_roots(pattern);
    if (!passes_merge_nested(pattern, err) || !passes_begin_at_held(pattern, err))
        return false;
    if (!passes_show_training(pattern))
        pattern->pass_count = pattern->kept_graphs = pattern->probes = 0;
    return true;
}

/* Copies phases that show no steps, and adds the steps. */
static bool add_steps(const struct phases *phases, const struct step_marks *steps, size_t items,
                      struct phases *made, struct error *err)
{
    size_t next = 0;
    for (size_t run = 0; run < phases->count; run++) {
        const struct phase_run *old = &phases->runs[run];
        uint32_t end = phases_run_end(phases, run, items);
        if (!phases_append(made, old->first, (enum phase)old->phase,
                           (enum phase_evidence)old->evidence, err))
            return false;
        for (; next < steps->count && steps->items[next].begin < end; next++) {
            const struct step_mark *step = &steps->items[next];
            if (step->begin == step->end)
                continue;
            if (!phases_append(made, step->begin, PHASE_OPTIMIZER, PHASE_BY_LIFETIMES, err) ||
                (step->end < end && !phases_append(made, step->end, (enum phase)old->phase,
                                                   (enum phase_evidence)old->evidence, err)))
                return false;
        }
    }
    return true;
}

/* The phases with the steps that rows of freed gradients show. */
struct shown_steps {
    struct step_marks marks;
    struct phases phases;
};

static void shown_steps_release(struct shown_steps *shown)
{
    step_marks_release(&shown->marks);
    phases_release(&shown->phases);
}

/* Finds the steps that rows of freed gradients show, and the passes anew, before these steps. Keeps
 * the result if it explains more than the passes so far, or as much with steps. The pattern then
 * refers to *shown. */
static bool find_unnamed_steps(struct pattern *pattern, const struct phases *phases,
                               struct shown_steps *shown, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    struct gradient_rows rows;
    struct pattern other = {.budget = phases->budget};
    bool ok = freed_gradients_find(&rows, pattern, err);
    if (ok && rows.count > 0) {
        ok = freed_gradients_steps(&rows, &shown->marks, err) &&
             add_steps(phases, &shown->marks, timeline->trace->count, &shown->phases, err) &&
             find_all_passes(&other, timeline, &shown->phases, &shown->marks, false, err);
        if (ok && freed_gradients_explain_more(&rows, &other, pattern)) {
            struct pattern old = *pattern;
            *pattern = other;
            other = old;
        } else {
            step_marks_release(&shown->marks);
        }
        pattern_release(&other);
    }
    gradient_rows_release(&rows);
    return ok;
}

bool phases_from_lifetimes(struct phases *phases, const struct timeline *timeline,
                           const struct step_marks *steps, struct error *err)
{
    struct pattern pattern;
    struct phases made = {.budget = phases->budget};
    struct shown_steps shown = {.marks = {.budget = phases->budget}, .phases = made};
    bool ok = find_all_passes(&pattern, timeline, phases, steps, false, err);
    if (ok && steps->count == 0)
        ok = find_unnamed_steps(&pattern, phases, &shown, err);
    if (ok && pattern.pass_count == 0) {
        pattern_release(&pattern);
        ok = find_all_passes(&pattern, timeline, phases, steps, true, err);
        if (pattern.pass_count < LEAST_RENEWALS)
            pattern.pass_count = 0;
    }
    ok = ok && put_passes(&pattern, &made, err);
    phases->samples = ok && pattern.pass_count > 0 ? pattern.samples : 0;
    phases->are_renewed = ok && pattern.are_renewed && pattern.pass_count > 0;
    if (!ok) {
        shown_steps_release(&shown);
        pattern_release(&pattern);
        phases_release(&made);
        return false;
    }
    vec_free(phases->runs, phases->runs_capacity, sizeof(*phases->runs), phases->budget);
    phases->runs = made.runs;
    phases->count = made.count;
    phases->runs_capacity = made.runs_capacity;
    if (phases->samples == 0) /* between pass and step, plain code sums up gradients of samples */
        prolong_backward(phases);
    struct known_sizes weights = {pattern.stays, pattern.stay_count};
    ok = has_step(phases)
             ? phases_refine(phases, timeline, NULL, shown.marks.count > 0 ? &shown.marks : steps,
                             weights, err)
             : guess_forward(phases, timeline, err);
    pattern_release(&pattern);
    shown_steps_release(&shown);
    return ok;
}
