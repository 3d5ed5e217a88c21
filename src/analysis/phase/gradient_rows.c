#include "analysis/phase/gradient_rows.h"

#include "analysis/phase/births.h"
#include "analysis/phase/row_steps.h"
#include "base/hash.h"

#define LEAST_GRADIENTS 4 /* in a row */
#define FEW_LATE        8 /* at most one of so many */

static bool make_room(struct gradient_rows *made, struct error *err)
{
    const struct timeline *timeline = made->timeline;
    return vec_reserve(made->freed, made->freed_capacity, timeline->trace->count + 1, made->budget,
                       err) &&
           vec_reserve(made->is_member, made->member_capacity, timeline->lifetime_count + 1,
                       made->budget, err);
}

static bool init(struct gradient_rows *made, const struct pattern *pattern, struct error *err)
{
    const struct timeline *timeline = made->timeline;
    if (!make_room(made, err))
        return false;
    for (size_t i = 0; i <= timeline->trace->count; i++)
        made->freed[i] = 0;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        made->is_member[i] =
            (pattern->flags[i] & PATTERN_STAYS) && gradient_rows_size(made, i) >= LEAST_WEIGHT;
        if (end != EVENT_NEVER)
            made->freed[end] = (uint32_t)i + 1;
    }
    return true;
}

uint32_t gradient_rows_birth(const struct gradient_rows *rows, const struct gradient_row *row,
                             uint32_t item)
{
    if (rows->freed[item] == 0 || !rows->is_member[rows->freed[item] - 1])
        return EVENT_NEVER;
    uint32_t birth = rows->timeline->lifetimes[rows->freed[item] - 1].alloc;
    return birth < row->cut ? birth : EVENT_NEVER;
}

/* Adds up the gradients of a row, after `cut` is set. A few blocks that were made right before the
 * row are no gradients. */
static void add_up(const struct gradient_rows *rows, struct gradient_row *row, uint32_t quiet)
{
    uint32_t late = 0;
    row->hash = rows->seed;
    for (uint32_t item = row->first; item <= row->last; item++) {
        uint32_t birth = gradient_rows_birth(rows, row, item);
        if (birth == EVENT_NEVER)
            continue;
        uint64_t size = trace_size(rows->timeline->trace, birth);
        row->latest = birth > row->latest ? birth : row->latest;
        row->since = birth > row->since && birth < quiet ? birth : row->since;
        late += birth >= quiet;
        row->hash = hash_word(size, row->hash);
        row->bytes += (double)size;
        row->count++;
    }
    if (late * FEW_LATE > row->count)
        row->since = row->latest;
}

/* True if what goes first was made last. */
static bool is_reversed(const struct gradient_rows *rows, const struct gradient_row *row)
{
    double early = 0, late = 0; /* sums of births: of the first half of the row, and the last */
    uint32_t half = row->count / 2, n = 0;
    for (uint32_t item = row->first; item <= row->last; item++) {
        uint32_t birth = gradient_rows_birth(rows, row, item);
        if (birth == EVENT_NEVER)
            continue;
        if (n < half)
            early += birth;
        else if (n >= row->count - half)
            late += birth;
        n++;
    }
    return early > late;
}

static bool close_row(struct gradient_rows *made, const struct pattern *pattern,
                      struct gradient_row row, size_t born, struct error *err)
{
    size_t members = 0;
    for (uint32_t item = row.first; item <= row.last; item++)
        members += made->freed[item] != 0 && made->is_member[made->freed[item] - 1];
    if (members < LEAST_GRADIENTS)
        return true;
    uint32_t quiet = row_steps_quiet(made, row.first, born);
    row.cut = row_steps_cut(made, &row, quiet, members);
    add_up(made, &row, quiet);
    if (row.count == 0)
        row_steps_note_scratch(made, &row, quiet);
    if (row.count < LEAST_GRADIENTS || !is_reversed(made, &row) ||
        !row_steps_place(made, pattern, &row, quiet))
        return true;
    return vec_push(made->items, made->count, made->capacity, made->budget, err, row);
}

static bool find_rows(struct gradient_rows *made, const struct pattern *pattern, struct error *err)
{
    const struct timeline *timeline = made->timeline;
    struct gradient_row row = {0};
    bool is_open = false;
    size_t born = 0;
    for (uint32_t item = 0; item <= timeline->trace->count; item++) {
        bool is_birth = born < timeline->lifetime_count && timeline->lifetimes[born].alloc == item;
        if (is_open && (is_birth || item == timeline->trace->count)) {
            if (!close_row(made, pattern, row, born, err))
                return false;
            is_open = false;
        }
        born += is_birth;
        if (made->freed[item] == 0)
            continue;
        if (!is_open)
            row = (struct gradient_row){.first = item};
        row.last = item;
        is_open = true;
    }
    return true;
}

bool gradient_rows_find(struct gradient_rows *rows, const struct pattern *pattern,
                        struct error *err)
{
    *rows = (struct gradient_rows){
        .timeline = pattern->timeline, .budget = pattern->budget, .seed = hash_seed()};
    return init(rows, pattern, err) && find_rows(rows, pattern, err);
}

void gradient_rows_release(struct gradient_rows *rows)
{
    vec_free(rows->freed, rows->freed_capacity, sizeof(*rows->freed), rows->budget);
    vec_free(rows->is_member, rows->member_capacity, sizeof(*rows->is_member), rows->budget);
    vec_free(rows->items, rows->capacity, sizeof(*rows->items), rows->budget);
    *rows = (struct gradient_rows){0};
}
