#include "analysis/oom/earlier.h"

#include "analysis/phase/births.h"
#include "model/curve_cursor.h"

int64_t oom_rise_to(const struct timeline *timeline, uint32_t item, uint32_t from, uint32_t end,
                    uint32_t *at)
{
    struct curve_cursor cursor = curve_cursor_begin(timeline);
    int64_t before = 0, highest = INT64_MIN;
    while (cursor.item < end) {
        before = cursor.item == item ? cursor.active : before;
        uint32_t now = (uint32_t)cursor.item;
        int64_t active = curve_cursor_step(&cursor);
        if (now < from || active <= highest)
            continue;
        highest = active;
        *at = now;
    }
    return highest == INT64_MIN ? 0 : highest - before;
}

int64_t oom_rise(const struct timeline *timeline, uint32_t item, uint32_t from, uint32_t end)
{
    uint32_t at;
    return oom_rise_to(timeline, item, from, end, &at);
}

double oom_held(const struct timeline *timeline, const struct categories *categories,
                uint32_t first, uint32_t item, bool (*counts)(enum category category))
{
    double bytes = 0;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < item; i++)
        if (timeline->lifetimes[i].free_completed >= item &&
            counts((enum category)categories->of_lifetime[i]))
            bytes += (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    return bytes;
}
