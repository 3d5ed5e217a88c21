#include "analysis/chain/replan.h"

#include <stdio.h>
#include <string.h>

#include "analysis/chain/elsewhere.h"
#include "analysis/chain/replan_internal.h"
#include "analysis/chain/replan_whole.h"

static bool is_usable(const struct forward_chain *chain, const struct device_replay *replay,
                      struct replan *replan)
{
    const char *doubt = replay_doubt(replay->trust);
    if (replay->trust == TRUST_LOW)
        doubt = "a part of what was reserved comes from before the step";
    if (chain->unfinished)
        snprintf(replan->why, sizeof(replan->why), "memory ran out %s the backward pass",
                 chain->stopped ? "in" : "before");
    else if (*replay->obstacle)
        snprintf(replan->why, sizeof(replan->why), "%s", replay->obstacle);
    else if (doubt)
        snprintf(replan->why, sizeof(replan->why), "%s", doubt);
    return !*replan->why;
}

static bool find_total(const struct program *program, const struct forward_chain *around,
                       uint64_t *most, struct error *err)
{
    uint32_t item;
    return replan_find_peak(program, around, most, &item, err);
}

/* Raises the totals to those of the whole step, since with the plan another pass of the step may
 * have the peak. */
static bool include_other_passes(const struct timeline *timeline, struct site_table *sites,
                                 const struct forward_chain *chain, struct replan *replan,
                                 struct error *err)
{
    const struct item_range step = {chain->step_first, chain->step_end};
    struct program program;
    uint64_t whole = 0, most = 0;
    if (chain->other_count == 0)
        return true;
    if (!program_make(timeline, sites, step, &program, err))
        return false;
    bool ok = find_total(&program, NULL, &whole, err) && find_total(&program, chain, &most, err);
    program_release(&program);
    replan->without_total = whole > replan->without_total ? whole : replan->without_total;
    replan->with_total = most > replan->with_total ? most : replan->with_total;
    return ok;
}

/* Raises `*most` to the peak of the allocator's blocks, which may be larger than what the program
 * asks for. */
static bool include_blocks(const struct device_replay *replay, const struct program *edited,
                           uint64_t *most, struct error *err)
{
    struct what_if_result blocks;
    if (!device_replay_other(replay, edited, &blocks, err))
        return false;
    if (blocks.totals.ooms == 0 && blocks.totals.peak_allocated > *most)
        *most = blocks.totals.peak_allocated;
    return true;
}

/* Finds the peak of allocated memory with the segments. */
static bool find_edited(const struct device_replay *replay, const struct forward_chain *chain,
                        const struct chain_segment *segments, size_t count, uint64_t *most,
                        bool *is_too_long, struct error *err)
{
    struct program edited;
    if (!replan_edit(&replay->program, chain, segments, count, false, &edited, is_too_long, err))
        return false;
    bool ok = *is_too_long || find_total(&edited, NULL, most, err);
    replan_edit_release(&edited);
    return ok;
}

/* Finds an upper bound of that peak, if it is more than `least`: in blocks, and if the program
 * holds all of chain->doubts. */
static bool find_bound(const struct device_replay *replay, const struct forward_chain *chain,
                       const struct chain_segment *segments, size_t count, uint64_t least,
                       uint64_t *most, bool *is_too_long, struct error *err)
{
    struct program edited;
    if (!replan_edit(&replay->program, chain, segments, count, chain->doubt_count > 0, &edited,
                     is_too_long, err))
        return false;
    bool ok = *is_too_long || (find_total(&edited, NULL, most, err) &&
                               (*most <= least || include_blocks(replay, &edited, most, err)));
    replan_edit_release(&edited);
    return ok;
}

/* True if a segment has several elements, all of module calls, and the trace does not show that
 * each gets only the result of the one before it. */
static bool is_divisible(const struct forward_chain *chain, const struct chain_segment *segment)
{
    bool modules = true, is_known = true;
    for (size_t i = segment->first; i < segment->end && modules; i++) {
        modules = chain_is_modules(chain, i);
        is_known &= modules && (i == segment->first || chain_first_call(chain, i)->in_container);
    }
    return modules && !is_known;
}

/* Finds alone_total. Nested segments are left as they are. */
static bool find_alone(const struct device_replay *replay, const struct forward_chain *chain,
                       const struct chain_segment *segments, size_t count, struct replan *replan,
                       struct error *err)
{
    struct chain_segment *alone = NULL;
    size_t capacity = 0, made = 0;
    uint64_t others = replan->own_total < replan->with_total ? replan->with_total : 0, most = 0;
    bool is_too_long = false, ok = true, nested = false;
    replan->alone_total = replan->with_total;
    for (size_t k = 0; k + 1 < count; k++)
        nested |= segments[k].end > segments[k + 1].first;
    for (size_t k = 0; k < count && ok && !nested; k++) {
        size_t step = is_divisible(chain, &segments[k]) ? 1 : segments[k].end - segments[k].first;
        struct chain_segment part = segments[k];
        for (; ok && part.first < segments[k].end; part.first = part.end) {
            part.end = part.first + step;
            ok = vec_push(alone, made, capacity, chain->budget, err, part);
        }
    }
    if (ok && made > count)
        ok = find_bound(replay, chain, alone, made, replan->alone_total, &most, &is_too_long, err);
    if (ok && !is_too_long && most > 0)
        replan->alone_total = most > others ? most : others;
    vec_free(alone, capacity, sizeof(*alone), chain->budget);
    return ok;
}

static bool find_totals(const struct device_replay *replay, struct site_table *sites,
                        const struct forward_chain *chain, const struct chain_segment *segments,
                        size_t count, struct replan *replan, struct error *err)
{
    bool is_too_long;
    if (*replay->obstacle || chain->unfinished)
        return true;
    if (!find_edited(replay, chain, segments, count, &replan->with_total, &is_too_long, err))
        return false;
    replan->has_totals = !is_too_long;
    replan->own_total = replan->with_total;
    bool ok =
        is_too_long ||
        ((chain->doubt_count == 0 || find_bound(replay, chain, segments, count, replan->with_total,
                                                &replan->worst_total, &is_too_long, err)) &&
         find_total(&replay->program, NULL, &replan->without_total, err) &&
         include_other_passes(replay->timeline, sites, chain, replan, err) &&
         find_alone(replay, chain, segments, count, replan, err));
    if (replan->worst_total < replan->with_total)
        replan->worst_total = replan->with_total;
    return ok;
}

#define DELAYS      3   /* replays with other orders of frees */
#define NEAR_BLOCKS 100 /* one 100th: an order of frees that needs more is unlike the program's */

/* Sets with_most_bytes. */
static bool run_delayed(const struct device_replay *replay, const struct program *edited,
                        const struct item_range *passes, size_t count, struct replan *replan,
                        struct error *err)
{
    replan->with_most_bytes = replan->with_bytes;
    for (uint32_t seed = 1; seed <= DELAYS; seed++) {
        struct program delayed;
        struct what_if_result made;
        if (!replan_delay(edited, passes, count, seed, &delayed, err))
            return false;
        bool ok = device_replay_other(replay, &delayed, &made, err);
        replan_edit_release(&delayed);
        if (!ok)
            return false;
        bool needs_more =
            made.totals.peak_allocated > replan->with_blocks + replan->with_blocks / NEAR_BLOCKS;
        if (made.totals.ooms == 0 && !needs_more &&
            made.totals.peak_reserved > replan->with_most_bytes)
            replan->with_most_bytes = made.totals.peak_reserved;
    }
    return true;
}

/* Replays the program as recorded and edited. */
static bool run_both(const struct device_replay *replay, const struct program *edited,
                     const struct item_range *passes, size_t count, struct replan *replan,
                     struct error *err)
{
    struct what_if_result without, with;
    if (!device_replay_other(replay, &replay->program, &without, err) ||
        !device_replay_other(replay, edited, &with, err))
        return false;
    replan->is_known = without.totals.ooms == 0 && with.totals.ooms == 0;
    replan->without_bytes = without.totals.peak_reserved;
    replan->with_bytes = with.totals.peak_reserved;
    replan->without_blocks = without.totals.peak_allocated;
    replan->with_blocks = with.totals.peak_allocated;
    if (!replan->is_known)
        snprintf(replan->why, sizeof(replan->why), "the replay runs out of memory");
    return !replan->is_known || run_delayed(replay, edited, passes, count, replan, err);
}

static bool run_step(const struct device_replay *replay, const struct forward_chain *chain,
                     const struct chain_segment *segments, size_t count, struct replan *replan,
                     struct error *err)
{
    struct program edited;
    bool is_too_long;
    if (!replan_edit(&replay->program, chain, segments, count, false, &edited, &is_too_long, err))
        return false;
    const struct item_range pass = {chain->first, chain->end};
    bool ok = is_too_long || run_both(replay, &edited, &pass, 1, replan, err);
    replan_edit_release(&edited);
    if (is_too_long)
        snprintf(replan->why, sizeof(replan->why), "too many forward passes would run again");
    return ok;
}

/* Replays the whole trace, if that can be trusted and memory did not run out in it: what happened
 * then would not happen with the plan. */
static bool run_whole(const struct timeline *timeline, struct site_table *sites,
                      const struct forward_chain *chain, const struct chain_segment *segments,
                      size_t count, struct replan *replan, struct error *err)
{
    const struct replay_options options = {.tie_break = TIE_BREAKS};
    struct device_replay replay;
    struct replan_whole whole = {0};
    struct replan made = *replan;
    if (chain->unfinished)
        return true;
    if (!device_replay_begin(timeline, sites, NULL, &options, &replay, err))
        return false;
    bool ok = !is_usable(chain, &replay, &made) || replay.program.ooms > 0 ||
              (replan_whole_edit(&whole, &replay.program, sites, chain, segments, count, err) &&
               (whole.is_too_long ||
                (run_both(&replay, &whole.program, whole.passes, whole.pass_count, &made, err) &&
                 replan_whole_peak(&whole, sites, &made, err))));
    replan_whole_release(&whole);
    device_replay_release(&replay);
    if (ok && made.is_known) {
        *replan = made;
        replan->is_whole = true;
    }
    return ok;
}

/* The pass, with inputs of its elements that were made before them. */
static struct item_range range_of(const struct forward_chain *chain)
{
    struct item_range range = {chain->first, chain_reach_end(chain)};
    for (size_t k = 0; k < chain->rest_count; k++)
        if (chain->rests[k].stays && chain->rests[k].item < range.from)
            range.from = chain->rests[k].item;
    return range;
}

bool replan_make(const struct timeline *timeline, struct site_table *sites,
                 const struct forward_chain *chain, const struct chain_segment *segments,
                 size_t count, struct replan *replan, struct error *err)
{
    const struct replay_options options = {.tie_break = TIE_BREAKS};
    const struct item_range range = range_of(chain);
    struct device_replay replay;
    struct replan made = {0};
    if (!device_replay_begin(timeline, sites, &range, &options, &replay, err))
        return false;
    bool ok = find_totals(&replay, sites, chain, segments, count, &made, err) &&
              run_whole(timeline, sites, chain, segments, count, &made, err) &&
              (made.is_known || !is_usable(chain, &replay, &made) ||
               run_step(&replay, chain, segments, count, &made, err));
    device_replay_release(&replay);
    if (ok)
        *replan = made;
    return ok;
}
