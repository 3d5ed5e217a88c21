#include "analysis/live/source.h"

#include "model/live.h"

void live_set_take(struct live_set *set, const struct live_list *list)
{
    set->items = list->items;
    set->count = list->count;
    set->unexplained_bytes = list->unexplained_bytes;
}

enum category live_category(const struct live_set *set, const struct live *live)
{
    return (enum category)(live->in_trace ? set->categories->of_lifetime[live->index]
                                          : set->categories->of_preexisting[live->index]);
}

uint8_t live_reason(const struct live_set *set, const struct live *live)
{
    return live->in_trace ? set->categories->why_lifetime[live->index]
                          : set->categories->why_preexisting[live->index];
}

/* The site of a pair of stacks: the line of code from `shown`, the operator from `own`. */
static bool join_sites(const struct live_set *set, stack_id own, stack_id shown, struct site *site,
                       struct error *err)
{
    if (!site_of(set->sites, shown, site, err))
        return false;
    if (own == shown)
        return true;
    struct site inner;
    if (!site_of(set->sites, own, &inner, err))
        return false;
    if (inner.op != STRING_EMPTY)
        site->op = inner.op;
    site->node = inner.node;
    site->has_backward = inner.has_backward;
    return true;
}

bool live_is_older(const struct live_set *set, const struct live *live)
{
    return !live->in_trace && preexisting_is_older(&set->timeline->preexisting[live->index]);
}

bool live_source_of(const struct live_set *set, const struct live *live, struct live_source *source,
                    struct error *err)
{
    struct live_source found = {.source = SOURCE_OWN, .own = live->stack, .shown = live->stack};
    if (!site_of(set->sites, live->stack, &found.site, err))
        return false;
    if (live->stack == STACK_NONE && live_is_older(set, live) && set->timeline->trace->count > 0)
        found.source = SOURCE_BEFORE;
    stack_id forward = STACK_NONE;
    if (found.site.user_frame == NO_FRAME)
        forward = live_forward_stack(set->timeline, live);
    if (forward != STACK_NONE) {
        struct site outer;
        if (!site_of(set->sites, forward, &outer, err))
            return false;
        if (outer.user_frame != NO_FRAME) {
            found.source = SOURCE_FORWARD;
            found.shown = forward;
            if (!join_sites(set, found.own, forward, &found.site, err))
                return false;
        }
    }
    *source = found;
    return true;
}

/* The file in the label; false if it names none. */
static bool live_source_file(const struct live_set *set, const struct live_source *source,
                             string_id *file)
{
    frame_id frame;
    if (!site_frame(set->sites, source->shown, &source->site, &frame))
        return false;
    *file = symbols_frame_at(site_table_symbols(set->sites), frame).file;
    return true;
}

void live_source_label(const struct live_set *set, const struct live_source *source,
                       const struct label_files *files, bool brief, struct buffer *label)
{
    if (source->source == SOURCE_BEFORE) {
        buffer_puts(label,
                    brief ? "(before recording began)" : "(allocated before recording began)");
        return;
    }
    string_id file;
    size_t size = 0;
    if (files && live_source_file(set, source, &file))
        size = label_files_size(files, file);
    site_label_long(set->sites, source->shown, &source->site, size, brief, label);
    if (source->source == SOURCE_FORWARD)
        buffer_puts(label, " (its backward)");
}

bool live_source_note_file(const struct live_set *set, const struct live_source *source,
                           struct label_files *files, struct error *err)
{
    string_id file;
    return !live_source_file(set, source, &file) || label_files_add(files, file, err);
}

bool live_source_make_label(const struct live_set *set, const struct live_source *source,
                            const struct label_files *files, struct buffer *text,
                            struct label *label, struct error *err)
{
    struct symbols *symbols = site_table_symbols(set->sites);
    struct label made;
    live_source_label(set, source, files, false, text);
    if (!label_keep(symbols, text, &made.full, err))
        return false;
    live_source_label(set, source, files, true, text);
    if (!label_keep(symbols, text, &made.brief, err))
        return false;
    *label = made;
    return true;
}
