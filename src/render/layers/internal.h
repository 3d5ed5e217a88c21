/* The parts of the text report of a layer trace, in the order they are printed. */
#ifndef MEMSNAP_RENDER_LAYERS_INTERNAL_H
#define MEMSNAP_RENDER_LAYERS_INTERNAL_H

#include "render/layers/layers.h"

#define LAYERS_INDENT 2

bool layers_tree(const struct page *page, const struct layers_report *report);
bool layers_producers(const struct page *page, const struct layers_analysis *analysis);
bool layers_sharding(const struct page *page, const struct layers_analysis *analysis);

#endif
