#include "analysis/live/wrapper.h"

#define WRAPPER_COUNT   8 /* allocations */
#define WRAPPER_PERCENT 80

/* Finds the line of code that holds nearly all live bytes, unless it is a model's forward(). */
static bool find_wrapper(struct live_set *set, const struct site_groups *groups, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(set->sites);
    __extension__ __int128 all = 0, bytes = 0;
    uint64_t count = 0;
    frame_id frame;
    for (size_t i = 0; i < groups->count; i++)
        all += groups->items[i].bytes;
    if (groups->placed == 0 || !site_frame(set->sites, groups->items[0].source.shown,
                                           &groups->items[0].source.site, &set->wrapper))
        return true;
    for (size_t i = 0; i < groups->placed; i++) {
        const struct live_source *source = &groups->items[i].source;
        if (!site_frame(set->sites, source->shown, &source->site, &frame) ||
            frame != set->wrapper || source->site.user_frame == NO_FRAME)
            continue;
        bytes += groups->items[i].bytes;
        count += groups->items[i].count;
    }
    const struct stack_facts *facts =
        site_stack_facts(set->sites, groups->items[0].source.shown, err);
    if (!facts)
        return false;
    struct text name = symbols_text(symbols, symbols_frame_at(symbols, set->wrapper).name);
    set->has_wrapper = facts->context != CONTEXT_FORWARD && !text_equals(name, "forward") &&
                       count >= WRAPPER_COUNT && bytes * 100 >= all * WRAPPER_PERCENT;
    return true;
}

/* True if the groups of the wrapper have at least two callers. */
static bool has_callers(const struct live_set *set, const struct site_groups *groups)
{
    frame_id first = NO_FRAME;
    for (size_t i = 0; i < groups->placed; i++) {
        frame_id caller = live_source_caller(set, &groups->items[i].source);
        if (caller != NO_FRAME && first != NO_FRAME && caller != first)
            return true;
        first = caller != NO_FRAME ? caller : first;
    }
    return false;
}

bool site_groups_make_split(const struct live_set *set, struct live_set *split,
                            struct site_groups *groups, struct error *err)
{
    struct site_groups plain, divided;
    *split = *set;
    if (!site_groups_make(set, &plain, err))
        return false;
    bool ok = find_wrapper(split, &plain, err);
    if (ok && split->has_wrapper) {
        ok = site_groups_make(split, &divided, err);
        if (ok && has_callers(split, &divided)) {
            site_groups_release(&plain);
            plain = divided;
        } else {
            split->has_wrapper = false;
            if (ok)
                site_groups_release(&divided);
        }
    }
    if (!ok)
        site_groups_release(&plain);
    else
        *groups = plain;
    return ok;
}
