/* The name of a node of the module tree. */
#ifndef MEMSNAP_RENDER_LAYERS_PATH_H
#define MEMSNAP_RENDER_LAYERS_PATH_H

#include "analysis/layers/layers.h"
#include "base/buffer.h"

/* Adds the components of the path to a node, unescaped and joined by dots: either all of them, or
 * those below its nearest ancestor that has a line in the report. Adds nothing for the root. */
void layers_path(const struct layers_report *report, uint32_t node, bool whole, struct buffer *out);

#endif
