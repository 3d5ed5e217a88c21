#include "analysis/findings/all_pairs.h"

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"

#define LEAST_SHARE 20 /* 1/20 of the peak; smaller tensors are ignored */
#define LEAST_ROWS  256
#define WIDEST      8 /* bytes of a value */

struct finder {
    const struct live_set *set;
    struct all_pairs *pairs;
};

static uint64_t size_of(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->set->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

/* True if two sizes may have equally many values, of the same type or of different types. */
static bool has_size(uint64_t size, uint64_t other)
{
    return size == other || size == 2 * other || size == 4 * other || other == 2 * size ||
           other == 4 * size;
}

/* Sets *is if an elementwise operator made a result in a forward pass. */
static bool is_result(const struct finder *finder, size_t index, bool *is, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    struct site_table *sites = finder->set->sites;
    const struct stack_facts *facts =
        site_stack_facts(sites, timeline->trace->stack[timeline->lifetimes[index].alloc], err);
    if (!facts)
        return false;
    *is = !facts->site.has_backward && facts->context != CONTEXT_OPTIMIZER &&
          facts->context != CONTEXT_INIT &&
          operator_is_elementwise(symbols_text(site_table_symbols(sites), facts->site.op));
    return true;
}

/* The N for which a tensor of `size` has N rows of the size of an operand that itself has N rows; 0
 * if there is none. */
static uint64_t rows_of(uint64_t size, uint64_t operand)
{
    uint64_t n = operand > 0 ? size / operand : 0;
    return n >= LEAST_ROWS && n * operand == size && operand % n == 0 ? n : 0;
}

/* Tensors that may be operands of a result, because they exist when it is made. */
struct operands {
    bool has_same_size;   /* an operand is as large as the result, so it is not broadcast */
    uint64_t value_rows;  /* the N of operands with N values; 0 if there are none */
    unsigned value_count; /* number of these operands */
    uint64_t vector_rows; /* the N of the largest operand with N vectors; 0 if there is none */
    uint64_t last_size;   /* size of the last tensor that may be broadcast to the result; 0 if there
                             is none */
};

/* Takes a tensor as an operand if it may be one. A bias may have as many values as a tensor has
 * rows, but it is neither a prediction nor a target. */
static void look_at(struct operands *operands, uint64_t size, uint64_t other,
                    enum category category)
{
    uint64_t rows = other < size ? rows_of(size, other) : 0;
    operands->has_same_size |= has_size(size, other);
    if (operands->last_size == 0 && other > WIDEST && size % other == 0)
        operands->last_size = other;
    if (rows == 0)
        return;
    if (other / rows <= WIDEST) {
        bool lasts = category == CATEGORY_PARAMETER || category == CATEGORY_OPTIMIZER_STATE;
        if (!lasts && operands->value_count++ == 0)
            operands->value_rows = rows;
    } else if (operands->vector_rows == 0 || rows < operands->vector_rows) {
        operands->vector_rows = rows;
    }
}

/* True unless the last tensor before the result that may be broadcast to it has another number of
 * rows. The program makes at least one operand right before the result. If that one is larger, the
 * result is a product of it and something else, and does not pair older tensors. */
static bool ends_with_rows(const struct operands *operands, uint64_t size, uint64_t rows)
{
    return operands->last_size == 0 || size / operands->last_size == rows;
}

static struct operands operands_of(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->set->timeline;
    const struct categories *categories = finder->set->categories;
    uint32_t item = timeline->lifetimes[index].alloc;
    struct operands operands = {0};
    uint64_t size = size_of(finder, index);
    const stack_id *stack = timeline->trace->stack;
    for (size_t i = index; i-- > 0 && !operands.has_same_size;) /* operands are recent */
        if (lifetime_end(&timeline->lifetimes[i]) > item &&
            stack[timeline->lifetimes[i].alloc] != stack[item]) /* the result of an earlier step */
            look_at(&operands, size, size_of(finder, i), categories->of_lifetime[i]);
    for (size_t i = 0; i < timeline->preexisting_count && !operands.has_same_size; i++)
        if (preexisting_end(&timeline->preexisting[i]) > item)
            look_at(&operands, size, timeline->preexisting[i].size, categories->of_preexisting[i]);
    return operands;
}

/* The bytes at the moment of tensors with equally many values that the trace made. */
static int64_t bytes_like(const struct finder *finder, uint64_t size)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < finder->set->count; i++) {
        const struct live *live = &finder->set->items[i];
        if (live->in_trace && live_category(finder->set, live) != CATEGORY_PARAMETER &&
            has_size(size, live->size))
            bytes += (int64_t)live->size;
    }
    return bytes;
}

static bool try_one(const struct finder *finder, size_t index, struct error *err)
{
    bool is = false;
    if (!is_result(finder, index, &is, err))
        return false;
    struct operands operands = is ? operands_of(finder, index) : (struct operands){0};
    bool of_values = operands.value_count >= 2; /* vectors may be paired with themselves */
    uint64_t rows = of_values ? operands.value_rows : operands.vector_rows;
    if (!is || operands.has_same_size || rows == 0 ||
        !ends_with_rows(&operands, size_of(finder, index), rows))
        return true;
    const struct timeline *timeline = finder->set->timeline;
    int64_t bytes = bytes_like(finder, size_of(finder, index));
    if (bytes > finder->pairs->bytes)
        *finder->pairs = (struct all_pairs){
            bytes, of_values, rows, timeline->trace->stack[timeline->lifetimes[index].alloc]};
    return true;
}

bool all_pairs_find(struct all_pairs *pairs, const struct live_set *at_peak,
                    const struct steps *steps, int64_t peak, struct error *err)
{
    const struct timeline *timeline = at_peak->timeline;
    struct finder finder = {at_peak, pairs};
    *pairs = (struct all_pairs){0};
    if (peak < 0)
        return true;
    size_t step = steps_of(steps, (uint32_t)peak);
    uint32_t first = step == NO_STEP ? 0 : steps->items[step].first;
    uint64_t least = (uint64_t)timeline->active.peak_bytes / LEAST_SHARE;
    size_t end = births_from(timeline, (uint32_t)peak + 1);
    for (size_t i = births_from(timeline, first); i < end; i++)
        if (size_of(&finder, i) > least && !try_one(&finder, i, err))
            return false;
    return true;
}
