/* The root of a backward pass: backward() begins with the gradient of the loss by itself, a scalar,
 * and holds it until it returns. So the root is made after all that the forward pass saves, and
 * freed after all of that. It shows the turn more exactly than the number of live blocks, which may
 * go on rising in the backward pass. A loss of several numbers has no root. */
#include "analysis/phase/births.h"
#include "analysis/phase/passes.h"

#define MOST_LATE    8 /* a root is freed within 1/8 of the backward pass around its end */
#define FEW_LATE     8 /* of the blocks live at the root, at most 1/8 may be freed after it */
#define FAR_FEWER    4 /* less than 1/4 of the blocks at the turn */
#define NEARLY_MOST  3 /* 3/4 of the most blocks that are live when a scalar is made */
#define LEAST_BEFORE 2 /* blocks that a root outlives */
#define LEAST_LARGE  4 /* 1/4 of what a root outlives is larger than scalars */
#define LEAST_ROOTED 2 /* passes that have a root, so that others need one */
#define SMALL        8 /* a pass is small if it makes less than 1/8 of the blocks of another */

/* A pair of passes, and the items in which its root is looked for. */
struct root_search {
    const struct pattern *pattern;
    const struct passes *passes;
    uint32_t from;        /* the end of the passes before */
    uint32_t first, last; /* a root is freed in these items */
};

static bool is_scalar(const struct pattern *pattern, uint32_t item)
{
    return trace_size(pattern->timeline->trace, item) <= MOST_SCALAR;
}

/* True if the forward pass may save a block. */
static bool may_count(const struct pattern *pattern, size_t index)
{
    return pattern_may_be_saved(pattern, index, false);
}

/* True if most of the blocks that are live when a scalar is made are freed before it, if these are
 * not far fewer than at the turn that is known so far, and if they are not all scalars, as the
 * norms of gradients are. */
static bool is_root(const struct root_search *search, const struct lifetime *root)
{
    const struct timeline *timeline = search->pattern->timeline;
    uint32_t end = lifetime_end(root);
    size_t before = 0, large = 0, after = 0, at_turn = 0;
    for (size_t i = births_from(timeline, search->from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < search->passes->end; i++) {
        uint32_t freed = lifetime_end(&timeline->lifetimes[i]);
        if (freed > search->last || !may_count(search->pattern, i))
            continue;
        bool is_live = timeline->lifetimes[i].alloc < root->alloc && freed > root->alloc;
        before += is_live && freed < end;
        large += is_live && freed < end &&
                 trace_size(timeline->trace, timeline->lifetimes[i].alloc) >= LEAST_WEIGHT;
        after += is_live && freed > end;
        at_turn += timeline->lifetimes[i].alloc < search->passes->backward &&
                   freed >= search->passes->backward;
    }
    return before >= LEAST_BEFORE && large * LEAST_LARGE >= before && after * FEW_LATE <= before &&
           before * FAR_FEWER >= at_turn;
}

/* The number of items between the ends of a scalar and of the pass. */
static uint32_t distance(const struct root_search *search, const struct lifetime *scalar)
{
    uint32_t end = lifetime_end(scalar), last = search->passes->end;
    return end < last ? last - end : end - last;
}

/* Visits the scalars that may be roots, and sets *most to the most blocks that are live when one is
 * made. Returns one that is made when nearly *most are live: the one that is freed closest to the
 * end of the pass, or the last of several. */
static const struct lifetime *visit_scalars(struct pattern *pattern,
                                            const struct root_search *search, int64_t *most)
{
    const struct timeline *timeline = pattern->timeline;
    const struct lifetime *root = NULL;
    int64_t now = 0, least = *most * NEARLY_MOST;
    uint32_t item = search->from;
    for (uint32_t at = search->from; at <= search->last; at++)
        pattern->change[at] = 0;
    for (size_t i = births_from(timeline, search->from); i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t end = lifetime_end(lifetime);
        if (lifetime->alloc >= search->passes->end)
            break;
        for (; item <= lifetime->alloc; item++)
            now += pattern->change[item];
        if (is_scalar(pattern, lifetime->alloc) && end >= search->first && end <= search->last) {
            *most = now > *most ? now : *most;
            if (now * (NEARLY_MOST + 1) >= least &&
                (!root || distance(search, lifetime) <= distance(search, root)))
                root = lifetime;
        }
        if (end <= search->last && may_count(pattern, i)) {
            now++;
            pattern->change[end]--;
        }
    }
    return root;
}

/* The root, or NULL if there is none. */
static const struct lifetime *find_root(struct pattern *pattern, const struct root_search *search)
{
    int64_t most = 0;
    visit_scalars(pattern, search, &most);
    const struct lifetime *root = visit_scalars(pattern, search, &most);
    return root && is_root(search, root) ? root : NULL;
}

uint32_t passes_first_saved(const struct pattern *pattern, uint32_t from,
                            const struct lifetime *root, uint32_t latest)
{
    const struct timeline *timeline = pattern->timeline;
    for (size_t i = births_from(timeline, from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < latest; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (end > root->alloc && end < lifetime_end(root) &&
            pattern_may_be_saved(pattern, i, false))
            return timeline->lifetimes[i].alloc;
    }
    return latest;
}

/* Finds a root that is freed at most so many items before or after the end of the pass, and before
 * the next one begins. */
static const struct lifetime *root_near_end(struct pattern *pattern, struct root_search *search,
                                            uint32_t before, uint32_t after, uint32_t next)
{
    uint32_t end = search->passes->end;
    search->first = end > before ? end - before : 0;
    search->last = after < next - end ? end + after : next - 1;
    return find_root(pattern, search);
}

/* Moves the turn of a pass, and its other ends where they follow from that. `from` is the end of
 * the passes before, `next` the begin of those after. */
static void turn_at_root(struct pattern *pattern, struct passes *passes, uint32_t from,
                         uint32_t next)
{
    uint32_t whole = passes->end - passes->backward, slack = whole / MOST_LATE + MOST_LATE;
    struct root_search search = {.pattern = pattern, .passes = passes, .from = from};
    const struct lifetime *root = root_near_end(pattern, &search, slack, slack, next);
    if (!root)
        root = root_near_end(pattern, &search, whole, whole, next);
    if (!root)
        return;
    uint32_t end = lifetime_end(root) + 1;
    uint32_t latest = passes->forward < root->alloc ? passes->forward : root->alloc;
    passes->has_root = true;
    passes->backward = root->alloc;
    passes->forward = passes_first_saved(pattern, from, root, latest);
    if (passes->end == passes->updated)
        passes->end = passes->updated = end;
}

static size_t births_in(const struct pattern *pattern, const struct passes *passes)
{
    return births_from(pattern->timeline, passes->end) -
           births_from(pattern->timeline, passes->forward);
}

/* Drops passes without a root that are small beside all that have one. An optimizer's computation
 * may look like them. */
static void drop_small(struct pattern *pattern)
{
    size_t rooted = 0, least = SIZE_MAX, kept = 0;
    for (size_t i = 0; i < pattern->pass_count; i++) {
        const struct passes *passes = &pattern->passes[i];
        size_t births = births_in(pattern, passes);
        rooted += passes->has_root;
        least = passes->has_root && births < least ? births : least;
    }
    if (rooted < LEAST_ROOTED)
        return;
    for (size_t i = 0; i < pattern->pass_count; i++) {
        const struct passes *passes = &pattern->passes[i];
        if (passes->has_root || passes->is_probe || births_in(pattern, passes) * SMALL >= least)
            pattern->passes[kept++] = *passes;
    }
    pattern->pass_count = kept;
}

static void turn_all(struct pattern *pattern)
{
    uint32_t items = (uint32_t)pattern->timeline->trace->count, from = 0;
    for (size_t i = 0; i < pattern->pass_count; i++) {
        struct passes *passes = &pattern->passes[i];
        uint32_t next = i + 1 < pattern->pass_count ? passes[1].forward : items;
        if (next >= passes->end && !passes->has_root)
            turn_at_root(pattern, passes, from, next);
        from = passes->updated > from ? passes->updated : from;
    }
}

void passes_turn_at_roots(struct pattern *pattern)
{
    size_t count = pattern->pass_count;
    turn_all(pattern);
    drop_small(pattern);
    if (pattern->pass_count < count) /* others may begin earlier then */
        turn_all(pattern);
}
