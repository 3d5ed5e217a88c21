/* Where a chain may be cut: at boundaries of which modules.
 *
 * A checkpoint is only real where a single tensor crosses, and a trace does not tell where that is:
 * inside a residual block several do. Names tell much of it. */
#ifndef MEMSNAP_SOLVE_PROBLEM_CUTS_H
#define MEMSNAP_SOLVE_PROBLEM_CUTS_H

#include "base/symbols.h"

enum cut_kind {
    /* The blocks of the model: a numbered child of a container (layer1.0, encoder.layers.3), and
     * the numbered children of that where it has no others (Sequential in Sequential); every module
     * that stands beside such containers, as far as it holds none itself. */
    CUT_BLOCKS,
    CUT_LEAVES,  /* every module that the trace names */
    CUT_DEPTH,   /* the first so many components of the names */
    CUT_PATTERN, /* modules whose name matches; what lies between two of them is one piece */
};

struct cuts {
    enum cut_kind kind;
    size_t depth;        /* >= 1 */
    const char *pattern; /* fnmatch(3), without special treatment of anything */
};

/* What CUT_BLOCKS learns from the names: flags of each module of the tree, by the hash of its
 * name. Two modules of the same hash share their flags, which at worst moves a cut. */
struct tree {
    struct tree_node *nodes;
    size_t capacity, count; /* capacity: a power of two, or 0 */
    uint64_t seed;
    struct budget *budget; /* not owned */
};

void tree_init(struct tree *tree, struct budget *budget);
bool tree_add(struct tree *tree, struct text name, struct error *err);
void tree_release(struct tree *tree);

/* How much of the name is the module between whose boundaries nothing is cut; 0: no module's, for
 * CUT_PATTERN. The names were added to `tree`, which only CUT_BLOCKS reads. */
size_t cuts_module(const struct cuts *cuts, const struct tree *tree, struct text name);

/* STATUS_USAGE: a pattern that matches no `what` ("module"), with some that there are; false. */
bool cuts_unmatched(const struct cuts *cuts, const char *what, const struct text *names,
                    size_t count, struct error *err);

#endif
