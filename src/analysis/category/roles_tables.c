/* Embedding tables with sparse gradients, which have only the rows that a batch reads. */
#include "analysis/category/roles_internal.h"

#define LEAST_TABLE (1 << 20) /* bytes of a table */
#define LEAST_ROWS  4096      /* bytes of the gradients of its rows */

static bool is_of_input(const struct size_tally *tally)
{
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        if (tally->twin[phase] == 1 + CATEGORY_INPUT)
            return true;
    return false;
}

uint64_t roles_row_gradients(const struct solver *solver)
{
    uint64_t count = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        bool is_foreign = tally->early == 0 && staying(tally) == 0 && tally->made_in_step == 0 &&
                          tally->flat == 0 && !tally->is_flat && tally->size >= LEAST_ROWS &&
                          !is_of_input(tally);
        count += is_foreign ? tally->fleeting.most : 0;
    }
    return count;
}

static bool may_be_table(const struct size_tally *tally)
{
    return tally->count == 0 && tally->flat == 0 && tally->size >= LEAST_TABLE &&
           staying(tally) > 0 && !size_tally_is_workspace(tally);
}

void roles_count_tables(const struct solver *solver)
{
    uint64_t copies = 0, sizes = 0;
    for (size_t i = 0; i < solver->count; i++) {
        const struct size_tally *tally = solver->sizes[i];
        if (!may_be_table(tally))
            continue;
        if (sizes++ > 0 && staying(tally) != copies)
            return;
        copies = staying(tally);
    }
    if (copies < 2 || copies > 1u + most_states_of(solver) || roles_row_gradients(solver) < sizes)
        return;
    for (size_t i = 0; i < solver->count; i++)
        if (may_be_table(solver->sizes[i]))
            solver->sizes[i]->count = 1;
}
