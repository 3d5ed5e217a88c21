#include "analysis/report/notices.h"

#include <stdlib.h>

#include "analysis/report/notice_list.h"
#include "base/text.h"
#include "base/units.h"
#include "model/recording.h"

#define MOST_OF_STATE 1 /* events of a recording with enabled="state": stacks of live blocks */

/* Both kinds of events that end an allocation. */
#define FREES (ACTION_BIT(ACTION_FREE_REQUESTED) | ACTION_BIT(ACTION_FREE_COMPLETED))

#define RECORD "`torch.cuda.memory._record_memory_history("

/* Counts blocks whose allocation was recorded, but is not in the trace any more. */
static size_t blocks_with_lost_events(const struct timeline *timeline)
{
    size_t count = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        count += timeline->preexisting[i].origin == ORIGIN_BLOCK &&
                 timeline->preexisting[i].stack != STACK_NONE;
    return count;
}

/* True if the trace has frees, but no allocation of what they free, nor any other. */
static bool only_frees(const struct timeline *timeline)
{
    const uint64_t *events = timeline->by_action;
    return events[ACTION_ALLOC] == 0 && timeline->trace->count > MOST_OF_STATE &&
           events[ACTION_FREE_REQUESTED] + events[ACTION_FREE_COMPLETED] > 0;
}

static void no_events(struct notice_list *list, const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    bool is_whole = trace->count == trace->file_events;
    size_t lost = blocks_with_lost_events(timeline);
    char count[UNITS_TEXT_SIZE];
    if (!is_whole || timeline->by_action[ACTION_ALLOC] > 0 || timeline_is_unused(timeline))
        return;
    if (lost > 0 && only_frees(timeline))
        return; /* a ring without any allocation: see overflow() */
    if (lost > 0)
        notice_add(list, NOTICE_NO_EVENTS,
                   "no allocation events, only the stacks of blocks that are live at the dump: "
                   "call " RECORD "enabled=\"all\")` before the code you want to see");
    else if (trace->count == 0 && timeline->snapshot->host.file_events > 0)
        notice_add(list, NOTICE_NO_EVENTS,
                   "no events: only pinned host memory was recorded (record_cuda=False)");
    else if (trace->count == 0)
        notice_add(list, NOTICE_NO_EVENTS,
                   "no events: call " RECORD ")` before the code you want to see");
    else
        notice_add(list, NOTICE_NO_EVENTS,
                   "%s event%s but no allocation: recording began too late; call " RECORD
                   ")` before the code you want to see",
                   units_count(count, trace->count), notice_plural(trace->count));
}

/* The kinds that were not recorded: "alloc", "alloc and free_completed", "alloc and frees". */
static const char *names_of(uint32_t missing)
{
    static const char *const names[] = {
        [ACTION_BIT(ACTION_ALLOC)] = "alloc was",
        [ACTION_BIT(ACTION_FREE_REQUESTED)] = "free_requested was",
        [ACTION_BIT(ACTION_FREE_COMPLETED)] = "free_completed was",
        [ACTION_BIT(ACTION_ALLOC) | ACTION_BIT(ACTION_FREE_REQUESTED)] =
            "alloc and free_requested were",
        [ACTION_BIT(ACTION_ALLOC) | ACTION_BIT(ACTION_FREE_COMPLETED)] =
            "alloc and free_completed were",
        [FREES] = "frees were",
        [ACTION_BIT(ACTION_ALLOC) | FREES] = "alloc and frees were",
    };
    return names[missing];
}

/* Says what a recording without some kinds of events cannot tell, and what is used instead. */
static bool unrecorded(struct notice_list *list, const struct timeline *timeline)
{
    uint32_t missing = timeline->trace->unrecorded;
    const char *instead = "the peak, lifetimes and growth are not known; only memory that is live "
                          "in the snapshot is shown";
    if (!missing)
        return false;
    if (missing == ACTION_BIT(ACTION_FREE_COMPLETED))
        instead = "memory counts as active until free_requested, and frees that waited for another "
                  "stream are not seen";
    else if (missing == ACTION_BIT(ACTION_FREE_REQUESTED))
        instead = "memory counts as allocated until free_completed, and frees that waited for "
                  "another stream are not seen";
    notice_add(list, NOTICE_UNRECORDED, "%s not recorded (skip_actions): %s", names_of(missing),
               instead);
    return true;
}

static void unrecorded_segments(struct notice_list *list, const struct timeline *timeline)
{
    if (recording_lacks_segments(timeline))
        notice_add(list, NOTICE_UNRECORDED,
                   "segment_alloc was not recorded (skip_actions): how much was reserved is known "
                   "for the end only, and assumed to be the same before");
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
        notice_add(
            list, NOTICE_OVERFLOW,
            "the recorder's ring was full and lost the oldest events: blocks that they allocated "
            "count as allocated before the trace; record with max_entries well above %s",
            events);
        return;
    }
    /* With --range the start of recording is not visible. */
    bool has_history = timeline->by_action[ACTION_ALLOC] > 0 || only_frees(timeline);
    size_t lost = trace->count == trace->file_events && trace_has_lifetimes(trace) && has_history
                      ? blocks_with_lost_events(timeline)
                      : 0;
    if (lost > 0 && begins_with_empty_cache(timeline))
        notice_add(
            list, NOTICE_OVERFLOW,
            "%s block%s a stack but no allocation among the %s events: recording was started again "
            "before torch.cuda.empty_cache(), and %s older",
            units_count(blocks, lost), lost == 1 ? " has" : "s have", events,
            lost == 1 ? "it is" : "they are");
    else if (lost > 0)
        notice_add(
            list, NOTICE_OVERFLOW,
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
    if (timeline->block_stack_count > 0)
        notice_add(list, NOTICE_NO_STACKS,
                   "%s of %s allocations have no stack: the history was recorded with "
                   "context=\"state\", which keeps only the stacks of what is live at the end; "
                   "call " RECORD "context=\"all\", stacks=\"all\")` to see which code made the "
                   "others",
                   units_count(some, without - timeline->block_stack_count),
                   units_count(all, allocs));
    else if (allocs > 0 && without == allocs)
        notice_add(list, NOTICE_NO_STACKS,
                   "no stacks: call " RECORD
                   "context=\"all\", stacks=\"all\")` to see which code allocated");
    else if (without > allocs / 10)
        notice_add(
            list, NOTICE_NO_STACKS,
            "%s of %s allocations have no stack (autograd's threads have no Python stack): record "
            "with stacks=\"all\" to see their operators",
            units_count(some, without), units_count(all, allocs));
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
        notices_of_timeline(&list, timeline);
    } else if (timeline->snapshot->profile.is_profile) {
        notices_of_profile(&list, timeline);
    } else {
        if (!unrecorded(&list, timeline))
            no_events(&list, timeline);
        unrecorded_segments(&list, timeline);
        overflow(&list, timeline);
        no_stacks(&list, timeline);
    }
    notices_of_flaws(&list, timeline, unexplained_bytes);
    *notices = list.items;
    *count = list.count;
    return true;
}
