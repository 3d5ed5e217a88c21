/* Selects the modules at whose boundaries a chain may be cut.
 *
 * A checkpoint is only valid where a single tensor crosses, and the trace does not record where
 * that is: inside a residual block several tensors cross. The module names are a good indication.
 */
#ifndef MEMSNAP_SOLVE_PROBLEM_CUTS_H
#define MEMSNAP_SOLVE_PROBLEM_CUTS_H

#include "base/symbols.h"

enum cut_kind {
    /* The blocks of the model: the numbered children of a container (layer1.0, encoder.layers.3;
     * also encoder_layer_3 or down3 with siblings, if they have children), or their numbered
     * children if they have no others (Sequential in Sequential). Modules beside such containers
     * are blocks, too, unless they contain some. */
    CUT_BLOCKS,
    CUT_LOOPS,   /* snapshots: the same, and also blocks that are checkpointed already */
    CUT_LEAVES,  /* every module that the trace names */
    CUT_DEPTH,   /* modules named by the first `depth` components */
    CUT_PATTERN, /* modules whose name matches; rows between two of them form one piece */
};

struct cuts {
    enum cut_kind kind;
    bool inner;   /* CUT_BLOCKS: replace a block that contains blocks itself, such as a stage, by
                     the inner ones */
    size_t depth; /* >= 1 */
    const char *pattern; /* pattern_matches() */
};

/* The module tree, for CUT_BLOCKS: flags of each module by the hash of its name. Two modules with
 * the same hash share their flags, which at worst moves a cut. */
struct tree {
    struct tree_node *nodes;
    size_t capacity, count; /* capacity: a power of two, or 0 */
    uint64_t seed;
    bool knows_calls;      /* tree_add_call() was called */
    struct budget *budget; /* not owned */
};

void tree_init(struct tree *tree, struct budget *budget);
/* To be called for all names before the first call of tree_add(). A module is a leaf if it has no
 * children. */
bool tree_add_stems(struct tree *tree, struct text name, bool is_leaf, struct error *err);
/* Adds a module, and the modules that contain it. */
bool tree_add(struct tree *tree, struct text name, bool is_leaf, struct error *err);
/* Notes that the module was called. Once this is known of any module, modules that were not called,
 * such as a ModuleDict, do not count as enclosing modules. */
bool tree_add_call(struct tree *tree, struct text name, struct error *err);
/* True if the module that the first `size` bytes of the name denote is one of several numbered
 * ones, or within one: layers.0, layers.0.mlp, or down1 if there is a down2 beside it. */
bool tree_is_in_numbered(const struct tree *tree, struct text name, size_t size);
/* The length of the shortest prefix of the name that is a module which was called, of those with at
 * least `size` bytes; of all of the name if none was. If no calls are known, `size`. */
size_t tree_called_from(const struct tree *tree, struct text name, size_t size);
void tree_release(struct tree *tree);

/* The length of the prefix of the name that is the enclosing module, inside which the chain is not
 * cut; 0: no module, for CUT_PATTERN. The names were added to `tree`, which only CUT_BLOCKS reads.
 */
size_t cuts_module(const struct cuts *cuts, const struct tree *tree, struct text name);

/* Reports STATUS_USAGE for the pattern of an option ("granularity") that matches no `what`
 * ("module"), with examples of existing names. Returns false. */
bool cuts_unmatched(const char *option, const char *pattern, const char *what,
                    const struct text *names, size_t count, struct error *err);

#endif
