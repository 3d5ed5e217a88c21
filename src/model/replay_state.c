/* The beginning and the end of a replay, and how another one goes on with it. */
#include <string.h>

#include "model/replay.h"

void replay_init(struct replay *replay, struct timeline *timeline, const struct trace *trace,
                 struct budget *budget)
{
    *replay = (struct replay){.timeline = timeline,
                              .trace = trace,
                              .budget = budget,
                              .active.high_item = -1,
                              .allocated.high_item = -1,
                              .reserved.high_item = -1,
                              .annotate = ACTION_NEVER};
    addrmap_init(&replay->live, budget);
}

void replay_release(struct replay *replay)
{
    struct timeline *timeline = replay->timeline;
    addrmap_release(&replay->live);
    vec_free(replay->early, replay->early_capacity, sizeof(*replay->early), replay->budget);
    vec_free(timeline->lifetimes, timeline->lifetime_capacity, sizeof(*timeline->lifetimes),
             replay->budget);
    vec_free(timeline->notes, timeline->note_capacity, sizeof(*timeline->notes), replay->budget);
    vec_free(timeline->preexisting, timeline->preexisting_capacity, sizeof(*timeline->preexisting),
             replay->budget);
}

void replay_adopt(struct replay *replay, const struct replay *done)
{
    struct timeline *timeline = replay->timeline;
    const struct timeline *from = done->timeline;
    struct replay made = *done;
    made.timeline = timeline;
    made.trace = replay->trace;
    made.budget = made.live.budget = replay->budget;
    made.annotate = replay->annotate;
    *replay = made;
    timeline->lifetimes = from->lifetimes;
    timeline->lifetime_count = from->lifetime_count;
    timeline->lifetime_capacity = from->lifetime_capacity;
    timeline->preexisting = from->preexisting;
    timeline->preexisting_count = from->preexisting_count;
    timeline->preexisting_capacity = from->preexisting_capacity;
    timeline->flaws = from->flaws;
    memcpy(timeline->by_action, from->by_action, sizeof(timeline->by_action));
}

void replay_count(struct replay *replay, size_t end)
{
    const uint8_t *action = replay->trace->action;
    for (size_t i = replay->next; i < end; i++)
        replay->timeline->by_action[action[i]]++;
}
