#include "analysis/report/grouping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/live/sums.h"
#include "analysis/pool/pools.h"
#include "model/layout_segments.h"
#include "model/live.h"

/* What identifies a group: a category, a phase, a string, a file with a function, a pool, or a
 * stream. */
struct group {
    bool is_none; /* the allocations have no such property, and the parts are 0 */
    uint64_t parts[3];
    int64_t bytes;
    uint64_t count;
};

/* The module of a stack. It is cached, because many allocations may share a deep stack. */
struct stack_module {
    bool is_known;
    frame_id forward; /* or NO_FRAME */
};

struct grouping {
    struct device_report *report;
    const struct live_set *set;
    enum group_by by;
    struct group *groups; /* at first one for each allocation */
    size_t count, capacity;
    struct reserved_pieces pieces; /* if known */
    struct stack_module *modules;  /* by stack */
    size_t module_capacity;
    struct label_files files; /* of modules */
    struct buffer text;
    struct budget *budget; /* not owned */
};

static const char *const names[] = {
    [BY_SITE] = "site",         [BY_CATEGORY] = "category",
    [BY_METADATA] = "metadata", [BY_MODULE] = "module",
    [BY_POOL] = "pool",         [BY_STREAM] = "stream",
    [BY_PHASE] = "phase",       [BY_ANNOTATION] = "annotation",
    [BY_COMPILE] = "compile",
};

static const char *const names_of_none[] = {
    [BY_METADATA] = "(no metadata)",     [BY_MODULE] = "(in no forward function)",
    [BY_POOL] = "(pool not known)",      [BY_STREAM] = "(stream not known)",
    [BY_ANNOTATION] = "(no annotation)", [BY_COMPILE] = "(in no compiled region)",
};

const char *group_by_name(enum group_by by)
{
    return names[by];
}

/* Python 3.11 and later name a method with its class: "Net.forward". */
static bool is_forward(struct text name)
{
    static const char ending[] = ".forward";
    size_t size = sizeof(ending) - 1;
    return text_equals(name, "forward") ||
           (name.size > size && memcmp(name.bytes + name.size - size, ending, size) == 0);
}

/* The innermost frame of the user's code in a function named forward, or NO_FRAME. */
static frame_id forward_of(struct site_table *sites, stack_id id)
{
    const struct symbols *symbols = site_table_symbols(sites);
    struct stack stack = symbols_stack_at(symbols, id);
    for (size_t i = 0; i < stack.count; i++) {
        if (site_frame_kind(sites, stack.frames[i]) != FRAME_USER)
            continue;
        frame_id frame = site_original_frame(sites, stack.frames[i]);
        if (is_forward(symbols_text(symbols, symbols_frame_at(symbols, frame).name)))
            return frame;
    }
    return NO_FRAME;
}

static bool take_module(struct grouping *grouping, const struct live *live, struct group *group,
                        struct error *err)
{
    struct site_table *sites = grouping->set->sites;
    struct live_source source;
    if (!live_source_of(grouping->set, live, &source, err))
        return false;
    struct stack_module *known = &grouping->modules[source.shown];
    if (!known->is_known)
        *known = (struct stack_module){true, forward_of(sites, source.shown)};
    group->is_none = known->forward == NO_FRAME;
    if (group->is_none)
        return true;
    struct frame frame = symbols_frame_at(site_table_symbols(sites), known->forward);
    group->parts[0] = frame.file;
    group->parts[1] = frame.name;
    return true;
}

/* Sets the pool and the stream: from the segment or, if that is not known, from the event. */
static void take_place(const struct grouping *grouping, const struct live *live,
                       struct group *group)
{
    const struct timeline *timeline = grouping->set->timeline;
    const struct reserved_piece *piece = reserved_piece_at(&grouping->pieces, live->addr);
    const struct event_extra *extra = live_extra(timeline, live);
    if (!piece && !extra) {
        group->is_none = true;
        return;
    }
    if (grouping->by == BY_STREAM) {
        group->parts[0] = (uint64_t)(piece ? piece->stream : extra->stream);
        return;
    }
    const uint64_t *pool = piece ? piece->pool : extra->pool;
    enum segment_class class = piece ? piece->class : CLASS_UNKNOWN;
    if (class == CLASS_UNKNOWN)
        class = allocator_is_small(allocator_round(&timeline->snapshot->rules, live->size))
                    ? CLASS_SMALL
                    : CLASS_LARGE;
    group->parts[0] = pool[0];
    group->parts[1] = pool[1];
    group->parts[2] = class == CLASS_SMALL;
}

/* PyTorch writes "N/A" for an allocation outside of every compiled region. */
static bool is_compiled(const struct symbols *symbols, string_id context)
{
    return context != STRING_EMPTY && !text_equals(symbols_text(symbols, context), "N/A");
}

static bool take(struct grouping *grouping, const struct live *live, struct error *err)
{
    struct group *group = &grouping->groups[grouping->count++];
    *group = (struct group){.bytes = (int64_t)live->size, .count = 1};
    const struct event_extra *extra;
    string_id annotation;
    switch (grouping->by) {
    case BY_CATEGORY:
        group->parts[0] = live_category(grouping->set, live);
        return true;
    case BY_METADATA:
        extra = live_extra(grouping->set->timeline, live);
        group->parts[0] = extra ? extra->user_metadata : STRING_EMPTY;
        group->is_none = group->parts[0] == STRING_EMPTY;
        return true;
    case BY_ANNOTATION:
        if (!live_note_text(grouping->set->timeline, live, &annotation, err))
            return false;
        group->parts[0] = annotation;
        group->is_none = annotation == STRING_EMPTY;
        return true;
    case BY_COMPILE:
        extra = live_extra(grouping->set->timeline, live);
        group->is_none = !extra || !is_compiled(site_table_symbols(grouping->set->sites),
                                                extra->compile_context);
        group->parts[0] = group->is_none ? STRING_EMPTY : extra->compile_context;
        return true;
    case BY_MODULE:
        return take_module(grouping, live, group, err);
    case BY_PHASE:
        group->parts[0] = live_phase(grouping->set, &grouping->report->phases, live);
        return true;
    default:
        take_place(grouping, live, group);
        return true;
    }
}

static int by_identity(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->is_none != y->is_none)
        return x->is_none ? 1 : -1;
    for (int i = 0; i < 3; i++)
        if (x->parts[i] != y->parts[i])
            return x->parts[i] < y->parts[i] ? -1 : 1;
    return 0;
}

static int largest_first(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return by_identity(a, b);
}

static bool collect(struct grouping *grouping, struct error *err)
{
    const struct live_set *set = grouping->set;
    size_t kept = 0;
    size_t stacks = symbols_stack_count(site_table_symbols(set->sites));
    if (!vec_reserve(grouping->groups, grouping->capacity, set->count + 1, grouping->budget, err))
        return false;
    if (grouping->by == BY_MODULE) {
        if (!vec_reserve(grouping->modules, grouping->module_capacity, stacks + 1, grouping->budget,
                         err))
            return false;
        memset(grouping->modules, 0, grouping->module_capacity * sizeof(*grouping->modules));
    }
    for (size_t i = 0; i < set->count; i++)
        if (!take(grouping, &set->items[i], err))
            return false;
    if (grouping->count == 0)
        return true;
    qsort(grouping->groups, grouping->count, sizeof(*grouping->groups), by_identity);
    for (size_t i = 1; i < grouping->count; i++) {
        struct group *last = &grouping->groups[kept], *group = &grouping->groups[i];
        if (by_identity(last, group) != 0) {
            grouping->groups[++kept] = *group;
            continue;
        }
        last->bytes += group->bytes;
        last->count += group->count;
    }
    grouping->count = kept + 1;
    qsort(grouping->groups, grouping->count, sizeof(*grouping->groups), largest_first);
    return true;
}

static void write_name(struct grouping *grouping, const struct group *group)
{
    const struct symbols *symbols = site_table_symbols(grouping->set->sites);
    struct buffer *text = &grouping->text;
    char words[POOL_TEXT_SIZE];
    const uint64_t *parts = group->parts;
    if (group->is_none) {
        buffer_puts(text, names_of_none[grouping->by]);
        return;
    }
    switch (grouping->by) {
    case BY_CATEGORY:
        buffer_puts(text, category_name((enum category)parts[0]));
        break;
    case BY_METADATA:
    case BY_ANNOTATION:
    case BY_COMPILE:
        label_add_name(text, symbols_text(symbols, (string_id)parts[0]));
        break;
    case BY_MODULE:
        label_add_file(text, symbols_text(symbols, (string_id)parts[0]),
                       label_files_size(&grouping->files, (string_id)parts[0]));
        buffer_puts(text, " ");
        label_add_name(text, symbols_text(symbols, (string_id)parts[1]));
        break;
    case BY_PHASE:
        buffer_puts(text, live_phase_name((unsigned)parts[0]));
        break;
    case BY_POOL:
        buffer_puts(text, pool_text(words, &(struct pool_key){.is_small = parts[2] != 0,
                                                              .pool = {parts[0], parts[1]}}));
        break;
    default:
        buffer_puts(text, stream_text(words, (int64_t)parts[0]));
    }
}

static bool add_row(struct grouping *grouping, struct group_row row, struct error *err)
{
    struct device_report *report = grouping->report;
    if (!label_keep(site_table_symbols(grouping->set->sites), &grouping->text, &row.name, err))
        return false;
    report->groups[report->group_count++] = row;
    return true;
}

static bool add_remainders(struct grouping *grouping, size_t shown, struct error *err)
{
    struct group_row rest = {.is_remainder = true};
    int64_t unexplained = grouping->set->unexplained_bytes;
    char cut[UNITS_TEXT_SIZE];
    for (size_t i = shown; i < grouping->count; i++) {
        rest.bytes += grouping->groups[i].bytes;
        rest.count += grouping->groups[i].count;
    }
    if (shown < grouping->count) {
        buffer_printf(&grouping->text, "(%s more)", units_count(cut, grouping->count - shown));
        if (!add_row(grouping, rest, err))
            return false;
    }
    if (unexplained == 0)
        return true;
    buffer_puts(&grouping->text, "(not explained: the trace contradicts itself)");
    return add_row(grouping, (struct group_row){.bytes = unexplained, .is_remainder = true}, err);
}

static bool make_rows(struct grouping *grouping, size_t top, struct error *err)
{
    struct device_report *report = grouping->report;
    size_t shown = top > 0 && top < grouping->count ? top : grouping->count;
    if (!vec_reserve(report->groups, report->group_capacity, shown + 2, grouping->budget, err))
        return false;
    for (size_t i = 0; grouping->by == BY_MODULE && i < shown; i++)
        if (!grouping->groups[i].is_none &&
            !label_files_add(&grouping->files, (string_id)grouping->groups[i].parts[0], err))
            return false;
    label_files_settle(&grouping->files);
    for (size_t i = 0; i < shown; i++) {
        const struct group *group = &grouping->groups[i];
        write_name(grouping, group);
        if (!add_row(grouping, (struct group_row){.bytes = group->bytes, .count = group->count},
                     err))
            return false;
    }
    return add_remainders(grouping, shown, err);
}

bool report_groups_make(struct device_report *report, const struct live_set *set,
                        const struct report_options *options, struct error *err)
{
    const struct timeline *timeline = report->timeline;
    struct grouping grouping = {
        .report = report,
        .set = set,
        .by = options->by,
        .budget = timeline->snapshot->budget,
        .pieces = {.budget = timeline->snapshot->budget},
    };
    report->by = options->by;
    if (options->by == BY_SITE)
        return true;
    label_files_init(&grouping.files, site_table_symbols(set->sites), grouping.budget);
    bool wants_pieces =
        (options->by == BY_POOL || options->by == BY_STREAM) && trace_has_end(timeline->trace);
    bool ok =
        (!wants_pieces || reserved_pieces_make(timeline, report->at_item, &grouping.pieces, err)) &&
        collect(&grouping, err) && make_rows(&grouping, options->top, err);
    reserved_pieces_release(&grouping.pieces);
    label_files_release(&grouping.files);
    buffer_release(&grouping.text);
    vec_free(grouping.modules, grouping.module_capacity, sizeof(*grouping.modules),
             grouping.budget);
    vec_free(grouping.groups, grouping.capacity, sizeof(*grouping.groups), grouping.budget);
    return ok;
}
