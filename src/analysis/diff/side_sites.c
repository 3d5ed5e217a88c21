#include "analysis/diff/side_sites.h"

#include <stdlib.h>

#include "analysis/live/wrapper.h"

/* The bytes that a bundle adds to a stack of its site. */
struct part {
    uint32_t group;
    stack_id stack;
    int64_t bytes;
    uint64_t count;
};

/* State while the call sites of a moment are summed up. */
struct site_sums {
    struct diff_side *side;
    const struct live_set *set;
    struct translation *translation;
    struct site_groups groups;
    struct part *parts; /* by group, then by stack */
    size_t part_count, part_capacity;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static bool add_part(struct site_sums *sums, const struct live_bundle *bundle, struct error *err)
{
    struct live_source source;
    if (!live_source_of(sums->set, &bundle->example, &source, err))
        return false;
    sums->parts[sums->part_count++] =
        (struct part){bundle->group, source.shown, (int64_t)bundle->weight, bundle->count};
    return true;
}

static bool make_parts(struct site_sums *sums, struct error *err)
{
    const struct live_set *set = sums->set;
    struct live_bundles bundles;
    if (!site_groups_bundle(set, &bundles, NULL, err))
        return false;
    bool ok = site_groups_of(set, &bundles, &sums->groups, err) &&
              vec_reserve(sums->parts, sums->part_capacity, bundles.count, bundles.budget, err);
    for (size_t i = 0; ok && i < bundles.count; i++)
        ok = add_part(sums, &bundles.items[i], err);
    live_bundles_release(&bundles);
    if (ok && sums->part_count > 0)
        qsort(sums->parts, sums->part_count, sizeof(*sums->parts), compare_parts);
    return ok;
}

bool diff_place_of(struct translation *translation, const struct site_table *sites,
                   const struct site_group *group, struct diff_place *place, struct error *err)
{
    const struct live_source *source = &group->source;
    frame_id frame, shared;
    *place = (struct diff_place){
        .kind = source->shown == STACK_NONE ? DIFF_STACKLESS : DIFF_NATIVE,
        .category = (uint8_t)group->category,
        .source = (uint8_t)source->source,
    };
    if (!translate_string(translation, source->site.op, &place->op, err) ||
        !translate_string(translation, source->site.node, &place->node, err))
        return false;
    if (!site_frame(sites, source->shown, &source->site, &frame)) {
        place->has_backward = source->site.has_backward;
        place->function =
            place->has_backward && place->node != STRING_EMPTY ? place->node : place->op;
        return true;
    }
    if (!translate_frame(translation, frame, false, &shared, err))
        return false;
    struct frame named = symbols_frame_at(translation->to, shared);
    place->kind = DIFF_PYTHON;
    place->file = named.file;
    place->function = named.name;
    place->line = named.line;
    place->node = STRING_EMPTY;
    return true;
}

/* The stack that stands for a site, for its label. */
static bool source_of(struct site_sums *sums, const struct live_source *from,
                      struct diff_site *site, struct error *err)
{
    struct live_source *source = &site->source;
    *source = *from;
    source->own = STACK_NONE; /* not needed, so not translated */
    source->site.op = site->place.op;
    return translate_string(sums->translation, from->site.node, &source->site.node, err) &&
           translate_stack(sums->translation, from->shown, false, &source->shown, err);
}

static bool add_stack(struct site_sums *sums, struct diff_site *site, const struct part *part,
                      struct error *err)
{
    struct diff_side *side = sums->side;
    struct diff_stack made = {.bytes = 0};
    if (!translate_stack(sums->translation, part->stack, false, &made.stack, err) ||
        !translate_stack(sums->translation, part->stack, true, &made.bare, err) ||
        !vec_push(side->stacks, side->stack_count, side->stack_capacity, side->budget, err, made))
        return false;
    site->stack_count++;
    return true;
}

/* Adds the site of a group, with its stacks. *next is the first part of the group, and is moved to
 * that of the next group. */
static bool add_site(struct site_sums *sums, uint32_t group, size_t *next, struct error *err)
{
    struct diff_side *side = sums->side;
    const struct site_group *from = &sums->groups.items[group];
    struct diff_site site = {
        .bytes = from->bytes, .count = from->count, .first_stack = side->stack_count};
    if (!diff_place_of(sums->translation, sums->set->sites, from, &site.place, err) ||
        !source_of(sums, &from->source, &site, err))
        return false;
    size_t end = sums->part_count;
    for (; *next < end && sums->parts[*next].group == group; ++*next) {
        const struct part *part = &sums->parts[*next];
        bool is_new = site.stack_count == 0 || part->stack != part[-1].stack;
        if (is_new && !add_stack(sums, &site, part, err))
            return false;
        side->stacks[side->stack_count - 1].bytes += part->bytes;
        side->stacks[side->stack_count - 1].count += part->count;
    }
    side->has_python = side->has_python || site.place.kind == DIFF_PYTHON;
    side->has_operators = side->has_operators || site.place.op != STRING_EMPTY;
    if (from->source.source == SOURCE_FORWARD)
        side->has_forward_lines = true;
    else if (from->source.site.has_backward && from->source.site.user_frame == NO_FRAME)
        side->has_nodes = true;
    if (site.place.kind != DIFF_STACKLESS)
        side->placed_bytes += site.bytes;
    else if (site.place.source == SOURCE_BEFORE)
        side->before_bytes += site.bytes;
    side->sites[side->site_count++] = site;
    return true;
}

static bool make_sites(struct site_sums *sums, struct error *err)
{
    struct diff_side *side = sums->side;
    size_t count = sums->groups.count, next = 0;
    if (!vec_reserve(side->sites, side->site_capacity, count + 1, side->budget, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_site(sums, (uint32_t)i, &next, err))
            return false;
    if (sums->set->unexplained_bytes != 0)
        side->sites[side->site_count++] = (struct diff_site){
            .place = {.kind = DIFF_UNEXPLAINED, .category = CATEGORY_UNKNOWN},
            .source.site = {.user_frame = NO_FRAME, .any_python_frame = NO_FRAME},
            .bytes = sums->set->unexplained_bytes,
            .first_stack = side->stack_count};
    return true;
}

bool diff_sites_make(struct diff_side *side, const struct live_set *set,
                     struct translation *translation, struct error *err)
{
    struct site_sums sums = {.side = side, .set = set, .translation = translation};
    bool ok = live_wrappers_leave(set, err) && make_parts(&sums, err) && make_sites(&sums, err);
    vec_free(sums.parts, sums.part_capacity, sizeof(*sums.parts), set->timeline->snapshot->budget);
    site_groups_release(&sums.groups);
    return ok;
}
