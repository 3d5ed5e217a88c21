/* The chain of layers that memsnap's recorder saw: which storages each piece makes, reads and saves
 * is known, so nothing is inferred from names or sizes of outputs.
 *
 * A storage that autograd saves belongs to xbar of the piece that made it. One that only the next
 * piece reads crosses their boundary (x). One that pieces further on read outlives a checkpoint of
 * the piece that made it (pinned) if it is saved, and else is held by the checkpoints that read it
 * (far, or shared if there are many). Part of a module's result that the program itself holds
 * outlives a checkpoint in the same way. */
#include <stdlib.h>

#include "solve/chain/segment_cost.h"
#include "solve/chain/shared.h"
#include "solve/problem/recorded.h"

static bool make_room(struct recorded *recorded, size_t *bytes, struct budget *budget,
                      struct error *err)
{
    const struct layer_trace *trace = recorded->trace;
    size_t layers = recorded->problem->chain.layers, names = symbols_string_count(trace->symbols);
    size_t words = trace->count + names + 5 * (layers + 2);
    *bytes = words * sizeof(uint32_t) + trace->storage_count * sizeof(struct usage);
    if (!budget_take(budget, *bytes, err))
        return false;
    char *memory = calloc(1, *bytes);
    if (!memory) {
        budget_give(budget, *bytes);
        return error_out_of_memory(err);
    }
    recorded->usages = (struct usage *)(void *)memory;
    recorded->piece_of = (uint32_t *)(recorded->usages + trace->storage_count);
    recorded->named = recorded->piece_of + trace->count;
    recorded->crossing = recorded->named + names;
    recorded->nearby = recorded->crossing + layers + 2;
    recorded->leaves_far = recorded->nearby + layers + 2;
    recorded->since = recorded->leaves_far + layers + 2;
    recorded->stack = recorded->since + layers + 2;
    return true;
}

/* Maps rows to pieces. Rows that are in no piece, since they did nothing, count as part of the
 * piece before them. */
static void find_pieces(struct recorded *recorded)
{
    const struct problem *problem = recorded->problem;
    uint32_t piece = 0;
    size_t row = 0;
    for (size_t i = 0; i < recorded->trace->count; i++) {
        if (row < problem->row_count && problem->rows[row] == &recorded->trace->rows[i]) {
            while (problem->pieces[piece].end_row <= row)
                piece++;
            row++;
        }
        recorded->piece_of[i] = piece;
    }
    for (size_t i = 0; i < recorded->trace->count; i++) {
        if (recorded->trace->rows[i].is_forward)
            recorded->named[recorded->trace->rows[i].module_name] = recorded->piece_of[i] + 1;
    }
}

static void use_list(struct recorded *recorded, uint32_t piece, struct storage_list list,
                     uint32_t flag)
{
    for (uint32_t i = 0; i < list.count; i++) {
        struct usage *usage = &recorded->usages[recorded->trace->storage_numbers[list.first + i]];
        usage->flags |= flag;
        if (piece > usage->maker)
            usage->flags |= (piece == usage->maker + 1 ? NEAR : FAR) | (flag ? SAVED_LATER : 0);
        usage->last = piece > usage->last ? piece : usage->last;
    }
}

/* The index of the row of the forward pass in which the most is allocated. */
static int64_t highest_row(const struct layer_trace *trace)
{
    size_t highest = 0;
    for (size_t i = 1; i < trace->count; i++)
        if (trace->rows[i].is_forward &&
            trace->rows[i].peak_bytes > trace->rows[highest].peak_bytes)
            highest = i;
    return (int64_t)highest;
}

static void find_usages(struct recorded *recorded)
{
    const struct layer_trace *trace = recorded->trace;
    int64_t highest = highest_row(trace);
    for (size_t i = 0; i < trace->storage_count; i++) {
        uint32_t maker = recorded->piece_of[trace->storages[i].row];
        bool is_held = trace->storages[i].held > 0 && trace->storages[i].held >= highest;
        recorded->usages[i] =
            (struct usage){.maker = maker, .last = maker, .flags = is_held ? HELD : 0};
    }
    for (size_t i = 0; i < trace->count; i++) {
        if (!trace->rows[i].is_forward)
            continue;
        use_list(recorded, recorded->piece_of[i], trace->rows[i].reads, 0);
        use_list(recorded, recorded->piece_of[i], trace->rows[i].saves, SAVED);
    }
}

static void add_storages(struct recorded *recorded)
{
    struct chain *chain = &recorded->problem->chain;
    for (size_t i = 0; i < recorded->trace->storage_count; i++) {
        const struct usage *usage = &recorded->usages[i];
        int64_t bytes = recorded->trace->storages[i].bytes;
        bool saved = usage->flags & (SAVED | SHARED), is_far = usage->flags & FAR;
        bool outlives = usage->flags & (FAR | HELD);
        recorded->leaves_far[usage->maker] |= (usage->flags & HELD) != 0;
        if (usage->last > usage->maker) { /* differences, which add_crossing() adds up */
            recorded->crossing[usage->maker + 1]++;
            recorded->crossing[usage->last + 1]--;
            recorded->nearby[usage->maker + 1]++;
            recorded->leaves_far[usage->maker] |= is_far;
        }
        if (saved)
            chain->xbar[usage->maker] += bytes;
        if (saved && outlives)
            chain->pinned[usage->maker] += bytes;
        if (!outlives && usage->flags & NEAR) {
            chain->x[usage->maker + 1] += bytes;
            chain->late[usage->maker + 1] += usage->flags & SAVED_LATER ? 0 : bytes;
            chain->loose[usage->maker + 1] += saved ? 0 : bytes;
        }
    }
}

static void add_crossing(struct recorded *recorded)
{
    for (size_t i = 1; i <= recorded->problem->chain.layers; i++)
        recorded->crossing[i] += recorded->crossing[i - 1];
}

/* Adds to each piece the storages that it reads from pieces further back than the one before it,
 * each storage once. */
static void add_far(struct recorded *recorded)
{
    const struct layer_trace *trace = recorded->trace;
    struct chain *chain = &recorded->problem->chain;
    for (size_t i = 0; i < trace->count; i++) {
        struct storage_list reads = trace->rows[i].reads;
        uint32_t piece = recorded->piece_of[i];
        for (uint32_t k = 0; k < reads.count && trace->rows[i].is_forward; k++) {
            uint32_t number = trace->storage_numbers[reads.first + k];
            struct usage *usage = &recorded->usages[number];
            bool counts =
                usage->flags & FAR && !(usage->flags & (SAVED | SHARED)) && piece > usage->maker;
            if (counts && usage->mark != piece + 1) {
                usage->mark = piece + 1;
                chain->far[piece] += trace->storages[number].bytes;
            }
        }
    }
}

static bool add_times(struct problem *problem, const struct layer_trace *trace, struct error *err)
{
    struct chain *chain = &problem->chain;
    for (size_t i = 0; i < chain->layers; i++)
        for (size_t k = problem->pieces[i].first_row; k < problem->pieces[i].end_row; k++) {
            chain->gradient[i] += problem->rows[k]->gradient_bytes;
            chain->old[i] = larger(chain->old[i], problem->rows[k]->old_gradient_bytes);
            chain->pinned[i] += problem->rows[k]->cast_bytes;
            chain->cast[i] += problem->rows[k]->cast_bytes;
        }
    if (recorded_times(problem, trace, NULL, chain->forward, chain->tail) >= (double)CHAIN_MOST)
        return error_set(err, STATUS_LIMIT, "the times of all layers add up to 2^50 ns or more");
    return true;
}

/* The most that is allocated in each piece until the last tensor that it saves, in `stop`: all rows
 * before the one that saves it, and that row until then. Negative if nothing is known. */
static void find_stops(const struct recorded *recorded, int64_t *stop)
{
    const struct layer_trace *trace = recorded->trace;
    size_t layers = recorded->problem->chain.layers;
    int64_t highest = 0; /* the highest of the piece's rows so far */
    for (size_t i = 0; i < layers; i++)
        stop[i] = -1;
    for (size_t i = 0; i < trace->count; i++) {
        const struct layer_row *row = &trace->rows[i];
        uint32_t piece = recorded->piece_of[i];
        if (!row->is_forward)
            continue;
        highest = i > 0 && recorded->piece_of[i - 1] == piece ? highest : 0;
        if (layer_has(row, LAYER_SAVED_PEAK_BYTES))
            stop[piece] = larger(highest, row->saved_peak_bytes) - trace->facts.before_bytes;
        highest = larger(highest, row->peak_bytes);
    }
}

/* Finds the memory that is allocated while a piece runs, beyond what the chain counts then. The
 * rows tell the maximum of each pass. */
static bool add_extras(struct recorded *recorded, struct budget *budget, struct error *err)
{
    const struct layer_trace *trace = recorded->trace;
    struct chain *chain = &recorded->problem->chain;
    struct shared_times shared;
    const struct schedule none = {0};
    if (!shared_times_find(&shared, chain, &none, budget, err))
        return false;
    for (size_t i = 0; i < trace->count; i++) {
        const struct layer_row *row = &trace->rows[i];
        int64_t *highest = &chain->ftmp[recorded->piece_of[i]];
        if (row->is_forward)
            *highest = larger(*highest, row->peak_bytes - trace->facts.before_bytes);
    }
    find_stops(recorded, chain->over);
    int64_t kept = 0, read_later = 0;
    for (size_t i = 0; i < chain->layers; i++) {
        int64_t live = kept + read_later + chain->xbar[i];
        kept += chain->xbar[i] - shared.made[i];
        read_later += shared.made[i] - shared.read[i];
        chain->ftmp[i] = larger(chain->ftmp[i] - live, 0);
        chain->over[i] = chain->over[i] < 0 ? 0 : larger(chain->ftmp[i] - chain->over[i] + live, 0);
    }
    recorded_find_backward(recorded, &shared);
    recorded_find_outer(recorded, &shared);
    shared_times_release(&shared, chain, budget);
    return true;
}

/* The memory that the allocator counted at the peak beyond all tensors: workspaces of libraries,
 * and rounding. */
static int64_t unseen_bytes(const struct layer_trace *trace)
{
    int64_t seen = 0;
    for (size_t i = 0; i < trace->count; i++)
        seen = larger(seen, trace->rows[i].peak_bytes + trace->rows[i].old_gradient_bytes);
    return larger(trace->facts.peak_bytes - seen, 0);
}

static bool find_total(struct problem *problem, struct budget *budget, struct error *err)
{
    const struct placement none = {0};
    struct replay_outcome outcome;
    if (!placement_replay(&none, &problem->chain, budget, &outcome, err))
        return false;
    problem->no_checkpoint_bytes = outcome.peak_bytes;
    problem->no_checkpoint_total_bytes = problem->before_bytes + outcome.total_bytes;
    return true;
}

/* Checks that no sum or difference below can overflow. chain_check() looks at the results. */
static bool check_sizes(const struct layer_trace *trace, struct error *err)
{
    int64_t sum = 0;
    for (size_t i = 0; i < trace->storage_count && sum < CHAIN_MOST; i++)
        sum = trace->storages[i].bytes < CHAIN_MOST ? sum + trace->storages[i].bytes : CHAIN_MOST;
    for (size_t i = 0; i < trace->operator_count && sum < CHAIN_MOST; i++)
        sum = trace->operators[i].other_bytes < CHAIN_MOST ? sum + trace->operators[i].other_bytes
                                                           : CHAIN_MOST;
    if (sum >= CHAIN_MOST || trace->facts.before_bytes >= CHAIN_MOST ||
        trace->facts.peak_bytes >= CHAIN_MOST)
        return error_set(err, STATUS_LIMIT, "the sizes of all storages add up to 2^50 or more");
    return true;
}

bool problem_set_recorded(struct problem *problem, const struct layer_trace *trace,
                          struct budget *budget, struct error *err)
{
    struct recorded recorded = {.problem = problem, .trace = trace};
    size_t bytes;
    if (!check_sizes(trace, err) || !make_room(&recorded, &bytes, budget, err))
        return false;
    find_pieces(&recorded);
    find_usages(&recorded);
    bool ok = recorded_find_shared(&recorded, budget, err);
    add_storages(&recorded);
    add_crossing(&recorded);
    add_far(&recorded);
    recorded_set_reach(&recorded);
    ok = ok && add_times(problem, trace, err) && recorded_add_options(&recorded, budget, err) &&
         add_extras(&recorded, budget, err);
    free(recorded.usages);
    budget_give(budget, bytes);
    problem->before_bytes = trace->facts.before_bytes + unseen_bytes(trace);
    problem->has_totals = (trace->facts.present >> FACT_FAILED_IN & 1) == 0;
    return ok && chain_check(&problem->chain, err) && find_total(problem, budget, err);
}
