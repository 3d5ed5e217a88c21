/* The call tree of a forward pass: its allocations in order, divided by the lines of code that made
 * them. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_TREE_H
#define MEMSNAP_ANALYSIS_CHAIN_TREE_H

#include "analysis/chain/pass.h"

#define CALL_MOST_LEVELS  48         /* frames of a path; deeper frames are cut off */
#define CALL_MOST_NESTING 4          /* loops within loops of one function */
#define CALL_NONE         UINT32_MAX /* no call, or no frame that makes one */

/* Consecutive allocations with the same path. A path has the frames of a stack, outermost first,
 * from the caller of the outermost forward on. */
struct call_run {
    stack_id path;     /* a stack of the symbols, but with the outermost frame first */
    uint32_t lifetime; /* its first lifetime; the run ends where the next one begins */
    int64_t kept;      /* activation bytes of all runs before this one */
    int64_t weight; /* the same, plus all other allocations within checkpoints: the trace does not
                       show which of them would be kept without the checkpoint */
    uint32_t kept_count; /* number of activations of all runs before this one */
    uint64_t calls;      /* bit k: in all of its stacks, frame k of the path calls a module */
    bool checkpointed;   /* some of its stacks go through torch.utils.checkpoint */
};

enum call_kind {
    CALL_LINE,      /* the allocations of a line, and of the functions that it calls */
    CALL_LOOP,      /* lines that repeat; its children are iterations */
    CALL_ITERATION, /* an iteration of a loop; its children are lines and loops */
};

/* Children are consecutive nodes after their parent, in the order of their runs, and cover all runs
 * of the parent. A node without children is a leaf and has one run. */
struct call_node {
    uint32_t parent; /* the root, node 0, is its own parent */
    uint32_t first_child, end_child;
    uint32_t first_run, end_run;
    uint32_t iteration; /* CALL_ITERATION: its number, from 0 */
    uint16_t level; /* number of frames that all runs share; the next frame tells children apart */
    uint8_t kind;
    uint8_t nesting; /* number of enclosing loops of the same function; 0 for a line */
};

struct call_tree {
    const struct symbols *symbols;
    struct call_run *runs; /* one more than run_count, for the sums and the end of the last run */
    size_t run_count;
    struct call_node *nodes;
    size_t node_count;
    uint32_t callers;                  /* frames of a path before the outermost forward: 0 or 1 */
    uint32_t first_inside, end_inside; /* the lifetimes that begin in the first run of the outermost
                                          forward, including those before the first activation */
    uint32_t first_alike[CALL_MOST_LEVELS]; /* by frame k of the first run's path: the first
                                             * lifetime of the call that frame k makes; it may lie
                                             * before the first run */
    frame_id first_line[CALL_MOST_LEVELS];  /* by level: the first line of the call that the first
                                             * run is in; it may have run before the first run, as
                                             * that of a block whose input has no gradient */
    frame_id line_before[CALL_MOST_LEVELS]; /* by level: the line just before the first run if one
                                             * line, such as that of a container, called both; else
                                             * NO_FRAME */
    bool has_forward;                       /* some path has a function named forward */
    bool has_stacks;                        /* some path is not empty */
    size_t run_capacity, node_capacity;
    struct budget *budget; /* not owned */
};

/* Builds the tree from the allocations of items [pass->first, pass->backward). With `whole`, the
 * tree also has the allocations of the same call of the outermost forward before pass->first, if
 * frozen blocks run there, which keep nothing. Takes memory from the snapshot's budget. */
bool call_tree_build(struct call_tree *tree, const struct timeline *timeline,
                     struct site_table *sites, const struct categories *categories,
                     const struct pass *pass, bool whole, struct error *err);
void call_tree_release(struct call_tree *tree);

/* Frame `level` of a run's path, or NO_FRAME if the path has no more than `level` frames. */
static inline frame_id call_frame(const struct call_tree *tree, uint32_t run, size_t level)
{
    struct stack path = symbols_stack_at(tree->symbols, tree->runs[run].path);
    return level < path.count ? path.frames[level] : NO_FRAME;
}

/* The activation bytes of the runs first..end-1. */
static inline int64_t call_kept_in(const struct call_tree *tree, uint32_t first, uint32_t end)
{
    return tree->runs[end].kept - tree->runs[first].kept;
}

static inline int64_t call_kept(const struct call_tree *tree, const struct call_node *node)
{
    return call_kept_in(tree, node->first_run, node->end_run);
}

static inline int64_t call_weight(const struct call_tree *tree, const struct call_node *node)
{
    return tree->runs[node->end_run].weight - tree->runs[node->first_run].weight;
}

/* True if frame `level` of a run's path calls a module. */
static inline bool call_is_module(const struct call_tree *tree, uint32_t run, size_t level)
{
    return tree->runs[run].calls >> level & 1;
}

/* The second half of call_tree_build(): divides the runs into nodes. */
bool call_tree_divide(struct call_tree *tree, struct error *err);

#endif
