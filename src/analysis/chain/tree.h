/* The call tree of the forward of a pass: the allocations in order, by the lines of code that made
 * them. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_TREE_H
#define MEMSNAP_ANALYSIS_CHAIN_TREE_H

#include "analysis/chain/pass.h"

#define CALL_MOST_LEVELS  48 /* frames of a path; deeper calls count as part of it */
#define CALL_MOST_NESTING 4  /* loops within loops of one function */

/* Consecutive allocations of one path. A path is the frames of a stack, outermost first, from the
 * caller of the outermost forward on. */
struct call_run {
    stack_id path;     /* in the symbols, as a stack in reverse order */
    uint32_t lifetime; /* the first; the run ends where the next one begins */
    int64_t kept;      /* activation bytes of all runs before this one */
    int64_t weight;    /* the same, and within checkpoints all that they allocate, as what these
                          would keep cannot be told */
    uint64_t calls;    /* bit k: all of its stacks call a module from frame k of the path */
    bool checkpointed; /* some of its stacks go through torch.utils.checkpoint */
};

enum call_kind {
    CALL_LINE,      /* allocations of a line of a function, including what it calls */
    CALL_LOOP,      /* lines that repeat; its children are iterations */
    CALL_ITERATION, /* one of them; its children are lines */
};

/* Children are consecutive nodes after their parent, in the order of their runs, and cover all of
 * them. A node without children is a leaf and has one run. */
struct call_node {
    uint32_t parent; /* the root, node 0, is its own parent */
    uint32_t first_child, end_child;
    uint32_t first_run, end_run;
    uint32_t iteration; /* of CALL_ITERATION */
    uint16_t level;     /* number of frames that all runs share; children differ in the next one */
    uint8_t kind;
    uint8_t nesting;
};

struct call_tree {
    const struct symbols *symbols;
    struct call_run *runs; /* and one more, for sums and the end */
    size_t run_count;
    struct call_node *nodes;
    size_t node_count;
    uint32_t callers;                  /* frames of a path before the outermost forward: 0 or 1 */
    uint32_t first_inside, end_inside; /* the lifetimes that begin in a run of that forward without
                                          a break, also those before the pass keeps anything */
    uint32_t first_alike[CALL_MOST_LEVELS]; /* from this lifetime on, all before the first run are
                                             * in the same call as it by frame k of its path */
    bool has_forward;                       /* some path has a function named forward */
    bool has_stacks;                        /* some path is not empty */
    size_t run_capacity, node_capacity;
    struct budget *budget; /* not owned */
};

/* Builds the tree from the allocations of items [pass->first, pass->backward). With `whole`, the
 * same call of the outermost forward also counts before pass->first, if it runs frozen blocks
 * there, which keep nothing. Counts in the snapshot's budget. */
bool call_tree_build(struct call_tree *tree, const struct timeline *timeline,
                     struct site_table *sites, const struct categories *categories,
                     const struct pass *pass, bool whole, struct error *err);
void call_tree_release(struct call_tree *tree);

/* NO_FRAME if the path has at most `level` frames. */
static inline frame_id call_frame(const struct call_tree *tree, uint32_t run, size_t level)
{
    struct stack path = symbols_stack_at(tree->symbols, tree->runs[run].path);
    return level < path.count ? path.frames[level] : NO_FRAME;
}

static inline int64_t call_kept(const struct call_tree *tree, const struct call_node *node)
{
    return tree->runs[node->end_run].kept - tree->runs[node->first_run].kept;
}

static inline int64_t call_weight(const struct call_tree *tree, const struct call_node *node)
{
    return tree->runs[node->end_run].weight - tree->runs[node->first_run].weight;
}

/* Frame `level` of a run calls a module. */
static inline bool call_is_module(const struct call_tree *tree, uint32_t run, size_t level)
{
    return tree->runs[run].calls >> level & 1;
}

/* The second half of call_tree_build(): divides the runs. */
bool call_tree_divide(struct call_tree *tree, struct error *err);

#endif
