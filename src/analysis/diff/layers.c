#include "analysis/diff/layers.h"

#include <stdlib.h>
#include <string.h>

/* A module to be matched. */
struct entry {
    struct text key; /* its name, shortened in the second pass */
    uint32_t side, module, row;
};

#define NO_ROW UINT32_MAX

struct matcher {
    struct layers_diff *diff;
    struct entry *entries;
    size_t count, capacity;
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = text_compare(a->key, b->key);
    if (order == 0)
        order = (a->side > b->side) - (a->side < b->side);
    return order ? order : (a->module > b->module) - (a->module < b->module);
}

static struct text name_of(const struct layers_diff *diff, uint32_t side, uint32_t module)
{
    const struct layers_report *report = diff->reports[side];
    return symbols_text(report->trace->symbols, report->modules[module].name);
}

static bool add_entries(struct matcher *matcher, struct error *err)
{
    struct layers_diff *diff = matcher->diff;
    size_t count = diff->reports[0]->module_count + diff->reports[1]->module_count;
    if (!vec_reserve(matcher->entries, matcher->capacity, count, diff->budget, err) ||
        !vec_reserve(diff->rows, diff->capacity, count, diff->budget, err))
        return false;
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 0; i < diff->reports[side]->module_count; i++)
            matcher->entries[matcher->count++] =
                (struct entry){name_of(diff, side, i), side, i, NO_ROW};
    return true;
}

/* Joins entries with the same key that have no row yet into one row, if both sides have some. */
static void match(struct matcher *matcher)
{
    struct entry *entries = matcher->entries;
    if (matcher->count > 0)
        qsort(entries, matcher->count, sizeof(*entries), compare_entries);
    for (size_t i = 0, end; i < matcher->count; i = end) {
        bool found[2] = {false, false};
        for (end = i; end < matcher->count && text_compare(entries[i].key, entries[end].key) == 0;
             end++)
            if (entries[end].row == NO_ROW)
                found[entries[end].side] = true;
        if (!found[0] || !found[1])
            continue;
        for (size_t j = i; j < end; j++)
            if (entries[j].row == NO_ROW)
                entries[j].row = (uint32_t)matcher->diff->count;
        matcher->diff->count++;
    }
}

/* Removes the components that begin with _ from the key. */
static bool shorten(struct matcher *matcher, struct entry *entry, struct error *err)
{
    struct text name = entry->key;
    if (!memchr(name.bytes, '_', name.size))
        return true;
    char *made = arena_alloc(&matcher->diff->names, name.size + 1, err);
    size_t used = 0;
    if (!made)
        return false;
    for (size_t at = 0; at < name.size;) {
        const char *dot = memchr(name.bytes + at, '.', name.size - at);
        size_t end = dot ? (size_t)(dot - name.bytes) : name.size;
        if (name.bytes[at] != '_') {
            if (used > 0)
                made[used++] = '.';
            memcpy(made + used, name.bytes + at, end - at);
            used += end - at;
        }
        at = end + 1;
    }
    made[used] = '\0';
    entry->key = (struct text){made, used};
    return true;
}

static void add_module(struct layers_diff *diff, const struct entry *entry)
{
    const struct layers_module *module = &diff->reports[entry->side]->modules[entry->module];
    struct layers_diff_row *row = &diff->rows[entry->row];
    struct text *name = entry->side ? &row->name : &row->was;
    if (row->modules[entry->side]++ == 0)
        *name = name_of(diff, entry->side, entry->module);
    row->activations[entry->side] += module->activations;
    row->params[entry->side] += module->params;
    row->runs[entry->side] += module->forward_rows;
}

static void fill_rows(struct matcher *matcher)
{
    struct layers_diff *diff = matcher->diff;
    for (size_t i = 0; i < matcher->count; i++)
        if (matcher->entries[i].row == NO_ROW)
            matcher->entries[i].row = (uint32_t)diff->count++;
    memset(diff->rows, 0, diff->count * sizeof(*diff->rows));
    for (size_t i = 0; i < matcher->count; i++)
        add_module(diff, &matcher->entries[i]);
    for (size_t i = 0; i < diff->count; i++) {
        struct layers_diff_row *row = &diff->rows[i];
        if (row->modules[1] == 0)
            row->name = row->was;
        if (row->modules[0] == 0 || text_compare(row->name, row->was) == 0)
            row->was = (struct text){"", 0};
    }
}

/* Sums of a trace stay below 2^62. */
static int64_t distance(const int64_t bytes[2])
{
    return bytes[0] > bytes[1] ? bytes[0] - bytes[1] : bytes[1] - bytes[0];
}

static bool has_changed(const struct layers_diff_row *row)
{
    return distance(row->activations) > 0 || distance(row->params) > 0 ||
           row->runs[0] != row->runs[1];
}

static int64_t larger(const int64_t bytes[2])
{
    return bytes[0] > bytes[1] ? bytes[0] : bytes[1];
}

static int compare_rows(const void *left, const void *right)
{
    const struct layers_diff_row *a = left, *b = right;
    const int64_t keys[][2] = {
        {has_changed(a), has_changed(b)},
        {distance(a->activations), distance(b->activations)},
        {distance(a->params), distance(b->params)},
        {larger(a->activations), larger(b->activations)},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] > keys[i][1] ? -1 : 1;
    return text_compare(a->name, b->name);
}

static bool say(struct layers_diff *diff, enum unit unit, struct error *err)
{
    const struct layers_report *a = diff->reports[0], *b = diff->reports[1];
    struct diff_words *summary = &diff->summary;
    const int64_t activations[2] = {a->total_activations, b->total_activations};
    const int64_t peaks[2] = {a->allocated.bytes, b->allocated.bytes};
    const int64_t params[2] = {a->nodes[0].params, b->nodes[0].params};
    if (!diff_say_change(summary, "The peak of allocated memory", peaks, unit, err) ||
        !diff_say_change(summary, "The sum of all activations", activations, unit, err) ||
        !diff_say_change(summary, "Parameters", params, unit, err))
        return false;
    if (diff->changed == 0)
        return diff_say(summary, err, "No module changed.");
    if (a->trace->forward_count == b->trace->forward_count || a->module_count != b->module_count)
        return true;
    return diff_say(
        &diff->warnings, err,
        "A holds %zu forward traces and B %zu, with the same number of modules: activations are "
        "summed over all passes, so compare traces with the same number of passes.",
        a->trace->forward_count, b->trace->forward_count);
}

static bool make(struct matcher *matcher, enum unit unit, struct error *err)
{
    struct layers_diff *diff = matcher->diff;
    if (!add_entries(matcher, err))
        return false;
    match(matcher);
    for (size_t i = 0; i < matcher->count; i++)
        if (matcher->entries[i].row == NO_ROW && !shorten(matcher, &matcher->entries[i], err))
            return false;
    match(matcher);
    if (matcher->count > 0) {
        fill_rows(matcher);
        qsort(diff->rows, diff->count, sizeof(*diff->rows), compare_rows);
    }
    while (diff->changed < diff->count && has_changed(&diff->rows[diff->changed]))
        diff->changed++;
    return say(diff, unit, err);
}

bool layers_diff_make(struct layers_diff *diff, const struct layers_report *a,
                      const struct layers_report *b, enum unit unit, struct budget *budget,
                      struct error *err)
{
    struct layers_diff made = {.reports = {a, b}, .budget = budget};
    struct matcher matcher = {.diff = &made};
    arena_init(&made.names, budget);
    bool ok = make(&matcher, unit, err);
    vec_free(matcher.entries, matcher.capacity, sizeof(*matcher.entries), budget);
    if (!ok) {
        layers_diff_release(&made);
        return false;
    }
    *diff = made;
    return true;
}

void layers_diff_release(struct layers_diff *diff)
{
    vec_free(diff->rows, diff->capacity, sizeof(*diff->rows), diff->budget);
    arena_release(&diff->names);
    diff_words_release(&diff->summary);
    diff_words_release(&diff->warnings);
    *diff = (struct layers_diff){0};
}
