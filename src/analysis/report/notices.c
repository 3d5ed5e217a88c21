#include "analysis/report/notices.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/utf8.h"
#include "model/recording.h"

#define NOTICES_MOST 11
#define RECORD       "`torch.cuda.memory._record_memory_history("

struct notice_list {
    struct notice *items; /* NOTICES_MOST of them */
    size_t count;
    enum unit unit;
};

static void add(struct notice_list *list, enum notice_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(struct notice_list *list, enum notice_kind kind, const char *format, ...)
{
    struct notice *notice = &list->items[list->count++];
    va_list arguments;
    notice->kind = kind;
    va_start(arguments, format);
    vsnprintf(notice->text, sizeof(notice->text), format, arguments);
    va_end(arguments);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Counts blocks whose allocation was recorded, but is not in the trace any more. */
static size_t blocks_with_lost_events(const struct timeline *timeline)
{
    size_t count = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        count += timeline->preexisting[i].origin == ORIGIN_BLOCK &&
                 timeline->preexisting[i].stack != STACK_NONE;
    return count;
}

static void no_events(struct notice_list *list, const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    bool is_whole = trace->count == trace->file_events;
    char count[UNITS_TEXT_SIZE];
    if (!is_whole || timeline->by_action[ACTION_ALLOC] > 0 || timeline_is_unused(timeline))
        return;
    if (blocks_with_lost_events(timeline) > 0)
        add(list, NOTICE_NO_EVENTS,
            "no allocation events, only the stacks of blocks that are live at the dump: "
            "call " RECORD "enabled=\"all\")` before the code you want to see");
    else if (trace->count == 0 && timeline->snapshot->host.file_events > 0)
        add(list, NOTICE_NO_EVENTS,
            "no events: only pinned host memory was recorded (record_cuda=False)");
    else if (trace->count == 0)
        add(list, NOTICE_NO_EVENTS, "no events: call " RECORD ")` before the code you want to see");
    else
        add(list, NOTICE_NO_EVENTS,
            "%s event%s but no allocation: recording began too late; call " RECORD
            ")` before the code you want to see",
            units_count(count, trace->count), plural(trace->count));
}

/* Says what a recording without some kinds of events cannot tell, and what is used instead. */
static bool unrecorded(struct notice_list *list, const struct timeline *timeline)
{
    uint32_t missing = timeline->trace->unrecorded;
    if (missing == ACTION_BIT(ACTION_FREE_COMPLETED))
        add(list, NOTICE_UNRECORDED,
            "free_completed was not recorded (skip_actions): memory counts as active until "
            "free_requested, and frees that waited for another stream are not seen");
    else if (missing == ACTION_BIT(ACTION_FREE_REQUESTED))
        add(list, NOTICE_UNRECORDED,
            "free_requested was not recorded (skip_actions): memory counts as allocated until "
            "free_completed, and frees that waited for another stream are not seen");
    else if (missing & ACTION_BIT(ACTION_ALLOC))
        add(list, NOTICE_UNRECORDED,
            "alloc was not recorded (skip_actions): the peak, lifetimes and growth are not known; "
            "only memory that is live in the snapshot is shown");
    else if (missing)
        add(list, NOTICE_UNRECORDED,
            "frees were not recorded (skip_actions): the peak, lifetimes and growth are not "
            "known; only memory that is live in the snapshot is shown");
    return missing;
}

/* True if the first event is of a call that programs make when they start recording again. */
static bool begins_with_empty_cache(const struct timeline *timeline)
{
    const struct symbols *symbols = timeline->snapshot->symbols;
    if (timeline->trace->count == 0)
        return false;
    struct stack stack = symbols_stack_at(symbols, timeline->trace->stack[0]);
    for (size_t i = 0; i < stack.count; i++)
        if (text_equals(symbols_text(symbols, symbols_frame_at(symbols, stack.frames[i]).name),
                        "empty_cache"))
            return true;
    return false;
}

static void overflow(struct notice_list *list, const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    char events[UNITS_TEXT_SIZE], blocks[UNITS_TEXT_SIZE];
    units_count(events, trace->file_events > trace->count ? trace->file_events : trace->count);
    if (timeline->snapshot->events_lost) {
        add(list, NOTICE_OVERFLOW,
            "the recorder's ring was full and lost the oldest events: blocks that they allocated "
            "count as allocated before the trace; record with max_entries well above %s",
            events);
        return;
    }
    /* With --range the start of recording is not visible. Without any allocation event, the
     * recorder may have kept only stacks. */
    size_t lost = trace->count == trace->file_events && trace_has_lifetimes(trace) &&
                          timeline->by_action[ACTION_ALLOC] > 0
                      ? blocks_with_lost_events(timeline)
                      : 0;
    if (lost > 0 && begins_with_empty_cache(timeline))
        add(list, NOTICE_OVERFLOW,
            "%s block%s a stack but no allocation among the %s events: recording was started again "
            "before torch.cuda.empty_cache(), and %s older",
            units_count(blocks, lost), lost == 1 ? " has" : "s have", events,
            lost == 1 ? "it is" : "they are");
    else if (lost > 0)
        add(list, NOTICE_OVERFLOW,
            "%s block%s a stack but no allocation among the %s events: the ring probably lost the "
            "oldest events (or the history was cleared); record with a larger max_entries",
            units_count(blocks, lost), lost == 1 ? " has" : "s have", events);
}

static void no_stacks(struct notice_list *list, const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    uint64_t allocs = timeline->by_action[ACTION_ALLOC], without = 0;
    for (size_t i = 0; i < trace->count; i++)
        without += trace->action[i] == ACTION_ALLOC && trace->stack[i] == STACK_NONE;
    char some[UNITS_TEXT_SIZE], all[UNITS_TEXT_SIZE];
    if (allocs > 0 && without == allocs)
        add(list, NOTICE_NO_STACKS,
            "no stacks: call " RECORD
            "context=\"all\", stacks=\"all\")` to see which code allocated");
    else if (without > allocs / 10)
        add(list, NOTICE_NO_STACKS,
            "%s of %s allocations have no stack (autograd's threads have no Python stack): record "
            "with stacks=\"all\" to see their operators",
            units_count(some, without), units_count(all, allocs));
}

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
        add(list, NOTICE_UNKNOWN_ACTION, "unknown actions were counted and otherwise ignored: %s%s",
            names, size >= sizeof(names) - 1 ? "..." : "");
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
        add(list, NOTICE_ORDER,
            "the events are not in order of time (event %s is the first that is too early): they "
            "were sorted, and keep their numbers",
            event);
    else
        add(list, NOTICE_ORDER,
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
        add(list, NOTICE_CONTRADICTION,
            "the trace contradicts itself: %s allocation%s of an address that was still in use, %s "
            "free%s with a size other than the allocated one; %s of active memory at this moment "
            "remain unexplained",
            units_count(twice, flaws->reallocated), plural(flaws->reallocated),
            units_count(other, flaws->size_changed), plural(flaws->size_changed),
            units_bytes(bytes, unexplained_bytes, list->unit));
    if (flaws->active_minus_dump_bytes != 0)
        add(list, NOTICE_CONTRADICTION,
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
        add(list, NOTICE_SEGMENTS,
            "the blocks of the dump leave out %s of the %s reserved: the file was edited or is "
            "damaged, and unused memory may be larger than reported by that amount",
            units_bytes(bytes, (int64_t)state->untold_bytes, list->unit),
            units_bytes(reserved, (int64_t)state->reserved_bytes, list->unit));
    if (state->excess_bytes > 0)
        add(list, NOTICE_SEGMENTS,
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
        add(list, NOTICE_MORE_THAN_RESERVED,
            "%s are active at the peak but only %s reserved: the file was edited or is damaged, "
            "and its figures for reserved memory cannot be trusted",
            units_bytes(held, active, list->unit), units_bytes(have, reserved, list->unit));
}

static void below_zero(struct notice_list *list, const struct timeline *timeline)
{
    int64_t lowest = timeline->reserved.lowest_bytes;
    char below[UNITS_TEXT_SIZE];
    if (lowest < 0)
        add(list, NOTICE_RESERVED_BELOW_ZERO,
            "computed back from the segments of the dump, reserved memory falls to %s below 0: the "
            "file was edited or is damaged, and its figures for reserved memory cannot "
            "be trusted",
            units_bytes(below, lowest > -INT64_MAX ? -lowest : INT64_MAX, list->unit));
}

/* A profiler trace has what torch.profiler was told to record, and nothing else. */
static void of_profile(struct notice_list *list, const struct timeline *timeline)
{
    const struct profile_facts *profile = &timeline->snapshot->profile;
    char text[UNITS_TEXT_SIZE];
    if (profile->is_cut)
        add(list, NOTICE_CUT,
            "the file is cut off after byte %s: what follows is missing, and memory that it would "
            "show as freed counts as live until the end",
            units_count(text, profile->cut_at));
    if (profile->no_addresses)
        add(list, NOTICE_MATCHED,
            "the file has no addresses: each free was taken to end the latest allocation of its "
            "size; the curve is exact, but what is live may be another of equal size");
    if (timeline->device != DEVICE_HOST && profile->oom_count > 0)
        add(list, NOTICE_OOM_TOLD, "%s allocation%s failed for lack of memory",
            units_count(text, profile->oom_count), plural(profile->oom_count));
    if (!profile->has_python)
        add(list, NOTICE_NO_STACKS,
            "no Python stacks: call torch.profiler.profile(profile_memory=True, with_stack=True) "
            "to see which code allocated");
}

static void of_memory_timeline(struct notice_list *list, const struct timeline *timeline)
{
    const struct profile_facts *profile = &timeline->snapshot->profile;
    char count[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE];
    if (profile->is_sums)
        add(list, NOTICE_SUMS,
            "the file has the sum of each category only: the curves are exact at its times, but "
            "numbers of allocations are those of changes; export_memory_timeline() to a name that "
            "ends in .raw.json.gz keeps every allocation");
    if (profile->recategorized_count > 0)
        add(list, NOTICE_RECATEGORIZED,
            "%s free%s of a category that has no allocation of that size: another category's was "
            "taken; the sum of all categories is exact",
            units_count(count, profile->recategorized_count), plural(profile->recategorized_count));
    if (profile->unmatched_count > 0)
        add(list, NOTICE_UNMATCHED,
            "%s free%s of memory that the file does not show as allocated: all curves begin %s "
            "higher for it",
            units_count(count, profile->unmatched_count), plural(profile->unmatched_count),
            units_bytes(size, timeline->active.baseline_bytes, list->unit));
}

bool notices_make(const struct timeline *timeline, int64_t unexplained_bytes, enum unit unit,
                  struct notice **notices, size_t *count, struct error *err)
{
    struct notice_list list = {.items = calloc(NOTICES_MOST, sizeof(struct notice)), .unit = unit};
    if (!list.items)
        return error_out_of_memory(err);
    if (timeline->snapshot->profile.is_heap) {
        /* has neither events nor anything to warn of */
    } else if (timeline->snapshot->profile.is_timeline) {
        of_memory_timeline(&list, timeline);
    } else if (timeline->snapshot->profile.is_profile) {
        of_profile(&list, timeline);
    } else {
        if (!unrecorded(&list, timeline))
            no_events(&list, timeline);
        overflow(&list, timeline);
        no_stacks(&list, timeline);
    }
    unknown_actions(&list, timeline);
    order(&list, timeline);
    contradictions(&list, timeline, unexplained_bytes);
    uneven_segments(&list, &timeline->state);
    if (timeline_knows_reserved(timeline)) {
        above_reserved(&list, timeline);
        below_zero(&list, timeline);
    }
    *notices = list.items;
    *count = list.count;
    return true;
}
