/* Blocks that have the sizes of weights, but are no weights, gradients or states. If the widths of
 * a model are powers of two, most activations are such blocks. */
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"
#include "base/bisect.h"

#define LONG_LIFE 32 /* items; a gradient that is added to another one is freed earlier */

/* The number of blocks of a size that stay, and of those that are made before a step that does not
 * use them. */
struct size_use {
    uint32_t stays, made;
};

static bool has_size(const struct pattern *pattern, uint64_t size)
{
    size_t at = bisect_less_64(pattern->stays, sizeof(size), pattern->stay_count, size);
    return at < pattern->stay_count && pattern->stays[at] == size;
}

static struct size_use *use_of(const struct pattern *pattern, struct size_use *uses, uint64_t size)
{
    return &uses[bisect_less_64(pattern->stays, sizeof(size), pattern->stay_count, size)];
}

static void count_staying(const struct pattern *pattern, struct size_use *uses)
{
    const struct timeline *timeline = pattern->timeline;
    memset(uses, 0, (pattern->stay_count + 1) * sizeof(*uses));
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (pattern_lives_long(timeline, 0, preexisting_end(&timeline->preexisting[i])) &&
            has_size(pattern, timeline->preexisting[i].size))
            use_of(pattern, uses, timeline->preexisting[i].size)->stays++;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if ((pattern->flags[i] & PATTERN_WEIGHT) &&
            pattern_lives_long(timeline, lifetime->alloc, lifetime_end(lifetime)))
            use_of(pattern, uses, trace_size(timeline->trace, lifetime->alloc))->stays++;
    }
}

/* True if a block of a weight's size lives longer than a gradient that is added to another one, and
 * ends before the annotated step that uses gradients that stay. */
static bool may_be_shared(const struct pattern *pattern, size_t index)
{
    const struct lifetime *lifetime = &pattern->timeline->lifetimes[index];
    return (pattern->flags[index] & PATTERN_UNSAVED) == PATTERN_WEIGHT &&
           lifetime_end(lifetime) - lifetime->alloc >= LONG_LIFE;
}

/* Flags lifetimes [first, end), which one step follows. Gradients that wait for others, to which
 * they are added, are no more than the blocks of their size that stay. */
static void flag_before_step(struct pattern *pattern, struct size_use *uses, size_t first,
                             size_t end)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = 0; i < pattern->stay_count; i++)
        uses[i].made = 0;
    for (size_t i = first; i < end; i++)
        if (may_be_shared(pattern, i))
            use_of(pattern, uses, trace_size(timeline->trace, timeline->lifetimes[i].alloc))
                ->made++;
    for (size_t i = first; i < end; i++) {
        if (!may_be_shared(pattern, i))
            continue;
        const struct size_use *use =
            use_of(pattern, uses, trace_size(timeline->trace, timeline->lifetimes[i].alloc));
        pattern->flags[i] |=
            (uint8_t)(PATTERN_SHARED | (use->made > use->stays ? 0 : PATTERN_RARE));
    }
}

bool pattern_flag_shared(struct pattern *pattern, struct error *err)
{
    struct size_use *uses = NULL;
    size_t capacity = 0, first = 0;
    if (!vec_reserve(uses, capacity, pattern->stay_count + 1, pattern->budget, err))
        return false;
    count_staying(pattern, uses);
    for (size_t step = 0; step < pattern->steps->count; step++) {
        const struct step_mark *mark = &pattern->steps->items[step];
        size_t end = births_from(pattern->timeline, mark->end);
        /* A closure holds passes itself, and frees their gradients before the step ends. */
        if (!mark->has_closure)
            flag_before_step(pattern, uses, first, end);
        first = end > first ? end : first;
    }
    vec_free(uses, capacity, sizeof(*uses), pattern->budget);
    return true;
}
