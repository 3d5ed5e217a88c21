#include "analysis/live/when.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phase/steps.h"
#include "base/buffer.h"
#include "model/curve_cursor.h"
#include "model/device.h"

#define NAMES_LISTED 2 /* annotations in the error for an unknown name */

/* A stretch of the trace, by items; empty if last < first. */
struct stretch {
    uint32_t first, last;
};

struct stretches {
    struct stretch *items; /* in the order of their beginnings */
    size_t count, capacity;
    struct budget *budget;
};

/* "backward@2": the name, and which one; 0: all of them. */
struct named {
    struct text name;
    uint64_t occurrence;
};

static struct named parse_name(const char *text)
{
    const char *at = strrchr(text, '@');
    int64_t number;
    if (at && at > text && text_number((struct text){at + 1, strlen(at + 1)}, &number) &&
        number > 0)
        return (struct named){{text, (size_t)(at - text)}, (uint64_t)number};
    return (struct named){{text, strlen(text)}, 0};
}

static bool is_text(struct text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.bytes, word, text.size) == 0;
}

/* "forward", and "optimizer" for "optimizer_step" */
static enum phase find_phase(struct text name)
{
    for (int phase = PHASE_OTHER; phase < PHASE_COUNT; phase++)
        if (is_text(name, phase_name((enum phase)phase)))
            return (enum phase)phase;
    if (is_text(name, "optimizer"))
        return PHASE_OPTIMIZER;
    return is_text(name, "data") ? PHASE_DATA : PHASE_UNKNOWN;
}

static bool add(struct stretches *stretches, uint32_t first, uint32_t last, struct error *err)
{
    return vec_push(stretches->items, stretches->count, stretches->capacity, stretches->budget, err,
                    (struct stretch){first, last});
}

/* A phase goes on after other code, but not after another phase of a step, nor in another step. */
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

static bool find_phase_stretches(struct stretches *stretches, const struct timeline *timeline,
                                 const struct phases *phases, enum phase phase, struct error *err)
{
    struct steps steps;
    if (!steps_find(&steps, timeline, phases, err))
        return false;
    bool ok = find_runs(stretches, timeline, phases, &steps, phase, err);
    steps_release(&steps);
    return ok;
}

/* The highest time so far, for each item: the times of a damaged file need not ascend. */
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

/* The annotations of one name while they are read. */
struct annotation_search {
    struct stretches *stretches; /* `last` is the item after the last one until all are read */
    struct times times;
    size_t *open; /* of the stretches, those that have not ended, as a stack */
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

/* Annotations carry the device that was current: one without its own takes those of the lowest
 * device that has some. */
static bool find_annotation_stretches(struct stretches *stretches, const struct timeline *timeline,
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

/* The first item with the highest value of the active curve within the stretches; -1: none. Their
 * beginnings ascend, but they may overlap. */
static int64_t highest(const struct timeline *timeline, const struct stretches *stretches,
                       uint64_t occurrence)
{
    struct curve_cursor cursor = curve_cursor_begin(timeline);
    int64_t most = 0, found = -1;
    size_t next = occurrence > 0 ? occurrence - 1 : 0;
    size_t end = occurrence > 0 ? occurrence : stretches->count;
    uint32_t last = 0; /* of the stretches that have begun */
    bool any = false;
    for (uint32_t item = 0; item < cursor.trace->count; item++) {
        int64_t active = curve_cursor_step(&cursor);
        for (; next < end && stretches->items[next].first <= item; next++) {
            if (!any || stretches->items[next].last > last)
                last = stretches->items[next].last;
            any = any || stretches->items[next].last >= item;
        }
        if (any && item <= last && (found < 0 || active > most)) {
            most = active;
            found = item;
        }
    }
    return found;
}

int64_t when_phase_peak(const struct timeline *timeline, const struct phases *phases,
                        enum phase phase)
{
    struct curve_cursor cursor = curve_cursor_begin(timeline);
    int64_t most = 0, found = -1;
    for (size_t run = 0; run < phases->count; run++) {
        uint32_t end = phases_run_end(phases, run, timeline->trace->count);
        for (uint32_t item = phases->runs[run].first; item < end; item++) {
            int64_t active = curve_cursor_step(&cursor);
            if (phases->runs[run].phase == phase && (found < 0 || active > most)) {
                most = active;
                found = item;
            }
        }
    }
    return found;
}

/* "; it has forward, backward, ProfilerStep#0, ..." */
static void list_names(const struct timeline *timeline, const struct phases *phases,
                       struct buffer *list)
{
    const struct snapshot *snapshot = timeline->snapshot;
    unsigned seen = 0;
    size_t listed = 0;
    for (size_t run = 0; run < phases->count; run++)
        if (phases->runs[run].phase > PHASE_UNKNOWN)
            seen |= 1U << phases->runs[run].phase;
    for (int phase = PHASE_OTHER; phase < PHASE_COUNT; phase++)
        if (seen >> phase & 1)
            buffer_printf(list, "%s%s", list->size ? ", " : "", phase_name((enum phase)phase));
    for (size_t i = 0; i < snapshot->annotation_count && listed < NAMES_LISTED; i++) {
        const struct annotation_row *row = &snapshot->annotations[i];
        struct text name = text_first(symbols_text(snapshot->symbols, row->name), 30);
        if (row->stage != ANNOTATION_START || row->device != timeline->device)
            continue;
        buffer_puts(list, list->size ? ", " : "");
        buffer_add(list, name.bytes, name.size);
        listed++;
    }
    if (listed == NAMES_LISTED)
        buffer_puts(list, ", ...");
}

static bool no_such_moment(const struct when *when, const struct timeline *timeline,
                           const struct phases *phases, uint64_t found, struct error *err)
{
    struct buffer list = BUFFER_INIT;
    if (found > 0)
        return error_set(err, STATUS_USAGE, "--at %.60s: %s has only %" PRIu64 " of these",
                         when->name, DEVICE_WORDS(timeline->device), found);
    list_names(timeline, phases, &list);
    error_set(err, STATUS_USAGE, "--at %.60s: %s has no such phase or annotation, only %.120s",
              when->name, DEVICE_WORDS(timeline->device),
              list.size && !list.failed ? list.bytes : "events");
    buffer_release(&list);
    return false;
}

/* Phases first, then annotations: by the whole name, or by the name before "@2". */
static bool find_stretches(const struct when *when, const struct timeline *timeline,
                           const struct phases *phases, struct stretches *stretches,
                           uint64_t *occurrence, struct error *err)
{
    struct named named = parse_name(when->name);
    enum phase phase = find_phase(named.name);
    *occurrence = named.occurrence;
    if (phase != PHASE_UNKNOWN && !find_phase_stretches(stretches, timeline, phases, phase, err))
        return false;
    if (stretches->count > 0)
        return true;
    if (!find_annotation_stretches(stretches, timeline,
                                   (struct text){when->name, strlen(when->name)}, err))
        return false;
    if (stretches->count > 0) {
        *occurrence = 0;
        return true;
    }
    return named.occurrence == 0 || find_annotation_stretches(stretches, timeline, named.name, err);
}

static bool phase_item(const struct when *when, const struct timeline *timeline,
                       const struct phases *phases, int64_t *item, struct error *err)
{
    struct stretches stretches = {.budget = timeline->snapshot->budget};
    uint64_t occurrence;
    bool ok = find_stretches(when, timeline, phases, &stretches, &occurrence, err);
    int64_t found = -1;
    if (ok && occurrence <= stretches.count)
        found = highest(timeline, &stretches, occurrence);
    if (ok && found < 0)
        ok = no_such_moment(when, timeline, phases, stretches.count, err);
    vec_free(stretches.items, stretches.capacity, sizeof(*stretches.items), stretches.budget);
    if (ok)
        *item = found;
    return ok;
}

bool when_item(const struct when *when, const struct timeline *timeline, struct site_table *sites,
               const struct phases *phases, int64_t *item, struct error *err)
{
    struct phases own = {0};
    switch (when->kind) {
    case WHEN_PEAK:
        *item = timeline->active.peak_event;
        return true;
    case WHEN_END:
        *item = (int64_t)timeline->trace->count - 1;
        return true;
    case WHEN_POINT:
        return timeline_item_at(timeline, when->point, item, err);
    case WHEN_PHASE:
        break;
    }
    if (phases)
        return phase_item(when, timeline, phases, item, err);
    bool ok =
        phases_build(&own, timeline, sites, err) && phase_item(when, timeline, &own, item, err);
    phases_release(&own);
    return ok;
}
