#define _GNU_SOURCE /* qsort_r */
#include "analysis/diff/rows.h"

#include <stdlib.h>

#include "analysis/diff/matcher.h"

static void fill_rows(const struct diff_matcher *matcher, struct diff_rows *rows)
{
    rows->count = matcher->row_count;
    for (size_t i = 0; i < rows->count; i++)
        rows->items[i] = (struct diff_row){.top = {DIFF_NONE, DIFF_NONE}};
    for (size_t i = 0; i < matcher->item_count; i++) {
        const struct diff_item *item = &matcher->items[i];
        struct diff_row *row = &rows->items[item->row];
        uint32_t side = item->side ^ (uint32_t)matcher->swapped;
        const struct diff_site *sites = matcher->sides[item->side]->sites;
        row->bytes[side] += item->site->bytes;
        row->count[side] += item->site->count;
        row->sites[side]++;
        if (row->top[side] == DIFF_NONE || item->site->bytes > sites[row->top[side]].bytes)
            row->top[side] = item->index;
    }
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].sites[0] > 0 && rows->items[i].sites[1] > 0)
            rows->items[i].matched = DIFF_BY_FUNCTION;
}

/* A stack of a row's call sites. */
struct part {
    uint32_t row, side;
    const struct diff_stack *stack;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->stack->bare != y->stack->bare)
        return x->stack->bare < y->stack->bare ? -1 : 1;
    if (x->side != y->side)
        return x->side < y->side ? -1 : 1;
    if (x->stack->bytes != y->stack->bytes)
        return x->stack->bytes > y->stack->bytes ? -1 : 1;
    return (x->stack->stack > y->stack->stack) - (x->stack->stack < y->stack->stack);
}

/* The sum of all parts of a row with the same stack, ignoring line numbers. */
struct bunch {
    int64_t bytes[2];
    bool present[2];
    stack_id bare, shown; /* shown: the largest stack in B, or in A if B has none */
};

static struct bunch bunch_of(const struct part *parts, size_t count)
{
    struct bunch bunch = {.bare = parts->stack->bare, .shown = parts->stack->stack};
    for (size_t i = 0; i < count; i++) {
        uint32_t side = parts[i].side;
        if (side == 1 && !bunch.present[1])
            bunch.shown = parts[i].stack->stack;
        bunch.present[side] = true;
        bunch.bytes[side] += parts[i].stack->bytes;
    }
    return bunch;
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static int64_t larger(const int64_t bytes[2])
{
    return bytes[0] > bytes[1] ? bytes[0] : bytes[1];
}

static bool tells_more(const struct diff_matcher *matcher, const struct bunch *a,
                       const struct bunch *b)
{
    uint64_t x = distance(a->bytes[0], a->bytes[1]), y = distance(b->bytes[0], b->bytes[1]);
    if (x != y)
        return x > y;
    if (larger(a->bytes) != larger(b->bytes))
        return larger(a->bytes) > larger(b->bytes);
    return diff_stack_compare(matcher, a->bare, b->bare) < 0;
}

static void compare_stacks(const struct diff_matcher *matcher, struct diff_row *row,
                           const struct part *parts, size_t count)
{
    struct bunch most = {0};
    bool shared = false;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && parts[end].stack->bare == parts[i].stack->bare;)
            end++;
        struct bunch bunch = bunch_of(parts + i, end - i);
        shared = shared || (bunch.present[0] && bunch.present[1]);
        if (i == 0 || tells_more(matcher, &bunch, &most))
            most = bunch;
    }
    row->stack = most.shown;
    if (shared)
        row->matched = DIFF_BY_STACK;
}

static bool look_at_stacks(const struct diff_matcher *matcher, struct diff_rows *rows,
                           struct error *err)
{
    struct part *parts = NULL;
    size_t capacity = 0, count = 0;
    if (!vec_reserve(parts, capacity,
                     matcher->sides[0]->stack_count + matcher->sides[1]->stack_count,
                     matcher->budget, err))
        return false;
    for (size_t i = 0; i < matcher->item_count; i++) {
        const struct diff_item *item = &matcher->items[i];
        const struct diff_side *side = matcher->sides[item->side];
        for (size_t j = 0; j < item->site->stack_count; j++)
            parts[count++] = (struct part){item->row, item->side ^ (uint32_t)matcher->swapped,
                                           &side->stacks[item->site->first_stack + j]};
    }
    if (count > 0)
        qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && parts[end].row == parts[i].row;)
            end++;
        compare_stacks(matcher, &rows->items[parts[i].row], parts + i, end - i);
    }
    vec_free(parts, capacity, sizeof(*parts), matcher->budget);
    return true;
}

/* The largest site of the first side, or of the second if the first has none. */
static const struct diff_site *top_site(const struct diff_matcher *matcher,
                                        const struct diff_row *row)
{
    uint32_t first = row->top[matcher->swapped], second = row->top[!matcher->swapped];
    return first != DIFF_NONE ? &matcher->sides[0]->sites[first]
                              : &matcher->sides[1]->sites[second];
}

static int compare_rows(const void *a, const void *b, void *self)
{
    const struct diff_matcher *matcher = self;
    const struct diff_row *x = a, *y = b;
    uint64_t change_x = distance(x->bytes[0], x->bytes[1]);
    uint64_t change_y = distance(y->bytes[0], y->bytes[1]);
    if (change_x != change_y)
        return change_x > change_y ? -1 : 1;
    if (larger(x->bytes) != larger(y->bytes))
        return larger(x->bytes) > larger(y->bytes) ? -1 : 1;
    bool only_x = x->top[matcher->swapped] == DIFF_NONE,
         only_y = y->top[matcher->swapped] == DIFF_NONE;
    if (only_x != only_y)
        return only_x ? 1 : -1;
    return diff_site_compare(matcher, top_site(matcher, x), top_site(matcher, y));
}

bool diff_rows_make(struct diff_rows *rows, const struct diff_side sides[2],
                    struct symbols *symbols, struct budget *budget, struct error *err)
{
    struct diff_matcher matcher;
    struct diff_rows made = {.budget = budget};
    if (!diff_matcher_init(&matcher, sides, symbols, budget, err))
        return false;
    bool ok = diff_match(&matcher, err) &&
              vec_reserve(made.items, made.capacity, matcher.row_count, budget, err);
    if (ok) {
        fill_rows(&matcher, &made);
        ok = look_at_stacks(&matcher, &made, err);
    }
    if (ok && made.count > 0)
        qsort_r(made.items, made.count, sizeof(*made.items), compare_rows, &matcher);
    diff_matcher_release(&matcher);
    if (!ok) {
        diff_rows_release(&made);
        return false;
    }
    *rows = made;
    return true;
}

void diff_rows_release(struct diff_rows *rows)
{
    vec_free(rows->items, rows->capacity, sizeof(*rows->items), rows->budget);
    *rows = (struct diff_rows){0};
}
