#include "analysis/run/operators.h"

#include <stdlib.h>

/* The columns to rank by, the best first. */
static const enum operator_figure figures[] = {OPERATOR_SELF_DEVICE_BYTES, OPERATOR_SELF_CPU_BYTES,
                                               OPERATOR_SELF_DEVICE_TIME, OPERATOR_SELF_CPU_TIME};

struct ranked {
    const struct operator_row *row;
    int64_t number;
};

/* Stable: the rows of a table are in one array. */
static int descending(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->number != b->number)
        return a->number > b->number ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Every time is rounded on its own. */
static int64_t left_out(const struct operator_table *table, const struct operator_row *rows)
{
    __int128 rest = table->facts.totals[0], slack = table->facts.slack[0];
    for (size_t i = 0; i < table->count; i++) {
        rest -= rows[i].values[OPERATOR_SELF_CPU_TIME];
        slack += rows[i].slack[OPERATOR_SELF_CPU_TIME];
    }
    return table->facts.totals[0] >= 0 && rest > slack && rest <= INT64_MAX ? (int64_t)rest : 0;
}

bool operators_rank(struct operator_ranking *ranking, const struct operator_tables *tables,
                    const struct operator_table *table, struct error *err)
{
    const struct operator_row *rows = table->count > 0 ? tables->rows + table->first : NULL;
    struct ranked *ranked = calloc(table->count + 1, sizeof(*ranked));
    *ranking = (struct operator_ranking){.table = table, .by = OPERATOR_SELF_CPU_TIME};
    ranking->rows = calloc(table->count + 1, sizeof(*ranking->rows));
    if (!ranked || !ranking->rows) {
        free(ranked);
        operator_ranking_release(ranking);
        return error_out_of_memory(err);
    }
    for (size_t i = sizeof(figures) / sizeof(figures[0]); i-- > 0;)
        if (operator_table_has(table, figures[i]))
            ranking->by = figures[i];
    for (size_t i = 0; i < table->count; i++)
        ranked[i] = (struct ranked){&rows[i], rows[i].values[ranking->by]};
    if (table->count > 0)
        qsort(ranked, table->count, sizeof(*ranked), descending);
    for (size_t i = 0; i < table->count; i++)
        ranking->rows[i] = ranked[i].row;
    ranking->left_out_ns = left_out(table, rows);
    free(ranked);
    return true;
}

void operator_ranking_release(struct operator_ranking *ranking)
{
    free(ranking->rows);
    ranking->rows = NULL;
}
