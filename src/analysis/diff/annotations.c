#define _GNU_SOURCE /* qsort_r */
#include "analysis/diff/annotations.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/live.h"

static int compare_texts(const void *a, const void *b, void *symbols)
{
    const struct diff_annotation *x = a, *y = b;
    return symbols_compare(symbols, x->text, y->text);
}

static bool add_live(struct diff_side *side, const struct live_set *set, const struct live *live,
                     struct translation *translation, struct error *err)
{
    struct diff_annotation made = {.sum = {(int64_t)live->size, 1}};
    string_id text;
    return live_note_text(set->timeline, live, &text, err) &&
           translate_string(translation, text, &made.text, err) &&
           vec_push(side->annotations, side->annotation_count, side->annotation_capacity,
                    side->budget, err, made);
}

static void merge(struct diff_side *side)
{
    struct diff_annotation *items = side->annotations;
    size_t kept = 0;
    for (size_t i = 1; i < side->annotation_count; i++) {
        if (items[kept].text != items[i].text) {
            items[++kept] = items[i];
            continue;
        }
        items[kept].sum.bytes += items[i].sum.bytes;
        items[kept].sum.count += items[i].sum.count;
    }
    if (side->annotation_count > 0)
        side->annotation_count = kept + 1;
}

bool diff_annotations_sum(struct diff_side *side, const struct live_set *set,
                          struct translation *translation, struct error *err)
{
    for (size_t i = 0; i < set->count; i++)
        if (!add_live(side, set, &set->items[i], translation, err))
            return false;
    if (side->annotation_count > 0)
        qsort_r(side->annotations, side->annotation_count, sizeof(*side->annotations),
                compare_texts, translation->to);
    merge(side);
    return true;
}

static bool add_pair(struct diff *diff, const struct diff_annotation *a,
                     const struct diff_annotation *b, struct error *err)
{
    string_id text = a ? a->text : b->text;
    struct diff_annotation_row row = {.name = "(no annotation)"};
    if (text != STRING_EMPTY)
        row.name = symbols_text(diff->symbols, text).bytes;
    if (a)
        row.sums[0] = a->sum;
    if (b)
        row.sums[1] = b->sum;
    return vec_push(diff->annotations, diff->annotation_count, diff->annotation_capacity,
                    diff->budget, err, row);
}

/* Merges the lists of both sides, which are sorted by text. The memory without an annotation comes
 * first. */
static bool add_pairs(struct diff *diff, struct error *err)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    size_t i = 0, j = 0;
    while (i < a->annotation_count || j < b->annotation_count) {
        int order =
            i == a->annotation_count ? 1
            : j == b->annotation_count
                ? -1
                : symbols_compare(diff->symbols, a->annotations[i].text, b->annotations[j].text);
        if (!add_pair(diff, order <= 0 ? &a->annotations[i] : NULL,
                      order >= 0 ? &b->annotations[j] : NULL, err))
            return false;
        i += order <= 0;
        j += order >= 0;
    }
    return true;
}

static uint64_t change_of(const struct diff_annotation_row *row)
{
    int64_t delta = diff_delta(row->sums[0].bytes, row->sums[1].bytes);
    return delta < 0 ? -(uint64_t)delta : (uint64_t)delta;
}

static int largest_change_first(const void *a, const void *b)
{
    const struct diff_annotation_row *x = a, *y = b;
    uint64_t change_x = change_of(x), change_y = change_of(y);
    if (change_x != change_y)
        return change_x > change_y ? -1 : 1;
    for (int side = 1; side >= 0; side--)
        if (x->sums[side].bytes != y->sums[side].bytes)
            return x->sums[side].bytes > y->sums[side].bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Replaces the rows from the first one on by their sum. */
static bool cut(struct diff *diff, size_t first, struct error *err)
{
    struct diff_annotation_row rest = {.is_remainder = true};
    struct buffer text = BUFFER_INIT;
    char count[UNITS_TEXT_SIZE];
    for (size_t i = first; i < diff->annotation_count; i++)
        for (int side = 0; side < 2; side++) {
            rest.sums[side].bytes += diff->annotations[i].sums[side].bytes;
            rest.sums[side].count += diff->annotations[i].sums[side].count;
        }
    buffer_printf(&text, "(%s more)", units_count(count, diff->annotation_count - first));
    bool ok = label_keep(diff->symbols, &text, &rest.name, err);
    buffer_release(&text);
    diff->annotations[first] = rest;
    diff->annotation_count = first + 1;
    return ok;
}

static bool add_unexplained(struct diff *diff, struct error *err)
{
    struct diff_annotation_row row = {.name = "(not explained: the trace contradicts itself)",
                                      .is_remainder = true};
    for (int side = 0; side < 2; side++)
        row.sums[side] = diff->sides[side].categories[CATEGORY_COUNT];
    return (row.sums[0].bytes == 0 && row.sums[1].bytes == 0) ||
           vec_push(diff->annotations, diff->annotation_count, diff->annotation_capacity,
                    diff->budget, err, row);
}

static bool any_annotated(const struct diff_side *side)
{
    for (size_t i = 0; i < side->annotation_count; i++)
        if (side->annotations[i].text != STRING_EMPTY)
            return true;
    return false;
}

bool diff_annotations_make(struct diff *diff, size_t top, struct error *err)
{
    diff->is_annotated = any_annotated(&diff->sides[0]) || any_annotated(&diff->sides[1]);
    if (!add_pairs(diff, err))
        return false;
    if (diff->annotation_count > 0)
        qsort(diff->annotations, diff->annotation_count, sizeof(*diff->annotations),
              largest_change_first);
    return (top == 0 || diff->annotation_count <= top + 1 || cut(diff, top, err)) &&
           add_unexplained(diff, err);
}
