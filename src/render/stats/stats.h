/* `memsnap analyze` of torch.cuda.memory_stats() and memory_summary(), as text or as JSON (schema
 * memsnap.analyze/1). False means out of memory: the output is incomplete. */
#ifndef MEMSNAP_RENDER_STATS_STATS_H
#define MEMSNAP_RENDER_STATS_STATS_H

#include "model/memory_stats.h"
#include "render/core/page.h"

struct stats_analysis {
    const char *path; /* as the user named it; "-" for standard input */
    const struct memory_stats *stats;
};

bool stats_text(const struct page *page, const struct stats_analysis *analysis);
bool stats_json(FILE *out, const struct stats_analysis *analysis);

#endif
