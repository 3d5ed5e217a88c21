#include "analysis/replay/as_is.h"

#include "analysis/replay/follow.h"

const char *difference_text(enum difference_kind kind)
{
    static const char *const texts[] = {
        [DIFFERENCE_NONE] = "exact",
        [DIFFERENCE_ADDRESS] = "the allocation lies elsewhere",
        [DIFFERENCE_NOWHERE] = "other memory was asked of the device",
        [DIFFERENCE_RELEASE] = "memory was released that the replay has in use",
    };
    return texts[kind];
}

const char *tie_break_name(enum tie_break tie_break)
{
    static const char *const names[] = {"address", "block", "segment"};
    return names[tie_break];
}

const char *tie_break_versions(enum tie_break tie_break)
{
    static const char *const texts[] = {"up to 2.11", "2.12", "2.13 or later"};
    return texts[tie_break];
}

/* The order in which the rules of different versions are tried. If all of them fit the recording, a
 * setting that only new versions have decides. */
static const enum tie_break *order_of(const struct snapshot *snapshot)
{
    static const enum tie_break old[] = {TIE_ADDRESS, TIE_BLOCK, TIE_SEGMENT};
    static const enum tie_break new[] = {TIE_SEGMENT, TIE_BLOCK, TIE_ADDRESS};
    struct text ignored;
    return snapshot_setting(snapshot, "max_round_threshold", &ignored) ? new : old;
}

bool as_is_replay(const struct program *program, const struct allocator_settings *settings,
                  enum tie_break only, struct as_is *as_is, struct error *err)
{
    const enum tie_break *order = order_of(program->timeline->snapshot);
    struct as_is best = {.tie_break = only == TIE_BREAKS ? order[0] : only, .item = -1};
    for (unsigned i = 0; i < TIE_BREAKS; i++) {
        struct as_is one = {.tie_break = order[i], .item = -1};
        if (only != TIE_BREAKS && only != one.tie_break)
            continue;
        if (!follow_recording(program, settings, NULL, &one, err))
            return false;
        if (best.allocs + best.segment_events == 0 ||
            one.exact_allocs + one.exact_segment_events >
                best.exact_allocs + best.exact_segment_events)
            best = one;
        if (as_is_exact(&best))
            break;
    }
    *as_is = best;
    return true;
}
