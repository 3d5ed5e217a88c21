#include "analysis/live/wrapper.h"

#include <string.h>

#include "analysis/code/operators.h"

#define WRAPPERS   2  /* functions that only allocate, one within the other */
#define NEARLY_ALL 80 /* percent of the bytes that live, without workspaces */

/* True for a function of the program that may be one. */
static bool may_be_wrapper(struct text name)
{
    static const char ending[] = "forward";
    size_t size = sizeof(ending) - 1;
    bool is_forward = name.size >= size && memcmp(name.bytes + name.size - size, ending, size) == 0;
    return !is_forward && !text_equals(name, "<module>");
}

/* True if the line of a site lies in the function. */
static bool is_in(const struct live_set *set, const struct live_source *source,
                  const struct frame *function)
{
    const struct symbols *symbols = site_table_symbols(set->sites);
    frame_id id;
    if (source->site.user_frame == NO_FRAME ||
        !site_frame(set->sites, source->shown, &source->site, &id))
        return false;
    struct frame frame = symbols_frame_at(symbols, id);
    return frame.file == function->file && frame.name == function->name &&
           !operator_computes(symbols_text(symbols, source->site.op));
}

/* The line that called the function of a site, or NO_FRAME. */
static frame_id caller_of(const struct live_set *set, const struct live_source *source)
{
    struct stack stack = symbols_stack_at(site_table_symbols(set->sites), source->shown);
    for (size_t i = (size_t)source->site.user_frame + 1; i < stack.count; i++) {
        enum frame_kind kind = site_frame_kind(set->sites, stack.frames[i]);
        if (kind != FRAME_NATIVE)
            return kind == FRAME_USER ? stack.frames[i] : NO_FRAME;
    }
    return NO_FRAME;
}

/* Sets *several if more than one line calls the function. */
static bool have_several_callers(const struct live_set *set, const struct frame *function,
                                 bool *several, struct error *err)
{
    frame_id first = NO_FRAME;
    *several = false;
    for (size_t i = 0; i < set->count && !*several; i++) {
        struct live_source source;
        if (!live_source_of(set, &set->items[i], &source, err))
            return false;
        if (!is_in(set, &source, function))
            continue;
        frame_id caller = caller_of(set, &source);
        *several = caller != NO_FRAME && first != NO_FRAME && caller != first;
        first = first == NO_FRAME ? caller : first;
    }
    return true;
}

/* Sets *found if one function of the program, not a forward(), holds nearly all of what lives,
 * computes nothing as far as operators show, and is called from several lines. */
static bool find_wrapper(const struct live_set *set, const struct site_groups *groups, bool *found,
                         struct frame *function, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(set->sites);
    int64_t total = 0, bytes = 0;
    frame_id id;
    *found = false;
    if (groups->placed == 0 || groups->items[0].source.site.user_frame == NO_FRAME ||
        !site_frame(set->sites, groups->items[0].source.shown, &groups->items[0].source.site, &id))
        return true;
    *function = symbols_frame_at(symbols, id);
    if (!may_be_wrapper(symbols_text(symbols, function->name)))
        return true;
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->items[i].category == CATEGORY_WORKSPACE) /* a library's */
            continue;
        total += groups->items[i].bytes;
        bytes += is_in(set, &groups->items[i].source, function) ? groups->items[i].bytes : 0;
    }
    return bytes < total / 100 * NEARLY_ALL || have_several_callers(set, function, found, err);
}

bool live_groups_make(const struct live_set *set, struct site_groups *groups, struct error *err)
{
    for (int level = 0;; level++) {
        struct frame function;
        bool found = false, ok = site_groups_make(set, groups, err);
        if (!ok || level == WRAPPERS)
            return ok;
        ok = find_wrapper(set, groups, &found, &function, err);
        if (ok && !found)
            return true;
        site_groups_release(groups);
        if (!ok)
            return false;
        site_table_leave(set->sites, function.file, function.name);
    }
}

bool live_wrappers_leave(const struct live_set *set, struct error *err)
{
    struct site_groups groups = {.budget = set->timeline->snapshot->budget};
    bool ok = live_groups_make(set, &groups, err);
    if (ok)
        site_groups_release(&groups);
    return ok;
}
