#include "base/units.h"
#include "render/core/page.h"
#include "render/plot/snapshot.h"

#define MUCH 50 /* a fiftieth of what is live */

/* Bytes of unknown category: allocated before the trace, recorded without a stack, or neither. */
struct unknown {
    int64_t before, without_stack, other;
};

static bool is_live(uint32_t begin, uint32_t end, int64_t item)
{
    return (int64_t)begin <= item && (end == EVENT_NEVER || (int64_t)end > item);
}

static struct unknown sum_unknown(const struct timeline *timeline,
                                  const struct categories *categories, int64_t item)
{
    struct unknown sum = {0};
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        int64_t *to = &sum.other;
        if (!preexisting->in_active || categories->of_preexisting[i] != CATEGORY_UNKNOWN ||
            (preexisting->free_completed != EVENT_NEVER &&
             (int64_t)preexisting->free_completed <= item))
            continue;
        if (preexisting_is_older(preexisting))
            to = &sum.before;
        else if (preexisting->stack == STACK_NONE)
            to = &sum.without_stack;
        *to += (int64_t)preexisting->size;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        int64_t size = (int64_t)trace_size(timeline->trace, lifetime->alloc);
        if (categories->of_lifetime[i] != CATEGORY_UNKNOWN ||
            !is_live(lifetime->alloc, lifetime->free_completed, item))
            continue;
        if (timeline->trace->stack[lifetime->alloc] == STACK_NONE)
            sum.without_stack += size;
        else
            sum.other += size;
    }
    return sum;
}

void plot_unknown_words(struct buffer *out, const struct timeline *timeline,
                        const struct categories *categories, int64_t item)
{
    struct unknown sum = sum_unknown(timeline, categories, item);
    struct moment moment;
    timeline_moment(timeline, item, &moment);
    int64_t all = sum.before + sum.without_stack + sum.other;
    char bytes[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    if (all <= 0 || all < moment.active_bytes / MUCH)
        return;
    buffer_printf(out, "unknown: %s (%s), ", units_bytes(bytes, all, UNIT_AUTO),
                  page_share(share, all, moment.active_bytes));
    if (timeline->trace->count == 0)
        buffer_puts(out, "for without recorded events nothing tells what it is for");
    else if (sum.before >= all / 2)
        buffer_puts(out, "most of it allocated before recording began");
    else if (sum.without_stack >= all / 2)
        buffer_puts(out, "most of it recorded without a stack");
    else
        buffer_puts(out, "for neither its stack nor its lifetime tells what it is for");
}
