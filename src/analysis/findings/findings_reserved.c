/* Findings on reserved memory: holes in segments, and what empty_cache() gave back. */
#include <stdio.h>

#include "analysis/findings/findings_internal.h"
#include "analysis/pool/given_back.h"
#include "analysis/replay/figure.h"

/* In percent of the peak; smaller findings are left out. */
#define LEAST_FRAGMENTATION 5
#define LEAST_GIVEN_BACK    10

#define LEAST_CALLS                                                                                \
    2 /* of empty_cache(): one, as between two stages of a program, costs little time */

static int64_t private_bytes(const struct pool_rows *pools)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pools->count; i++)
        if (pool_key_is_private(&pools->items[i].key))
            sum += pools->items[i].reserved_bytes;
    return (int64_t)sum;
}

/* The least that expandable segments would reserve: the blocks of each pool at the peak, in whole
 * pages. CUDA graphs keep the memory of their pools in any kind of segment, even if they are
 * captured later. */
static int64_t needed(const struct fragmentation *fragmentation)
{
    const struct pool_rows *pools = &fragmentation->moment.pools;
    int64_t then = private_bytes(pools), later = private_bytes(&fragmentation->dump.pools);
    uint64_t sum = 0;
    for (size_t i = 0; i < pools->count; i++)
        if (!pool_key_is_private(&pools->items[i].key))
            sum += allocator_round_up(pools->items[i].active_bytes,
                                      allocator_page(pools->items[i].key.is_small));
    return (int64_t)sum + (later > then ? later : then);
}

#define EXPANDABLE "expandable_segments:True"

/* Replaces the bound by a replay of the trace, if that can be trusted. For memory that was reserved
 * before the trace, a replay does not know what needed it. */
static bool replayed_fragmentation(struct findings_maker *maker, const struct replay_figure *figure)
{
    uint64_t before = (uint64_t)maker->evidence->at_peak->timeline->reserved.start_bytes;
    uint64_t least = before > figure->replayed_bytes ? before : figure->replayed_bytes;
    int64_t save = (int64_t)(figure->recorded_bytes - least);
    char next[600];
    if (save <= 0 || finding_share(maker, save) < LEAST_FRAGMENTATION)
        return true;
    snprintf(
        next, sizeof(next),
        "Set PYTORCH_CUDA_ALLOC_CONF=" EXPANDABLE ": replayed with it, the trace reserves %s%s "
        "instead of %s%s. 'memsnap replay' compares other settings.",
        before > figure->replayed_bytes ? "no more than was reserved before it, " : "",
        finding_size(maker, (int64_t)least).text,
        finding_size(maker, (int64_t)figure->recorded_bytes).text,
        figure->ran_out && figure->fits ? ", and the requests that ran out of memory fit" : "");
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_FRAGMENTATION, .save_bytes = save, .of_reserved = true},
        next, "Reserved memory reaches %s, and part of it cannot be used.",
        finding_size(maker, (int64_t)figure->recorded_bytes).text);
}

/* Where segments come from that were there at the first event. A trace without any segment_alloc
 * may be one of a program that asked for no more memory, or skip_actions left the events out. */
static const char *origin_of_segments(const struct timeline *timeline)
{
    if (timeline->by_action[ACTION_SEGMENT_ALLOC] > 0 ||
        timeline->by_action[ACTION_SEGMENT_MAP] > 0)
        return "were reserved before the first event";
    return "were reserved before the first event, or whose segment_alloc was not recorded "
           "(skip_actions)";
}

/* Reports holes if everything was reserved before the trace. Something that the trace does not show
 * may have needed that memory. Only holes between blocks in use are certainly useless, as far as a
 * replay of the trace manages without them. */
static bool holes_of_earlier_segments(struct findings_maker *maker, const struct cut_up *cut)
{
    const struct live_set *set = maker->evidence->at_peak;
    const struct advice *expandable = &cut->advice[SETTING_EXPANDABLE_SEGMENTS];
    int64_t save = (int64_t)expandable->would_save_bytes;
    struct replay_figure figure;
    char next[600];
    if (!replay_figure_make(set->timeline, set->sites, EXPANDABLE, &figure, maker->err))
        return false;
    int64_t replayed = (int64_t)(figure.recorded_bytes - figure.replayed_bytes);
    save = figure.is_known && replayed < save ? replayed : save;
    if (save <= 0 || finding_share(maker, save) < LEAST_FRAGMENTATION)
        return true;
    snprintf(next, sizeof(next), "Set PYTORCH_CUDA_ALLOC_CONF=" EXPANDABLE ": %s.",
             expandable->why);
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_FRAGMENTATION,
                         .save_bytes = save,
                         .at_most = true,
                         .of_reserved = true},
        next, "At the peak, %s lie unused in holes between blocks in use, in segments that %s.",
        finding_size(maker, (int64_t)cut->pools.total.inactive_split_bytes).text,
        origin_of_segments(set->timeline));
}

/* Reports what expandable segments would save, which is an upper bound for other settings: at the
 * peak, no layout of segments can be smaller than the blocks in use. The dump only shows the holes.
 */
bool finding_of_fragmentation(struct findings_maker *maker)
{
    const struct fragmentation *fragmentation = maker->evidence->fragmentation;
    const struct live_set *set = maker->evidence->at_peak;
    bool at_peak = set && fragmentation->has_moment && timeline_knows_peak(set->timeline);
    const struct cut_up *cut = at_peak ? &fragmentation->moment : &fragmentation->dump;
    const struct advice *expandable = &cut->advice[SETTING_EXPANDABLE_SEGMENTS];
    int64_t save = (int64_t)expandable->would_save_bytes, reserved = 0, need = 0;
    if (at_peak) {
        reserved = set->timeline->reserved.peak_bytes;
        need = needed(fragmentation);
        save = reserved - need;
    }
    if (expandable->in_force ||
        finding_share(maker, save) < (at_peak ? LEAST_FRAGMENTATION : LEAST_SHARE))
        return true;
    if (at_peak && reserved > 0 && set->timeline->reserved.start_bytes == reserved)
        return holes_of_earlier_segments(maker, cut);
    if (at_peak) {
        struct replay_figure figure;
        if (!replay_figure_make(set->timeline, set->sites, EXPANDABLE, &figure, maker->err))
            return false;
        if (figure.is_known)
            return replayed_fragmentation(maker, &figure);
    }
    char next[600];
    snprintf(next, sizeof(next), "Set PYTORCH_CUDA_ALLOC_CONF=" EXPANDABLE ": %s.",
             expandable->why);
    struct finding finding = {
        .kind = FINDING_FRAGMENTATION, .save_bytes = save, .at_most = true, .of_reserved = true};
    if (!at_peak)
        return finding_add(
            maker, finding, next, "In the snapshot, %s lie unused in holes between blocks in use.",
            finding_size(maker, (int64_t)cut->pools.total.inactive_split_bytes).text);
    return finding_add(maker, finding, next,
                       "Reserved memory reaches %s; at the peak, blocks in use need %s.",
                       finding_size(maker, reserved).text, finding_size(maker, need).text);
}

/* Reports memory that empty_cache() released needlessly, which costs time. */
bool finding_of_empty_cache(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    struct given_back given;
    if (!given_back_find(&given, set->timeline, set->sites, maker->err))
        return false;
    if (given.calls < LEAST_CALLS || finding_share(maker, given.again_bytes) < LEAST_GIVEN_BACK)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_EMPTY_CACHE},
        "Remove the calls: the allocator keeps freed memory for the next requests, and releases it "
        "itself before it runs out. They help only if another process, stream or pool needs "
        "the memory in between.",
        "torch.cuda.empty_cache() gave back %s in %llu call%s, and %s were asked for again, by "
        "%llu cudaMallocs.",
        finding_size(maker, given.bytes).text, (unsigned long long)given.calls,
        given.calls == 1 ? "" : "s", finding_size(maker, given.again_bytes).text,
        (unsigned long long)given.mallocs);
}
