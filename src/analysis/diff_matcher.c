#define _GNU_SOURCE /* qsort_r */
#include "analysis/diff_matcher.h"

#include <stdlib.h>

#include "analysis/diff_symbols.h"

static int compare_places(const struct symbols *symbols, const struct diff_place *x,
                          const struct diff_place *y)
{
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int order = symbols_compare(symbols, x->file, y->file);
    if (order == 0)
        order = (x->line > y->line) - (x->line < y->line);
    if (order == 0)
        order = symbols_compare(symbols, x->function, y->function);
    if (order == 0)
        order = symbols_compare(symbols, x->op, y->op);
    if (order == 0)
        order = symbols_compare(symbols, x->node, y->node);
    if (order == 0)
        order = x->category - y->category;
    if (order == 0)
        order = x->source - y->source;
    return order ? order : x->has_backward - y->has_backward;
}

int diff_site_compare(const struct symbols *symbols, const struct diff_site *a,
                      const struct diff_site *b)
{
    int order = compare_places(symbols, &a->place, &b->place);
    if (order == 0)
        order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return order ? order : (a->count > b->count) - (a->count < b->count);
}

static int compare_items(const void *a, const void *b, void *symbols)
{
    const struct diff_item *x = a, *y = b;
    int order = diff_site_compare(symbols, x->site, y->site);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static void add_side(struct diff_matcher *matcher, const struct diff_side *side, uint32_t number)
{
    struct diff_item *first = matcher->items + matcher->item_count;
    for (size_t i = 0; i < side->site_count; i++)
        matcher->items[matcher->item_count++] = (struct diff_item){
            &side->sites[i], number, (uint32_t)i, DIFF_NONE, STRING_EMPTY, false};
    if (side->site_count > 0)
        qsort_r(first, side->site_count, sizeof(*first), compare_items, matcher->symbols);
}

/* Equal only where both hold the same. */
static int compare_sides(const struct diff_matcher *matcher)
{
    size_t counts[2] = {matcher->sides[0]->site_count, matcher->sides[1]->site_count};
    int64_t bytes[2] = {matcher->sides[0]->at.active_bytes, matcher->sides[1]->at.active_bytes};
    if (bytes[0] != bytes[1])
        return bytes[0] < bytes[1] ? -1 : 1;
    if (counts[0] != counts[1])
        return counts[0] < counts[1] ? -1 : 1;
    int order = 0;
    for (size_t i = 0; i < counts[0] && order == 0; i++)
        order = diff_site_compare(matcher->symbols, matcher->items[i].site,
                                  matcher->items[counts[0] + i].site);
    return order;
}

bool diff_matcher_init(struct diff_matcher *matcher, const struct diff_side sides[2],
                       struct symbols *symbols, struct budget *budget, struct error *err)
{
    *matcher = (struct diff_matcher){
        .sides = {&sides[0], &sides[1]}, .symbols = symbols, .budget = budget};
    size_t count = sides[0].site_count + sides[1].site_count;
    if (!vec_grow((void **)&matcher->items, &matcher->item_capacity, count, sizeof(*matcher->items),
                  budget, err) ||
        !vec_grow((void **)&matcher->entries, &matcher->entry_capacity, count,
                  sizeof(*matcher->entries), budget, err)) {
        diff_matcher_release(matcher);
        return false;
    }
    add_side(matcher, &sides[0], 0);
    add_side(matcher, &sides[1], 1);
    if (compare_sides(matcher) > 0) {
        *matcher = (struct diff_matcher){
            .sides = {&sides[1], &sides[0]},
            .swapped = true,
            .symbols = symbols,
            .budget = budget,
            .items = matcher->items,
            .item_capacity = matcher->item_capacity,
            .entries = matcher->entries,
            .entry_capacity = matcher->entry_capacity,
        };
        add_side(matcher, &sides[1], 0);
        add_side(matcher, &sides[0], 1);
    }
    return true;
}

void diff_matcher_release(struct diff_matcher *matcher)
{
    vec_free(matcher->items, matcher->item_capacity, sizeof(*matcher->items), matcher->budget);
    vec_free(matcher->entries, matcher->entry_capacity, sizeof(*matcher->entries), matcher->budget);
    vec_free(matcher->cells, matcher->cell_capacity, diff_cell_size(), matcher->budget);
    *matcher = (struct diff_matcher){0};
}

static int compare_entries(const void *a, const void *b)
{
    const struct diff_entry *x = a, *y = b;
    for (size_t i = 0; i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

void diff_entries_sort(struct diff_matcher *matcher)
{
    if (matcher->entry_count > 0)
        qsort(matcher->entries, matcher->entry_count, sizeof(*matcher->entries), compare_entries);
}
