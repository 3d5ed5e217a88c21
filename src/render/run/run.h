/* `memsnap analyze` of a run of MemProfiler, as text or as JSON (schema memsnap.run/1). False means
 * out of memory: the output is incomplete. */
#ifndef MEMSNAP_RENDER_RUN_RUN_H
#define MEMSNAP_RENDER_RUN_RUN_H

#include "analysis/run/report.h"
#include "render/core/page.h"

struct run_analysis {
    const char *path; /* of the folder, or of the only file */
    const struct run_report *report;
    size_t top; /* rows of a table; 0: all */
    bool top_given;
    uint32_t depth; /* levels of the tree of modules; 0: a list, sorted */
};

/* "sharded parameters": an enum run_kind in words. */
extern const char *const run_kind_titles[RUN_KINDS];

bool run_text(const struct page *page, const struct run_analysis *analysis);
bool run_json(FILE *out, const struct run_analysis *analysis);

#endif
