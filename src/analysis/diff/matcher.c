#define _GNU_SOURCE /* qsort_r */
#include "analysis/diff/matcher.h"

#include <stdlib.h>

#include "analysis/diff/symbols.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_names(const void *a, const void *b, void *symbols)
{
    return symbols_compare(symbols, *(const string_id *)a, *(const string_id *)b);
}

static bool rank_names(struct diff_matcher *matcher, struct error *err)
{
    size_t count = symbols_string_count(matcher->symbols), capacity = 0;
    string_id *names = NULL;
    if (!vec_reserve(matcher->ranks, matcher->rank_capacity, count, matcher->budget, err) ||
        !vec_reserve(names, capacity, count, matcher->budget, err))
        return false;
    for (size_t i = 0; i < count; i++)
        names[i] = (string_id)i;
    qsort_r(names, count, sizeof(*names), compare_names, matcher->symbols);
    for (size_t i = 0; i < count; i++)
        matcher->ranks[names[i]] = (uint32_t)i;
    vec_free(names, capacity, sizeof(*names), matcher->budget);
    return true;
}

int diff_site_compare(const struct diff_matcher *matcher, const struct diff_site *a,
                      const struct diff_site *b)
{
    const struct diff_place *x = &a->place, *y = &b->place;
    const uint32_t *ranks = matcher->ranks;
    int order = compare_numbers(x->kind, y->kind);
    if (order == 0)
        order = compare_numbers(ranks[x->file], ranks[y->file]);
    if (order == 0)
        order = compare_numbers(x->line, y->line);
    if (order == 0)
        order = compare_numbers(ranks[x->function], ranks[y->function]);
    if (order == 0)
        order = compare_numbers(ranks[x->op], ranks[y->op]);
    if (order == 0)
        order = compare_numbers(ranks[x->node], ranks[y->node]);
    if (order == 0)
        order = compare_numbers(x->category, y->category);
    if (order == 0)
        order = compare_numbers(x->source, y->source);
    if (order == 0)
        order = compare_numbers(x->has_backward, y->has_backward);
    if (order == 0)
        order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return order ? order : compare_numbers(a->count, b->count);
}

static int compare_frames(const struct diff_matcher *matcher, frame_id a, frame_id b)
{
    struct frame x = symbols_frame_at(matcher->symbols, a);
    struct frame y = symbols_frame_at(matcher->symbols, b);
    int order = compare_numbers(matcher->ranks[x.file], matcher->ranks[y.file]);
    if (order == 0)
        order = compare_numbers(x.line, y.line);
    return order ? order : compare_numbers(matcher->ranks[x.name], matcher->ranks[y.name]);
}

int diff_stack_compare(const struct diff_matcher *matcher, stack_id a, stack_id b)
{
    struct stack x = symbols_stack_at(matcher->symbols, a);
    struct stack y = symbols_stack_at(matcher->symbols, b);
    for (size_t i = 0; i < x.count && i < y.count; i++) {
        int order = compare_frames(matcher, x.frames[i], y.frames[i]);
        if (order)
            return order;
    }
    return compare_numbers(x.count, y.count);
}

static int compare_items(const void *a, const void *b, void *matcher)
{
    const struct diff_item *x = a, *y = b;
    int order = diff_site_compare(matcher, x->site, y->site);
    return order ? order : compare_numbers(x->index, y->index);
}

static void add_side(struct diff_matcher *matcher, const struct diff_side *side, uint32_t number)
{
    if (side->site_count == 0)
        return;
    struct diff_item *first = &matcher->items[matcher->item_count];
    for (size_t i = 0; i < side->site_count; i++)
        matcher->items[matcher->item_count++] = (struct diff_item){&side->sites[i],
                                                                   number,
                                                                   (uint32_t)i,
                                                                   DIFF_NONE,
                                                                   STRING_EMPTY,
                                                                   side->sites[i].place.function,
                                                                   false};
    qsort_r(first, side->site_count, sizeof(*first), compare_items, matcher);
}

/* 0 only if both sides hold the same. */
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
        order =
            diff_site_compare(matcher, matcher->items[i].site, matcher->items[counts[0] + i].site);
    return order;
}

/* Lists all items, those of sides[first] first. */
static void set_order(struct diff_matcher *matcher, const struct diff_side sides[2], unsigned first)
{
    matcher->swapped = first == 1;
    matcher->item_count = 0;
    for (unsigned i = 0; i < 2; i++) {
        matcher->sides[i] = &sides[first ^ i];
        add_side(matcher, matcher->sides[i], i);
    }
}

bool diff_matcher_init(struct diff_matcher *matcher, const struct diff_side sides[2],
                       struct symbols *symbols, struct budget *budget, struct error *err)
{
    size_t count = sides[0].site_count + sides[1].site_count;
    *matcher = (struct diff_matcher){.symbols = symbols, .budget = budget};
    if (!rank_names(matcher, err) ||
        !vec_reserve(matcher->tails, matcher->tail_capacity, matcher->rank_capacity, budget, err) ||
        !vec_reserve(matcher->items, matcher->item_capacity, count, budget, err) ||
        !vec_reserve(matcher->entries, matcher->entry_capacity, count, budget, err)) {
        diff_matcher_release(matcher);
        return false;
    }
    set_order(matcher, sides, 0);
    if (compare_sides(matcher) > 0)
        set_order(matcher, sides, 1);
    return true;
}

void diff_matcher_release(struct diff_matcher *matcher)
{
    vec_free(matcher->ranks, matcher->rank_capacity, sizeof(*matcher->ranks), matcher->budget);
    vec_free(matcher->tails, matcher->tail_capacity, sizeof(*matcher->tails), matcher->budget);
    vec_free(matcher->items, matcher->item_capacity, sizeof(*matcher->items), matcher->budget);
    vec_free(matcher->entries, matcher->entry_capacity, sizeof(*matcher->entries), matcher->budget);
    vec_free(matcher->cells, matcher->cell_capacity, sizeof(*matcher->cells), matcher->budget);
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
