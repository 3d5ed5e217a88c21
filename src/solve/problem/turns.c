/* Modules that run several times in a step, in traces of memsnap's recorder: a row with `plain`
 * ends a call. */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "solve/problem/problem.h"

bool problem_call_ends(const struct layer_trace *trace, const struct layer_row *from,
                       const struct layer_row *end, struct text module)
{
    for (const struct layer_row *row = from; row < end; row++)
        if (row->is_forward && layer_has(row, LAYER_PLAIN) &&
            text_same(layer_name(trace, row), module))
            return true;
    return false;
}

/* Calls of modules, by string id. */
struct turns {
    const struct layer_trace *trace;
    uint32_t *totals, *ended; /* totals: 0 for a module that calls itself: which call ends is not
                                 known */
    struct budget *budget;
    size_t bytes;
};

static bool turns_create(struct turns *turns, struct error *err)
{
    size_t names = symbols_string_count(turns->trace->symbols);
    turns->bytes = 2 * names * sizeof(uint32_t);
    if (!budget_take(turns->budget, turns->bytes, err))
        return false;
    turns->totals = calloc(2 * names, sizeof(uint32_t));
    if (!turns->totals) {
        budget_give(turns->budget, turns->bytes);
        return error_out_of_memory(err);
    }
    turns->ended = turns->totals + names;
    return true;
}

static void turns_release(struct turns *turns)
{
    free(turns->totals);
    budget_give(turns->budget, turns->bytes);
}

static bool is_end(const struct layer_row *row)
{
    return row->is_forward && layer_has(row, LAYER_PLAIN);
}

/* The name by which Python finds the module. */
static string_id first_name(const struct layer_row *row)
{
    return layer_has(row, LAYER_FIRST_NAME) ? row->first_name : row->module_name;
}

static void count_calls(struct turns *turns)
{
    const struct layer_trace *trace = turns->trace;
    for (size_t i = 0; i < trace->count; i++)
        turns->totals[first_name(&trace->rows[i])] += is_end(&trace->rows[i]);
    for (size_t i = 0; i < trace->count; i++)
        if (is_end(&trace->rows[i]) && layer_has_trait(trace, &trace->rows[i], "recursive"))
            turns->totals[first_name(&trace->rows[i])] = 0;
}

/* Names a piece by its module and its call; `name` is that of the module. */
static bool name_turn(struct turns *turns, struct problem *problem, struct piece *piece,
                      string_id name, struct error *err)
{
    struct text *module = &problem->modules[piece->first_module];
    struct text first = symbols_text(turns->trace->symbols, name);
    struct buffer text = BUFFER_INIT;
    buffer_add(&text, first.bytes, first.size);
    if (turns->totals[name] > 1)
        buffer_printf(&text, " [%u/%u]", turns->ended[name], turns->totals[name]);
    string_id made;
    bool ok = text.failed
                  ? error_out_of_memory(err)
                  : symbols_string(turns->trace->symbols, text.bytes, text.size, &made, err);
    buffer_release(&text);
    if (!ok)
        return false;
    piece->called = *module;
    *module = symbols_text(turns->trace->symbols, made);
    return true;
}

/* Finds the calls that end in a piece. Rows that are in no piece, since they did nothing, count as
 * part of the piece before them. */
static bool find_ends(struct turns *turns, struct problem *problem, size_t at, struct error *err)
{
    const struct layer_trace *trace = turns->trace;
    struct piece *piece = &problem->pieces[at];
    struct text module = problem->modules[piece->first_module];
    const struct layer_row *row = at == 0 ? trace->rows : problem->rows[piece->first_row];
    const struct layer_row *end = at + 1 < problem->chain.layers
                                      ? problem->rows[problem->pieces[at + 1].first_row]
                                      : trace->rows + trace->count;
    bool is_one = module.size > 0 && piece->end_module == piece->first_module + 1;
    for (; row < end; row++) {
        if (!is_end(row))
            continue;
        string_id name = first_name(row);
        if (is_one && text_same(layer_name(trace, row), module)) {
            piece->ended = true;
            bool is_other = turns->totals[name] == 1 && name != row->module_name;
            if ((turns->totals[name] > 1 || is_other) && piece->called.size == 0 &&
                !name_turn(turns, problem, piece, name, err))
                return false;
        }
        turns->ended[name]++;
    }
    return true;
}

struct visit {
    uint64_t hash; /* hash of the piece's module */
    size_t piece;
};

static int compare_visits(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->piece > y->piece) - (x->piece < y->piece);
}

/* Sets `interrupted` of each piece. */
static void find_interrupted(struct problem *problem, struct visit *visits)
{
    size_t count = problem->chain.layers;
    uint64_t seed = hash_seed();
    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &problem->pieces[i];
        struct text name =
            piece->called.size > 0 ? piece->called : problem->modules[piece->first_module];
        visits[i] = (struct visit){hash_bytes(name.bytes, name.size, seed), i};
    }
    qsort(visits, count, sizeof(*visits), compare_visits);
    for (size_t i = 0; i < count; i++) {
        struct piece *piece = &problem->pieces[visits[i].piece];
        bool is_first = i == 0 || visits[i - 1].hash != visits[i].hash;
        bool is_last = i + 1 == count || visits[i + 1].hash != visits[i].hash;
        bool goes_on = !is_first && !problem->pieces[visits[i - 1].piece].ended;
        piece->interrupted = goes_on || (piece->called.size == 0 && !(is_first && is_last));
    }
}

bool problem_find_turns(struct problem *problem, const struct layer_trace *trace,
                        struct budget *budget, struct error *err)
{
    struct turns turns = {.trace = trace, .budget = budget};
    if (!turns_create(&turns, err))
        return false;
    count_calls(&turns);
    bool ok = true;
    for (size_t i = 0; ok && i < problem->chain.layers; i++)
        ok = find_ends(&turns, problem, i, err);
    turns_release(&turns);
    size_t bytes = problem->chain.layers * sizeof(struct visit);
    if (!ok || !budget_take(budget, bytes, err))
        return false;
    struct visit *visits = malloc(bytes);
    if (visits)
        find_interrupted(problem, visits);
    free(visits);
    budget_give(budget, bytes);
    return visits || error_out_of_memory(err);
}
