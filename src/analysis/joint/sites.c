#include "analysis/joint/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "model/sums.h"

#define MODULE_MOST ((size_t)1024)

/* A live allocation that is in the trace. */
struct entry {
    uint32_t group;
    uint32_t call;    /* or NO_OPERATOR_CALL */
    string_id module; /* of the trace's symbols */
    uint64_t bytes;
};

struct entries {
    struct entry *items;
    size_t count, capacity;
};

static bool list_entries(struct entries *entries, const struct live_set *set,
                         const uint32_t *members, const struct joint *joint, struct error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        uint32_t index = live->in_trace ? joint->allocation[live->index] : JOINT_NONE;
        if (index == JOINT_NONE)
            continue;
        const struct profiled_allocation *row = &joint->profiled->items[index];
        if (!vec_push(entries->items, entries->count, entries->capacity, joint->budget, err,
                      (struct entry){members[i], row->call, row->module, live->size}))
            return false;
    }
    return true;
}

static int by_call(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->call > b->call) - (a->call < b->call);
}

static int by_module(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->module > b->module) - (a->module < b->module);
}

/* Sums the calls of a group, whose entries are sorted by call. */
static void take_calls(struct site_joint *site, const struct profiled *profiled,
                       const struct entry *entries, size_t count)
{
    int64_t kernel_ns = 0, host_ns = 0;
    site->is_joined = true;
    site->matched = count;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].call == NO_OPERATOR_CALL ||
            (i > 0 && entries[i - 1].call == entries[i].call))
            continue;
        const struct operator_call *call = &profiled->calls[entries[i].call];
        sum_add_capped(&kernel_ns, call->kernel_ns);
        sum_add_capped(&host_ns, call->host_ns);
        site->kernels += call->kernels;
    }
    site->kernel_us = profiled->has_kernels ? kernel_ns / 1000 : -1;
    site->host_us = profiled->has_kernels ? -1 : host_ns / 1000;
}

/* Writes "Block_*.Linear_*" for "Block_3.Linear_7": returns the size. */
static size_t without_numbers(char out[MODULE_MOST], struct text name)
{
    size_t size = 0;
    name = text_first(name, MODULE_MOST - 2);
    for (size_t i = 0; i < name.size; i++) {
        out[size++] = name.bytes[i];
        size_t end = i + 1;
        while (end < name.size && ascii_is_digit(name.bytes[end]))
            end++;
        if (name.bytes[i] == '_' && end > i + 1 && (end == name.size || name.bytes[end] == '.')) {
            out[size++] = '*';
            i = end - 1;
        }
    }
    return size;
}

static bool same_but_numbers(const struct symbols *symbols, string_id a, string_id b)
{
    char x[MODULE_MOST], y[MODULE_MOST];
    size_t size = without_numbers(x, symbols_text(symbols, a));
    return without_numbers(y, symbols_text(symbols, b)) == size && memcmp(x, y, size) == 0;
}

/* The module with the most bytes of a group, whose entries are sorted by module. */
static bool take_module(struct site_joint *site, const struct profiled *profiled,
                        struct symbols *symbols, const struct entry *entries, size_t count,
                        struct error *err)
{
    uint64_t most = 0;
    string_id best = entries[0].module;
    bool alike = false;
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t bytes = 0;
        for (end = i; end < count && entries[end].module == entries[i].module; end++)
            bytes += entries[end].bytes;
        if (bytes > most) {
            most = bytes;
            best = entries[i].module;
        }
    }
    for (size_t i = 0; i < count && !alike; i++)
        alike = entries[i].module != best &&
                (i == 0 || entries[i].module != entries[i - 1].module) &&
                same_but_numbers(profiled->symbols, entries[i].module, best);
    struct text name = symbols_text(profiled->symbols, best);
    char text[MODULE_MOST];
    if (alike)
        name = (struct text){text, without_numbers(text, name)};
    return symbols_string(symbols, name.bytes, name.size, &site->module, err);
}

/* What is known of a group: in its row of the report, or NULL if the report cut the row. */
static struct site_joint *row_of(struct device_report *report, size_t shown, size_t placed,
                                 size_t group)
{
    if (group >= placed)
        return &report->sites[shown + (group - placed)].joint;
    return group < shown ? &report->sites[group].joint : NULL;
}

static bool take_groups(struct device_report *report, const struct site_groups *groups,
                        const struct joint *joint, struct entries *entries, struct error *err)
{
    struct symbols *symbols = report->timeline->snapshot->symbols;
    size_t rows = 0;
    while (rows < report->site_count && !report->sites[rows].is_remainder)
        rows++;
    size_t shown = rows - (groups->count - groups->placed);
    for (int pass = 0; pass < 2; pass++) {
        if (entries->count > 1)
            qsort(entries->items, entries->count, sizeof(*entries->items),
                  pass == 0 ? by_call : by_module);
        for (size_t first = 0, end; first < entries->count; first = end) {
            uint32_t group = entries->items[first].group;
            for (end = first; end < entries->count && entries->items[end].group == group;)
                end++;
            struct site_joint *site = row_of(report, shown, groups->placed, group);
            if (site && pass == 0)
                take_calls(site, joint->profiled, entries->items + first, end - first);
            else if (site && !take_module(site, joint->profiled, symbols, entries->items + first,
                                          end - first, err))
                return false;
        }
    }
    return true;
}

static bool take_set(struct device_report *report, const struct live_set *set,
                     const struct joint *joint, uint64_t *live_matched, struct error *err)
{
    struct site_groups groups = {0};
    struct entries entries = {0};
    uint32_t *members = NULL;
    size_t capacity = 0;
    bool ok = vec_reserve(members, capacity, set->count + 1, joint->budget, err);
    if (ok && (ok = site_groups_make_members(set, &groups, members, err))) {
        ok = list_entries(&entries, set, members, joint, err) &&
             take_groups(report, &groups, joint, &entries, err);
        site_groups_release(&groups);
    }
    *live_matched = entries.count;
    vec_free(members, capacity, sizeof(*members), joint->budget);
    vec_free(entries.items, entries.capacity, sizeof(*entries.items), joint->budget);
    return ok;
}

bool joint_sites(struct device_report *report, const struct joint *joint, struct site_table *sites,
                 uint64_t *live_matched, struct error *err)
{
    struct live_set set = {
        .timeline = report->timeline, .sites = sites, .categories = &report->all};
    struct live_list live = {0};
    *live_matched = 0;
    if (report->site_count == 0 || joint->matched == 0)
        return true;
    bool ok = timeline_live(report->timeline, report->at_item, &live, err);
    if (ok) {
        live_set_take(&set, &live);
        ok = take_set(report, &set, joint, live_matched, err);
    }
    live_list_release(&live);
    return ok;
}
