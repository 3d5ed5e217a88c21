/* Functions whose code was moved: sites aligned in the order of their lines. */
#include "analysis/diff/matcher.h"

#define ALIGNED_MOST                                                                               \
    256 /* sites of a function and a side; of more, lines are taken as they are                    \
         */

enum move { MOVE_PAIR, MOVE_SKIP_FIRST, MOVE_SKIP_SECOND };

/* The best alignment of the first i sites with the first j of the other side. */
struct diff_cell {
    unsigned __int128 cost; /* twice the bytes that change */
    uint32_t pairs;
    uint8_t move; /* enum move: the last one */
};

size_t diff_cell_size(void)
{
    return sizeof(struct diff_cell);
}

/* A function's sites of both sides. */
struct function {
    const struct diff_entry *entries; /* the first side's before the second's */
    size_t counts[2];
};

static const struct diff_site *site_at(const struct diff_matcher *matcher,
                                       const struct function *function, size_t side, size_t i)
{
    size_t at = side == 0 ? i : function->counts[0] + i;
    return matcher->items[function->entries[at].item].site;
}

/* Some line of `side` is not one of the other side's. */
static bool has_line_alone(const struct diff_matcher *matcher, const struct function *function,
                           size_t side)
{
    for (size_t i = 0; i < function->counts[side]; i++) {
        uint32_t line = site_at(matcher, function, side, i)->place.line;
        size_t j = 0, count = function->counts[1 - side];
        while (j < count && site_at(matcher, function, 1 - side, j)->place.line != line)
            j++;
        if (j == count)
            return true;
    }
    return false;
}

static bool was_moved(const struct diff_matcher *matcher, const struct function *function)
{
    size_t first = function->counts[0], second = function->counts[1];
    return first > 0 && second > 0 && first <= ALIGNED_MOST && second <= ALIGNED_MOST &&
           has_line_alone(matcher, function, 0) && has_line_alone(matcher, function, 1);
}

static bool may_pair(const struct diff_site *a, const struct diff_site *b)
{
    return a->place.op == b->place.op && a->place.category == b->place.category &&
           a->place.source == b->place.source;
}

/* An unchanged line is evidence too: what changes there counts half. */
static unsigned __int128 pair_cost(const struct diff_site *a, const struct diff_site *b)
{
    uint64_t x = (uint64_t)a->bytes, y = (uint64_t)b->bytes;
    unsigned __int128 change = x > y ? x - y : y - x;
    return a->place.line == b->place.line ? change : 2 * change;
}

static void consider(struct diff_cell *best, const struct diff_cell *before, enum move move,
                     unsigned __int128 cost)
{
    struct diff_cell next = {before->cost + cost, before->pairs + (move == MOVE_PAIR),
                             (uint8_t)move};
    if (best->pairs == UINT32_MAX || next.cost < best->cost ||
        (next.cost == best->cost && next.pairs > best->pairs))
        *best = next;
}

static void fill(struct diff_matcher *matcher, const struct function *function)
{
    size_t width = function->counts[1] + 1;
    for (size_t i = 0; i <= function->counts[0]; i++) {
        for (size_t j = 0; j < width; j++) {
            struct diff_cell *cell = &matcher->cells[i * width + j];
            const struct diff_site *a = i ? site_at(matcher, function, 0, i - 1) : NULL;
            const struct diff_site *b = j ? site_at(matcher, function, 1, j - 1) : NULL;
            *cell = (struct diff_cell){.pairs = i + j > 0 ? UINT32_MAX : 0};
            if (a && b && may_pair(a, b))
                consider(cell, cell - width - 1, MOVE_PAIR, pair_cost(a, b));
            if (a)
                consider(cell, cell - width, MOVE_SKIP_FIRST,
                         2 * (unsigned __int128)(uint64_t)a->bytes);
            if (b)
                consider(cell, cell - 1, MOVE_SKIP_SECOND,
                         2 * (unsigned __int128)(uint64_t)b->bytes);
        }
    }
}

static void take_pairs(struct diff_matcher *matcher, const struct function *function)
{
    size_t i = function->counts[0], j = function->counts[1], width = j + 1;
    while (i > 0 || j > 0) {
        enum move move = (enum move)matcher->cells[i * width + j].move;
        i -= move != MOVE_SKIP_SECOND;
        j -= move != MOVE_SKIP_FIRST;
        if (move != MOVE_PAIR)
            continue;
        uint32_t row = matcher->row_count++;
        matcher->items[function->entries[i].item].row = row;
        matcher->items[function->entries[function->counts[0] + j].item].row = row;
    }
}

static bool align(struct diff_matcher *matcher, const struct function *function, struct error *err)
{
    size_t count = function->counts[0] + function->counts[1];
    if (!was_moved(matcher, function))
        return true;
    for (size_t i = 0; i < count; i++)
        matcher->items[function->entries[i].item].moved = true;
    size_t cells = (function->counts[0] + 1) * (function->counts[1] + 1);
    if (!vec_grow((void **)&matcher->cells, &matcher->cell_capacity, cells,
                  sizeof(struct diff_cell), matcher->budget, err))
        return false;
    fill(matcher, function);
    take_pairs(matcher, function);
    return true;
}

bool diff_align(struct diff_matcher *matcher, struct error *err)
{
    matcher->entry_count = 0;
    for (size_t i = 0; i < matcher->item_count; i++) {
        const struct diff_item *item = &matcher->items[i];
        if (item->row == DIFF_NONE && item->site->place.kind == DIFF_PYTHON)
            matcher->entries[matcher->entry_count++] = (struct diff_entry){
                {(uint64_t)item->file << 32 | item->site->place.function, 0, 0}, (uint32_t)i};
    }
    diff_entries_sort(matcher);
    for (size_t i = 0, end; i < matcher->entry_count; i = end) {
        struct function function = {.entries = &matcher->entries[i]};
        for (end = i; end < matcher->entry_count &&
                      matcher->entries[end].key[0] == matcher->entries[i].key[0];
             end++)
            function.counts[matcher->items[matcher->entries[end].item].side]++;
        if (!align(matcher, &function, err))
            return false;
    }
    return true;
}
