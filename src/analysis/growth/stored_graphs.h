/* Autograd graphs that a program stores for good, such as those of pictures that an evaluation with
 * autograd on puts into a list.
 *
 * Nothing frees such a graph in the trace, nor other tensors that the same stacks made and kept
 * beyond their forward pass. It shows by two things: the backward pass of its step
 * leaves the calls that made it alone (untouched_calls.h), and a large part of the different
 * tensors that the forward pass makes stay. Without a graph only results do, which few lines make.
 */
#ifndef MEMSNAP_ANALYSIS_GROWTH_STORED_GRAPHS_H
#define MEMSNAP_ANALYSIS_GROWTH_STORED_GRAPHS_H

#include "analysis/category/category.h"
#include "analysis/phase/failures.h"

/* Flags, in `is_dropped` and in `is_early` by lifetime, the tensors of such graphs. Sets *any if
 * there are some. `next_run` has the backward run that follows each run in its step, or NO_RUN.
 * Leaves out tensors whose backward pass may have been prevented: a request failed before it was
 * over. */
bool stored_graphs_mark(uint8_t *is_dropped, uint8_t *is_early, bool *any,
                        const uint8_t *is_untouched, const uint32_t *next_run,
                        const struct timeline *timeline, const struct categories *categories,
                        const struct phases *phases, const struct failures *failures,
                        struct error *err);

#endif
