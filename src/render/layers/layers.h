/* `memsnap analyze` of a layer trace, as text or as JSON (schema memsnap.layers/1).
 *
 * All write to a stream; the caller looks at ferror(). False means out of memory: what was written
 * is not whole. */
#ifndef MEMSNAP_RENDER_LAYERS_LAYERS_H
#define MEMSNAP_RENDER_LAYERS_LAYERS_H

#include "analysis/layers/layers.h"
#include "render/core/page.h"

struct layers_analysis {
    const char *path; /* as the user named it; "-" for standard input */
    const struct layers_report *report;
    size_t producers, shards; /* rows of each; 0: all */
    bool verbose;             /* keys that memsnap does not know */
};

bool layers_text(const struct page *page, const struct layers_analysis *analysis);
bool layers_json(FILE *out, const struct layers_analysis *analysis);

#define LAYERS_NOTICE_SIZE 256
/* A notice of the report as a sentence; false where it does not apply. */
bool layers_notice_text(const struct layers_report *report, enum layers_notice notice,
                        char out[LAYERS_NOTICE_SIZE]);

#endif
