#include "solve/dp/peak.h"

#include <stdlib.h>
#include <string.h>

#include "solve/chain/segment_cost.h"

#define MOST_STEPS 2e10 /* extensions of a segment by one layer: about a minute */

/* V with r = 0, 1, ... segments: row r is values[r*(n+1)..]. */
struct rows {
    const struct chain *chain;
    int64_t *values;
    size_t capacity, count;
};

static int64_t *row(const struct rows *rows, size_t r)
{
    return rows->values + r * (rows->chain->layers + 1);
}

static int64_t kept_value(const struct chain *chain, const int64_t *values, size_t i)
{
    return larger(kept_layer_peak(chain, i), chain->xbar[i] + values[i + 1]);
}

/* The minimum over all segments that begin at i, or the first value that reaches `wanted`; `*end`
 * is the segment's end. `values` are the values of the layers after it. */
static int64_t segment_value(const struct chain *chain, const int64_t *values, size_t i,
                             int64_t bound, int64_t wanted, size_t *end)
{
    struct segment_cost cost = {0};
    int64_t best = bound, input = chain_input(chain, i);
    for (size_t s = i + 1; s <= (size_t)chain->reach[i]; s++) {
        segment_cost_add(&cost, chain, i, s - 1);
        if (input + segment_cost_least(&cost) >= bound)
            break;
        int64_t value = larger(input + segment_cost_peak(&cost, chain, s),
                               segment_cost_stored(&cost, chain, i, s) + values[s]);
        if (value < best)
            best = value;
        *end = s;
        if (value == wanted)
            break;
    }
    return best;
}

/* Computes row r from row r - 1. */
static void fill(const struct rows *rows, size_t r)
{
    size_t n = rows->chain->layers, end;
    int64_t *values = row(rows, r);
    const int64_t *after = r > 0 ? row(rows, r - 1) : NULL;
    values[n] = 0;
    for (size_t i = n; i-- > 0;) {
        values[i] = kept_value(rows->chain, values, i);
        if (after)
            values[i] = segment_value(rows->chain, after, i, values[i], -1, &end);
    }
}

static bool add_row(struct rows *rows, struct budget *budget, struct error *err)
{
    size_t values = (rows->count + 1) * (rows->chain->layers + 1);
    if (!vec_reserve(rows->values, rows->capacity, values, budget, err))
        return false;
    fill(rows, rows->count++);
    return true;
}

static bool same_as_before(const struct rows *rows)
{
    size_t r = rows->count - 1;
    return r > 0 &&
           memcmp(row(rows, r), row(rows, r - 1), (rows->chain->layers + 1) * sizeof(int64_t)) == 0;
}

static bool fill_rows(struct rows *rows, size_t most, struct budget *budget, struct error *err)
{
    double n = (double)rows->chain->layers, steps = 0;
    do {
        if ((steps += n * n / 2) > MOST_STEPS)
            return error_set(err, STATUS_LIMIT,
                             "%zu checkpoints among %.0f layers would take minutes; at most %zu do "
                             "not",
                             most, n, rows->count - 1);
        if (!add_row(rows, budget, err))
            return false;
    } while (rows->count <= most && !same_as_before(rows));
    return true;
}

/* Reconstructs the placement from the last row. */
static bool walk(const struct rows *rows, struct placement *placement, struct budget *budget,
                 struct error *err)
{
    const struct chain *chain = rows->chain;
    size_t r = rows->count - 1;
    for (size_t i = 0; i < chain->layers;) {
        const int64_t *values = row(rows, r);
        size_t end = i + 1;
        if (values[i] == kept_value(chain, values, i)) {
            i++;
            continue;
        }
        segment_value(chain, row(rows, --r), i, values[i] + 1, values[i], &end);
        if (!placement_add(placement, i, end, budget, err))
            return false;
        i = end;
    }
    return true;
}

bool peak_place(const struct chain *chain, size_t most, struct placement *placement,
                int64_t *peak_bytes, struct budget *budget, struct error *err)
{
    struct rows rows = {.chain = chain};
    bool ok = fill_rows(&rows, most, budget, err) && walk(&rows, placement, budget, err);
    if (ok)
        *peak_bytes = row(&rows, rows.count - 1)[0];
    vec_free(rows.values, rows.capacity, sizeof(*rows.values), budget);
    return ok;
}

int64_t peak_without(const struct chain *chain)
{
    int64_t value = 0;
    for (size_t i = chain->layers; i-- > 0;)
        value = larger(kept_layer_peak(chain, i), chain->xbar[i] + value);
    return value;
}
