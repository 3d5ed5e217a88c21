/* The state of cut_choose(), and what its source files share. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_CUT_INTERNAL_H
#define MEMSNAP_ANALYSIS_CHAIN_CUT_INTERNAL_H

#include "analysis/chain/cut.h"
#include "base/buffer.h"

struct cutter {
    const struct call_tree *tree;
    const struct chain_options *options;
    struct cut *cut;
    int64_t *looped;   /* by node: bytes of activations in loops at or below it */
    int64_t *nested;   /* the same, counting only loops whose iterations are alike */
    uint8_t *keeping;  /* by node: number of iterations that keep something, at most 2 */
    uint8_t *places;   /* by node, with CHAIN_LOOPS only: see lists.h */
    uint8_t *matching; /* by frame, with CHAIN_PATTERN only: see cut.c */
    struct buffer label;
    uint32_t *stack; /* nodes to visit, the next one last */
    size_t count, capacity;
    size_t outer; /* CHAIN_DEPTH: number of levels outside of the outermost forward */
    bool outside; /* CHAIN_PATTERN: the previous part did not match */
};

/* cut_loops.c: sets keeping, looped and nested of all nodes. */
void cutter_sum_loops(const struct cutter *cutter);

/* The bytes for which a node counts: see CHAIN_LOOPS. */
int64_t cutter_weight(const struct cutter *cutter, const struct call_node *node);
/* True if at least two iterations of a node keep something. */
bool cutter_is_loop(const struct cutter *cutter, uint32_t index);
/* Bytes of the loops within a loop's iterations, counting only inner loops whose own iterations are
 * alike. */
int64_t cutter_looped_within(const struct cutter *cutter, const struct call_node *loop);
/* True if one iteration keeps more than half of all activations, and has loops itself. That happens
 * if a torch.nn.Sequential has all stages of the model as one module and something small as
 * another. Checkpoints between such iterations save almost nothing. */
bool cutter_one_dominates(const struct cutter *cutter, const struct call_node *loop);
/* The loop that keeps at least three quarters of the activations of an iteration, or NULL. */
const struct call_node *cutter_main_loop(const struct cutter *cutter, uint32_t iteration);
/* True if what looks like one iteration is several that did not reach the loop's later lines, such
 * as blocks without dropout before blocks with it. Then each iteration of its inner loop keeps
 * about as much as the other iterations of this loop. */
bool cutter_is_several(const struct cutter *cutter, const struct call_node *loop,
                       uint32_t iteration);
/* The depth at which no line holds three quarters of the model. It is more than 1 for a wrapper
 * with a line that calls the model itself. Requires cutter->outer. */
size_t cutter_dividing_depth(const struct cutter *cutter);

#endif
