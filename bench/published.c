/* Times a published solver of cost tables, for bench/solve, which defines PUBLISHED as the name of
 * its file: ckpt_solver_rotor.c of ColossalAI, written for the paper named in
 * solve/cost/cost_table.h.
 *
 *   published L M      prints seconds of CPU time, and the cost of the whole chain with all memory
 *
 * That solver includes the first run of each layer in the cost; bench/solver does not, so it is
 * subtracted. */
#include PUBLISHED

#include <stdio.h>

#include "chain.h"

int main(int argc, char **argv)
{
    struct cost_problem problem;
    if (argc != 3)
        return 2;
    bench_chain(&problem, atoi(argv[1]), atoi(argv[2]));
    published_problem = &problem;
    int64_t layers = problem.layers;
    published_before = problem.slots * (layers * (layers + 1) / 2) + layers - 1;
    double start = bench_seconds();
    computeTable(NULL, &something);
    double seconds = bench_seconds() - start;
    for (int64_t i = 0; i < layers; i++)
        published_cost -= problem.forward[i];
    printf("%.6f\t%.0f\n", seconds, published_cost);
    return 0;
}
