#include "analysis/phases.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/paths.h"

/* Other Python code of at most this many events inside the backward pass or the optimizer step (a
 * hook, another thread) does not end them. */
#define FLICKER_EVENTS 8

const char *phase_name(enum phase phase)
{
    static const char *const names[] = {
        [PHASE_UNKNOWN] = "unknown",   [PHASE_OTHER] = "other",
        [PHASE_DATA] = "data_loading", [PHASE_FORWARD] = "forward",
        [PHASE_BACKWARD] = "backward", [PHASE_OPTIMIZER] = "optimizer_step",
    };
    return names[phase];
}

/* Times at which Optimizer.step annotations of the device begin and end, each ascending. */
struct step_times {
    int64_t *starts, *ends;
    size_t start_count, end_count;
    size_t starts_capacity, ends_capacity;
};

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool step_times_collect(struct step_times *times, const struct timeline *timeline,
                               struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    for (size_t i = 0; i < snapshot->annotation_count; i++) {
        const struct annotation_row *row = &snapshot->annotations[i];
        struct text name = symbols_text(snapshot->symbols, row->name);
        if (row->device != timeline->device || !text_starts(name, "Optimizer.step#"))
            continue;
        bool is_start = row->stage == ANNOTATION_START;
        void **data = is_start ? (void **)&times->starts : (void **)&times->ends;
        size_t *capacity = is_start ? &times->starts_capacity : &times->ends_capacity;
        size_t *count = is_start ? &times->start_count : &times->end_count;
        if (!vec_grow(data, capacity, *count + 1, sizeof(int64_t), snapshot->budget, err))
            return false;
        ((int64_t *)*data)[(*count)++] = row->time_us;
    }
    if (times->start_count > 0)
        qsort(times->starts, times->start_count, sizeof(int64_t), compare_times);
    if (times->end_count > 0)
        qsort(times->ends, times->end_count, sizeof(int64_t), compare_times);
    return true;
}

static void step_times_release(struct step_times *times, struct budget *budget)
{
    vec_free(times->starts, times->starts_capacity, sizeof(int64_t), budget);
    vec_free(times->ends, times->ends_capacity, sizeof(int64_t), budget);
}

/* How many of the ascending `times` are below `limit`. */
static size_t count_below(const int64_t *times, size_t count, int64_t limit)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool step_is_open(const struct step_times *times, int64_t time)
{
    if (times->start_count == 0 || time == TIME_NONE || time == INT64_MAX)
        return false;
    return count_below(times->starts, times->start_count, time + 1) >
           count_below(times->ends, times->end_count, time);
}

static enum phase phase_of_context(enum context context)
{
    switch (context) {
    case CONTEXT_FORWARD:
        return PHASE_FORWARD;
    case CONTEXT_BACKWARD:
    case CONTEXT_RECOMPUTE:
        return PHASE_BACKWARD;
    case CONTEXT_OPTIMIZER:
        return PHASE_OPTIMIZER;
    case CONTEXT_DATA:
        return PHASE_DATA;
    case CONTEXT_INIT:
    case CONTEXT_OTHER:
    case CONTEXT_ZERO_GRAD:
        return PHASE_OTHER;
    case CONTEXT_NONE:
        break;
    }
    return PHASE_UNKNOWN;
}

static bool begin_run(struct phases *phases, uint32_t item, enum phase phase, struct error *err)
{
    struct phase_run *last = phases->count > 0 ? &phases->runs[phases->count - 1] : NULL;
    if (last && last->phase == PHASE_OTHER && phases->count > 1 &&
        item - last->first <= FLICKER_EVENTS && last[-1].phase == (uint32_t)phase &&
        (phase == PHASE_BACKWARD || phase == PHASE_OPTIMIZER)) {
        phases->count--;
        return true;
    }
    if (last && last->first == item) {
        last->phase = (uint32_t)phase;
        return true;
    }
    if (!vec_grow((void **)&phases->runs, &phases->runs_capacity, phases->count + 1,
                  sizeof(*phases->runs), phases->budget, err))
        return false;
    phases->runs[phases->count++] = (struct phase_run){item, (uint32_t)phase};
    return true;
}

static bool is_memory_event(uint8_t action)
{
    return action == ACTION_ALLOC || action == ACTION_FREE_REQUESTED ||
           action == ACTION_FREE_COMPLETED;
}

/* The phase each stack shows, looked up once a stack: a byte each, PHASE_UNASKED at first. */
struct stack_phases {
    uint8_t *phases;
    size_t count, capacity;
    struct site_table *sites;
};

#define PHASE_UNASKED UINT8_MAX

static bool stack_phases_init(struct stack_phases *known, struct site_table *sites,
                              struct budget *budget, struct error *err)
{
    *known = (struct stack_phases){.sites = sites};
    known->count = symbols_stack_count(site_table_symbols(sites));
    if (!vec_grow((void **)&known->phases, &known->capacity, known->count, 1, budget, err))
        return false;
    memset(known->phases, PHASE_UNASKED, known->count);
    known->phases[STACK_NONE] = PHASE_UNKNOWN;
    return true;
}

static inline bool stack_phase(struct stack_phases *known, stack_id stack, enum phase *phase,
                               struct error *err)
{
    if (known->phases[stack] == PHASE_UNASKED) {
        const struct stack_facts *facts = site_stack_facts(known->sites, stack, err);
        if (!facts)
            return false;
        known->phases[stack] = (uint8_t)phase_of_context((enum context)facts->context);
    }
    *phase = (enum phase)known->phases[stack];
    return true;
}

static bool find_runs(struct phases *phases, const struct timeline *timeline,
                      struct stack_phases *known, const struct step_times *times, struct error *err)
{
    const struct trace *trace = timeline->trace;
    enum phase current = PHASE_UNKNOWN;
    bool by_annotation = false; /* no stack says so, only an annotation that may end */
    bool seen_memory = false;   /* before it, events of segments belong to what follows */
    if (trace->count > 0 && !begin_run(phases, 0, current, err))
        return false;
    for (size_t i = 0; i < trace->count; i++) {
        if (!is_memory_event(trace->action[i]))
            continue;
        uint32_t first = seen_memory ? (uint32_t)i : 0;
        seen_memory = true;
        enum phase phase;
        if (!stack_phase(known, trace->stack[i], &phase, err))
            return false;
        if (phase != PHASE_UNKNOWN) {
            by_annotation = false;
        } else if (current <= PHASE_DATA && step_is_open(times, trace->time_us[i])) {
            phase = PHASE_OPTIMIZER;
            by_annotation = true;
        } else if (by_annotation && !step_is_open(times, trace->time_us[i])) {
            phase = PHASE_OTHER;
            by_annotation = false;
        } else {
            continue;
        }
        phases->any_step = phases->any_step || phase > PHASE_DATA;
        if (phase != current && !begin_run(phases, first, phase, err))
            return false;
        current = phase;
    }
    return true;
}

static bool make_guide(struct phases *phases, size_t items, struct error *err)
{
    size_t count = items / PHASE_STRIDE + 1;
    if (!vec_grow((void **)&phases->guide, &phases->guide_capacity, count, sizeof(*phases->guide),
                  phases->budget, err))
        return false;
    uint32_t run = 0;
    for (size_t i = 0; i < count; i++) {
        while (run + 1 < phases->count && phases->runs[run + 1].first <= i * PHASE_STRIDE)
            run++;
        phases->guide[i] = run;
    }
    return true;
}

bool phases_build(struct phases *phases, const struct timeline *timeline, struct site_table *sites,
                  struct error *err)
{
    struct phases made = {.budget = timeline->snapshot->budget};
    struct step_times times = {0};
    struct stack_phases known = {0};
    bool ok = step_times_collect(&times, timeline, err) &&
              stack_phases_init(&known, sites, made.budget, err) &&
              find_runs(&made, timeline, &known, &times, err) &&
              make_guide(&made, timeline->trace->count, err);
    step_times_release(&times, made.budget);
    vec_free(known.phases, known.capacity, 1, made.budget);
    if (!ok) {
        phases_release(&made);
        return false;
    }
    *phases = made;
    return true;
}

void phases_release(struct phases *phases)
{
    vec_free(phases->runs, phases->runs_capacity, sizeof(*phases->runs), phases->budget);
    vec_free(phases->guide, phases->guide_capacity, sizeof(*phases->guide), phases->budget);
    *phases = (struct phases){0};
}
