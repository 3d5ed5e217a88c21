/* The module tree of a layer trace. For layers.c only. */
#ifndef MEMSNAP_ANALYSIS_LAYERS_TREE_H
#define MEMSNAP_ANALYSIS_LAYERS_TREE_H

#include "analysis/layers/layers.h"

/* Makes report->nodes out of report->modules, and chooses those that get a line. */
bool layers_build_tree(struct layers_report *report, struct error *err);

#endif
