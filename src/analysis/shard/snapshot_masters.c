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

/* What the categories know as state by its sizes alone, which averages have, too. */
static bool is_by_size(uint8_t why)
{
    return reason_of(why) == REASON_MASTER_SIZES || reason_of(why) == REASON_STATE_SIZES;
}

/* Optimizer state. */
struct states {
    struct sizes all;    /* without what only looks like copies */
    struct sizes known;  /* without what is known by its size alone */
    struct sizes marked; /* what looks like copies */
    int64_t sized_bytes; /* what looks like states of parameters */
};

/* What the categories know as a copy of a parameter, by its size, and has the size of a float32
 * copy. */
static bool is_wide_average(const struct sizes *copies, uint8_t category, uint8_t why,
                            int64_t bytes)
{
    return category == CATEGORY_PARAMETER && reason_of(why) == REASON_MODEL_COPY &&
           copies->count > 0 &&
           bsearch(&bytes, copies->bytes, copies->count, sizeof(bytes), compare_sizes);
}

/* Counts them as averages, and no longer as parameters. */
static void take_wide_averages(struct snapshot_reader *reader, const struct sizes *copies)
{
    const struct timeline *timeline = reader->timeline;
    const struct categories *categories = &reader->categories;
    int64_t sum = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        int64_t bytes = (int64_t)timeline->preexisting[i].size;
        if (is_wide_average(copies, categories->of_preexisting[i], categories->why_preexisting[i],
                            bytes))
            sum += bytes;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        int64_t bytes = (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (is_wide_average(copies, categories->of_lifetime[i], categories->why_lifetime[i], bytes))
            sum += bytes;
    }
    reader->model->average_bytes += sum;
    reader->parameter_bytes -= sum;
}

static void add_state(struct states *states, uint8_t why, int64_t bytes)
{
    bool is_marked = reason_of(why) == REASON_MASTER_SIZES;
    struct sizes *sizes = is_marked ? &states->marked : &states->all;
    sizes->bytes[sizes->count++] = bytes;
    if (!is_by_size(why))
        states->known.bytes[states->known.count++] = bytes;
    else if (!is_marked)
        states->sized_bytes += bytes;
}

static bool take_states(const struct snapshot_reader *reader, struct states *states)
{
    const struct timeline *timeline = reader->timeline;
    const struct categories *categories = &reader->categories;
    size_t most = timeline->preexisting_count + timeline->lifetime_count + 1;
    states->all.bytes = calloc(3 * most, sizeof(*states->all.bytes));
    if (!states->all.bytes)
        return false;
    states->known.bytes = states->all.bytes + most;
    states->marked.bytes = states->known.bytes + most;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (categories->of_preexisting[i] == CATEGORY_OPTIMIZER_STATE)
            add_state(states, categories->why_preexisting[i],
                      (int64_t)timeline->preexisting[i].size);
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (categories->of_lifetime[i] == CATEGORY_OPTIMIZER_STATE)
            add_state(states, categories->why_lifetime[i],
                      (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc));
    sort(&states->all);
    sort(&states->known);
    sort(&states->marked);
    return true;
}

static int64_t sum_of(const struct sizes *sizes)
{
    int64_t sum = 0;
    for (size_t i = 0; i < sizes->count; i++)
        sum += sizes->bytes[i];
    return sum;
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

/* The rows have the sizes of the copies, and no other ones; or, with `flat`, they are fewer and
 * have the same sum, and the optimizer has state of each. `room` is for as many sizes as there are
 * copies. */
static bool are_copies(const struct held_parameter *rows, size_t count, const struct sizes *copies,
                       const struct sizes *flat, int64_t *room)
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
    if (flat)
        return found.count < copies->count && sum_of(&found) == sum_of(copies) &&
               contains(flat, &found);
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
                        const struct sizes *copies, const struct sizes *flat, int64_t *room)
{
    qsort(held->rows, held->count, sizeof(*held->rows), compare_makers);
    for (size_t first = 0, end; first < held->count; first = end) {
        frame_id maker = held->rows[first].maker;
        for (end = first; end < held->count && held->rows[end].maker == maker; end++)
            ;
        if (maker != NO_FRAME && are_copies(held->rows + first, end - first, copies, flat, room)) {
            remove_rows(reader, held, first, end);
            return;
        }
    }
}

/* Tensors that only have the sizes of state, if the optimizer's own state is known. `room` is for
 * as many sizes as there are copies. */
static void find_averages(struct snapshot_reader *reader, const struct states *states,
                          const struct sizes *copies, bool are_marked, int64_t *room)
{
    struct shard_model *model = reader->model;
    struct sizes trained = {room, copies->count};
    for (size_t i = 0; i < copies->count; i++)
        trained.bytes[i] = copies->bytes[i] / WIDER;
    model->average_bytes = sum_of(&states->marked) - (are_marked ? model->master_bytes : 0);
    if (contains(&states->known, model->master_bytes > 0 ? copies : &trained))
        model->average_bytes += states->sized_bytes;
}

/* Float32 averages of the weights and float32 gradients have the sizes of copies, too. But the
 * optimizer has state of such sizes only if it updates copies. It updates one copy of each
 * parameter: further tensors of these sizes are something else. */
bool snapshot_take_masters(struct snapshot_reader *reader, struct held_parameters *held,
                           struct error *err)
{
    struct sizes copies = {0};
    struct states states = {0};
    int64_t *room = calloc(reader->all_made + 1, sizeof(*room));
    bool ok = room && take_copies(reader, &copies) && take_states(reader, &states);
    if (ok) {
        bool are_updated = contains(&states.all, &copies), are_marked = false;
        find_copies(reader, held, &copies, are_updated ? NULL : &states.all, room);
        if (are_updated && reader->model->master_bytes == 0) {
            are_marked = contains(&states.marked, &copies);
            reader->model->master_bytes = are_marked ? sum_of(&copies) : 0;
        }
        find_averages(reader, &states, &copies, are_marked, room);
        take_wide_averages(reader, &copies);
    }
    free(room);
    free(copies.bytes);
    free(states.all.bytes);
    return ok || error_out_of_memory(err);
}
