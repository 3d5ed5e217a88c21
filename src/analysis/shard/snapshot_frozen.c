/* Where frozen parameters belong. The forward pass shows nothing of them, but they were made in the
 * order of the model: blocks that are alike show as a sequence of sizes that repeats, and each
 * repetition is an iteration of the loop that runs these blocks. */
#include <stdlib.h>

#include "analysis/shard/snapshot_reader.h"

#define MOST_ROWS 8192 /* in which repetitions are looked for, in quadratic time */
#define MOST_CUTS 4    /* of rows by a repetition, and of what lies before and behind it */
#define NEAR      10   /* sums of a loop and of its blocks differ by less than 1/10 */
#define NEAR_SUM  4    /* numbers of tensors differ by at most 1/4 */

/* The layers that are iterations of one loop. */
struct loop {
    uint32_t *layers;
    size_t count, capacity;
    uint32_t id;
    int64_t trained; /* bytes */
    bool is_taken;
};

struct placement {
    struct snapshot_reader *reader;
    struct held_parameters *held;
    struct loop *loops;
    size_t count, capacity;
};

/* `count` repetitions of `period` rows. Sizes alone do not tell where the first one begins: it may
 * be up to `slack` rows later. */
struct repetition {
    size_t first, period, count, slack;
    int64_t bytes;
};

static struct repetition repetition_of(const struct held_parameter *rows, size_t count,
                                       size_t period)
{
    struct repetition best = {.period = period};
    for (size_t i = 0; i + period < count; i++) {
        size_t first = i;
        int64_t bytes = 0;
        for (; i + period < count && rows[i].bytes == rows[i + period].bytes; i++)
            bytes += rows[i].bytes;
        size_t times = (i - first) / period + 1;
        if (times < 2 || bytes <= best.bytes)
            continue;
        best = (struct repetition){first, period, times, (i - first) % period, bytes};
    }
    for (size_t i = best.first; best.count > 0 && i < best.first + period; i++)
        best.bytes += rows[i].bytes;
    return best;
}

/* That of most bytes; of the shortest period if several are. */
static struct repetition find_repetition(const struct held_parameter *rows, size_t count)
{
    struct repetition best = {0};
    for (size_t period = 1; count <= MOST_ROWS && period <= count / 2; period++) {
        struct repetition found = repetition_of(rows, count, period);
        if (found.count > 0 && found.bytes > best.bytes)
            best = found;
    }
    return best;
}

/* The number of blocks, if the first begins there, of which a row is trained in some and frozen in
 * others. */
static size_t count_unlike(const struct held_parameter *rows, const struct repetition *found,
                           size_t first)
{
    size_t unlike = 0;
    for (size_t i = first; i + found->period < first + found->period * found->count; i++)
        unlike += rows[i].is_trained != rows[i + found->period].is_trained;
    return unlike;
}

/* What lies before the first block, such as a norm, may look like the end of one. */
static void choose_first(const struct held_parameter *rows, struct repetition *found)
{
    size_t best = found->first;
    for (size_t i = found->first; i <= found->first + found->slack; i++)
        if (count_unlike(rows, found, i) < count_unlike(rows, found, best))
            best = i;
    found->first = best;
}

static int64_t trained_of(const struct shard_model *model, size_t layer)
{
    int64_t bytes = 0;
    for (uint32_t i = model->layers[layer].first_tensor; i < model->layers[layer].end_tensor; i++)
        bytes += model->tensors[i].elements * ELEMENT;
    return bytes;
}

static bool add_iteration(struct placement *placement, uint32_t id, size_t layer, struct error *err)
{
    struct shard_model *model = placement->reader->model;
    struct loop *loop = NULL;
    for (size_t i = 0; i < placement->count; i++)
        if (placement->loops[i].id == id)
            loop = &placement->loops[i];
    if (!loop) {
        if (!vec_push(placement->loops, placement->count, placement->capacity, model->budget, err,
                      (struct loop){.id = id}))
            return false;
        loop = &placement->loops[placement->count - 1];
    }
    loop->trained += trained_of(model, layer);
    return vec_push(loop->layers, loop->count, loop->capacity, model->budget, err, (uint32_t)layer);
}

/* Layer 0 is of a loop only if it has parameters. */
static bool find_loops(struct placement *placement, struct error *err)
{
    const struct shard_model *model = placement->reader->model;
    for (size_t i = 0; i < model->layer_count; i++) {
        uint32_t id = snapshot_part(placement->reader, i)->loop;
        bool is_empty = i < SHARD_FIRST_ELEMENT && trained_of(model, i) == 0;
        if (id != NO_LOOP && model->layers[i].unit != SHARD_ROOT && !is_empty &&
            !add_iteration(placement, id, i, err))
            return false;
    }
    return true;
}

static bool is_near(int64_t a, int64_t b)
{
    return (a > b ? a - b : b - a) <= (a > b ? a : b) / NEAR;
}

/* The loop that runs the blocks of a repetition: with as much that is trained, or else as many
 * iterations. The first blocks may be frozen altogether, and then no iterations show. */
static struct loop *find_loop(struct placement *placement, const struct held_parameter *rows,
                              const struct repetition *found)
{
    int64_t trained = 0;
    struct loop *equal = NULL;
    for (size_t i = 0; i < found->period * found->count; i++)
        trained += rows[found->first + i].is_trained ? rows[found->first + i].bytes : 0;
    for (size_t i = 0; i < placement->count; i++) {
        struct loop *loop = &placement->loops[i];
        if (loop->is_taken || loop->count > found->count || loop->count < 2)
            continue;
        if (trained > 0 && is_near(trained, loop->trained))
            return loop;
        if (!equal && loop->count == found->count)
            equal = loop;
    }
    return equal;
}

static void place_repetition(struct placement *placement, struct held_parameter *rows,
                             const struct repetition *found, struct loop *loop)
{
    size_t hidden = found->count - (loop ? loop->count : 0);
    for (size_t i = 0; i < found->period * found->count; i++) {
        size_t block = i / found->period;
        rows[found->first + i].layer =
            block < hidden ? FROZEN_FRONT + (uint32_t)(placement->held->front + block)
                           : loop->layers[block - hidden];
    }
    placement->held->front += hidden;
    if (loop && hidden == 0)
        snapshot_mark_blocks(placement->reader, placement->held, rows + found->first, found->period,
                             loop->layers, loop->count);
    if (loop)
        loop->is_taken = true;
}

/* Blocks of which nothing is trained are of the model if they are most of what its code made. */
static bool is_frozen_model(const struct held_parameter *rows, size_t count,
                            const struct repetition *found)
{
    int64_t frozen = 0, others = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_within = i >= found->first && i < found->first + found->period * found->count;
        if (is_within && rows[i].is_trained)
            return false;
        if (!rows[i].is_trained)
            *(is_within ? &frozen : &others) += rows[i].bytes;
    }
    return found->period > 1 && frozen > others;
}

/* Returns true if a repetition was placed. */
static bool place_rows(struct placement *placement, struct held_parameter *rows, size_t count,
                       bool has_trained, unsigned cuts)
{
    struct repetition found =
        cuts < MOST_CUTS ? find_repetition(rows, count) : (struct repetition){0};
    if (found.count == 0)
        return false;
    choose_first(rows, &found);
    struct loop *loop = find_loop(placement, rows, &found);
    size_t end = found.first + found.period * found.count;
    bool is_placed = loop || (has_trained && is_frozen_model(rows, count, &found));
    if (is_placed)
        place_repetition(placement, rows, &found, loop);
    /* encoders lie before decoders */
    if (found.first > 1)
        is_placed |= place_rows(placement, rows, found.first, false, cuts + 1);
    if (count - end > 1)
        is_placed |= place_rows(placement, rows + end, count - end, false, cuts + 1);
    return is_placed;
}

static int compare_sizes(const void *a, const void *b)
{
    const struct held_parameter *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Parameters that are older than the trace are in no known order. Those of each size are divided
 * evenly among the iterations of all loops. */
static void place_by_size(struct placement *placement, struct held_parameter *rows, size_t count)
{
    size_t blocks = 0;
    for (size_t i = 0; i < placement->count; i++)
        blocks += placement->loops[i].count;
    qsort(rows, count, sizeof(*rows), compare_sizes);
    for (size_t i = 0, end; blocks > 0 && i < count; i = end) {
        size_t frozen = 0, placed = 0, loop = 0, before = 0;
        for (end = i; end < count && rows[end].bytes == rows[i].bytes; end++)
            frozen += !rows[end].is_trained && !rows[end].is_buffer;
        size_t each = frozen / blocks;
        for (size_t k = i; each > 0 && k < end && placed < each * blocks; k++) {
            if (rows[k].is_trained || rows[k].is_buffer)
                continue;
            size_t block = placed++ / each;
            for (; block >= before + placement->loops[loop].count; loop++)
                before += placement->loops[loop].count;
            rows[k].layer = placement->loops[loop].layers[block - before];
        }
    }
}

static bool is_unplaced(const struct held_parameter *row)
{
    return !row->is_trained && !row->is_buffer && row->layer == FROZEN_NOWHERE;
}

/* Gives the frozen rows, in their order, to the modules that the model runs before the pass.
 * Returns false, and does nothing, unless these modules have as many parameters; or, without
 * `exactly`, nearly as many. */
static bool place_front(struct placement *placement, struct held_parameter *rows, size_t count,
                        bool exactly)
{
    const struct front_calls *front = &placement->reader->front;
    size_t frozen = 0, placed = 0, call = 0, end = 0;
    unsigned biases = 0;
    for (size_t i = 0; i < count; i++)
        frozen += is_unplaced(&rows[i]);
    size_t sum = front_sum(front, frozen, &biases);
    size_t off = sum > frozen ? sum - frozen : frozen - sum;
    if (placement->held->has_called || frozen == 0 || off > (exactly ? 0 : frozen / NEAR_SUM))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_unplaced(&rows[i]))
            continue;
        for (; end * frozen <= placed * sum; call++)
            end += front_tensors(front->calls[call].kind, biases);
        placed++;
        uint32_t block = front->calls[call - 1].block;
        rows[i].layer = block == FRONT_ROOT
                            ? FROZEN_ROOT
                            : FROZEN_FRONT + (uint32_t)placement->held->front + block;
    }
    placement->held->called = placement->held->front;
    placement->held->has_called = true;
    placement->held->front += front->block_count;
    return true;
}

/* What one line of the program made: the model, if any of it is trained or it has the model's
 * blocks; else a model of its own, such as a teacher. */
static void place_line(struct placement *placement, struct held_parameter *rows, size_t count)
{
    bool has_trained = false;
    for (size_t i = 0; i < count; i++)
        has_trained |= rows[i].is_trained;
    if (place_front(placement, rows, count, true))
        return;
    bool is_placed = place_rows(placement, rows, count, has_trained, 0);
    bool is_model = place_front(placement, rows, count, false) || is_placed || has_trained;
    if (has_trained && !is_placed && !placement->held->has_called)
        place_by_size(placement, rows, count);
    for (size_t i = 0; i < count; i++)
        if (is_model && rows[i].layer == FROZEN_NOWHERE && !rows[i].is_buffer)
            rows[i].layer = FROZEN_ROOT;
}

static void place_lines(struct placement *placement)
{
    struct held_parameter *rows = placement->held->rows;
    for (size_t i = 0, end; i < placement->held->count; i = end) {
        for (end = i; end < placement->held->count && rows[end].line == rows[i].line;)
            end++;
        place_line(placement, rows + i, end - i);
    }
}

bool snapshot_place_frozen(struct snapshot_reader *reader, struct held_parameters *held,
                           struct error *err)
{
    struct placement placement = {.reader = reader, .held = held};
    bool ok = find_loops(&placement, err);
    if (ok)
        place_lines(&placement);
    for (size_t i = 0; i < placement.count; i++)
        vec_free(placement.loops[i].layers, placement.loops[i].capacity, sizeof(uint32_t),
                 reader->model->budget);
    vec_free(placement.loops, placement.capacity, sizeof(*placement.loops), reader->model->budget);
    return ok;
}
