#include <string.h>

#include "analysis/diff/matcher.h"

/* What must be the same besides the function. */
struct pass {
    bool line, op, category;
};

static uint64_t pair_of(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static struct diff_entry entry_of(const struct diff_item *item, uint32_t index, struct pass pass)
{
    const struct diff_place *place = &item->site->place;
    bool has_category = pass.category || place->kind == DIFF_STACKLESS;
    uint32_t category = has_category ? (uint32_t)place->category + 1 : 0;
    uint32_t kind =
        (uint32_t)place->kind << 10 | (uint32_t)place->source << 8 | (uint32_t)place->has_backward;
    return (struct diff_entry){
        .key = {pair_of(item->file, place->function), pass.op ? pair_of(place->op, place->node) : 0,
                pair_of(pass.line ? place->line : 0, kind << 8 | category)},
        .item = index,
    };
}

/* All that is left with the same key becomes one row, where both sides have some. */
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

/* The last `parts` of a path. */
static struct text path_tail(struct text path, unsigned parts)
{
    size_t at = path.size;
    for (; at > 0; at--)
        if ((path.bytes[at - 1] == '/' || path.bytes[at - 1] == '\\') && --parts == 0)
            break;
    return (struct text){path.bytes + at, path.size - at};
}

/* Only the last `parts` of their paths count from now on; 0: all. */
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

bool diff_match(struct diff_matcher *matcher, struct error *err)
{
    static const unsigned parts[] = {0, 3, 2, 1};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!shorten_paths(matcher, parts[i], err) || !diff_align(matcher, err))
            return false;
        run_passes(matcher, true);
    }
    run_passes(matcher, false);
    for (size_t i = 0; i < matcher->item_count; i++)
        if (matcher->items[i].row == DIFF_NONE)
            matcher->items[i].row = matcher->row_count++;
    return true;
}
