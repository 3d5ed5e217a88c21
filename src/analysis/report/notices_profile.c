#include "analysis/report/notice_list.h"
#include "base/units.h"

/* A profiler trace has what torch.profiler was told to record, and nothing else. */
void notices_of_profile(struct notice_list *list, const struct timeline *timeline)
{
    const struct profile_facts *profile = &timeline->snapshot->profile;
    char text[UNITS_TEXT_SIZE];
    if (profile->is_cut)
        notice_add(
            list, NOTICE_CUT,
            "the file is cut off after byte %s: what follows is missing, and memory that it would "
            "show as freed counts as live until the end",
            units_count(text, profile->cut_at));
    if (profile->no_addresses)
        notice_add(
            list, NOTICE_MATCHED,
            "the file has no addresses: each free was taken to end the latest allocation of its "
            "size; the curve is exact, but a live allocation may be confused with another of equal "
            "size");
    if (timeline->device != DEVICE_HOST && profile->oom_count > 0)
        notice_add(list, NOTICE_OOM_TOLD, "%s allocation%s failed for lack of memory",
                   units_count(text, profile->oom_count), notice_plural(profile->oom_count));
    if (!profile->has_python)
        notice_add(
            list, NOTICE_NO_STACKS,
            "no Python stacks: call torch.profiler.profile(profile_memory=True, with_stack=True) "
            "to see which code allocated");
}

void notices_of_timeline(struct notice_list *list, const struct timeline *timeline)
{
    const struct profile_facts *profile = &timeline->snapshot->profile;
    char count[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE];
    if (profile->is_sums)
        notice_add(
            list, NOTICE_SUMS,
            "the file has the sum of each category only: the curves are exact at its times, but "
            "numbers of allocations are those of changes; export_memory_timeline() to a name that "
            "ends in .raw.json.gz keeps every allocation");
    if (profile->recategorized_count > 0)
        notice_add(list, NOTICE_RECATEGORIZED,
                   "%s free%s of a category that has no allocation of that size: an allocation of "
                   "another category was taken; the sum of all categories is exact",
                   units_count(count, profile->recategorized_count),
                   notice_plural(profile->recategorized_count));
    if (profile->unmatched_count > 0)
        notice_add(
            list, NOTICE_UNMATCHED,
            "%s free%s of memory that the file does not show as allocated: all curves begin %s "
            "higher because of that",
            units_count(count, profile->unmatched_count), notice_plural(profile->unmatched_count),
            units_bytes(size, timeline->active.baseline_bytes, list->unit));
}
