#include "unit/devices/devices.h"

/* The inputs of (i,j); P as in the header. */
struct cell_row {
    const struct cost_problem *problem;
    struct cost_table *table;
    int32_t i, j;
    int32_t before; /* P(i) */
    int32_t all, least;
};

static int32_t max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t all_of(const struct cost_problem *p, int32_t i, int32_t j)
{
    return max(p->x[j + 1] + p->xbar[i] + p->ftmp[i], p->x[i + 1] + p->xbar[i] + p->btmp[i]);
}

static int32_t least_of(const struct cost_problem *p, int32_t i, int32_t j)
{
    int32_t most = p->x[i + 1] + p->ftmp[i];
    for (int32_t q = i + 1; q < j; q++)
        most = max(most, p->x[q] + p->x[q + 1] + p->ftmp[q]);
    return p->x[j + 1] + most;
}

static int32_t cell(const struct cell_row *row, int32_t m)
{
    const struct cost_problem *p = row->problem;
    int32_t i = row->i, j = row->j, best = COST_INFINITE;
    if (i == j)
        return m >= row->all ? row->before : COST_INFINITE;
    if (m >= row->all) {
        int32_t kept = cost_at(row->table, i + 1, j, m - p->xbar[i]);
        if (kept < COST_INFINITE)
            best = kept - p->forward[i];
    }
    for (int32_t s = i + 1; s <= j && m >= row->least; s++) {
        int32_t split =
            cost_at(row->table, i, s - 1, m) + cost_at(row->table, s, j, m - p->x[s]) - row->before;
        best = split < best ? split : best;
    }
    return best;
}

static void fill(const struct cost_problem *p, struct cost_table *table)
{
    for (int32_t j = 0; j < p->layers; j++) {
        int32_t before = 0;
        for (int32_t q = 0; q <= j; q++)
            before += p->forward[q];
        for (int32_t i = j; i >= 0; i--) {
            before -= p->forward[i];
            struct cell_row row = {p, table, i, j, before, all_of(p, i, j), least_of(p, i, j)};
            for (int32_t m = 0; m <= p->slots; m++)
                table->cells[cost_cell_index(table, i, j, m)] = cell(&row, m);
        }
    }
}

bool cost_reference_solve(const struct cost_problem *problems, struct cost_table *tables,
                          size_t count, const struct backend_options *options, struct error *err)
{
    for (size_t k = 0; k < count; k++) {
        if (!cost_table_create(&tables[k], &problems[k], COST_ROWS, 0, options->budget, err)) {
            while (k-- > 0)
                cost_table_release(&tables[k], options->budget);
            return false;
        }
        fill(&problems[k], &tables[k]);
    }
    return true;
}
