#include "solve/chain/chain.h"

#include <stdlib.h>

#define ARRAYS 19

static size_t bytes_of(size_t layers)
{
    return (ARRAYS * layers + 5) * sizeof(int64_t);
}

bool chain_create(struct chain *chain, size_t layers, struct budget *budget, struct error *err)
{
    if (layers > SIZE_MAX / (2 * ARRAYS * sizeof(int64_t)))
        return error_set(err, STATUS_LIMIT, "%zu layers are too many", layers);
    if (!budget_take(budget, bytes_of(layers), err))
        return false;
    int64_t *next = calloc(1, bytes_of(layers));
    if (!next) {
        budget_give(budget, bytes_of(layers));
        return error_out_of_memory(err);
    }
    *chain = (struct chain){.layers = layers, .x = next};
    next += layers + 1;
    chain->late = next;
    next += layers + 1;
    chain->far = next;
    next += layers + 1;
    chain->piled = next;
    next += layers + 1;
    chain->loose = next;
    next += layers + 1;
    int64_t **rest[] = {&chain->xbar,     &chain->ftmp,  &chain->btmp,   &chain->forward,
                        &chain->tail,     &chain->over,  &chain->pinned, &chain->cast,
                        &chain->gradient, &chain->reach, &chain->outer,  &chain->old,
                        &chain->replaced, &chain->piling};
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++, next += layers)
        *rest[i] = next;
    for (size_t i = 0; i < layers; i++)
        chain->reach[i] = (int64_t)layers;
    return true;
}

#define OPTION_ARRAYS 6

static size_t option_bytes(size_t layers)
{
    return OPTION_ARRAYS * layers * sizeof(int64_t);
}

bool chain_add_option(struct chain *chain, struct budget *budget, struct error *err)
{
    size_t n = chain->layers;
    if (!budget_take(budget, option_bytes(n), err))
        return false;
    int64_t *next = calloc(1, option_bytes(n));
    if (!next) {
        budget_give(budget, option_bytes(n));
        return error_out_of_memory(err);
    }
    chain->options[chain->option_count++] = (struct chain_option){
        .kept = next,
        .unsaved = next + n,
        .forward = next + 2 * n,
        .tail = next + 3 * n,
        .reach = next + 4 * n,
        .late = next + 5 * n,
    };
    return true;
}

void chain_release(struct chain *chain, struct budget *budget)
{
    if (!chain->x)
        return;
    for (size_t k = 0; k < chain->option_count; k++) {
        free(chain->options[k].kept);
        budget_give(budget, option_bytes(chain->layers));
    }
    vec_free(chain->shared, chain->shared_capacity, sizeof(*chain->shared), budget);
    vec_free(chain->shared_readers, chain->reader_capacity, sizeof(uint32_t), budget);
    free(chain->x);
    budget_give(budget, bytes_of(chain->layers));
    *chain = (struct chain){0};
}

static size_t piled_bytes(size_t layers)
{
    return (2 * layers + 1) * sizeof(int64_t);
}

bool chain_with_gradients(struct chain *counted, const struct chain *chain, struct budget *budget,
                          struct error *err)
{
    size_t n = chain->layers;
    if (!budget_take(budget, piled_bytes(n), err))
        return false;
    int64_t *piled = malloc(piled_bytes(n));
    if (!piled) {
        budget_give(budget, piled_bytes(n));
        return error_out_of_memory(err);
    }
    *counted = *chain;
    counted->piled = piled;
    counted->piling = piled + n + 1;
    piled[n] = 0;
    for (size_t i = n; i-- > 0;) {
        piled[i] = piled[i + 1] + chain->gradient[i];
        counted->piling[i] = piled[i] - chain->replaced[i];
    }
    return true;
}

void chain_drop_gradients(struct chain *counted, struct budget *budget)
{
    if (!counted->piled)
        return;
    free(counted->piled);
    budget_give(budget, piled_bytes(counted->layers));
    *counted = (struct chain){0};
}

/* Adds values[0..count) to `*sum`. */
static bool add_up(const int64_t *values, size_t count, const char *what, int64_t *sum,
                   struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] < 0)
            return error_set(err, STATUS_BAD_INPUT, "layer %zu: a negative %s", i, what);
        if (values[i] >= CHAIN_MOST - *sum)
            return error_set(err, STATUS_LIMIT, "the %ss of all layers add up to 2^50 or more",
                             what);
        *sum += values[i];
    }
    return true;
}

/* An option may run no more than the layer does. Its sizes and the layer's must add up to less than
 * CHAIN_MOST. */
static bool check_option(const struct chain *chain, const struct chain_option *option,
                         struct error *err)
{
    int64_t size = 0;
    for (size_t i = 0; i < chain->layers; i++)
        if (option->forward[i] < 0 || option->forward[i] > chain->forward[i] ||
            option->unsaved[i] < 0 || option->unsaved[i] > option->kept[i])
            return error_set(err, STATUS_BAD_INPUT, "layer %zu: operators exceed the layer", i);
    return add_up(option->kept, chain->layers, "size", &size, err);
}

bool chain_check(const struct chain *chain, struct error *err)
{
    int64_t size = 0, time = 0;
    size_t n = chain->layers;
    if (n == 0)
        return error_set(err, STATUS_BAD_INPUT, "no layers");
    for (size_t k = 0; k < chain->option_count; k++)
        if (!check_option(chain, &chain->options[k], err))
            return false;
    for (size_t i = 0; i < n; i++)
        if (chain->replaced[i] < 0 || chain->replaced[i] > chain->gradient[i])
            return error_set(err, STATUS_BAD_INPUT, "layer %zu: more than its gradients", i);
    for (size_t i = 0; i < n; i++)
        if (chain->old[i] < 0 || chain->old[i] >= CHAIN_MOST)
            return error_set(err, STATUS_LIMIT,
                             "layer %zu: the gradients before it are 2^50 or more", i);
    return add_up(chain->x, n + 1, "size", &size, err) &&
           add_up(chain->xbar, n, "size", &size, err) &&
           add_up(chain->ftmp, n, "size", &size, err) &&
           add_up(chain->btmp, n, "size", &size, err) &&
           add_up(chain->far, n + 1, "size", &size, err) &&
           add_up(chain->gradient, n, "size", &size, err) &&
           add_up(chain->pinned, n, "size", &size, err) &&
           add_up(chain->over, n, "size", &size, err) &&
           add_up(chain->forward, n, "time", &time, err);
}

int64_t chain_forward_time(const struct chain *chain)
{
    int64_t sum = 0;
    for (size_t i = 0; i < chain->layers; i++)
        sum += chain->forward[i];
    return sum;
}
