#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report/notice_list.h"
#include "base/units.h"
#include "base/utf8.h"

static bool changes_nothing(const struct snapshot *snapshot, size_t code)
{
    const char *name = symbols_text(snapshot->symbols, snapshot->action_names[code]).bytes;
    return strcmp(name, ACTION_TEXT_ANNOTATE) == 0 || strcmp(name, ACTION_TEXT_EMPTY_CACHE) == 0;
}

static void unknown_actions(struct notice_list *list, const struct timeline *timeline)
{
    const struct snapshot *snapshot = timeline->snapshot;
    char names[256];
    size_t size = 0, found = 0;
    names[0] = '\0';
    for (size_t code = ACTION_OTHER; code < snapshot->action_code_count; code++) {
        uint64_t count = timeline->by_action[code];
        if (count == 0 || changes_nothing(snapshot, code))
            continue;
        found++;
        if (size >= sizeof(names) - 1)
            continue;
        const char *name = symbols_text(snapshot->symbols, snapshot->action_names[code]).bytes;
        int more = snprintf(names + size, sizeof(names) - size, "%s%.*s (%" PRIu64 ")",
                            size > 0 ? ", " : "", utf8_clip(name, 40), name, count);
        size += more > 0 ? (size_t)more : 0;
    }
    if (found > 0)
        notice_add(list, NOTICE_UNKNOWN_ACTION,
                   "unknown actions were counted and otherwise ignored: %s%s", names,
                   size >= sizeof(names) - 1 ? "..." : "");
}

/* NPUs' dumps have the events of workspaces in front of the others. */
static void order(struct notice_list *list, const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    char event[UNITS_TEXT_SIZE];
    if (!trace->goes_back)
        return;
    units_count(event, trace->back_event);
    if (trace->order)
        notice_add(
            list, NOTICE_ORDER,
            "the events are not in order of time (event %s is the first that is too early): they "
            "were sorted, and keep their numbers",
            event);
    else
        notice_add(
            list, NOTICE_ORDER,
            "the events are not in order of time (event %s is the first that is too early), and %s",
            event,
            timeline->trace->edge.present
                ? "a range is not sorted: sort first, with memsnap export --as snapshot"
                : "were left in the order of the file, which may be right");
}

static void contradictions(struct notice_list *list, const struct timeline *timeline,
                           int64_t unexplained_bytes)
{
    const struct flaws *flaws = &timeline->flaws;
    char bytes[UNITS_TEXT_SIZE], twice[UNITS_TEXT_SIZE], other[UNITS_TEXT_SIZE];
    if (flaws->reallocated > 0 || flaws->size_changed > 0 || unexplained_bytes != 0)
        notice_add(
            list, NOTICE_CONTRADICTION,
            "the trace contradicts itself: %s allocation%s of an address that was still in use, %s "
            "free%s with a size other than the allocated one; %s of active memory at this moment "
            "remain unexplained",
            units_count(twice, flaws->reallocated), notice_plural(flaws->reallocated),
            units_count(other, flaws->size_changed), notice_plural(flaws->size_changed),
            units_bytes(bytes, unexplained_bytes, list->unit));
    if (flaws->active_minus_dump_bytes != 0)
        notice_add(
            list, NOTICE_CONTRADICTION,
            "trace and dump differ: at the last event the trace has %s %s active memory than the "
            "segments of the dump hold",
            units_bytes(bytes,
                        flaws->active_minus_dump_bytes > 0 ? flaws->active_minus_dump_bytes
                                                           : -flaws->active_minus_dump_bytes,
                        list->unit),
            flaws->active_minus_dump_bytes > 0 ? "more" : "less");
}

/* The two differences may be in different segments, and could cancel out if they were added. */
static void uneven_segments(struct notice_list *list, const struct memory_state *state)
{
    char bytes[UNITS_TEXT_SIZE], reserved[UNITS_TEXT_SIZE];
    if (state->untold_bytes > 0)
        notice_add(
            list, NOTICE_SEGMENTS,
            "the blocks of the dump leave out %s of the %s reserved: the file was edited or is "
            "damaged, and unused memory may be larger than reported by that amount",
            units_bytes(bytes, (int64_t)state->untold_bytes, list->unit),
            units_bytes(reserved, (int64_t)state->reserved_bytes, list->unit));
    if (state->excess_bytes > 0)
        notice_add(
            list, NOTICE_SEGMENTS,
            "the blocks of the dump are %s larger than the segments they are in: the file was "
            "edited or is damaged, and its figures for reserved memory cannot be trusted",
            units_bytes(bytes, (int64_t)state->excess_bytes, list->unit));
}

/* A negative value is reported by below_zero(). */
static void above_reserved(struct notice_list *list, const struct timeline *timeline)
{
    int64_t active = timeline->active.peak_bytes;
    int64_t reserved = timeline->reserved.at_active_peak_bytes;
    char held[UNITS_TEXT_SIZE], have[UNITS_TEXT_SIZE];
    if (timeline_knows_peak(timeline) && reserved >= 0 && active > reserved)
        notice_add(
            list, NOTICE_MORE_THAN_RESERVED,
            "%s are active at the peak but only %s reserved: the file was edited or is damaged, "
            "and its figures for reserved memory cannot be trusted",
            units_bytes(held, active, list->unit), units_bytes(have, reserved, list->unit));
}

static void below_zero(struct notice_list *list, const struct timeline *timeline)
{
    int64_t lowest = timeline->reserved.lowest_bytes;
    char below[UNITS_TEXT_SIZE];
    if (lowest < 0)
        notice_add(
            list, NOTICE_RESERVED_BELOW_ZERO,
            "computed back from the segments of the dump, reserved memory falls to %s below 0: the "
            "file was edited or is damaged, and its figures for reserved memory cannot "
            "be trusted",
            units_bytes(below, lowest > -INT64_MAX ? -lowest : INT64_MAX, list->unit));
}

void notices_of_flaws(struct notice_list *list, const struct timeline *timeline,
                      int64_t unexplained_bytes)
{
    unknown_actions(list, timeline);
    order(list, timeline);
    contradictions(list, timeline, unexplained_bytes);
    uneven_segments(list, &timeline->state);
    if (timeline_knows_reserved(timeline)) {
        above_reserved(list, timeline);
        below_zero(list, timeline);
    }
}
