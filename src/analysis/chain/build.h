/* The state of forward_chain_build(), and the functions that its source files share. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_BUILD_H
#define MEMSNAP_ANALYSIS_CHAIN_BUILD_H

#include "analysis/chain/calls.h"
#include "analysis/chain/cut.h"
#include "analysis/chain/forward_chain.h"
#include "analysis/chain/pass_alike.h"
#include "analysis/chain/tree.h"

struct build {
    struct forward_chain *chain;
    const struct timeline *timeline;
    struct site_table *sites;
    const struct chain_options *options;
    struct phases phases;
    struct steps steps;
    struct categories categories;
    struct pass pass;
    struct passes passes;
    struct pass_lines lines; /* of `passes` */
    struct call_tree tree;
    struct cut cut;
    struct module_calls calls;
    uint32_t *runs; /* see struct chain_measure */
    size_t run_capacity;
};

/* forward_chain.c: the elements of the tree, and what they keep. */
bool chain_make_elements(struct build *build, struct error *err);
bool chain_measure_elements(struct build *build, struct error *err);

/* describe.c: the passes, and the members of the chain that concern its pass, other passes and the
 * peak of the trace. */
bool chain_find_passes(struct build *build, struct error *err);
void chain_describe_pass(struct build *build);
void chain_describe_peak(struct build *build);
/* Counts the steps that this model's passes are in, and those of which none is like this one. */
void chain_compare_steps(struct build *build);
bool chain_add_other_passes(struct build *build, struct error *err);

/* describe.c: releases what was made for one pass, or everything but the chain. */
void chain_release_cut(struct build *build);
void chain_release_build(struct build *build);

#endif
