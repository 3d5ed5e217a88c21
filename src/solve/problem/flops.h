/* The floating-point operations that a plan adds to a step, as torch.utils.flop_counter counts
 * them: those of matrix products, convolutions and attention. Plans are made by time, in which
 * every operator counts; these can be compared with what a program counts. */
#ifndef MEMSNAP_SOLVE_PROBLEM_FLOPS_H
#define MEMSNAP_SOLVE_PROBLEM_FLOPS_H

#include "solve/chain/schedule.h"
#include "solve/problem/problem.h"

/* Sets `share` to the operations of repeated forward passes relative to those of the step without
 * checkpoints; negative if the trace tells none, or for checkpoints within others. */
bool problem_extra_flops(const struct problem *problem, const struct layer_trace *trace,
                         const struct placement *plan, double *share, struct budget *budget,
                         struct error *err);

#endif
