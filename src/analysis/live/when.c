#include "analysis/live/when.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/live/stretches.h"
#include "base/buffer.h"
#include "model/curve_cursor.h"
#include "model/device.h"

#define NAMES_LISTED 2  /* annotations that the error for an unknown name lists */
#define NAME_BYTES   30 /* bytes of each name */

/* "backward@2": the name and the occurrence; 0 for all occurrences. */
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

/* The phase with a name such as "forward"; "optimizer" stands for "optimizer_step". */
static enum phase find_phase(struct text name)
{
    for (int phase = PHASE_OTHER; phase < PHASE_COUNT; phase++)
        if (is_text(name, phase_name((enum phase)phase)))
            return (enum phase)phase;
    if (is_text(name, "optimizer"))
        return PHASE_OPTIMIZER;
    return is_text(name, "data") ? PHASE_DATA : PHASE_UNKNOWN;
}

/* The first item with the highest value of the active curve within the stretches; -1 if there is
 * none. The stretches are in order of their beginnings, but may overlap. */
static int64_t highest(const struct timeline *timeline, const struct stretches *stretches,
                       uint64_t occurrence)
{
    struct curve_cursor cursor = curve_cursor_begin(timeline);
    int64_t most = 0, found = -1;
    size_t next = occurrence > 0 ? occurrence - 1 : 0;
    size_t end = occurrence > 0 ? occurrence : stretches->count;
    uint32_t last = 0; /* number of stretches that have begun */
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

static void list_annotation(struct text name, struct buffer *list)
{
    struct text shown = text_first(name, NAME_BYTES);
    buffer_puts(list, list->size ? ", " : "");
    buffer_add(list, shown.bytes, shown.size);
    if (shown.size < name.size)
        buffer_puts(list, "..");
}

/* Writes "; it has forward, backward, ProfilerStep#0, ...". */
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
        if (row->stage != ANNOTATION_START || row->device != timeline->device)
            continue;
        list_annotation(symbols_text(snapshot->symbols, row->name), list);
        listed++;
    }
    string_id before = STRING_EMPTY;
    for (size_t i = 0; i < timeline->note_count && listed < NAMES_LISTED; i++) {
        if (timeline->notes[i].text == before)
            continue;
        before = timeline->notes[i].text;
        list_annotation(symbols_text(snapshot->symbols, before), list);
        listed++;
    }
    if (listed == NAMES_LISTED)
        buffer_puts(list, ", ...");
}

/* `found` is the number of stretches, of which the `occurrence`th is wanted, or any if it is 0. */
static bool no_such_moment(const struct when *when, const struct timeline *timeline,
                           const struct phases *phases, uint64_t found, uint64_t occurrence,
                           struct error *err)
{
    struct buffer list = BUFFER_INIT;
    if (found > 0 && occurrence <= found && !trace_has_times(timeline->trace))
        return error_set(err, STATUS_USAGE,
                         "--at %.60s: the events of %s have no times, so it is not known where "
                         "annotations are",
                         when->name, DEVICE_WORDS(timeline->device));
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

/* Annotations of the time come before those of allocations. */
static bool find_annotated(struct stretches *stretches, const struct timeline *timeline,
                           struct text name, struct error *err)
{
    return stretches_of_annotation(stretches, timeline, name, err) &&
           (stretches->count > 0 || stretches_of_note(stretches, timeline, name, err));
}

/* Looks for phases first, then for annotations: by the whole name, or by the name before "@2". */
static bool find_stretches(const struct when *when, const struct timeline *timeline,
                           const struct phases *phases, struct stretches *stretches,
                           uint64_t *occurrence, struct error *err)
{
    struct named named = parse_name(when->name);
    enum phase phase = find_phase(named.name);
    *occurrence = named.occurrence;
    if (phase != PHASE_UNKNOWN && !stretches_of_phase(stretches, timeline, phases, phase, err))
        return false;
    if (stretches->count > 0)
        return true;
    if (!find_annotated(stretches, timeline, (struct text){when->name, strlen(when->name)}, err))
        return false;
    if (stretches->count > 0) {
        *occurrence = 0;
        return true;
    }
    return named.occurrence == 0 || find_annotated(stretches, timeline, named.name, err);
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
        ok = no_such_moment(when, timeline, phases, stretches.count, occurrence, err);
    stretches_release(&stretches);
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
