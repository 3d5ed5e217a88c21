/* Selective checkpointing: a checkpoint may keep the results of operators that take much time for
 * their bytes, such as matrix multiplications, and run only the others again. Operators are chosen
 * by name for the whole model, the costliest first; each option keeps one more of them. */
#include <stdlib.h>
#include <string.h>

#include "solve/chain/segment_cost.h"
#include "solve/problem/recorded.h"

/* Operators that take less than 1/100 of the forward pass are not worth a name. */
#define LEAST_SHARE 100

/* Calls of the operators with a name. */
struct tally {
    double us;
    double bytes;
    unsigned option; /* the first one that keeps its results; 0: none */
};

struct chooser {
    const struct recorded *recorded;
    struct tally *tallies; /* by string id */
    struct row_time *rows; /* by row of the trace: times of the operators of an option */
    uint32_t *saving;      /* by layer of the chain: 1 + the last row that saves a tensor */
    size_t names;
};

static double bytes_made(const struct layer_trace *trace, const struct layer_operator *operation)
{
    double bytes = (double)operation->other_bytes;
    for (uint32_t k = 0; k < operation->made.count; k++)
        bytes += (double)trace->storages[trace->storage_numbers[operation->made.first + k]].bytes;
    return bytes;
}

static void tally_up(struct chooser *chooser, struct tally *all)
{
    const struct layer_trace *trace = chooser->recorded->trace;
    for (size_t i = 0; i < trace->operator_count; i++) {
        const struct layer_operator *operation = &trace->operators[i];
        struct tally *tally = &chooser->tallies[operation->name];
        double bytes = bytes_made(trace, operation);
        all->us += operation->us;
        all->bytes += bytes;
        uint32_t piece = chooser->recorded->piece_of[operation->row];
        bool wrappable = chooser->recorded->problem->chain.reach[piece] > (int64_t)piece;
        if (operation->keepable && wrappable) {
            tally->us += operation->us;
            tally->bytes += bytes;
        }
    }
}

static double cost_of(const struct tally *tally)
{
    return tally->us / (tally->bytes + 1);
}

/* The name with the most time for its bytes that no option keeps yet; NULL: none is costly. */
static struct tally *costliest(const struct chooser *chooser, const struct tally *all)
{
    struct tally *best = NULL;
    for (size_t name = 0; name < chooser->names; name++) {
        struct tally *tally = &chooser->tallies[name];
        if (tally->option == 0 && tally->bytes > 0 && tally->us * LEAST_SHARE >= all->us &&
            cost_of(tally) > cost_of(all) && (!best || cost_of(tally) > cost_of(best)))
            best = tally;
    }
    return best;
}

static void find_saving(struct chooser *chooser)
{
    const struct layer_trace *trace = chooser->recorded->trace;
    for (uint32_t i = 0; i < trace->count; i++)
        if (trace->rows[i].is_forward && layer_has(&trace->rows[i], LAYER_TAIL_US))
            chooser->saving[chooser->recorded->piece_of[i]] = i + 1;
}

/* The operator runs after the last tensor that its layer saves. */
static bool is_late(const struct chooser *chooser, const struct layer_operator *operation)
{
    uint32_t saving = chooser->saving[chooser->recorded->piece_of[operation->row]];
    return operation->row + 1 > saving ||
           (operation->row + 1 == saving && operation->tail_us >= operation->us);
}

/* Adds the bytes that keeping a result takes, beyond those that are held in any case. */
static void add_result(const struct recorded *recorded, struct chain_option *option,
                       uint32_t number, uint32_t piece, bool late)
{
    const struct usage *usage = &recorded->usages[number];
    int64_t bytes = recorded->trace->storages[number].bytes;
    bool saved = usage->flags & (SAVED | SHARED);
    if (saved && usage->flags & (FAR | HELD))
        return; /* part of chain.pinned */
    option->kept[piece] += bytes;
    option->late[piece] += late ? bytes : 0;
    if (!saved || usage->maker != piece)
        option->unsaved[piece] += bytes;
}

static void add_operator(struct chooser *chooser, struct chain_option *option,
                         const struct layer_operator *operation, bool *blocked)
{
    const struct recorded *recorded = chooser->recorded;
    uint32_t piece = recorded->piece_of[operation->row];
    if (!operation->keepable) {
        blocked[piece] = true;
        return;
    }
    chooser->rows[operation->row].all += operation->us * NANOSECONDS;
    chooser->rows[operation->row].tail += operation->tail_us * NANOSECONDS;
    option->kept[piece] += operation->other_bytes;
    option->unsaved[piece] += operation->other_bytes;
    bool late = is_late(chooser, operation);
    option->late[piece] += late ? operation->other_bytes : 0;
    for (uint32_t k = 0; k < operation->made.count; k++)
        add_result(recorded, option, recorded->trace->storage_numbers[operation->made.first + k],
                   piece, late);
}

static void fill_option(struct chooser *chooser, unsigned number, bool *blocked)
{
    const struct recorded *recorded = chooser->recorded;
    const struct layer_trace *trace = recorded->trace;
    struct chain *chain = &recorded->problem->chain;
    struct chain_option *option = &chain->options[number - 1];
    memset(chooser->rows, 0, trace->count * sizeof(*chooser->rows));
    memset(blocked, 0, chain->layers * sizeof(*blocked));
    for (size_t i = 0; i < trace->operator_count; i++) {
        unsigned first = chooser->tallies[trace->operators[i].name].option;
        if (first > 0 && first <= number)
            add_operator(chooser, option, &trace->operators[i], blocked);
    }
    recorded_times(recorded->problem, trace, chooser->rows, option->forward, option->tail);
    int64_t end = (int64_t)chain->layers;
    for (size_t i = chain->layers; i-- > 0;) {
        end = blocked[i] ? (int64_t)i : end;
        option->reach[i] = chain->reach[i] < end ? chain->reach[i] : end;
        if (option->forward[i] > chain->forward[i]) /* rounding */
            option->forward[i] = chain->forward[i];
    }
}

static bool add_all(struct chooser *chooser, bool *blocked, struct budget *budget,
                    struct error *err)
{
    struct problem *problem = chooser->recorded->problem;
    struct tally all = {0}, *next;
    tally_up(chooser, &all);
    while (problem->chain.option_count < CHAIN_OPTIONS && (next = costliest(chooser, &all))) {
        if (!chain_add_option(&problem->chain, budget, err))
            return false;
        next->option = (unsigned)problem->chain.option_count;
        problem->kept_operators[next->option - 1] =
            symbols_text(chooser->recorded->trace->symbols, (string_id)(next - chooser->tallies));
        fill_option(chooser, next->option, blocked);
    }
    return true;
}

bool recorded_add_options(const struct recorded *recorded, struct budget *budget, struct error *err)
{
    const struct layer_trace *trace = recorded->trace;
    size_t names = symbols_string_count(trace->symbols), layers = recorded->problem->chain.layers;
    size_t bytes = names * sizeof(struct tally) + trace->count * sizeof(struct row_time) +
                   layers * (sizeof(uint32_t) + sizeof(bool));
    if (trace->operator_count == 0 || !(recorded->problem->timed || recorded->problem->weighed))
        return true;
    if (!budget_take(budget, bytes, err))
        return false;
    char *memory = calloc(1, bytes);
    bool ok = memory || error_out_of_memory(err);
    if (ok) {
        struct chooser chooser = {
            .recorded = recorded, .tallies = (struct tally *)(void *)memory, .names = names};
        chooser.rows = (struct row_time *)(chooser.tallies + names);
        chooser.saving = (uint32_t *)(chooser.rows + trace->count);
        find_saving(&chooser);
        ok = add_all(&chooser, (bool *)(chooser.saving + layers), budget, err);
    }
    free(memory);
    budget_give(budget, bytes);
    return ok;
}
