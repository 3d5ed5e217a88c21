/* The name of a node of the module tree. */
#ifndef MEMSNAP_RENDER_LAYERS_PATH_H
#define MEMSNAP_RENDER_LAYERS_PATH_H

#include "analysis/layers/layers.h"
#include "base/buffer.h"

/* Adds the components on the way down to a node, unescaped, joined by dots: all of them, or those
 * below the nearest node above that has a line in the report. Nothing for the root. */
void layers_path(const struct layers_report *report, uint32_t node, bool whole, struct buffer *out);

#endif
