/* Gives the operators of a chain's elements to the choice of operators whose results checkpoints
 * keep, as a recorded trace has them: what an element keeps of an operator's results is one
 * storage, and what it frees has no number. */
#include <stdlib.h>

#include "solve/problem/forward.h"
#include "solve/problem/recorded.h"

static bool make_room(struct forward_problem *made, size_t count, struct budget *budget,
                      struct error *err)
{
    return vec_reserve(made->operators, made->operator_capacity, count, budget, err) &&
           vec_reserve(made->storages, made->storage_capacity, count, budget, err) &&
           vec_reserve(made->storage_numbers, made->number_capacity, count, budget, err);
}

/* The time of an operator, or its weight, which compares operators as well. */
static double time_of(const struct forward_chain *chain, const struct chain_operator *operation)
{
    return chain->weighed ? (double)operation->weight : (double)operation->forward_ns / NANOSECONDS;
}

static bool is_keepable(const struct forward_chain *chain, const struct chain_operator *operation)
{
    return !operation->must_run && (operation->is_costly || !chain->weighed);
}

/* Returns false if the sizes of the operators are too large to add up. */
static bool set_operators(struct forward_problem *made, const struct forward_chain *chain)
{
    int64_t sum = 0;
    for (size_t i = 0; i < chain->operator_count; i++) {
        const struct chain_operator *from = &chain->operators[i];
        made->operators[i] = (struct layer_operator){.name = from->name,
                                                     .row = from->element,
                                                     .us = time_of(chain, from),
                                                     .other_bytes = from->passing_bytes,
                                                     .keepable = is_keepable(chain, from),
                                                     .made = {(uint32_t)i, 1}};
        made->storages[i] = (struct layer_storage){.bytes = from->kept_bytes - from->held_bytes,
                                                   .row = from->element};
        made->storage_numbers[i] = (uint32_t)i;
        if (from->passing_bytes >= CHAIN_MOST - sum || from->kept_bytes >= CHAIN_MOST - sum)
            return false;
        sum += from->passing_bytes > from->kept_bytes ? from->passing_bytes : from->kept_bytes;
    }
    made->trace.operators = made->operators;
    made->trace.operator_count = chain->operator_count;
    made->trace.storages = made->storages;
    made->trace.storage_count = chain->operator_count;
    made->trace.storage_numbers = made->storage_numbers;
    made->trace.storage_number_count = chain->operator_count;
    return true;
}

/* Sets the times of the pieces. All of a piece's time runs again: no row ends with a part that
 * saves nothing. */
static void set_times(struct forward_problem *made, const struct forward_chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        made->rows[i].present |= 1u << LAYER_FORWARD_US | 1u << LAYER_TAIL_US;
        made->rows[i].forward_us = (double)chain->elements[i].forward_ns / NANOSECONDS;
    }
}

/* The option from which on the results of an operator are kept; 0: none. */
static unsigned option_of(const struct problem *problem, struct text name)
{
    for (unsigned k = 0; k < problem->chain.option_count; k++)
        if (text_same(problem->kept_operators[k], name))
            return k + 1;
    return 0;
}

/* The operators of element i whose results option `number` keeps: their sum. */
static struct weighed_sum kept_of(const struct forward_problem *made,
                                  const struct forward_chain *chain, size_t i, size_t *next,
                                  unsigned number)
{
    struct weighed_sum kept = {0};
    for (; *next < chain->operator_count && chain->operators[*next].element == i; ++*next) {
        const struct chain_operator *it = &chain->operators[*next];
        unsigned first = option_of(&made->problem, symbols_text(made->trace.symbols, it->name));
        if (first > 0 && first <= number && !it->must_run) {
            kept.weight += (double)it->weight;
            kept.bytes += (double)it->kept_bytes;
        }
    }
    return kept;
}

/* Sets what the options run again, for every option and piece. */
static void set_costs(struct forward_problem *made, const struct forward_chain *chain)
{
    struct chain *layers = &made->problem.chain;
    const struct weighed_sum none = {0};
    for (unsigned number = 1; number <= layers->option_count; number++) {
        size_t next = 0;
        for (size_t i = 0; i < chain->count; i++) {
            struct weighed_sum kept = kept_of(made, chain, i, &next, number);
            layers->options[number - 1].forward[i] =
                weighed_less(layers->forward[i], weighed_cost(none, kept, made->problem.whole));
        }
    }
}

static bool add_options(struct forward_problem *made, struct budget *budget, struct error *err)
{
    size_t rows = made->trace.count, storages = made->trace.storage_count;
    size_t bytes = storages * sizeof(struct usage) + rows * sizeof(uint32_t);
    if (!budget_take(budget, bytes, err))
        return false;
    struct usage *usages = malloc(bytes);
    bool ok = usages || error_out_of_memory(err);
    if (ok) {
        struct recorded recorded = {.problem = &made->problem, .trace = &made->trace};
        recorded.usages = usages;
        recorded.piece_of = (uint32_t *)(void *)(usages + storages);
        for (size_t i = 0; i < storages; i++)
            usages[i] = (struct usage){.maker = (uint32_t)made->operators[i].row, .flags = SAVED};
        for (uint32_t i = 0; i < rows; i++)
            recorded.piece_of[i] = i;
        ok = recorded_add_options(&recorded, budget, err);
    }
    free(usages);
    budget_give(budget, bytes);
    return ok;
}

bool forward_add_options(struct forward_problem *made, const struct forward_chain *chain,
                         struct budget *budget, struct error *err)
{
    if (chain->operator_count == 0)
        return true;
    if (!make_room(made, chain->operator_count, budget, err))
        return false;
    if (!set_operators(made, chain))
        return true;
    set_times(made, chain);
    if (!add_options(made, budget, err))
        return false;
    if (chain->weighed)
        set_costs(made, chain);
    return true;
}
