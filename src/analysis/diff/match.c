#include <string.h>

#include "analysis/diff/renamed.h"

/* Functions with more call sites on one side are not aligned; their lines are compared as they are.
 */
#define ALIGNED_MOST 256
#define UNLIKE_TIMES                                                                               \
    8 /* what differs in operator, category and so much in bytes is not the same                   \
       */

enum move { MOVE_PAIR, MOVE_SKIP_FIRST, MOVE_SKIP_SECOND };

/* The unmatched call sites of a function. */
struct function {
    const struct diff_entry *entries; /* those of the first side, then those of the second */
    size_t counts[2];
};

static const struct diff_site *site_at(const struct diff_matcher *matcher,
                                       const struct function *function, size_t side, size_t i)
{
    size_t at = side == 0 ? i : function->counts[0] + i;
    return matcher->items[function->entries[at].item].site;
}

/* `side` has a line that the other side lacks. */
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

/* Twice the bytes that differ. An equal line number is evidence for the pair, and halves the cost.
 */
static unsigned __int128 pair_cost(const struct diff_site *a, const struct diff_site *b)
{
    uint64_t x = (uint64_t)a->bytes, y = (uint64_t)b->bytes;
    unsigned __int128 change = x > y ? x - y : y - x;
    return a->place.line == b->place.line ? change : 2 * change;
}

/* Call sites that kept their line or their size are likely the same. */
static uint32_t pair_merit(const struct diff_site *a, const struct diff_site *b)
{
    return 1U + (a->place.line == b->place.line) + (a->bytes == b->bytes);
}

/* Keeps the alignment that changes the fewest bytes. Among equal ones, the highest sum of `merit`
 * wins. */
static void consider(struct diff_cell *best, const struct diff_cell *before, enum move move,
                     unsigned __int128 cost, uint32_t merit)
{
    struct diff_cell next = {before->cost + cost, before->merit + merit, (uint8_t)move};
    if (best->merit == UINT32_MAX || next.cost < best->cost ||
        (next.cost == best->cost && next.merit > best->merit))
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
            *cell = (struct diff_cell){.merit = i + j > 0 ? UINT32_MAX : 0};
            if (a && b && may_pair(a, b))
                consider(cell, cell - width - 1, MOVE_PAIR, pair_cost(a, b), pair_merit(a, b));
            if (a)
                consider(cell, cell - width, MOVE_SKIP_FIRST,
                         2 * (unsigned __int128)(uint64_t)a->bytes, 0);
            if (b)
                consider(cell, cell - 1, MOVE_SKIP_SECOND,
                         2 * (unsigned __int128)(uint64_t)b->bytes, 0);
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

static uint64_t pair_of(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static bool align_functions(struct diff_matcher *matcher, struct error *err)
{
    matcher->entry_count = 0;
    for (size_t i = 0; i < matcher->item_count; i++) {
        const struct diff_item *item = &matcher->items[i];
        if (item->row == DIFF_NONE && item->site->place.kind == DIFF_PYTHON)
            matcher->entries[matcher->entry_count++] =
                (struct diff_entry){{pair_of(item->file, item->function), 0, 0}, (uint32_t)i};
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

/* Properties that must be equal, besides the function. */
struct pass {
    bool line, op, category;
};

static struct diff_entry entry_of(const struct diff_item *item, uint32_t index, struct pass pass)
{
    const struct diff_place *place = &item->site->place;
    bool has_category = pass.category || place->kind == DIFF_STACKLESS;
    uint32_t category = has_category ? (uint32_t)place->category + 1 : 0;
    uint32_t kind =
        (uint32_t)place->kind << 10 | (uint32_t)place->source << 8 | (uint32_t)place->has_backward;
    return (struct diff_entry){
        .key = {pair_of(item->file, item->function), pass.op ? pair_of(place->op, place->node) : 0,
                pair_of(pass.line ? place->line : 0, kind << 8 | category)},
        .item = index,
    };
}

/* Joins the items of entries [first, end) into one row, if both sides have some. */
static void join(struct diff_matcher *matcher, size_t first, size_t end)
{
    const struct diff_entry *entries = matcher->entries;
    if (matcher->items[entries[first].item].side == matcher->items[entries[end - 1].item].side)
        return;
    for (size_t i = first; i < end; i++)
        matcher->items[entries[i].item].row = matcher->row_count;
    matcher->row_count++;
}

static bool same_key(const struct diff_entry *a, const struct diff_entry *b)
{
    return a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->key[2] == b->key[2];
}

/* True if neither side of entries [first, end) has many times the bytes of the other. */
static bool have_like_sizes(const struct diff_matcher *matcher, size_t first, size_t end)
{
    unsigned __int128 bytes[2] = {0};
    for (size_t i = first; i < end; i++) {
        const struct diff_item *item = &matcher->items[matcher->entries[i].item];
        bytes[item->side] += (uint64_t)item->site->bytes;
    }
    return bytes[0] <= bytes[1] * UNLIKE_TIMES && bytes[1] <= bytes[0] * UNLIKE_TIMES;
}

static void run_pass(struct diff_matcher *matcher, struct pass pass)
{
    matcher->entry_count = 0;
    for (size_t i = 0; i < matcher->item_count; i++) {
        const struct diff_item *item = &matcher->items[i];
        if (item->row == DIFF_NONE && !(pass.line && item->moved))
            matcher->entries[matcher->entry_count++] = entry_of(item, (uint32_t)i, pass);
    }
    diff_entries_sort(matcher);
    for (size_t i = 0, end; i < matcher->entry_count; i = end) {
        end = i + 1;
        while (end < matcher->entry_count && same_key(&matcher->entries[i], &matcher->entries[end]))
            end++;
        if (pass.op || pass.category || have_like_sizes(matcher, i, end))
            join(matcher, i, end);
    }
}

static void run_passes(struct diff_matcher *matcher, bool line)
{
    run_pass(matcher, (struct pass){line, true, true});
    run_pass(matcher, (struct pass){line, true, false});
    run_pass(matcher, (struct pass){line, false, true});
    run_pass(matcher, (struct pass){line, false, false});
}

/* The last `parts` components of a path. */
static struct text path_tail(struct text path, unsigned parts)
{
    size_t at = path.size;
    for (; at > 0; at--)
        if ((path.bytes[at - 1] == '/' || path.bytes[at - 1] == '\\') && --parts == 0)
            break;
    return (struct text){path.bytes + at, path.size - at};
}

/* Makes only the last `parts` components of the paths count; 0: all. */
static bool shorten_paths(struct diff_matcher *matcher, unsigned parts, struct error *err)
{
    memset(matcher->tails, 0, matcher->tail_capacity * sizeof(*matcher->tails));
    for (size_t i = 0; i < matcher->item_count; i++) {
        struct diff_item *item = &matcher->items[i];
        item->file = item->site->place.file;
        if (parts == 0 || item->row != DIFF_NONE)
            continue;
        string_id *known = &matcher->tails[item->file];
        if (*known == 0) {
            struct text tail = path_tail(symbols_text(matcher->symbols, item->file), parts);
            string_id made;
            if (!symbols_string(matcher->symbols, tail.bytes, tail.size, &made, err))
                return false;
            *known = made + 1;
        }
        item->file = *known - 1;
    }
    return true;
}

/* A renamed file may have renamed functions, too. */
static bool match_renamed(struct diff_matcher *matcher, struct error *err)
{
    bool (*const joins[])(struct diff_matcher *) = {diff_join_files, diff_join_functions};
    for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++) {
        if (matcher->item_count > DIFF_RENAMED_MOST || !joins[i](matcher))
            continue;
        if (!align_functions(matcher, err))
            return false;
        run_passes(matcher, true);
        run_passes(matcher, false);
    }
    return true;
}

bool diff_match(struct diff_matcher *matcher, struct error *err)
{
    static const unsigned parts[] = {0, 3, 2, 1};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!shorten_paths(matcher, parts[i], err) || !align_functions(matcher, err))
            return false;
        run_passes(matcher, true);
    }
    run_passes(matcher, false);
    if (!match_renamed(matcher, err))
        return false;
    for (size_t i = 0; i < matcher->item_count; i++)
        if (matcher->items[i].row == DIFF_NONE)
            matcher->items[i].row = matcher->row_count++;
    return true;
}
