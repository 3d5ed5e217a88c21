/* A table of torch.profiler's operators, ranked. */
#ifndef MEMSNAP_ANALYSIS_RUN_OPERATORS_H
#define MEMSNAP_ANALYSIS_RUN_OPERATORS_H

#include "model/operator_tables.h"

struct operator_ranking {
    const struct operator_table *table; /* not owned */
    const struct operator_row **rows;   /* the highest of the figure first; not owned */
    enum operator_figure by; /* the first of these that the table has: memory of the device, memory
                                of the CPU, time of the device, time of the CPU */
    int64_t left_out_ns;     /* self CPU time of operators that the table leaves out; 0: none */
};

/* The tables must outlive the ranking. */
bool operators_rank(struct operator_ranking *ranking, const struct operator_tables *tables,
                    const struct operator_table *table, struct error *err);
void operator_ranking_release(struct operator_ranking *ranking);

#endif
