/* Writes the explanation of the out-of-memory errors in a log. */
#ifndef MEMSNAP_RENDER_OOM_OOM_H
#define MEMSNAP_RENDER_OOM_OOM_H

#include "analysis/oom/error.h"
#include "render/core/page.h"

struct oom_report {
    const char *path;
    const struct oom_log *log;
    const struct oom_errors *errors; /* at least one */
    size_t top;                      /* text: how many ranks to explain; 0: all */
};

/* False if memory ran out. */
bool oom_report_text(const struct page *page, const struct oom_report *report);
bool oom_report_json(FILE *out, const struct oom_report *report);

#endif
