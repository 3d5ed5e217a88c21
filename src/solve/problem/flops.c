#include "solve/problem/flops.h"

#include <stdlib.h>

/* Which part of a row of the trace a checkpoint runs again. */
struct again {
    bool runs;
    bool stops;           /* it stops at the last tensor that the row saves */
    unsigned char option; /* the option of the chain whose results are kept */
};

/* The rows of a segment up to the last one that saves a tensor. */
static void mark_segment(const struct problem *problem, const struct layer_trace *trace,
                         struct wrapped segment, struct again *again)
{
    struct again *last = NULL;
    size_t first = problem->pieces[segment.first].first_row;
    for (size_t k = problem->pieces[segment.end - 1].end_row; k-- > first;) {
        struct again *row = &again[problem->rows[k] - trace->rows];
        if (!last && layer_has(problem->rows[k], LAYER_TAIL_US))
            last = row;
        *row = (struct again){last != NULL, last == row, (unsigned char)segment.option};
    }
}

static double part(struct again again, int64_t flops, int64_t tail)
{
    return !again.runs ? 0 : again.stops ? (double)(flops - tail) : (double)flops;
}

static bool is_kept(const struct problem *problem, struct text name, unsigned option)
{
    for (unsigned k = 0; k < option; k++)
        if (text_same(problem->kept_operators[k], name))
            return true;
    return false;
}

static double share_of(const struct problem *problem, const struct layer_trace *trace,
                       const struct again *again)
{
    double whole = 0, extra = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct layer_row *row = &trace->rows[i];
        whole += (double)row->flops;
        extra += part(again[i], row->flops, row->tail_flops);
    }
    for (size_t i = 0; i < trace->operator_count; i++) {
        const struct layer_operator *operation = &trace->operators[i];
        struct again row = again[operation->row];
        if (is_kept(problem, symbols_text(trace->symbols, operation->name), row.option))
            extra -= part(row, operation->flops, operation->tail_flops);
    }
    return whole > 0 ? extra / whole : -1;
}

bool problem_extra_flops(const struct problem *problem, const struct layer_trace *trace,
                         const struct placement *plan, double *share, struct budget *budget,
                         struct error *err)
{
    *share = -1;
    for (size_t k = 0; k < plan->count; k++)
        if (plan->segments[k].depth > 0)
            return true;
    if (!problem->recorded || trace->count == 0)
        return true;
    size_t bytes = trace->count * sizeof(struct again);
    if (!budget_take(budget, bytes, err))
        return false;
    struct again *again = calloc(1, bytes);
    bool ok = again || error_out_of_memory(err);
    if (ok) {
        for (size_t k = 0; k < plan->count; k++)
            mark_segment(problem, trace, plan->segments[k], again);
        *share = share_of(problem, trace, again);
    }
    free(again);
    budget_give(budget, bytes);
    return ok;
}
