/* The chains of all passes of a model. */
#include "analysis/chain/build.h"

/* Builds the chain of a pass like the one of `chain`, and visits it. */
static bool visit_pass(struct build *build, const struct forward_chain *chain,
                       chain_visitor *visitor, void *context, struct error *err)
{
    struct forward_chain made = {.budget = build->timeline->snapshot->budget,
                                 .options = chain->options};
    bool whole = build->options->level == CHAIN_LOOPS;
    build->chain = &made;
    chain_describe_pass(build);
    bool ok = call_tree_build(&build->tree, build->timeline, build->sites, &build->categories,
                              &build->pass, whole, err) &&
              chain_make_elements(build, err) &&
              (made.absence != CHAIN_FOUND ||
               (chain_measure_elements(build, err) && visitor(context, &made, err)));
    chain_release_cut(build);
    forward_chain_release(&made);
    return ok;
}

bool forward_chain_visit(const struct forward_chain *chain, const struct timeline *timeline,
                         struct site_table *sites, chain_visitor *visitor, void *context,
                         struct error *err)
{
    struct build build = {.timeline = timeline, .sites = sites, .options = &chain->options};
    const struct pass *own = NULL;
    bool ok = chain_find_passes(&build, err);
    for (size_t i = 0; i < build.passes.count && ok; i++)
        if (build.passes.items[i].first == chain->first)
            own = &build.passes.items[i];
    for (size_t i = 0; own && i < build.passes.count && ok; i++) {
        build.pass = build.passes.items[i];
        if (&build.passes.items[i] == own)
            ok = visitor(context, chain, err);
        else if (!build.pass.unfinished && pass_shares_layers(&build.lines, own, &build.pass))
            ok = visit_pass(&build, chain, visitor, context, err);
    }
    chain_release_build(&build);
    return ok;
}
