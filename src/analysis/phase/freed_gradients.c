#include "analysis/phase/freed_gradients.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"

#define LEAST_ROWS      2    /* of the same sizes */
#define LEAST_PART      0.3  /* of the bytes of the largest row */
#define MOST_KINDS      64   /* different rows whose order is compared with that of the weights */
#define LEAST_LOOSE     8    /* gradients in a row, if it is not known which blocks are weights */
#define MOST_LOOSE      3    /* blocks that stay for each gradient of such a row */
#define LEAST_EXPLAINED 0.8  /* of the rows, by passes that are right */
#define AS_MUCH         0.98 /* of the bytes that other passes explain */
#define MOST_COMPARED   (1u << 26) /* sizes */

/* Judges which rows are gradients. */
struct rows_judge {
    struct gradient_rows *rows;
    uint64_t *order; /* sizes of the weights and states, in order of birth */
    size_t order_count, order_capacity;
    size_t compared; /* sizes so far: bounds the time that a trace can take */
};

static int compare_kinds(const void *a, const void *b)
{
    const struct gradient_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int compare_begins(const void *a, const void *b)
{
    const struct gradient_row *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* True if the sizes of the row come in their order from `at` on in the order of the weights. If
 * there are many gradients, buffers may lie between weights, and few other blocks in the row. */
static bool matches_at(struct rows_judge *judge, const struct gradient_row *row, size_t at)
{
    bool is_loose = row->count >= LEAST_LOOSE;
    size_t stop = at + (is_loose ? row->count * MOST_LOOSE : row->count);
    size_t others = is_loose ? row->count / LEAST_LOOSE : 0;
    stop = stop < judge->order_count ? stop : judge->order_count;
    for (uint32_t item = row->first; item <= row->last; item++) {
        uint32_t birth = gradient_rows_birth(judge->rows, row, item);
        if (birth == EVENT_NEVER)
            continue;
        uint64_t size = trace_size(judge->rows->timeline->trace, birth);
        size_t next = at;
        while (next < stop && judge->order[next] != size)
            next++;
        judge->compared += next - at + 1;
        if (next < stop)
            at = next + 1;
        else if (others-- == 0)
            return false;
    }
    return true;
}

static bool is_in_order(struct rows_judge *judge, const struct gradient_row *row)
{
    if (judge->rows->timeline->preexisting_count > 0 && row->count >= LEAST_LOOSE)
        return true;
    for (size_t at = 0; at + row->count <= judge->order_count; at++)
        if (judge->compared < MOST_COMPARED && matches_at(judge, row, at))
            return true;
    return false;
}

/* Keeps the rows that come several times, are like the weights, and are not much smaller than the
 * largest of these. */
static void keep_rows(struct rows_judge *judge)
{
    struct gradient_row *rows = judge->rows->items;
    double most = 0;
    size_t kinds = 0;
    qsort(rows, judge->rows->count, sizeof(*rows), compare_kinds);
    for (size_t i = 0, next; i < judge->rows->count && kinds < MOST_KINDS; i = next) {
        for (next = i + 1; next < judge->rows->count && rows[next].hash == rows[i].hash; next++)
            ;
        if (next - i < LEAST_ROWS || rows[i].bytes < most * LEAST_PART)
            continue;
        kinds++;
        if (!is_in_order(judge, &rows[i]))
            continue;
        most = rows[i].bytes > most ? rows[i].bytes : most;
        for (size_t k = i; k < next; k++)
            rows[k].is_kept = true;
    }
    size_t kept = 0;
    for (size_t i = 0; i < judge->rows->count; i++)
        if (rows[i].is_kept)
            rows[kept++] = rows[i];
    judge->rows->count = kept;
    if (kept > 0)
        qsort(rows, kept, sizeof(*rows), compare_begins);
}

/* The pass that an item lies in; NULL if none. */
static const struct passes *pass_at(const struct pattern *pattern, uint32_t item)
{
    const struct passes *passes = pattern->passes;
    size_t begun =
        passes ? bisect_until(&passes->forward, sizeof(*passes), pattern->pass_count, item) : 0;
    return begun > 0 && item < passes[begun - 1].end ? &passes[begun - 1] : NULL;
}

static bool is_in_backward(const struct pattern *pattern, uint32_t item)
{
    const struct passes *passes = pass_at(pattern, item);
    return passes && item >= passes->backward;
}

/* True if backward passes make at least half of the row. */
static bool is_explained(const struct gradient_rows *rows, const struct pattern *pattern,
                         const struct gradient_row *row)
{
    size_t made = 0;
    for (uint32_t item = row->first; item <= row->last; item++) {
        uint32_t birth = gradient_rows_birth(rows, row, item);
        made += birth != EVENT_NEVER && is_in_backward(pattern, birth);
    }
    return made * 2 >= row->count;
}

/* The number of rows that mostly come from backward passes of the pattern. */
static size_t explained_rows(const struct gradient_rows *rows, const struct pattern *pattern)
{
    size_t explained = 0;
    for (size_t i = 0; i < rows->count; i++)
        explained += is_explained(rows, pattern, &rows->items[i]);
    return explained;
}

static bool in_row(const struct gradient_rows *rows, uint32_t item)
{
    const struct gradient_row *items = rows->items;
    size_t begun = bisect_until(&items->first, sizeof(*items), rows->count, item);
    return begun > 0 && item <= items[begun - 1].last;
}

/* How well passes explain what lives: bytes of the blocks that a backward pass frees and its own
 * forward pass, or it, made, and of the gradients of the rows that it makes; less those of blocks
 * that it frees but others made, and of what it leaves that is no gradient. */
static double explained_bytes(const struct gradient_rows *rows, const struct pattern *pattern)
{
    const struct timeline *timeline = pattern->timeline;
    double bytes = 0;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t birth = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        double size = (double)trace_size(timeline->trace, birth);
        const struct passes *made = pass_at(pattern, birth);
        const struct passes *freed = end == EVENT_NEVER ? NULL : pass_at(pattern, end);
        if (freed && end >= freed->backward)
            bytes += made == freed ? size : -size;
        else if (made && in_row(rows, end))
            bytes += birth >= made->backward ? size : -size;
        else if (made && birth >= made->backward && end >= made->end)
            bytes -= size;
    }
    return bytes;
}

bool freed_gradients_explain_more(const struct gradient_rows *rows, const struct pattern *pattern,
                                  const struct pattern *before)
{
    double rows_before = (double)explained_rows(rows, before);
    size_t filled = 0;
    if (rows_before < (double)rows->count * LEAST_EXPLAINED)
        return true;
    for (size_t i = 0; i < rows->count; i++)
        filled += rows->items[i].begin < rows->items[i].end;
    return filled * 2 > rows->count && (double)explained_rows(rows, pattern) >= rows_before &&
           explained_bytes(rows, pattern) >= explained_bytes(rows, before) * AS_MUCH;
}

bool freed_gradients_steps(const struct gradient_rows *rows, struct step_marks *marks,
                           struct error *err)
{
    *marks = (struct step_marks){.budget = rows->budget};
    for (size_t i = 0; i < rows->count; i++) {
        struct step_mark mark = {.begin = rows->items[i].begin,
                                 .end = rows->items[i].end,
                                 .has_start = true,
                                 .has_end = true};
        if (!step_marks_add(marks, mark, err))
            return false;
    }
    return true;
}

/* Lists the sizes of blocks that live for most of the trace. */
static bool list_order(struct rows_judge *judge, struct error *err)
{
    const struct gradient_rows *rows = judge->rows;
    const struct timeline *timeline = rows->timeline;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        uint32_t birth = timeline->lifetimes[i].alloc, end = lifetime_end(&timeline->lifetimes[i]);
        if (rows->is_member[i] && pattern_lives_long(timeline, birth, end) &&
            !vec_push(judge->order, judge->order_count, judge->order_capacity, rows->budget, err,
                      trace_size(timeline->trace, birth)))
            return false;
    }
    return true;
}

bool freed_gradients_find(struct gradient_rows *rows, const struct pattern *pattern,
                          struct error *err)
{
    struct rows_judge judge = {.rows = rows};
    bool ok = gradient_rows_find(rows, pattern, err);
    if (ok && rows->count > 0) {
        ok = list_order(&judge, err);
        if (ok)
            keep_rows(&judge);
    }
    vec_free(judge.order, judge.order_capacity, sizeof(*judge.order), rows->budget);
    return ok;
}
