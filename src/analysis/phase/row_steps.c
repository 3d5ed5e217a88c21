#include "analysis/phase/row_steps.h"

#include "analysis/phase/births.h"
#include "base/bisect.h"

#define LEAST_SCRATCH 3          /* blocks of a step */
#define MOST_MADE     8          /* blocks that a step makes for each gradient */
#define MOST_EXTRA    64         /* blocks that a step makes besides */
#define SMALL         512        /* bytes of a scalar in its block */
#define MOST_WALKED   (1u << 26) /* items: bounds the time that a trace can take */

static bool may_be_made_by_step(const struct gradient_rows *rows, size_t index)
{
    return rows->is_member[index] || gradient_rows_size(rows, index) <= SMALL;
}

uint32_t row_steps_quiet(struct gradient_rows *rows, uint32_t first, size_t born)
{
    const struct lifetime *lifetimes = rows->timeline->lifetimes;
    uint32_t quiet = first;
    while (quiet > 0 && rows->walked < MOST_WALKED) {
        bool is_birth = born > 0 && lifetimes[born - 1].alloc == quiet - 1;
        if (is_birth && !may_be_made_by_step(rows, born - 1))
            break;
        born -= is_birth;
        quiet--;
        rows->walked++;
    }
    for (uint32_t item = quiet; item < first; item++) {
        if (rows->freed[item] == 0 || gradient_rows_size(rows, rows->freed[item] - 1) <= SMALL)
            continue;
        if (lifetimes[rows->freed[item] - 1].alloc < quiet)
            quiet = item + 1;
    }
    return quiet;
}

uint32_t row_steps_cut(const struct gradient_rows *rows, const struct gradient_row *row,
                       uint32_t quiet, size_t members)
{
    const struct timeline *timeline = rows->timeline;
    uint32_t cut = EVENT_NEVER;
    size_t scratch = 0;
    for (size_t i = births_from(timeline, quiet);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < row->first; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (!rows->is_member[i] || end < row->first || end > row->last)
            continue;
        scratch++;
        cut = cut == EVENT_NEVER ? timeline->lifetimes[i].alloc : cut;
    }
    return scratch < LEAST_SCRATCH || scratch * 3 < members ? EVENT_NEVER : cut;
}

/* The next pair of passes that begins after the last gradient of the row, and before an item; NULL
 * if there is none. */
static const struct passes *next_passes(const struct pattern *pattern,
                                        const struct gradient_row *row, uint32_t until)
{
    const struct passes *passes = pattern->passes;
    size_t count = pattern->pass_count;
    size_t next =
        passes ? bisect_until(&passes->forward, sizeof(*passes), count, row->since) : count;
    return next < count && passes[next].forward < until ? &passes[next] : NULL;
}

/* True if further backward passes add to the gradients of the row, before an item: they make
 * blocks of these sizes, which are freed at once, and leave hardly any. A pass of another model
 * leaves gradients of its own. */
static bool is_added_to(struct gradient_rows *rows, const struct pattern *pattern,
                        const struct gradient_row *row, uint32_t until)
{
    const struct timeline *timeline = rows->timeline;
    size_t added = 0, left = 0;
    const struct passes *passes = next_passes(pattern, row, until);
    const struct passes *last = pattern->passes + pattern->pass_count;
    if (!passes)
        return false;
    for (size_t i = births_from(timeline, row->since + 1);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < until; i++) {
        uint32_t birth = timeline->lifetimes[i].alloc;
        if (rows->walked++ >= MOST_WALKED)
            return false;
        while (passes < last && passes->end <= birth)
            passes++;
        if (!rows->is_member[i])
            continue;
        bool is_freed = lifetime_end(&timeline->lifetimes[i]) <= until;
        added += is_freed && passes < last && passes->backward <= birth;
        left += !is_freed;
    }
    return added * 2 >= row->count && left * 4 < row->count;
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
            if (end > row->last && (double)gradient_rows_size(rows, i) == row->bytes)
                return false;
            break;
        }
        living += rows->is_member[i] && end > row->last && end != EVENT_NEVER;
    }
    return living * 2 < row->count;
}

/* The first allocation from an item on that may be the step's: of a state, or of scratch space that
 * is gone with the row. The row's begin if there are too few: a batch may have such a size, too. */
static uint32_t first_work(const struct gradient_rows *rows, const struct gradient_row *row,
                           uint32_t from)
{
    const struct timeline *timeline = rows->timeline;
    uint32_t first = row->first;
    size_t count = 0;
    for (size_t i = births_from(timeline, from);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < row->first; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (!rows->is_member[i] || (end > row->last && end != EVENT_NEVER))
            continue;
        first = count++ == 0 ? timeline->lifetimes[i].alloc : first;
    }
    return count < LEAST_SCRATCH ? row->first : first;
}

/* Where the step ends that goes up to the row: the row begins with its scratch space. */
static uint32_t end_of_work(const struct gradient_rows *rows, const struct gradient_row *row)
{
    const struct lifetime *lifetimes = rows->timeline->lifetimes;
    uint32_t end = row->first;
    for (uint32_t item = row->first; item <= row->last; item++) {
        if (rows->freed[item] == 0)
            continue;
        if (lifetimes[rows->freed[item] - 1].alloc < row->begin)
            break;
        end = item + 1;
    }
    return end;
}

/* Places the step next to the row, after an item. False if nothing there may be a step's. */
static bool place_before(const struct gradient_rows *rows, struct gradient_row *row, uint32_t quiet)
{
    row->begin = first_work(rows, row, quiet);
    row->end = end_of_work(rows, row);
    return row->begin < row->first;
}

void row_steps_note_scratch(struct gradient_rows *rows, const struct gradient_row *row,
                            uint32_t quiet)
{
    struct gradient_row scratch = *row;
    if (place_before(rows, &scratch, quiet))
        rows->scratch = scratch;
}

bool row_steps_place(struct gradient_rows *rows, const struct pattern *pattern,
                     struct gradient_row *row, uint32_t quiet)
{
    const struct gradient_row *scratch = &rows->scratch;
    if (is_added_to(rows, pattern, row, quiet)) {
        place_before(rows, row, quiet);
        return true;
    }
    if (!find_step(rows, row))
        return false;
    struct gradient_row placed = *row;
    bool works = quiet > row->since && place_before(rows, &placed, quiet);
    if (works && row->cut != EVENT_NEVER) {
        *row = placed;
    } else if (scratch->begin > row->since && !next_passes(pattern, row, scratch->first)) {
        row->begin = scratch->begin;
        row->end = scratch->end;
    } else if (works && !next_passes(pattern, row, quiet)) {
        *row = placed;
    }
    return true;
}
