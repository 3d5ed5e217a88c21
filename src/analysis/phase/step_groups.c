#include "analysis/phase/step_groups.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"

#define MOST_OPTIMIZERS 32
#define LEAST_GROUPS    3
/* Different numbers of marks in a group: some terms of a loss are not computed in each iteration.
 */
#define MOST_LENGTHS 2
/* Length of the last group, as a multiple of the longest between the first and it. */
#define MOST_TIMES 2

/* An optimizer, by the mark with the fewest sizes. */
struct optimizer {
    string_id name;
    size_t latest;       /* index of its latest mark */
    size_t first, count; /* in `sizes` */
};

struct grouper {
    struct step_marks *marks;
    const struct timeline *timeline;
    struct optimizer optimizers[MOST_OPTIMIZERS];
    size_t optimizer_count;
    uint64_t *sizes; /* different sizes of each optimizer, ascending */
    size_t size_count, size_capacity;
    uint8_t *ids; /* by mark: index of its optimizer */
    size_t ids_capacity;
};

/* Appends the different sizes that a mark allocates, ascending. */
static bool append_sizes(struct grouper *grouper, const struct step_mark *mark, size_t *count,
                         struct error *err)
{
    const struct timeline *timeline = grouper->timeline;
    size_t first = grouper->size_count, end = first, kept = first;
    for (size_t i = births_from(timeline, mark->begin);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < mark->end; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (!vec_grow((void **)&grouper->sizes, &grouper->size_capacity, end + 1, sizeof(size),
                      grouper->marks->budget, err))
            return false;
        grouper->sizes[end++] = size;
    }
    if (end > first)
        qsort(grouper->sizes + first, end - first, sizeof(uint64_t), compare_64);
    for (size_t i = first; i < end; i++)
        if (i == first || grouper->sizes[i] != grouper->sizes[kept - 1])
            grouper->sizes[kept++] = grouper->sizes[i];
    *count = kept - first;
    return true;
}

/* True if the longer list contains all elements of the shorter one. */
static bool one_contains_other(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
    const uint64_t *few = a_count < b_count ? a : b, *many = a_count < b_count ? b : a;
    size_t few_count = a_count < b_count ? a_count : b_count, at = 0;
    size_t many_count = a_count < b_count ? b_count : a_count;
    for (size_t i = 0; i < few_count; i++) {
        while (at < many_count && many[at] < few[i])
            at++;
        if (at == many_count || many[at] != few[i])
            return false;
    }
    return true;
}

/* True if two marks with the same name allocate the same sizes in the same order, as most do. */
static bool are_alike(const struct grouper *grouper, size_t a, size_t b)
{
    const struct timeline *timeline = grouper->timeline;
    const struct step_mark *x = &grouper->marks->items[a], *y = &grouper->marks->items[b];
    size_t i = births_from(timeline, x->begin), i_end = births_from(timeline, x->end);
    size_t j = births_from(timeline, y->begin), j_end = births_from(timeline, y->end);
    if (x->name != y->name || i_end - i != j_end - j)
        return false;
    for (; i < i_end; i++, j++)
        if (trace_size(timeline->trace, timeline->lifetimes[i].alloc) !=
            trace_size(timeline->trace, timeline->lifetimes[j].alloc))
            return false;
    return true;
}

/* Finds the optimizer of a mark, or adds it; *found is false if there are too many. */
static bool identify(struct grouper *grouper, size_t mark, bool *found, struct error *err)
{
    string_id name = grouper->marks->items[mark].name;
    size_t first = grouper->size_count, count, i;
    *found = true;
    for (i = 0; i < grouper->optimizer_count; i++)
        if (are_alike(grouper, mark, grouper->optimizers[i].latest)) {
            grouper->optimizers[i].latest = mark;
            grouper->ids[mark] = (uint8_t)i;
            return true;
        }
    if (!append_sizes(grouper, &grouper->marks->items[mark], &count, err))
        return false;
    for (i = 0; i < grouper->optimizer_count; i++) {
        struct optimizer *known = &grouper->optimizers[i];
        if (known->name == name && one_contains_other(grouper->sizes + known->first, known->count,
                                                      grouper->sizes + first, count))
            break;
    }
    *found = i < MOST_OPTIMIZERS;
    if (!*found)
        return true;
    bool added = i == grouper->optimizer_count;
    if (added)
        grouper->optimizer_count++;
    if (added || count < grouper->optimizers[i].count) {
        grouper->optimizers[i] = (struct optimizer){name, mark, first, count};
        grouper->size_count += count;
    }
    grouper->optimizers[i].latest = mark;
    grouper->ids[mark] = (uint8_t)i;
    return true;
}

/* Identifies the optimizers of all marks. A mark whose beginning was lost comes last, since it may
 * lack sizes. */
static bool identify_all(struct grouper *grouper, bool *found, struct error *err)
{
    const struct step_marks *marks = grouper->marks;
    size_t cut = marks->items[0].has_start && marks->items[0].begin > 0 ? 0 : 1;
    *found = true;
    for (size_t i = 0; *found && i < marks->count; i++)
        if (!identify(grouper, (i + cut) % marks->count, found, err))
            return false;
    return true;
}

/* True if an iteration ends with a mark, because it is the first optimizer's turn again. */
static bool ends_group(const struct grouper *grouper, size_t mark)
{
    return mark + 1 < grouper->marks->count && grouper->ids[mark] != 0 &&
           grouper->ids[mark + 1] == 0;
}

/* True if the groups are regular. The lengths of the first and the last group do not count, since
 * they may be cut off. Sets *turns_end if the last group is too long for one iteration. */
static bool is_regular(const struct grouper *grouper, bool *turns_end)
{
    size_t lengths[MOST_LENGTHS], length_count = 0, longest = 0, groups = 1, first = 0;
    for (size_t i = 0; i < grouper->marks->count; i++) {
        if (!ends_group(grouper, i))
            continue;
        size_t length = i + 1 - first, at = 0;
        first = i + 1;
        if (groups++ == 1)
            continue;
        longest = length > longest ? length : longest;
        while (at < length_count && lengths[at] != length)
            at++;
        if (at == MOST_LENGTHS)
            return false;
        if (at == length_count)
            lengths[length_count++] = length;
    }
    *turns_end = grouper->marks->count - first > MOST_TIMES * longest;
    return groups >= LEAST_GROUPS;
}

static void join(struct grouper *grouper)
{
    struct step_marks *marks = grouper->marks;
    size_t last = marks->count - 1;
    uint8_t last_id = grouper->ids[last];
    for (size_t i = 0; i < last; i++) {
        marks->items[i].joins_next = !ends_group(grouper, i);
        if (!marks->items[i].joins_next)
            last_id = grouper->ids[i];
    }
    marks->items[last].joins_next = grouper->ids[last] != last_id;
}

bool step_groups_find(struct step_marks *marks, const struct timeline *timeline, bool *turns_end,
                      struct error *err)
{
    struct grouper grouper = {.marks = marks, .timeline = timeline};
    bool found = false, too_long = false;
    *turns_end = false;
    if (marks->count < LEAST_GROUPS)
        return true;
    bool ok = vec_reserve(grouper.ids, grouper.ids_capacity, marks->count, marks->budget, err) &&
              identify_all(&grouper, &found, err);
    if (ok && found && is_regular(&grouper, &too_long)) {
        *turns_end = too_long;
        join(&grouper);
    }
    vec_free(grouper.ids, grouper.ids_capacity, sizeof(*grouper.ids), marks->budget);
    vec_free(grouper.sizes, grouper.size_capacity, sizeof(*grouper.sizes), marks->budget);
    return ok;
}
