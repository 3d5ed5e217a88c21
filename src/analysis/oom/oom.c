#include "analysis/oom/oom.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/live/sites.h"
#include "analysis/oom/words.h"
#include "analysis/pool/device_memory.h"

struct work {
    const struct live_set *set;
    const struct oom_question *question;
    struct allocator_rules rules;
    uint64_t least_bytes; /* a lower bound on the device's memory */
};

/* Facts gathered while the segments at one event are visited. */
struct layout_facts {
    struct oom_row *row;
    struct pool_rows pools;
    struct pins pins;
    const struct allocator_rules *rules;
};

/* True if a hole may serve a request. With max_split_size_mb, large blocks are reserved for large
 * requests. */
static bool may_serve(const struct allocator_rules *rules, uint64_t size, uint64_t hole)
{
    return size >= rules->max_split_size || hole < rules->max_split_size;
}

static bool take_segment(void *self, const struct layout_segment *segment, struct error *err)
{
    struct layout_facts *facts = self;
    struct oom_layout *layout = &facts->row->layout;
    const struct pool_key key = pool_key_of(segment);
    bool is_own = pool_key_equal(&key, &facts->row->key);
    for (size_t i = 0; i < segment->span_count; i++) {
        uint64_t size = segment->spans[i].size;
        if (segment->spans[i].state != SPAN_HOLE) {
            layout->block_bytes += size;
            continue;
        }
        layout->inactive_bytes += size;
        *(is_own ? &layout->pool_bytes : &layout->elsewhere_bytes) += size;
        if (!is_own && size > layout->elsewhere_largest_bytes)
            layout->elsewhere_largest_bytes = size;
        if (is_own && size > layout->largest_bytes &&
            (segment->is_expandable || may_serve(facts->rules, facts->row->requested_bytes, size)))
            layout->largest_bytes = size;
    }
    return pool_rows_add(&facts->pools, segment, NULL, err) && pins_add(&facts->pins, segment, err);
}

static bool examine_layout(const struct work *work, const struct live_set *live,
                           struct oom_row *row, const char **doubt, struct error *err)
{
    const struct timeline *timeline = live->timeline;
    struct layout_facts facts = {.row = row, .rules = &work->rules};
    const struct layout_visitor visitor = {&facts, take_segment};
    struct layout_doubts doubts;
    pool_rows_init(&facts.pools, timeline->snapshot->budget);
    pins_init(&facts.pins, timeline->snapshot->budget);
    bool ok =
        layout_at(timeline, row->item, live->items, live->count, true, &visitor, &doubts, err);
    if (ok) {
        *doubt = layout_doubts_text(&doubts, row->at.reserved_bytes);
        oom_find_elsewhere(&facts.pools, &row->key, &row->layout.elsewhere);
        row->layout.unsure_bytes = doubts.unsure_bytes;
        row->layout.is_known = !*doubt;
    }
    if (ok && *doubt) {
        row->layout = (struct oom_layout){.after_range = doubts.after_range};
    } else if (ok) {
        pins_resolve_live(&facts.pins, live->items);
        ok = pin_rows_make(&facts.pins, live, OOM_PINS_MOST, &row->pinned, err);
    }
    pool_rows_release(&facts.pools);
    pins_release(&facts.pins);
    return ok;
}

static void sum_categories(const struct live_set *live, struct oom_row *row)
{
    int64_t bytes[CATEGORY_LIMIT] = {0};
    uint64_t counts[CATEGORY_LIMIT] = {0};
    for (size_t i = 0; i < live->count; i++) {
        enum category category = live_category(live, &live->items[i]);
        bytes[category] += (int64_t)live->items[i].size;
        counts[category]++;
    }
    bytes[CATEGORY_COUNT] = live->unexplained_bytes;
    for (int i = 0; i < CATEGORY_LIMIT; i++) {
        if (counts[i] == 0 && bytes[i] == 0)
            continue;
        size_t at = row->category_count++;
        for (; at > 0 && row->categories[at - 1].bytes < bytes[i]; at--)
            row->categories[at] = row->categories[at - 1];
        row->categories[at].category = (enum category)i;
        row->categories[at].bytes = bytes[i];
        row->categories[at].count = counts[i];
    }
}

static bool take_text(struct buffer *text, char **taken, struct error *err)
{
    *taken = text->failed ? NULL : strdup(text->size > 0 ? text->bytes : "");
    buffer_release(text);
    return *taken || error_out_of_memory(err);
}

static bool list_sites(const struct live_set *live, struct oom_row *row, struct error *err)
{
    struct site_groups groups;
    if (!site_groups_make(live, &groups, err))
        return false;
    size_t shown = groups.count < OOM_SITES_MOST ? groups.count : OOM_SITES_MOST;
    row->sites = calloc(shown + 1, sizeof(*row->sites));
    bool ok = row->sites || error_out_of_memory(err);
    for (size_t i = 0; ok && i < shown; i++) {
        const struct site_group *group = &groups.items[i];
        struct buffer text = BUFFER_INIT;
        live_source_label(live, &group->source, NULL, false, &text);
        row->sites[i] = (struct oom_site){group->bytes, group->count, group->category,
                                          group->source.site, NULL};
        row->site_count++;
        ok = take_text(&text, &row->sites[i].label, err);
    }
    site_groups_release(&groups);
    return ok;
}

static bool name_asker(const struct live_set *set, struct oom_row *row, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    struct site site;
    row->stack = set->timeline->trace->stack[row->item];
    if (row->stack == STACK_NONE)
        return true;
    if (!site_of(set->sites, row->stack, &site, err))
        return false;
    site_label(set->sites, row->stack, &site, &text);
    return take_text(&text, &row->asker, err);
}

/* Sets the memory of the device that is neither free nor reserved by this process. */
static void count_others(const struct work *work, struct oom_row *row)
{
    uint64_t known = work->question->device_bytes;
    row->device_is_least = known == 0;
    row->device_bytes = known ? known : work->least_bytes;
    uint64_t ours;
    if (row->at.reserved_bytes < 0 ||
        __builtin_add_overflow((uint64_t)row->at.reserved_bytes, row->device_free_bytes, &ours)) {
        row->device_bytes = 0;
        return;
    }
    /* If all memory up to the lower bound is reserved or free, the bound tells nothing about other
     * processes. */
    if (row->device_is_least && row->device_bytes <= ours)
        row->device_bytes = 0;
    row->other_bytes = row->device_bytes > ours ? row->device_bytes - ours : 0;
}

static void describe(const struct work *work, int64_t item, struct oom_row *row)
{
    const struct timeline *timeline = work->set->timeline;
    const struct trace *trace = timeline->trace;
    const struct event_extra *extra = &timeline->snapshot->extras[trace_extra(trace, (size_t)item)];
    *row = (struct oom_row){.item = item,
                            .requested_bytes = trace_size(trace, (size_t)item),
                            .device_free_bytes = trace_addr(trace, (size_t)item)};
    row->key = (struct pool_key){.is_small = allocator_is_small(row->requested_bytes),
                                 .stream = extra->stream,
                                 .pool = {extra->pool[0], extra->pool[1]}};
    row->segment_bytes =
        work->rules.expandable_segments
            ? allocator_round_up(row->requested_bytes, allocator_page(row->key.is_small))
            : allocator_segment_size(row->requested_bytes);
    timeline_moment(timeline, item, &row->at);
}

static bool explain(const struct work *work, struct oom_row *row, struct error *err)
{
    struct live_list list;
    struct live_set live = *work->set;
    const char *doubt = NULL;
    if (!timeline_live(live.timeline, row->item, &list, err))
        return false;
    live_set_take(&live, &list);
    sum_categories(&live, row);
    bool ok = examine_layout(work, &live, row, &doubt, err) && list_sites(&live, row, err) &&
              name_asker(&live, row, err);
    live_list_release(&list);
    if (!ok)
        return false;
    count_others(work, row);
    row->verdict = oom_choose_verdict(row);
    oom_write_sentences(row, &work->rules, doubt, work->question);
    return true;
}

/* The number of events to explain, which is at least 1. */
static size_t most_shown(const struct timeline *timeline)
{
    uint64_t most = OOMS_WORK / (timeline->trace->count + timeline->state.segments), total;
    most = most < 1 ? 1 : most > OOMS_MOST ? OOMS_MOST : most;
    total = timeline->by_action[ACTION_OOM];
    return (size_t)(total < most ? total : most);
}

bool ooms_make(const struct live_set *set, const struct oom_question *question, struct ooms *ooms,
               struct error *err)
{
    const struct timeline *timeline = set->timeline;
    const struct trace *trace = timeline->trace;
    struct ooms made = {.total = timeline->by_action[ACTION_OOM]};
    struct work work = {.set = set, .question = question};
    if (made.total == 0) {
        *ooms = made;
        return true;
    }
    work.rules = timeline->snapshot->rules;
    work.least_bytes = device_memory_least(timeline);
    size_t shown = most_shown(timeline), at = trace->count;
    made.items = calloc(shown, sizeof(*made.items));
    bool ok = made.items || error_out_of_memory(err);
    for (size_t i = shown; ok && i-- > 0;) {
        do
            at--;
        while (trace->action[at] != ACTION_OOM);
        describe(&work, (int64_t)at, &made.items[i]);
    }
    for (; ok && made.count < shown; made.count++)
        ok = explain(&work, &made.items[made.count], err);
    if (!ok) {
        made.count = made.items ? shown : 0;
        ooms_release(&made);
        return false;
    }
    *ooms = made;
    return true;
}

void ooms_release(struct ooms *ooms)
{
    for (size_t i = 0; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        for (size_t s = 0; s < row->site_count; s++)
            free(row->sites[s].label);
        free(row->sites);
        free(row->asker);
        pin_rows_release(&row->pinned);
    }
    free(ooms->items);
    *ooms = (struct ooms){0};
}
