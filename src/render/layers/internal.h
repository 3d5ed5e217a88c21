/* The parts of the text report of a layer trace, in the order they are printed. */
#ifndef MEMSNAP_RENDER_LAYERS_INTERNAL_H
#define MEMSNAP_RENDER_LAYERS_INTERNAL_H

#include "analysis/layers/layers.h"
#include "base/buffer.h"
#include "render/layers/layers.h"

#define LAYERS_INDENT 2

bool layers_tree(const struct page *page, const struct layers_report *report);
bool layers_producers(const struct page *page, const struct layers_analysis *analysis);
bool layers_sharding(const struct page *page, const struct layers_analysis *analysis);

/* Adds the components of the path to a node, unescaped and joined by dots: either all of them, or
 * those below its nearest ancestor that has a line in the report. Adds nothing for the root. */
void layers_path(const struct layers_report *report, uint32_t node, bool whole, struct buffer *out);

#endif
