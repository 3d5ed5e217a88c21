/* An autograd graph that is made once, before the first backward pass, and that every backward pass
 * goes through again: that of targets which the program computes with autograd on and compares with
 * the results of each iteration. Such backward passes need retain_graph=True, which keeps the
 * graphs of the iterations as well.
 *
 * Its tensors are activations of modules which outlive the last backward pass of the trace. The
 * result of each call does not count, because variables hold it. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_EARLY_GRAPH_H
#define MEMSNAP_ANALYSIS_GROWTH_EARLY_GRAPH_H

#include "analysis/category/category.h"
#include "analysis/phase/phases.h"

#define EARLY_LINES 2

struct early_graph {
    int64_t at_peak_bytes;         /* live at the active peak; 0: there is none */
    frame_id lines[EARLY_LINES];   /* that made most of it: the frames that later passes lack */
    stack_id stacks[EARLY_LINES];  /* with these lines */
    uint32_t indexes[EARLY_LINES]; /* of the lines within the stacks */
    size_t line_count;
};

/* Sets a flag, by lifetime, for each of its tensors that is live at the peak. `later` is the stack
 * of an activation of a later iteration, whose graph a backward pass kept. Leaves out what is
 * flagged already, and what is_dropped has; NULL: nothing. */
bool early_graph_mark(struct early_graph *early, uint8_t *flags, stack_id later,
                      const struct timeline *timeline, struct site_table *sites,
                      const struct categories *categories, const struct phases *phases,
                      const uint8_t *is_dropped, struct error *err);

#endif
