#include "unit/solve/chains.h"

#include <stdlib.h>
#include <string.h>

struct chain random_chain(struct chance *chance, size_t layers, int32_t size, int32_t time,
                          struct budget *budget)
{
    struct chain chain;
    struct error err;
    if (!chain_create(&chain, layers, budget, &err))
        abort();
    for (size_t i = 0; i <= layers; i++)
        chain.x[i] = chance_in(chance, 0, size);
    for (size_t i = 0; i < layers; i++) {
        chain.xbar[i] = chain.x[i + 1] + chance_in(chance, 0, size);
        chain.ftmp[i] = chance_in(chance, 0, 2) ? 0 : chance_in(chance, 0, size);
        chain.btmp[i] = chance_in(chance, 0, size);
        chain.forward[i] = chance_in(chance, 0, time);
    }
    return chain;
}

#define MOST 16

/* Memory as named quantities, which are summed again at every step. */
struct account {
    const struct chain *chain;
    bool kept[MOST], stored[MOST + 1]; /* xbar of a layer; a separate input */
    int64_t peak;
};

static void note(struct account *account, int64_t more)
{
    int64_t sum = more;
    for (size_t i = 0; i < account->chain->layers; i++) {
        sum += account->kept[i] ? account->chain->xbar[i] : 0;
        sum += account->stored[i] && i > 0 ? account->chain->x[i] : 0;
    }
    if (sum > account->peak)
        account->peak = sum;
}

static bool is_wrapped(unsigned cuts, unsigned wrapped, size_t layer)
{
    size_t first = layer;
    while (first > 0 && !(cuts >> first & 1))
        first--;
    return wrapped >> first & 1;
}

static bool begins(const struct chain *chain, unsigned cuts, size_t layer)
{
    return layer == 0 || layer == chain->layers || (cuts >> layer & 1);
}

static void go_forward(struct account *account, unsigned cuts, unsigned wrapped)
{
    const struct chain *c = account->chain;
    for (size_t i = 0; i < c->layers; i++) {
        bool inside = !begins(c, cuts, i) && is_wrapped(cuts, wrapped, i);
        int64_t input = inside ? c->x[i] : 0; /* otherwise it is counted as stored or kept */
        if (is_wrapped(cuts, wrapped, i)) {
            note(account, input + c->x[i + 1] + c->ftmp[i]);
            account->stored[i + 1] = begins(c, cuts, i + 1) && i + 1 < c->layers;
        } else {
            note(account, c->xbar[i] + c->ftmp[i]);
            account->kept[i] = true;
        }
    }
}

static void run_again(struct account *account, unsigned cuts, size_t last)
{
    const struct chain *c = account->chain;
    size_t first = last;
    while (!begins(c, cuts, first))
        first--;
    for (size_t i = first; i <= last; i++) {
        note(account, c->x[last + 1] + c->xbar[i] + c->ftmp[i]);
        account->kept[i] = true;
    }
}

int64_t account_peak(const struct chain *chain, unsigned cuts, unsigned wrapped)
{
    struct account account = {.chain = chain};
    go_forward(&account, cuts, wrapped);
    for (size_t i = chain->layers; i-- > 0;) {
        if (!account.kept[i])
            run_again(&account, cuts, i);
        note(&account, chain->x[i + 1] + chain->btmp[i]);
        account.kept[i] = account.stored[i] = false;
    }
    return account.peak;
}

int64_t account_extra_time(const struct chain *chain, unsigned cuts, unsigned wrapped)
{
    int64_t time = 0;
    for (size_t i = 0; i < chain->layers; i++)
        time += is_wrapped(cuts, wrapped, i) ? chain->forward[i] : 0;
    return time;
}

unsigned account_count(const struct chain *chain, unsigned cuts, unsigned wrapped)
{
    unsigned count = 0;
    for (size_t i = 0; i < chain->layers; i++)
        count += begins(chain, cuts, i) && (wrapped >> i & 1);
    return count;
}
