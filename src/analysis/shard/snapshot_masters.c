/* Float32 copies of parameters of 16 bits, which a program makes by hand for its optimizer. */
#include <stdlib.h>

#include "analysis/shard/snapshot_reader.h"

#define WIDER 2 /* times the bytes of a parameter */

/* Sizes, ascending. */
struct sizes {
    int64_t *bytes;
    size_t count;
};

static int compare_sizes(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void sort(struct sizes *sizes)
{
    qsort(sizes->bytes, sizes->count, sizeof(*sizes->bytes), compare_sizes);
}

/* What copies of all parameters with gradients would have. */
static bool take_copies(const struct snapshot_reader *reader, struct sizes *copies)
{
    copies->bytes = calloc(reader->all_made + 1, sizeof(*copies->bytes));
    copies->count = copies->bytes ? reader->all_made : 0;
    for (size_t i = 0; i < copies->count; i++)
        copies->bytes[i] = WIDER * reader->made[i].bytes;
    sort(copies);
    return copies->bytes;
}

/* Without those that are taken for state because they look like copies. */
static bool take_states(const struct snapshot_reader *reader, struct sizes *states)
{
    const struct timeline *timeline = reader->timeline;
    const struct categories *categories = &reader->categories;
    size_t most = timeline->preexisting_count + timeline->lifetime_count;
    states->bytes = calloc(most + 1, sizeof(*states->bytes));
    if (!states->bytes)
        return false;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (categories->of_preexisting[i] == CATEGORY_OPTIMIZER_STATE &&
            reason_of(categories->why_preexisting[i]) != REASON_MASTER_SIZES)
            states->bytes[states->count++] = (int64_t)timeline->preexisting[i].size;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (categories->of_lifetime[i] == CATEGORY_OPTIMIZER_STATE &&
            reason_of(categories->why_lifetime[i]) != REASON_MASTER_SIZES)
            states->bytes[states->count++] =
                (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    sort(states);
    return true;
}

/* Each size is there at least as often. */
static bool contains(const struct sizes *all, const struct sizes *some)
{
    size_t at = 0;
    for (size_t i = 0; i < some->count; i++, at++) {
        while (at < all->count && all->bytes[at] < some->bytes[i])
            at++;
        if (at == all->count || all->bytes[at] != some->bytes[i])
            return false;
    }
    return true;
}

/* The rows have these sizes, and no other ones. `room` is for as many. */
static bool are_copies(const struct held_parameter *rows, size_t count, const struct sizes *copies,
                       int64_t *room)
{
    struct sizes found = {room, 0};
    for (size_t i = 0; i < count; i++) {
        if (rows[i].is_buffer)
            continue;
        if (found.count == copies->count)
            return false;
        found.bytes[found.count++] = rows[i].bytes;
    }
    sort(&found);
    return found.count == copies->count && contains(&found, copies);
}

/* Removes the parameters among the rows from `first` to `end`. */
static void remove_rows(struct snapshot_reader *reader, struct held_parameters *held, size_t first,
                        size_t end)
{
    size_t kept = first;
    for (size_t i = first; i < held->count; i++) {
        if (i >= end || held->rows[i].is_buffer)
            held->rows[kept++] = held->rows[i];
        else
            reader->model->master_bytes += held->rows[i].bytes;
    }
    held->count = kept;
    reader->parameter_bytes -= reader->model->master_bytes;
}

static int compare_makers(const void *a, const void *b)
{
    const struct held_parameter *x = a, *y = b;
    return (x->maker > y->maker) - (x->maker < y->maker);
}

/* One line makes them all. */
static void find_copies(struct snapshot_reader *reader, struct held_parameters *held,
                        const struct sizes *copies, int64_t *room)
{
    qsort(held->rows, held->count, sizeof(*held->rows), compare_makers);
    for (size_t first = 0, end; first < held->count; first = end) {
        frame_id maker = held->rows[first].maker;
        for (end = first; end < held->count && held->rows[end].maker == maker; end++)
            ;
        if (maker != NO_FRAME && are_copies(held->rows + first, end - first, copies, room)) {
            remove_rows(reader, held, first, end);
            return;
        }
    }
}

static bool is_marked(const uint8_t *category, const uint8_t *why)
{
    return *category == CATEGORY_OPTIMIZER_STATE && reason_of(*why) == REASON_MASTER_SIZES;
}

/* Those that count as state already. `room` is for as many. */
static void find_marked(struct snapshot_reader *reader, const struct sizes *copies, int64_t *room)
{
    const struct timeline *timeline = reader->timeline;
    const struct categories *categories = &reader->categories;
    struct sizes found = {room, 0};
    size_t count = 0;
    int64_t sum = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (is_marked(&categories->of_preexisting[i], &categories->why_preexisting[i]) &&
            count++ < copies->count)
            sum += found.bytes[found.count++] = (int64_t)timeline->preexisting[i].size;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (is_marked(&categories->of_lifetime[i], &categories->why_lifetime[i]) &&
            count++ < copies->count)
            sum += found.bytes[found.count++] =
                (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    sort(&found);
    if (count == copies->count && contains(&found, copies))
        reader->model->master_bytes = sum;
}

/* A float32 average of the weights, or float32 gradients, have these sizes, too. But only an
 * optimizer that updates copies has states of them; and it updates one copy of each parameter, so
 * that what has the sizes besides is something else. */
bool snapshot_take_masters(struct snapshot_reader *reader, struct held_parameters *held,
                           struct error *err)
{
    struct sizes copies = {0}, states = {0};
    int64_t *room = calloc(reader->all_made + 1, sizeof(*room));
    bool ok = room && take_copies(reader, &copies) && take_states(reader, &states);
    if (ok && contains(&states, &copies))
        find_copies(reader, held, &copies, room);
    if (ok && reader->model->master_bytes == 0 && contains(&states, &copies))
        find_marked(reader, &copies, room);
    free(room);
    free(copies.bytes);
    free(states.bytes);
    return ok || error_out_of_memory(err);
}
