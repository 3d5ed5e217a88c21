/* `memsnap analyze` of a file saved by MemoryTracker, as text or as JSON (schema
 * memsnap.operators/1). False means out of memory: the output is incomplete. */
#ifndef MEMSNAP_RENDER_LAYERS_OPERATOR_CURVES_H
#define MEMSNAP_RENDER_LAYERS_OPERATOR_CURVES_H

#include "analysis/layers/operator_curves.h"
#include "render/core/page.h"

struct curves_analysis {
    const char *path; /* as the user named it; "-" for standard input */
    const struct curves_report *report;
    size_t top; /* operators; 0: all */
};

bool curves_text(const struct page *page, const struct curves_analysis *analysis);
bool curves_json(FILE *out, const struct curves_analysis *analysis);

#endif
