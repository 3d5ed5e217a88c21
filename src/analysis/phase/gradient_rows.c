#include "analysis/phase/gradient_rows.h"

#include "analysis/phase/births.h"
#include "base/hash.h"

#define LEAST_GRADIENTS 4   /* in a row */
#define LEAST_SCRATCH   3   /* blocks of a step */
#define NEAR            3   /* a block that one of so many last allocations made is scratch space */
#define MOST_MADE       8   /* blocks that a step makes for each gradient */
#define MOST_EXTRA      64  /* blocks that a step makes besides */
#define SMALL           512 /* bytes of a scalar in its block */

static uint64_t size_of(const struct gradient_rows *rows, size_t index)
{
    const struct timeline *timeline = rows->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

static bool may_be_made_by_step(const struct gradient_rows *rows, size_t index)
{
    return rows->is_member[index] || size_of(rows, index) <= SMALL;
}

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
            (pattern->flags[i] & PATTERN_WEIGHT) && size_of(made, i) >= LEAST_WEIGHT;
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

/* The item from which on the blocks of a row are scratch space of the step; `born` lifetimes exist
 * when the row begins. Between them, nothing older is freed: the backward pass is over. */
static uint32_t find_cut(const struct gradient_rows *rows, const struct gradient_row *row,
                         size_t born, size_t members)
{
    const struct lifetime *lifetimes = rows->timeline->lifetimes;
    uint32_t cut = EVENT_NEVER;
    size_t scratch = 0;
    for (uint32_t item = row->first; item-- > 0;) {
        if (born > 0 && lifetimes[born - 1].alloc == item) {
            born--;
            if (!may_be_made_by_step(rows, born))
                break;
            uint32_t end = lifetime_end(&lifetimes[born]);
            if (rows->is_member[born] && end >= row->first && end <= row->last) {
                scratch++;
                cut = item;
            }
        } else if (rows->freed[item] != 0) {
            size_t freed = rows->freed[item] - 1;
            if (freed + NEAR < born && size_of(rows, freed) > SMALL)
                break;
        }
    }
    return scratch < LEAST_SCRATCH || scratch * 3 < members ? EVENT_NEVER : cut;
}

/* Sets where the step begins and ends: from the allocation after the last gradient to the first one
 * that is not the step's. False if blocks that are made there live on, but not for good, or one as
 * large as all together: then these are the gradients, and the row is a list from which code made
 * them. */
static bool find_step(const struct gradient_rows *rows, struct gradient_row *row)
{
    const struct timeline *timeline = rows->timeline;
    size_t i = births_from(timeline, row->latest + 1), living = 0;
    size_t until = i + MOST_MADE * row->count + MOST_EXTRA;
    row->begin = row->end = row->first;
    if (i < timeline->lifetime_count && timeline->lifetimes[i].alloc < row->first)
        row->begin = timeline->lifetimes[i].alloc;
    for (; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < row->first; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (i == until || !may_be_made_by_step(rows, i)) {
            row->end = timeline->lifetimes[i].alloc;
            if (end > row->last && (double)size_of(rows, i) == row->bytes)
                return false;
            break;
        }
        living += rows->is_member[i] && end > row->last && end != EVENT_NEVER;
    }
    return living * 2 < row->count;
}

/* Adds up the gradients of a row, after `cut` is set. */
static void add_up(const struct gradient_rows *rows, struct gradient_row *row)
{
    row->hash = rows->seed;
    for (uint32_t item = row->first; item <= row->last; item++) {
        uint32_t birth = gradient_rows_birth(rows, row, item);
        if (birth == EVENT_NEVER)
            continue;
        uint64_t size = trace_size(rows->timeline->trace, birth);
        row->latest = birth > row->latest ? birth : row->latest;
        row->hash = hash_word(size, row->hash);
        row->bytes += (double)size;
        row->count++;
    }
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

static bool close_row(struct gradient_rows *made, struct gradient_row row, size_t born,
                      struct error *err)
{
    size_t members = 0;
    for (uint32_t item = row.first; item <= row.last; item++)
        members += made->freed[item] != 0 && made->is_member[made->freed[item] - 1];
    if (members < LEAST_GRADIENTS)
        return true;
    row.cut = find_cut(made, &row, born, members);
    add_up(made, &row);
    if (row.count < LEAST_GRADIENTS || !is_reversed(made, &row) || !find_step(made, &row))
        return true;
    return vec_push(made->items, made->count, made->capacity, made->budget, err, row);
}

static bool find_rows(struct gradient_rows *made, struct error *err)
{
    const struct timeline *timeline = made->timeline;
    struct gradient_row row = {0};
    bool is_open = false;
    size_t born = 0;
    for (uint32_t item = 0; item <= timeline->trace->count; item++) {
        bool is_birth = born < timeline->lifetime_count && timeline->lifetimes[born].alloc == item;
        if (is_open && (is_birth || item == timeline->trace->count)) {
            if (!close_row(made, row, born, err))
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
    return init(rows, pattern, err) && find_rows(rows, err);
}

void gradient_rows_release(struct gradient_rows *rows)
{
    vec_free(rows->freed, rows->freed_capacity, sizeof(*rows->freed), rows->budget);
    vec_free(rows->is_member, rows->member_capacity, sizeof(*rows->is_member), rows->budget);
    vec_free(rows->items, rows->capacity, sizeof(*rows->items), rows->budget);
    *rows = (struct gradient_rows){0};
}
