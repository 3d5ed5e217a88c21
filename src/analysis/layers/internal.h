/* The parts of layers_report_build(), in the order they are made. For layers*.c only. */
#ifndef MEMSNAP_ANALYSIS_LAYERS_INTERNAL_H
#define MEMSNAP_ANALYSIS_LAYERS_INTERNAL_H

#include "analysis/layers/layers.h"

/* Makes modules out of rows. */
bool layers_build_modules(struct layers_report *report, struct error *err);
/* Makes the tree out of modules, and chooses the lines it gets. */
bool layers_build_tree(struct layers_report *report, struct error *err);
/* Makes shards out of the tree, against the peak. */
bool layers_build_shards(struct layers_report *report, struct error *err);

#endif
