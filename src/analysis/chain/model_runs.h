/* The runs of the model in a pass. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_MODEL_RUNS_H
#define MEMSNAP_ANALYSIS_CHAIN_MODEL_RUNS_H

#include "analysis/chain/calls.h"

/* Fills calls->model_runs and calls->runs_without. */
bool model_runs_find(struct module_calls *calls, const struct call_tree *tree, struct error *err);

#endif
