#include "analysis/live/stretches.h"

#include <string.h>

#include "analysis/phase/steps.h"

static bool add(struct stretches *stretches, uint32_t first, uint32_t last, struct error *err)
{
    return vec_push(stretches->items, stretches->count, stretches->capacity, stretches->budget, err,
                    (struct stretch){first, last});
}

/* Finds the runs of a phase. A run continues after other code, but not after another phase of a
 * step, nor in another step. */
static bool find_runs(struct stretches *stretches, const struct timeline *timeline,
                      const struct phases *phases, const struct steps *steps, enum phase phase,
                      struct error *err)
{
    enum phase before = PHASE_UNKNOWN;
    size_t step_before = NO_STEP;
    for (size_t run = 0; run < phases->count; run++) {
        enum phase at = (enum phase)phases->runs[run].phase;
        uint32_t first = phases->runs[run].first;
        uint32_t last = phases_run_end(phases, run, timeline->trace->count) - 1;
        if (at == phase) {
            size_t step = steps_of(steps, first);
            if (before == phase && step == step_before)
                stretches->items[stretches->count - 1].last = last;
            else if (!add(stretches, first, last, err))
                return false;
            step_before = step;
        }
        if (at == phase || at > PHASE_DATA)
            before = at;
    }
    return true;
}

bool stretches_of_phase(struct stretches *stretches, const struct timeline *timeline,
                        const struct phases *phases, enum phase phase, struct error *err)
{
    struct steps steps;
    if (!steps_find(&steps, timeline, phases, err))
        return false;
    bool ok = find_runs(stretches, timeline, phases, &steps, phase, err);
    steps_release(&steps);
    return ok;
}

/* The highest time so far, for each item. In a damaged file, times need not ascend. */
struct times {
    int64_t *highest;
    size_t capacity;
};

static bool times_make(struct times *times, const struct trace *trace, struct budget *budget,
                       struct error *err)
{
    int64_t highest = INT64_MIN;
    if (!vec_reserve(times->highest, times->capacity, trace->count, budget, err))
        return false;
    for (size_t i = 0; i < trace->count; i++) {
        int64_t time = trace_time(trace, i);
        if (time != TIME_NONE && time > highest)
            highest = time;
        times->highest[i] = highest;
    }
    return true;
}

/* The first item at or after a time. */
static uint32_t item_from(const struct times *times, size_t count, int64_t time_us)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times->highest[middle] < time_us)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static bool is_annotation(const struct timeline *timeline, const struct annotation_row *row,
                          uint32_t device, struct text name)
{
    struct text own = symbols_text(timeline->snapshot->symbols, row->name);
    return row->device == device && own.size == name.size &&
           memcmp(own.bytes, name.bytes, name.size) == 0;
}

/* The state while the annotations with one name are read. */
struct annotation_search {
    struct stretches
        *stretches; /* while reading, `last` of a stretch is the item after its last one */
    struct times times;
    size_t *open; /* the stretches that have not ended, as a stack */
    size_t open_count, open_capacity;
};

static bool take_annotation(struct annotation_search *search, const struct trace *trace,
                            const struct annotation_row *row, struct error *err)
{
    struct stretches *stretches = search->stretches;
    uint32_t count = (uint32_t)trace->count;
    if (row->stage == ANNOTATION_START)
        return add(stretches, item_from(&search->times, count, row->time_us), count, err) &&
               vec_push(search->open, search->open_count, search->open_capacity, stretches->budget,
                        err, stretches->count - 1);
    /* items at the time of the end still belong to it */
    if (search->open_count > 0 && row->time_us < INT64_MAX)
        stretches->items[search->open[--search->open_count]].last =
            item_from(&search->times, count, row->time_us + 1);
    return true;
}

static bool find_annotations(struct stretches *stretches, const struct timeline *timeline,
                             uint32_t device, struct text name, struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    struct annotation_search search = {.stretches = stretches};
    bool ok = times_make(&search.times, timeline->trace, stretches->budget, err);
    for (size_t i = 0; ok && i < snapshot->annotation_count; i++)
        if (is_annotation(timeline, &snapshot->annotations[i], device, name))
            ok = take_annotation(&search, timeline->trace, &snapshot->annotations[i], err);
    for (size_t i = 0; ok && i < stretches->count; i++)
        if (stretches->items[i].last-- == 0)
            stretches->items[i] = (struct stretch){1, 0};
    vec_free(search.times.highest, search.times.capacity, sizeof(*search.times.highest),
             stretches->budget);
    vec_free(search.open, search.open_capacity, sizeof(*search.open), stretches->budget);
    return ok;
}

/* An annotation carries the device that was current. A device without annotations of its own takes
 * those of the lowest device that has some. */
bool stretches_of_annotation(struct stretches *stretches, const struct timeline *timeline,
                             struct text name, struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    uint32_t lowest = UINT32_MAX;
    if (!find_annotations(stretches, timeline, timeline->device, name, err))
        return false;
    for (size_t i = 0; i < snapshot->annotation_count; i++) {
        const struct annotation_row *row = &snapshot->annotations[i];
        if (row->device < lowest && is_annotation(timeline, row, row->device, name))
            lowest = row->device;
    }
    return stretches->count > 0 || lowest == UINT32_MAX ||
           find_annotations(stretches, timeline, lowest, name, err);
}

/* The items during which an allocation is active. */
static struct stretch life_of(const struct timeline *timeline, const struct note *note)
{
    uint32_t first = 0, freed;
    if (note->in_trace) {
        first = timeline->lifetimes[note->index].alloc;
        freed = timeline->lifetimes[note->index].free_completed;
    } else {
        freed = timeline->preexisting[note->index].free_completed;
    }
    return (struct stretch){first,
                            freed == EVENT_NEVER ? (uint32_t)timeline->trace->count - 1 : freed};
}

bool stretches_of_note(struct stretches *stretches, const struct timeline *timeline,
                       struct text name, struct error *err)
{
    const struct note *last = NULL;
    for (size_t i = 0; i < timeline->note_count; i++) {
        const struct note *note = &timeline->notes[i];
        bool same = last && last->in_trace == note->in_trace && last->index == note->index;
        if (same || !text_same(symbols_text(timeline->snapshot->symbols, note->text), name))
            continue;
        struct stretch life = life_of(timeline, note);
        if (!add(stretches, life.first, life.last, err))
            return false;
        last = note;
    }
    return true;
}

void stretches_release(struct stretches *stretches)
{
    vec_free(stretches->items, stretches->capacity, sizeof(*stretches->items), stretches->budget);
    *stretches = (struct stretches){0};
}
